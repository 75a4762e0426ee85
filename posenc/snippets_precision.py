"""The few lines that make the scores of the page on rounding; see `posenc.snippets`."""

from textwrap import dedent

from posenc.snippets import Snippets

_IMPORTS = {
    "NumPy": "import numpy as np\n",
    "PyTorch": "import torch\n",
    "TensorFlow": "import tensorflow as tf\n",
}
_DTYPE = {"NumPy": "np.{}", "PyTorch": "torch.{}", "TensorFlow": "tf.{}"}
# How each framework writes the two steps of the formula, float64 throughout, and a change of dtype.
_STEPS = {
    "NumPy": dedent("""\
        p = np.arange(first, first + n, dtype=np.float64)
        omega = base ** (-np.arange(0, {width}, 2) / {width})  # one rate a pair
        """),
    "PyTorch": dedent("""\
        p = torch.arange(first, first + n, dtype=torch.float64)
        omega = base ** (-torch.arange(0, {width}, 2, dtype=torch.float64) / {width})
        """),
    "TensorFlow": dedent("""\
        p = tf.range(first, first + n, dtype=tf.float64)
        omega = tf.pow(tf.constant(base, tf.float64), -tf.range(0, {width}, 2, dtype=tf.float64) / {width})
        """),
}
# All three frameworks do so; where the float32 is half-way between two numbers, its own rounding is lost.
_BY_WAY = "  # by way of float32: one in 131,072 ends a gap away\n"
_CAST = {"NumPy": "{0}.astype({1})", "PyTorch": "{0}.to({1})", "TensorFlow": "tf.cast({0}, {1})"}
_COLUMN = {"NumPy": "p[:, np.newaxis]", "PyTorch": "p[:, None]", "TensorFlow": "p[:, tf.newaxis]"}
_WAVES = {
    "NumPy": "np.sin(angles), np.cos(angles)",
    "PyTorch": "angles.sin(), angles.cos()",
    "TensorFlow": "tf.sin(angles), tf.cos(angles)",
}
_SCORES = {
    "NumPy": "matrix = (cos @ cos.T + sin @ sin.T) / len(omega)  # (n, n), float64\n",
    "PyTorch": "matrix = (cos @ cos.T + sin @ sin.T) / len(omega)  # (n, n), float64\n",
    "TensorFlow": dedent("""\
        scores = tf.matmul(cos, cos, transpose_b=True) + tf.matmul(sin, sin, transpose_b=True)
        matrix = scores / omega.shape[0]  # (n, n), float64
        """),
}


def precision(
    first: int, n: int, width: int, dtype: str, stage: str, *, base: float, name: str = "d_model"
) -> Snippets:
    """Return the code of the scores of n positions with rounding: ``matrix`` (n, n), float64.

    Parameters
    ----------
    first, n
        The positions first … first + n − 1.
    width, name
        Of the encoding, and what the code calls it: ``d_model`` or ``head_dim``.
    dtype, stage
        The format, and what is rounded to it, as in `posenc.precision`.
    """
    return {framework: _code(framework, first, n, width, dtype, stage, base, name) for framework in _STEPS}


def _code(
    framework: str, first: int, n: int, width: int, dtype: str, stage: str, base: float, name: str
) -> str:
    low, high = (_DTYPE[framework].format(each) for each in (dtype, "float64"))
    imports = _IMPORTS[framework]
    if framework == "NumPy" and dtype == "bfloat16":
        low, imports = "ml_dtypes.bfloat16", f"import ml_dtypes  # NumPy itself has no bfloat16\n{imports}"

    def cast(value: str, to: str) -> str:
        return _CAST[framework].format(value, to)

    def there_and_back(value: str) -> str:
        return f"{value} = {cast(cast(value, 'dtype'), high)}"

    before, after = {
        "chain": (f"p, omega = {cast('p', 'dtype')}, {cast('omega', 'dtype')}\n", ""),
        "position": (there_and_back("p") + "\n", ""),
        "angle": ("", there_and_back("angles") + (_BY_WAY if dtype == "bfloat16" else "\n")),
        "table": ("", ""),
    }[stage]
    waves = {
        "chain": f"sin, cos = {cast('sin', high)}, {cast('cos', high)}  # the sums are exact\n",
        "table": f"{there_and_back('sin')}\n{there_and_back('cos')}\n",
    }.get(stage, "")
    return (
        f"{imports}\nfirst, n, {name}, base = {first}, {n}, {width}, {base!r}\ndtype = {low}\n"
        + _STEPS[framework].format(width=name)
        + before
        + f"angles = {_COLUMN[framework]} * omega  # (n, {-(-width // 2)})\n"
        + after
        + f"sin, cos = {_WAVES[framework]}\n"
        + waves
        + _SCORES[framework]
    )
