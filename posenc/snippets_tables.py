"""The code that puts a sinusoidal table, or one from a file, into a model; see `posenc.snippets`.

Widths need not be even: with ``freq_shift=0`` an odd one has a sine more than it has cosines, with
``freq_shift=1`` it ends in a column of zeros.
"""

from pathlib import PurePath
from textwrap import dedent, indent

from posenc.exports import NAME
from posenc.snippets import Snippets

_PAIRS = {0: "(d_model + 1) // 2", 1: "d_model // 2"}
_EXPONENTS = {0: "-2 * {i} / d_model", 1: "-{i} / max(pairs - 1, 1)"}
# Where the sines and the cosines stand. What neither fills stays zero.
_COLUMNS = {
    "interleaved": ("0 : 2 * pairs : 2", "1 : 2 * pairs : 2"),
    "sin_cos": (":pairs", "pairs : 2 * pairs"),
    "cos_sin": ("half : half + pairs", ":half"),
}
_TOO_LONG = 'raise ValueError(f"{n} positions, but max_len is {len(%s)}")'


def encoding(
    seq_len: int,
    d_model: int,
    *,
    base: float,
    layout: str,
    freq_shift: int,
    first_position: float = 0,
    scale: bool = False,
    dropout: float = 0.0,
) -> Snippets:
    """Return what adds the table to the input of a model, ready to be copied into one.

    In NumPy and JAX that is a function ``add_positions(x, table)``; in PyTorch a module whose buffer is not
    saved with the weights, in TensorFlow a Keras layer, both called ``encode``. All leave the ``table``
    (seq_len, d_model), float32.

    Parameters
    ----------
    seq_len, d_model, base, layout, freq_shift
        As in `posenc.sinusoidal`; `seq_len` is the number of rows.
    first_position
        Position of row 0: 2 for fairseq's tables without their padding row.
    scale
        Whether the input is multiplied by √d_model first, as in the paper.
    dropout
        Share of the sum's entries that training sets to zero, below 1.
    """
    size = float(abs(first_position))
    begin = (
        f" {'-' if first_position < 0 else '+'} {int(size) if size.is_integer() else size}" if size else ""
    )
    make = _numpy_table(base, layout, freq_shift, begin)
    scaled = "x = x * d_model**0.5\n" if scale else ""
    settings = f"{d_model}, max_len={seq_len}"
    keywords = f"{settings}, dropout={dropout!r}, scale={scale}"
    return {
        "NumPy": f"import numpy as np\n\n\n{make}\n\n"
        + _function("NumPy", scaled, dropout)
        + f"\n\ntable = sinusoidal({seq_len}, {d_model})\n",
        "PyTorch": _pytorch(base, layout, freq_shift, begin)
        + f"\n\nencode = SinusoidalPositions({keywords}, batch_first=True)\ntable = encode.table\n",
        "TensorFlow": f"import keras\nimport numpy as np\n\n\n{make}\n\n{_KERAS.replace('BASE', repr(base))}"
        + f"\n\nencode = SinusoidalPositions({keywords})\ntable = encode.table\n",
        "JAX": ("import jax\n" if dropout else "")
        + "import jax.numpy as jnp\nimport numpy as np\n\n\n"
        + f"{make.replace('# float64: float32 drifts', '# by NumPy in float64: float32 drifts')}\n\n"
        + _function("JAX", scaled, dropout)
        + f"\n\ntable = jnp.asarray(sinusoidal({seq_len}, {d_model}))\n",
    }


def _numpy_table(base: float, layout: str, freq_shift: int, begin: str) -> str:
    sines, cosines = _COLUMNS[layout]
    exponents = _EXPONENTS[freq_shift].format(i="np.arange(pairs)")
    return dedent(f"""\
        def sinusoidal(max_len, d_model, base={base!r}):
            pairs, half = {_PAIRS[freq_shift]}, d_model // 2  # of sines, of cosines
            rates = base ** ({exponents})
            p = np.arange(max_len)[:, np.newaxis]{begin}
            angles = p * rates  # float64: float32 drifts far out
            table = np.zeros((max_len, d_model))
            table[:, {sines}] = np.sin(angles)
            table[:, {cosines}] = np.cos(angles)[:, :half]
            return table.astype(np.float32)
        """)


def _function(framework: str, scaled: str, dropout: float) -> str:
    """Return the function that adds, of the frameworks that have no layers."""
    training = bool(dropout) and framework == "JAX"
    arguments = f"x, table, key=None, dropout={dropout!r}" if training else "x, table"
    lines = (
        "n, d_model = x.shape[-2:]\n"
        f"if n > len(table):\n    {_TOO_LONG % 'table'}\n"
        f"{scaled}x = x + table[:n].astype(x.dtype)\n"
    )
    if training:
        lines += dedent("""\
            if key is None:  # not in training
                return x
            keep = jax.random.bernoulli(key, 1 - dropout, x.shape)
            return jnp.where(keep, x / (1 - dropout), 0)
            """)
    else:
        lines += "return x\n"
    return f"def add_positions({arguments}):  # x (batch, seq_len, d_model)\n{indent(lines, '    ')}"


