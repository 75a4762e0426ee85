"""What surrounds every page: the site map, the language, the shared controls."""

import sys
from pathlib import Path

# Streamlit puts this folder, not its parent, on the import path, and the app may be started from anywhere.
ROOT = str(Path(__file__).parents[1])
if ROOT not in sys.path:
    sys.path.insert(0, ROOT)

import streamlit as st

from pages.ui import controls, guard, layout, menu, shown, turns
from pages.ui.text import label

with turns.turn():
    with st.sidebar:
        controls.language()

    page = st.navigation(menu.pages(), expanded=True)
    st.set_page_config(page_title=f"{page.title} · posenc", page_icon=layout.ICON, layout="wide")
    st.logo(layout.LOGO, size="large")
    st.html(layout.STYLE + menu.ICONS)

    with st.sidebar:
        controls.shared()
        st.caption(label("frame.about"))

    shown.begin(page.title, page.url_path)
    guard.guarded(page.run)()
    shown.undo_earlier_runs()
