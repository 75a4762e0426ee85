from pages.ui import layout

layout.opening("fixed_vs_learned")
