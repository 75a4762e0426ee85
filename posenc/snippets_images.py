"""The few lines that make the table of an image's grid and resize one; each is executed in tests.

Every snippet runs as it stands and leaves its result in ``table`` or ``resized``.
"""

from textwrap import dedent, indent

from posenc.grid import GRID_FORMS, GridForm
from posenc.resizing import Task
from posenc.snippets import Snippets

_AXES = ("y", "x")
_HEAD = {
    "NumPy": """\
import numpy as np

height, width, d_model, base = {height}, {width}, {d_model}, {base!r}
y, x = np.arange(float(height)), np.arange(float(width))
{stretched}rates = base ** (-np.arange(d_model // 4) / {divisor})  # each for sin and cos, of y and of x
shape = height, width, d_model // 4
angles_y = np.broadcast_to((y[:, None] * rates)[:, None], shape)
angles_x = np.broadcast_to(x[:, None] * rates, shape)
""",
    "PyTorch": """\
import torch

height, width, d_model, base = {height}, {width}, {d_model}, {base!r}
y, x = torch.arange(height, dtype=torch.float64), torch.arange(width, dtype=torch.float64)
{stretched}rates = base ** (-torch.arange(d_model // 4, dtype=torch.float64) / {divisor})
shape = height, width, d_model // 4
angles_y = (y[:, None] * rates)[:, None].expand(shape)
angles_x = (x[:, None] * rates).expand(shape)
""",
    "TensorFlow": """\
import math

import tensorflow as tf

height, width, d_model, base = {height}, {width}, {d_model}, {base!r}
y, x = tf.range(height, dtype=tf.float64), tf.range(width, dtype=tf.float64)
{stretched}exponents = -tf.range(d_model // 4, dtype=tf.float64) / {divisor}
rates = tf.pow(tf.constant(base, tf.float64), exponents)
shape = height, width, d_model // 4
angles_y = tf.broadcast_to((y[:, None] * rates)[:, None], shape)
angles_x = tf.broadcast_to(x[:, None] * rates, shape)
""",
}
_PI = {"NumPy": "np.pi", "PyTorch": "torch.pi", "TensorFlow": "math.pi"}
_PARTS = {
    "NumPy": "table = np.concatenate([{parts}], axis=-1)\n",
    "PyTorch": "table = torch.cat([{parts}], dim=-1)\n",
    "TensorFlow": "table = tf.concat([{parts}], axis=-1)\n",
}
_PAIRS = {
    "NumPy": """\
pairs = [np.stack([np.sin(a), np.cos(a)], axis=-1) for a in ({order})]  # interleaved
table = np.stack(pairs, axis=2)
""",
    "PyTorch": """\
pairs = [torch.stack([a.sin(), a.cos()], dim=-1) for a in ({order})]  # interleaved
table = torch.stack(pairs, dim=2)
""",
    "TensorFlow": """\
pairs = [tf.stack([tf.sin(a), tf.cos(a)], axis=-1) for a in ({order})]  # interleaved
table = tf.stack(pairs, axis=2)
""",
}
_FLAT = {
    "NumPy": "table = table.reshape(height * width, d_model)",
    "PyTorch": "table = table.reshape(height * width, d_model)",
    "TensorFlow": "table = tf.reshape(table, (height * width, d_model))",
}
_ROUNDED = {
    "NumPy": "table = table{cut}.astype(np.float32)\n",
    "PyTorch": "table = table{cut}.float()\n",
    "TensorFlow": "table = tf.cast(table{cut}, tf.float32)\n",
}
_WAVE = {"NumPy": "np.{wave}(angles_{axis})", "PyTorch": "angles_{axis}.{wave}()"}
_WAVE["TensorFlow"] = "tf.{wave}(angles_{axis})"
_LOAD = {
    "NumPy": """\
import numpy as np

height, width, d_model = {sizes}
table = np.load("table.npy")
""",
    "PyTorch": """\
import numpy as np
import torch

height, width, d_model = {sizes}
table = torch.from_numpy(np.load("table.npy"))
""",
    "TensorFlow": """\
import numpy as np
import tensorflow as tf

height, width, d_model = {sizes}
table = tf.constant(np.load("table.npy"))
""",
}
_CLASS = {  # its row is zero, as in MAE
    "NumPy": "table = np.concatenate([np.zeros((1, d_model)), table])  # class token\n",
    "PyTorch": "table = torch.cat([torch.zeros(1, d_model, dtype=torch.float64), table])  # class token\n",
    "TensorFlow": "table = tf.concat([tf.zeros((1, d_model), tf.float64), table], axis=0)  # class token\n",
}
_COPIED = {
    "NumPy": "resized = np.concatenate([table[:1], resized])\n",
    "PyTorch": "resized = torch.cat([table[:1], resized])\n",
    "TensorFlow": "resized = tf.concat([table[:1], resized], axis=0)\n",
}
_CUBIC = """\
a = {a}
w = np.where(t <= 1, ((a + 2) * t - (a + 3)) * t**2 + 1, a * (((t - 5) * t + 8) * t - 4))
w[t >= 2] = 0
"""
_LINEAR = "w = np.maximum(1 - t, 0)\n"


