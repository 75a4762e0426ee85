"""What to change in code that makes a wrong sinusoidal table; see `posenc.snippets` and `posenc.mistakes`.

Before and after differ in as few lines as the mistake allows.
"""

import re
from collections.abc import Mapping
from typing import NamedTuple

from posenc.snippets import FRAMEWORKS, Snippets

Lines = dict[str, str]

_RIGHT: Lines = {
    "p": "p = np.arange(n)[:, np.newaxis]",
    "j": "j = np.arange(d_model)  # number of the column; two make a pair",
    "rates": "rates = base ** (-2 * (j // 2) / d_model)",
    "angles": "angles = p * rates  # (n, d_model)",
    "table": "table = np.where(j % 2 == 0, np.sin(angles), np.cos(angles))",
    "end": "",
}


class _Change(NamedTuple):
    """The lines that are wrong, those that take their place, and what both need before the others."""

    before: Lines
    after: Lines
    imports: str = ""
    sizes: str = ""


_CHANGES: Mapping[str, _Change] = {
    "raw_column": _Change(
        {"rates": "rates = base ** (-2 * j / d_model)  # another rate for each column of a pair"},
        {"rates": "rates = base ** (-2 * (j // 2) / d_model)  # one rate for the two columns of a pair"},
    ),
    "integer_division": _Change(
        {"rates": "rates = 1 / base ** (2 * (j // 2) // d_model)  # floored to 0: every rate is 1"},
        {"rates": "rates = 1 / base ** (2 * (j // 2) / d_model)"},
    ),
    "doubled_exponent": _Change(
        {"rates": "rates = base ** (-2 * (2 * (j // 2)) / d_model)  # 2i, and 2 times that"},
        {"rates": "rates = base ** (-2 * (j // 2) / d_model)  # 2i"},
    ),
    "floored_log": _Change(
        {"rates": "rates = np.exp(2 * (j // 2) * (-math.log(base) / d_model // 2))  # floored last"},
        {"rates": "rates = np.exp(2 * (j // 2) * (-math.log(base) / d_model))"},
        imports="import math\n\n",
    ),
    "half_minus_one": _Change(
        {"rates": "rates = base ** (-(j // 2) / max((d_model + 1) // 2 - 1, 1))  # as tensor2tensor has it"},
        {"rates": "rates = base ** (-(j // 2) / (d_model / 2))  # as in the paper"},
    ),
    "full_width_rates": _Change(
        {"rates": "rates = base ** (-2 * (j // 2) / head_dim)  # as if all of the head were turned"},
        {"rates": "rates = base ** (-2 * (j // 2) / d_model)  # of the columns that are turned"},
        sizes="head_dim = 4 * d_model  # of which d_model are turned\n",
    ),
    "swapped": _Change(
        {"table": "table = np.where(j % 2 == 0, np.cos(angles), np.sin(angles))  # cosine first"},
        {"table": "table = np.where(j % 2 == 0, np.sin(angles), np.cos(angles))  # sine first"},
    ),
    "late_start": _Change(
        {"p": "p = np.arange(2, n + 2)[:, np.newaxis]  # past padding_idx 1"},
        {"p": "p = np.arange(n)[:, np.newaxis]"},
    ),
    "position_scaled_twice": _Change(
        {
            "p": "p = np.arange(n)[:, np.newaxis] / factor",
            "angles": "angles = p / factor * rates  # here, too",
        },
        {"p": "p = np.arange(n)[:, np.newaxis] / factor", "angles": "angles = p * rates"},
        sizes="factor = {factor!r}\n",
    ),
    "half_precision": _Change(
        {
            "p": "p = np.cast(np.arange(n), LOW)[:, np.newaxis]  # neighbours far out become one",
            "rates": "rates = np.cast(base ** (-2 * (j // 2) / d_model), LOW)",
        },
        {"end": "table = np.cast(table, LOW)  # once, at the end"},
    ),
    "transposed": _Change(
        {"end": "table = np.transpose(table)  # (d_model, n)"},
        {"end": "# (n, d_model): a row a position"},
    ),
    "batch_axis": _Change(
        {
            "end": "x = np.zeros((2, n, d_model))  # (batch, seq_len, d_model)\n"
            "added = table[:, np.newaxis]  # (n, 1, d_model) is for x (seq_len, batch, d_model)\n"
            "table = (x + added[: x.shape[0]])[1]  # all words of sentence 1 get the code of position 1"
        },
        {
            "end": "x = np.zeros((2, n, d_model))  # (batch, seq_len, d_model)\n"
            "added = table[np.newaxis]  # (1, n, d_model)\n"
            "table = (x + added[:, : x.shape[1]])[1]  # those of sentence 1 get the codes of 0, 1, …"
        },
    ),
    "rows_shuffled": _Change(
        {"end": "table = np.shuffled(table)  # rows in another order, as of a loader that shuffles"},
        {"end": "# row p is the code of position p"},
    ),
    "random_init": _Change(
        {"end": "table = 0.02 * np.normal((n, d_model))  # the model's init drew it"},
        {"end": "# a buffer, or left out of the init: nothing is drawn"},
    ),
}
REPAIRS = tuple(_CHANGES)