def _pytorch(base: float, layout: str, freq_shift: int, begin: str) -> str:
    sines, cosines = _COLUMNS[layout]
    exponents = _EXPONENTS[freq_shift].format(i="torch.arange(pairs, dtype=torch.float64)")
    return dedent(f'''\
        import torch
        from torch import nn


        class SinusoidalPositions(nn.Module):
            """Add the table to x (batch, seq_len, d_model); without batch_first the first two are swapped."""

            def __init__(self, d_model, max_len, base={base!r}, dropout=0.0, scale=False, batch_first=True):
                super().__init__()
                self.factor = d_model**0.5 if scale else 1.0
                self.batch_first = batch_first
                self.dropout = nn.Dropout(dropout)
                pairs, half = {_PAIRS[freq_shift]}, d_model // 2  # of sines, of cosines
                rates = base ** ({exponents})
                p = torch.arange(max_len, dtype=torch.float64){begin}  # float32 drifts far out
                angles = p[:, None] * rates
                table = torch.zeros(max_len, d_model, dtype=torch.float64)
                table[:, {sines}] = angles.sin()
                table[:, {cosines}] = angles.cos()[:, :half]
                # Moves with the module, but no checkpoint has it: what the formula gives need not be loaded.
                self.register_buffer("table", table.float(), persistent=False)

            def forward(self, x):
                n = x.shape[1] if self.batch_first else x.shape[0]
                if n > len(self.table):
                    {_TOO_LONG % "self.table"}
                rows = self.table[:n].to(x.dtype)
                if not self.batch_first:
                    rows = rows[:, None]  # the same row for the whole batch, not one a sentence
                return self.dropout(x * self.factor + rows)
        ''')


_KERAS = dedent('''\
    @keras.saving.register_keras_serializable()
    class SinusoidalPositions(keras.layers.Layer):
        """Add the table to x (batch, seq_len, d_model)."""

        def __init__(self, d_model, max_len, base=BASE, dropout=0.0, scale=False, **others):
            super().__init__(**others)
            self.settings = dict(d_model=d_model, max_len=max_len, base=base, dropout=dropout, scale=scale)
            self.factor = d_model**0.5 if scale else 1.0
            self.dropout = keras.layers.Dropout(dropout)
            self.table = sinusoidal(max_len, d_model, base)  # no weight: nothing to train, nothing to save

        def call(self, x, training=None):
            if (n := x.shape[1]) is not None and n > len(self.table):
                TOO_LONG
            rows = keras.ops.convert_to_tensor(self.table, x.dtype)[: keras.ops.shape(x)[1]]
            return self.dropout(x * self.factor + rows, training=training)

        def get_config(self):
            return super().get_config() | self.settings
    ''').replace("TOO_LONG", _TOO_LONG % "self.table")


def loading(file: str, name: str = NAME) -> Snippets:
    """Return the code that reads an exported table and looks rows up in it.

    It leaves the ``table`` (max_len, d_model) and ``rows`` (n, d_model), those of positions 0 … n − 1; in
    PyTorch also a module ``encode`` that adds them, and an ``embedding`` whose weights are the table.

    Parameters
    ----------
    file
        Its name; the ending says how it is read: ``.npy``, ``.npz``, ``.csv`` or ``.safetensors``.
    name
        Of the array in an ``.npz`` or ``.safetensors`` file.
    """
    packages = {"NumPy": "numpy", "PyTorch": "torch", "TensorFlow": "tensorflow", "JAX": "flax"}
    return {
        framework: _reading(framework, package, file, name) + _LOOKING_UP[framework]
        for framework, package in packages.items()
    }


# What is imported before NumPy and after it, and how an array of NumPy's becomes the framework's own.
_IMPORTS = {
    "NumPy": ("", "", "{}"),
    "PyTorch": ("", "import torch\n", "torch.from_numpy({})"),
    "TensorFlow": ("import keras\n", "import tensorflow as tf\n", "tf.constant({})"),
    "JAX": ("import jax.numpy as jnp\n", "", "jnp.asarray({})"),
}


def _reading(framework: str, package: str, file: str, name: str) -> str:
    before, after, taken_over = _IMPORTS[framework]
    ending = PurePath(file).suffix
    if ending == ".safetensors":
        imports = f"{before}{after}from safetensors.{package} import load_file\n"
        table = f"load_file({file!r})[{name!r}]"
    else:
        imports = f"{before}import numpy as np\n{after}"
        table = taken_over.format(
            {
                ".npy": f"np.load({file!r})",
                ".npz": f"np.load({file!r})[{name!r}]",
                ".csv": f'np.loadtxt({file!r}, delimiter=",", dtype=np.float32, ndmin=2)',
            }[ending]
        )
    return f"{imports}\ntable = {table}  # (max_len, d_model)\n"


_LOOKING_UP = {
    "NumPy": dedent("""\
        max_len, d_model = table.shape
        n = min(8, max_len)  # positions of a short text
        rows = table[:n]     # to be added to x (batch, n, d_model)
        """),
    "PyTorch": dedent("""\
        max_len, d_model = table.shape
        n = min(8, max_len)  # positions of a short text


        class AddPositions(torch.nn.Module):  # for a fixed table
            def __init__(self, table):
                super().__init__()
                self.register_buffer("table", table, persistent=False)  # the file keeps it

            def forward(self, x):  # (batch, seq_len, d_model)
                return x + self.table[: x.shape[1]]


        encode = AddPositions(table)
        # To look rows up by position_ids; freeze=False trains on. Index max_len is an error.
        embedding = torch.nn.Embedding.from_pretrained(table, freeze=True)
        rows = embedding(torch.arange(n))
        """),
    "TensorFlow": dedent("""\
        max_len, d_model = table.shape
        n = min(8, max_len)  # positions of a short text
        embedding = keras.layers.Embedding(max_len, d_model, trainable=False, dtype=table.dtype.name)
        embedding.build(None)
        embedding.set_weights([table])
        rows = embedding(tf.range(n))
        """),
    "JAX": dedent("""\
        max_len, d_model = table.shape
        n = min(8, max_len)  # positions of a short text
        rows = jnp.take(table, jnp.arange(n), axis=0, mode="fill")  # an index past the end gives NaN
        """),
}