def grid_table(
    form: str, height: int, width: int, d_model: int, *, base: float, cells: int | None = None
) -> Snippets:
    """Return the code of the table of a grid in a form's order; ``table`` is (cells, d_model) float32.

    Parameters
    ----------
    form
        A key of `posenc.images.IMAGE_FORMS`.
    height, width, d_model, base
        As in `posenc.grid.GridForm.table`.
    cells
        How many rows are kept, if not all.
    """
    cut = "" if cells is None or cells == height * width else f"[:{cells}]"
    return {
        framework: code + _ROUNDED[framework].format(cut=cut)
        for framework, code in _exact(GRID_FORMS[form], height, width, d_model, base).items()
    }


def resized(task: Task) -> Snippets:
    """Return the code of a resized table; ``resized`` is (new cells, d_model), or a row more, float64.

    A random table is read from ``table.npy``.
    """
    (height, width), new, d_model = task.old, task.new, task.d_model
    if task.values == "random":
        sizes = f"{height}, {width}, {d_model}"
        tables = {framework: code.format(sizes=sizes) for framework, code in _LOAD.items()}
    else:
        tables = _exact(GRID_FORMS["mae"], height, width, d_model, task.base)
        if task.class_token:
            tables = {framework: code + _CLASS[framework] for framework, code in tables.items()}
        tables["TensorFlow"] = tables["TensorFlow"].replace(
            "import tensorflow", "import numpy as np\nimport tensorflow"
        )
    sizes = f"new_height, new_width = {new[0]}, {new[1]}  # the size, and never a ratio of two sizes\n"
    down = "down, across = weights(height, new_height), weights(width, new_width)\n"
    weights = f"\n\n{_weights(task.method, task.antialias)}\n\n{sizes}{down}"
    cells = "table[1:]" if task.class_token else "table"
    made = {
        "NumPy": weights
        + dedent(f"""\
            grid = {cells}.reshape(height, width, d_model)
            resized = np.einsum("ah,bw,hwd->abd", down, across, grid, optimize=True).reshape(-1, d_model)
            """),
        "PyTorch": sizes
        + dedent(f"""\
            grid = {cells}.reshape(1, height, width, d_model).permute(0, 3, 1, 2)
            resized = torch.nn.functional.interpolate(
                grid, size=(new_height, new_width), mode="{task.method}", antialias={task.antialias}
            )
            resized = resized.permute(0, 2, 3, 1).reshape(-1, d_model)
            """),
        "TensorFlow": weights
        + dedent(f"""\
            grid = tf.reshape({cells}, (height, width, d_model))
            resized = tf.reshape(tf.einsum("ah,bw,hwd->abd", down, across, grid), (-1, d_model))
            """),
    }
    copied = _COPIED if task.class_token else dict.fromkeys(made, "")
    return {framework: tables[framework] + code + copied[framework] for framework, code in made.items()}


def _exact(form: GridForm, height: int, width: int, d_model: int, base: float) -> Snippets:
    """Return the code of a table in float64, (cells, d_model)."""
    q = "(d_model // 4)" if form.freq_shift == 0 else "max(d_model // 4 - 1, 1)"
    letters = [_AXES[axis] for axis in form.axes]
    interleaved = form.grid_layout == "interleaved"
    waves = [(wave, axis) for axis in letters for wave in ("sin", "cos")]
    if form.grid_layout == "sines_first":
        waves.sort(key=lambda each: each[0] == "cos")
    found = {}
    for framework, head in _HEAD.items():
        stretched = ""
        if form.scale is not None:
            # DETR counts from 1, and the last cell of each axis stands at 2π.
            full = f"2 * {_PI[framework]}"
            stretched = f"y, x = (y + 1) / (height + 1e-6) * {full}, (x + 1) / (width + 1e-6) * {full}\n"
        code = head.format(
            height=height, width=width, d_model=d_model, base=base, divisor=q, stretched=stretched
        )
        if interleaved:
            order = ", ".join(f"angles_{axis}" for axis in letters)
            code += _PAIRS[framework].format(order=order)
        else:
            parts = ", ".join(_WAVE[framework].format(wave=wave, axis=axis) for wave, axis in waves)
            code += _PARTS[framework].format(parts=parts)
        if "math.pi" not in code:
            code = code.replace("import math\n\n", "")
        found[framework] = f"{code}{_FLAT[framework]}\n"
    return found


def _weights(method: str, antialias: bool) -> str:
    """Return the code of the kernel's weights, as PyTorch has them."""
    cubic = method == "bicubic"
    kernel = _CUBIC.format(a=-0.5 if antialias else -0.75) if cubic else _LINEAR
    if antialias:
        ends = dedent("""\
            i = np.arange(n_in)
            t = np.abs(i - x[:, None]) / max(n_in / n_out, 1)  # a wider kernel where the table gets smaller
            """)
        folded = "return w / w.sum(axis=1, keepdims=True)\n"
    else:
        ends = "i = np.arange(-2, n_in + 2)\nt = np.abs(i - x[:, None])\n"
        folded = dedent("""\
            w[:, 2] += w[:, :2].sum(axis=1)  # past an edge counts the row at the edge
            w[:, -3] += w[:, -2:].sum(axis=1)
            return w[:, 2:-2]
            """)
    lines = "x = (np.arange(n_out) + 0.5) * n_in / n_out - 0.5\n" + ends + kernel + folded
    head = "def weights(n_in, n_out):  # (n_out, n_in): how much of each old row is in each new one\n"
    return head + indent(lines, "    ")