# Pattern → replacement, in this order. Of np.cast, np.normal and np.shuffled each has its own way.
_SPELLED: Mapping[str, Mapping[str, str]] = {
    "NumPy": {
        r"np\.cast\((.+), LOW\)": r"(\1).astype(LOW)",
        r"\((np\.arange\(n\)|table)\)\.astype": r"\1.astype",
        r"np\.normal\(": "np.random.default_rng(0).standard_normal(",
        r"np\.shuffled\(": "np.random.default_rng(0).permutation(",
    },
    "PyTorch": {
        r"np\.cast\((.+), LOW\)": r"(\1).to(LOW)",
        r"\((np\.arange\(n\)|table)\)\.to": r"\1.to",
        r"np\.arange\((.+?)\)": r"torch.arange(\1, dtype=torch.float64)",
        r"np\.transpose\(table\)": "table.T",
        r"np\.normal\(": "torch.randn(",
        r"np\.shuffled\(table\)": "table[torch.randperm(n)]",
        r"np\.newaxis": "None",
        r"np\.(sin|cos|exp|where|zeros)\(": r"torch.\1(",
        "import numpy as np": "import torch",
    },
    "TensorFlow": {
        r"np\.arange\((.+?)\)": r"tf.range(\1, dtype=tf.float64)",
        r"np\.normal\(": "tf.random.normal(",
        r"np\.shuffled\(": "tf.random.shuffle(",
        r"np\.zeros\((.+?\))\)": r"tf.zeros(\1, tf.float64)",
        r"np\.newaxis": "tf.newaxis",
        r"np\.(sin|cos|exp|where|transpose|cast)\(": r"tf.\1(",
        "import numpy as np": "import tensorflow as tf",
    },
}
_PACKAGES = {"NumPy": "np", "PyTorch": "torch", "TensorFlow": "tf"}


class Repair(NamedTuple):
    """Code that makes a mistake, and the same code put right: framework → code."""

    before: Snippets
    after: Snippets


def repair(
    mistake: str, seq_len: int, d_model: int, *, base: float, dtype: str = "float16", factor: float = 2.0
) -> Repair:
    """Return the code of a mistake before and after it is put right; both leave ``table`` (seq_len, d_model).

    Parameters
    ----------
    mistake
        One of `REPAIRS`: those of `posenc.MISTAKES`, and the others that `posenc.identify` names.
    seq_len, d_model, base
        As in `posenc.sinusoidal`; the layout is interleaved.
    dtype
        ``"float16"`` or ``"bfloat16"``, where the mistake is to compute in it.
    factor
        What positions are divided by, where the mistake is to do so twice.
    """
    change = _CHANGES[mistake]
    head = f"{change.imports}import numpy as np\n\nn, d_model, base = {seq_len}, {d_model}, {base!r}\n"
    head += change.sizes.format(factor=factor)
    before, after = (head + "\n".join(filter(None, (_RIGHT | lines).values())) + "\n" for lines in change[:2])
    return Repair(
        {framework: _spelled(framework, before, dtype) for framework in FRAMEWORKS},
        {framework: _spelled(framework, after, dtype) for framework in FRAMEWORKS},
    )


def _spelled(framework: str, code: str, dtype: str) -> str:
    """Write the code as a framework has it."""
    for pattern, replacement in _SPELLED[framework].items():
        code = re.sub(pattern, replacement, code)
    package = _PACKAGES[framework]
    if "LOW" in code and framework == "NumPy" and dtype == "bfloat16":
        package, code = "ml_dtypes", f"import ml_dtypes  # NumPy itself has no bfloat16\n{code}"
    return code.replace("LOW", f"{package}.{dtype}")
