"""The few lines behind each of the sentences on the page of myths; each is executed in tests.

Every snippet runs as it stands and leaves its result in ``curve``.
"""

from collections.abc import Mapping, Sequence

from posenc.snippets import FRAMEWORKS, Snippets

_HEAD = {
    "NumPy": """\
import numpy as np

d_model, base = {d_model}, {base!r}
rates = base ** (-np.arange(0, d_model, 2) / d_model)  # radians per position, one a pair
""",
    "PyTorch": """\
import torch
{import_numpy}
d_model, base = {d_model}, {base!r}
rates = base ** (-torch.arange(0, d_model, 2, dtype=torch.float64) / d_model)
""",
    "TensorFlow": """\
import tensorflow as tf
{import_numpy}
d_model, base = {d_model}, {base!r}
rates = tf.pow(tf.constant(base, tf.float64), -tf.range(0, d_model, 2, dtype=tf.float64) / d_model)
""",
}
_LOAD = {
    "NumPy": 'np.load("{file}")',
    "PyTorch": 'torch.from_numpy(np.load("{file}"))',
    "TensorFlow": 'tf.constant(np.load("{file}"))',
}
_RANGE = {
    "NumPy": "np.arange({n}.0)",
    "PyTorch": "torch.arange({n}, dtype=torch.float64)",
    "TensorFlow": "tf.range({n}, dtype=tf.float64)",
}
_COSINES = {
    "NumPy": "curve = {weight}np.cos(np.outer({over}, {rates})).{reduce}(axis=1)\n",
    "PyTorch": "curve = {weight}torch.outer({over}, {rates}).cos().{reduce}(dim=1)\n",
    "TensorFlow": "curve = {weight}tf.reduce_{reduce}(tf.cos({over}[:, None] * {rates}), axis=1)\n",
}
_TABLE = {
    "NumPy": """\
angles = np.outer(np.arange({n}.0), rates)
table = np.hstack([np.sin(angles), np.cos(angles)[:, : d_model // 2]])  # the order makes no difference
""",
    "PyTorch": """\
angles = torch.outer(torch.arange({n}, dtype=torch.float64), rates)
table = torch.hstack([angles.sin(), angles.cos()[:, : d_model // 2]])
""",
    "TensorFlow": """\
angles = tf.range({n}, dtype=tf.float64)[:, None] * rates
table = tf.concat([tf.sin(angles), tf.cos(angles)[:, : d_model // 2]], axis=1)
""",
}
_NORM = {
    "NumPy": "curve = np.linalg.norm(table, axis=1)\n",
    "PyTorch": "curve = torch.linalg.norm(table, dim=1)\n",
    "TensorFlow": "curve = tf.norm(table, axis=1)\n",
}
_RATIO = {
    "NumPy": """\
ratio = np.sqrt((words**2).mean() / (table**2).mean())
curve = np.array([ratio, ratio * np.sqrt(d_model)])  # as it is, and times √d_model
""",
    "PyTorch": """\
ratio = ((words**2).mean() / (table**2).mean()).sqrt()
curve = torch.stack([ratio, ratio * d_model**0.5])
""",
    "TensorFlow": """\
ratio = tf.sqrt(tf.reduce_mean(words**2) / tf.reduce_mean(table**2))
curve = tf.stack([ratio, ratio * d_model**0.5])
""",
}
_SHARE = {
    "NumPy": """\
scores = (words * np.sqrt(d_model) + table) @ table.T
curve = (scores.argmax(axis=1) == np.arange(len(table))).mean(keepdims=True)
""",
    "PyTorch": """\
scores = (words * d_model**0.5 + table) @ table.T
curve = (scores.argmax(dim=1) == torch.arange(len(table))).double().mean(dim=0, keepdim=True)
""",
    "TensorFlow": """\
scores = tf.matmul(words * d_model**0.5 + table, table, transpose_b=True)
found = tf.equal(tf.argmax(scores, axis=1), tf.range(len(table), dtype=tf.int64))
curve = tf.reduce_mean(tf.cast(found, tf.float64), keepdims=True)
""",
}
_LIST = {
    "NumPy": "import numpy as np\n\ncurve = np.array({values})",
    "PyTorch": "import torch\n\ncurve = torch.tensor({values}, dtype=torch.float64)",
    "TensorFlow": "import tensorflow as tf\n\ncurve = tf.constant({values}, tf.float64)",
}


def myth(
    name: str, d_model: int, *, base: float, count: int, published: Sequence[float] = (), head_dim: int = 64
) -> Snippets:
    """Return the code behind one myth; the result is called ``curve``.

    Parameters
    ----------
    name
        A key of `posenc.myths.MYTHS`.
    d_model, base
        Of the sinusoid.
    count
        How many positions or offsets there are.
    published
        The numbers of a paper, where the evidence is one.
    head_dim
        Of the query and the key, where these are rotated.
    """
    return {
        framework: _code(framework, name, d_model, base, count, published, head_dim)
        for framework in FRAMEWORKS
    }


def _code(
    framework: str,
    name: str,
    d_model: int,
    base: float,
    count: int,
    published: Sequence[float],
    head_dim: int,
) -> str:
    if name == "extrapolates":
        values = [float(value) for value in published]
        return _LIST[framework].format(values=values) + "  # Press et al. 2022, table 2\n"
    reads = name in ("repeats", "scale", "add")
    width = head_dim if name == "rope_decays" else d_model
    if name in ("repeats", "steady"):
        width = max(width, 2)  # width 1 has no pair
    load = "import numpy as np\n" if reads and framework != "NumPy" else ""
    head = _HEAD[framework].format(d_model=width, base=base, import_numpy=load)
    whole = "rates" if d_model % 2 == 0 or name == "rope_decays" else "rates[: d_model // 2]"
    over = _RANGE[framework].format(n=count)
    if name == "fast_end":
        return head + "curve = rates\n"
    if name in ("scale", "add"):
        words = f"words = {_LOAD[framework].format(file='words.npy')}\n"
        ends: Mapping[str, str] = _RATIO if name == "scale" else _SHARE
        return head + words + _TABLE[framework].format(n=count) + ends[framework]
    if name == "row_zero":
        return head + _TABLE[framework].format(n=count) + _NORM[framework]
    if name == "repeats":
        over = _LOAD[framework].format(file="offsets.npy")
    places = f"offsets = {over}\n"
    reduce = "sum" if name in ("alternate", "rope_decays") else "mean"
    weight = "2 * " if name == "rope_decays" else ""  # q = k = 1: |q_i|·|k_i| = 2 in each pair
    line = _COSINES[framework].format(weight=weight, over="offsets", rates=whole, reduce=reduce)
    return head + places + line
