"""Everything of the app that knows Streamlit, besides the pages themselves."""
