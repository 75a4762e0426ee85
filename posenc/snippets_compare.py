"""The few lines that put schemes on one chart; see `posenc.snippets`."""

from pprint import pformat
from textwrap import dedent

from posenc.registry import SCHEMES
from posenc.side_by_side import ROUNDING, Setting, arguments
from posenc.snippets import Snippets

_IMPORT = {
    "NumPy": "import numpy as np\n",
    "PyTorch": "import torch\n",
    "TensorFlow": "import tensorflow as tf\n",
}
_CURVE = {
    "NumPy": "np.array([scores.diagonal(-k).mean() for k in range(n)])",
    "PyTorch": "torch.stack([torch.from_numpy(scores).diagonal(-k).mean() for k in range(n)])",
    "TensorFlow": "tf.stack([tf.reduce_mean(tf.linalg.diag_part(scores, k=-k)) for k in range(n)])",
}
_LARGEST = {
    "NumPy": "np.abs({}).max()",
    "PyTorch": "{}.abs().max()",
    "TensorFlow": "tf.reduce_max(tf.abs({}))",
}
_STACK = {"NumPy": "np.stack", "PyTorch": "torch.stack", "TensorFlow": "tf.stack"}


def compare(names: list[str], setting: Setting, scale: str) -> Snippets:
    """Return the code of the curves of these schemes; the result is ``result`` (schemes, n), float64."""
    chosen = {}
    for name in names:
        _, line, size, options = arguments(name, setting)
        chosen[name] = line, size, options, setting.head if SCHEMES[name].kind == "bias" else 0
    return {
        framework: _code(framework, pformat(chosen, width=96, sort_dicts=False), setting.n, scale)
        for framework in _IMPORT
    }


def _code(framework: str, chosen: str, n: int, scale: str) -> str:
    made = dedent(f"""\
        for name, (places, size, options, head) in chosen.items():
            scores = position_scores(name, places, size, **options)[head]  # (n, n): query, key
            curve = {_CURVE[framework]}  # the key k back
        """)
    if scale == "change":
        largest = _LARGEST[framework]
        made += (
            "    change = curve - curve[0]\n"
            f"    largest = {largest.format('change')}\n"
            f"    rounding = {ROUNDING!r} * {largest.format('curve')}\n"
            "    curves.append(change / largest if largest > rounding else 0 * curve)\n"
        )
    else:
        made += "    curves.append(curve)\n"
    return (
        _IMPORT[framework]
        + "\nfrom posenc.registry import position_scores\n\n"
        + "# places, d_model or head_dim or n_heads, options, and the head that is read\n"
        + f"chosen = {chosen}\nn, curves = {n}, []\n{made}result = {_STACK[framework]}(curves)\n"
    )
