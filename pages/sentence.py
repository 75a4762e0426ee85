from pages.ui import layout

layout.opening("sentence")
