"""What the pages lean on: each source once, cited alike in both languages."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Source:
    """One source: who, what, where."""

    authors: str
    year: int
    title: str
    url: str
    place: str = ""

    @property
    def citation(self) -> str:
        """The source as one line of Markdown."""
        place = f", {self.place}" if self.place else ""
        return f"{self.authors} ({self.year}), [{self.title}]({self.url}){place}."


SOURCES = {
    "vaswani2017": Source(
        "Vaswani et al.",
        2017,
        "Attention Is All You Need",
        "https://arxiv.org/abs/1706.03762",
        "§3.5, table 3 row (E)",
    ),
    "lee2019": Source(
        "Lee et al.",
        2019,
        "Set Transformer: A Framework for Attention-based Permutation-Invariant Neural Networks",
        "https://arxiv.org/abs/1810.00825",
        "§3",
    ),
    "elman1990": Source(
        "Elman", 1990, "Finding Structure in Time", "https://doi.org/10.1207/s15516709cog1402_1"
    ),
    "haviv2022": Source(
        "Haviv et al.",
        2022,
        "Transformer Language Models without Positional Encodings Still Learn Positional Information",
        "https://arxiv.org/abs/2203.16634",
        "tables 1 and 2",
    ),
    "press2022": Source(
        "Press, Smith, Lewis",
        2022,
        "Train Short, Test Long: Attention with Linear Biases Enables Input Length Extrapolation",
        "https://arxiv.org/abs/2108.12409",
        "table 2",
    ),
    "wang2024": Source(
        "Wang et al.",
        2024,
        "Multilingual E5 Text Embeddings: A Technical Report",
        "https://arxiv.org/abs/2402.05672",
    ),
    "vaswani2017input": Source(
        "Vaswani et al.",
        2017,
        "Attention Is All You Need",
        "https://arxiv.org/abs/1706.03762",
        "§3.4 (×√d_model), §5.4 (dropout of the sums, rate 0.1)",
    ),
    "srivastava2014": Source(
        "Srivastava et al.",
        2014,
        "Dropout: A Simple Way to Prevent Neural Networks from Overfitting",
        "https://jmlr.org/papers/v15/srivastava14a.html",
    ),
    "wang2020": Source(
        "Wang et al.",
        2020,
        "MiniLM: Deep Self-Attention Distillation for Task-Agnostic Compression of Pre-Trained Transformers",
        "https://arxiv.org/abs/2002.10957",
    ),
    "radford2022": Source(
        "Radford et al.",
        2022,
        "Robust Speech Recognition via Large-Scale Weak Supervision",
        "https://arxiv.org/abs/2212.04356",
        "Whisper",
    ),
    "schwaller2021": Source(
        "Schwaller et al.",
        2021,
        "Extraction of Organic Chemistry Grammar from Unsupervised Learning of Chemical Reactions",
        "https://doi.org/10.1126/sciadv.abe4166",
        "RXNMapper",
    ),
}
