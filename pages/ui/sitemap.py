"""Which pages there are, in reading order; titles and questions come from the catalogue (``page.<name>``)."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Entry:
    """One page: its file is ``pages/<name>.py``, its address ``/<slug>``."""

    name: str
    slug: str
    icon: str


PAGES = (
    Entry("home", "", ":material/home:"),
    Entry("sinusoidal", "sinusoidal", ":material/waves:"),
    Entry("similarity", "similarity", ":material/grid_on:"),
    Entry("sentence", "sentence", ":material/short_text:"),
    Entry("fixed_vs_learned", "fixed-vs-learned", ":material/compare:"),
    Entry("relative", "relative", ":material/rotate_right:"),
    Entry("long_context", "long-context", ":material/open_in_full:"),
    Entry("images", "images", ":material/image:"),
    Entry("precision", "precision", ":material/straighten:"),
    Entry("your_table", "your-table", ":material/upload_file:"),
    Entry("compare", "compare", ":material/view_column:"),
    Entry("myths", "myths", ":material/fact_check:"),
)
