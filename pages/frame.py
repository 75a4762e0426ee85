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
        place = st.container()
        controls.language()

    pages = menu.pages()
    # The menu is our own: Streamlit's would fetch each page's icon from another host, as the tab's icon.
    page = st.navigation(list(pages.values()), position="hidden")
    st.set_page_config(page_title=f"{page.title} · posenc", page_icon=layout.ICON, layout="wide")
    st.logo(layout.LOGO, size="large")
    st.html(layout.STYLE)

    with st.sidebar:
        with place:
            for entry, target in pages.items():
                st.page_link(target, icon=entry.icon)
            st.divider()
        controls.shared()
        st.caption(label("frame.about"))

    shown.begin(page.title, page.url_path)
    guard.guarded(page.run)()
