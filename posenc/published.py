"""What papers report for one positional encoding against another: their numbers, as printed."""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Result:
    """One published comparison.

    Parameters
    ----------
    name
        Its key.
    source
        Key of `posenc.sources.SOURCES`.
    columns
        What was measured, in the paper's words: language-free.
    rows
        Encoding → the numbers as printed.
    """

    name: str
    source: str
    columns: tuple[str, ...]
    rows: Mapping[str, tuple[str, ...]]


PUBLISHED = (
    # Table 3: the base model and row (E), English–German development set.
    Result(
        "vaswani_e",
        "vaswani2017",
        ("PPL ↓", "BLEU ↑"),
        {"sinusoid": ("4.92", "25.8"), "learned": ("4.92", "25.7")},
    ),
    # Table 1: validation perplexity.
    Result(
        "haviv_1",
        "haviv2022",
        ("WikiText-103 PPL ↓", "Pile PPL ↓"),
        {
            "none": ("20.97", "13.10"),
            "learned": ("20.42", "13.05"),
            "sinusoid": ("20.16", "12.93"),
            "alibi": ("19.71", "12.51"),
        },
    ),
    # Table 2: validation perplexity on the Pile, four sizes from 125M to 1.3B parameters.
    Result(
        "haviv_2",
        "haviv2022",
        ("125M", "…", "…", "1.3B"),
        {
            "learned": ("22.04", "16.84", "14.21", "13.05"),
            "sinusoid": ("21.49", "16.58", "14.04", "12.93"),
        },
    ),
    # Table 2: trained at 512 tokens, perplexity at longer inputs.
    Result(
        "press_2",
        "press2022",
        ("512", "1012", "1512", "3512"),
        {
            "sinusoid": ("20.05", "43.54", "76.23", "178.97"),
            "rotary": ("20.07", "21.37", "25.99", "35.54"),
            "t5": ("19.65", "18.79", "18.91", "22.91"),
            "alibi": ("19.73", "18.73", "18.52", "18.40"),
        },
    ),
)

# Of models with rotary embedding, in contexts longer than that of their training.
LONG_CONTEXT = (
    # Table 1: perplexity of LLaMA 7B on PG-19; "linear" is position interpolation, fine-tuned.
    Result(
        "chen_1",
        "chen2023",
        ("2048", "8192"),
        {"default": ("7.20", ">1000"), "fine_tuned": ("7.21", "7.69"), "linear": ("7.13", "6.95")},
    ),
    # Table 1: perplexity by length of the input.
    Result(
        "yarn_1",
        "peng2023",
        ("8192", "10240"),
        {"linear": ("3.34", "8.07"), "ntk": ("3.59", "6.24"), "yarn": ("3.35", "6.04")},
    ),
)
