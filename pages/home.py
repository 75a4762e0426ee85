from pages.ui import layout

layout.opening("home")
