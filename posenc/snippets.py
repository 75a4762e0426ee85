"""The few lines that make what a page shows, for NumPy, PyTorch and TensorFlow; each is executed in tests.

Every snippet runs as it stands and leaves its result in the variable that the page names.
"""

from collections.abc import Sequence
from pprint import pformat
from textwrap import dedent

from posenc.picks import Pick

FRAMEWORKS = ("NumPy", "PyTorch", "TensorFlow")
Snippets = dict[str, str]


def sinusoidal(seq_len: int, d_model: int, *, base: float, layout: str) -> Snippets:
    """Return the code of a sinusoidal table; the result is called ``table`` (seq_len, d_model), float32."""
    sizes = f"seq_len, d_model, base = {seq_len}, {d_model}, {base!r}"
    return {
        "NumPy": dedent(f"""\
            import numpy as np

            {sizes}
            positions = np.arange(seq_len)[:, np.newaxis]               # (seq_len, 1)
            inv_freq = base ** (-np.arange(0, d_model, 2) / d_model)    # one rate a pair of columns
            angles = positions * inv_freq                               # float64: float32 drifts far out
            sin, cos = np.sin(angles), np.cos(angles)[:, : d_model // 2]
            """)
        + _NUMPY_LAYOUT[layout]
        + "table = table.astype(np.float32)\n",
        "PyTorch": dedent(f"""\
            import torch

            {sizes}
            positions = torch.arange(seq_len, dtype=torch.float64)[:, None]
            inv_freq = base ** (-torch.arange(0, d_model, 2, dtype=torch.float64) / d_model)
            angles = positions * inv_freq
            sin, cos = angles.sin(), angles.cos()[:, : d_model // 2]
            """)
        + _PYTORCH_LAYOUT[layout]
        + "table = table.float()\n",
        "TensorFlow": dedent(f"""\
            import tensorflow as tf

            {sizes}
            positions = tf.range(seq_len, dtype=tf.float64)[:, tf.newaxis]
            exponents = -tf.range(0, d_model, 2, dtype=tf.float64) / d_model
            angles = positions * tf.pow(tf.constant(base, tf.float64), exponents)
            sin, cos = tf.sin(angles), tf.cos(angles)[:, : d_model // 2]
            """)
        + _tensorflow_layout(layout, d_model)
        + "table = tf.cast(table, tf.float32)\n",
    }


def order(first: str, second: str, positions: str, *, base: float, layout: str) -> Snippets:
    """Return the code of one attention step on two orders; the result is ``outputs`` (2, n, 384), float64.

    `positions` (``"none"``, ``"learned"`` or ``"sinusoidal"``) says which step is on screen; the other is
    computed beside it, to compare.
    """
    chosen = "without_positions" if positions == "none" else "with_positions"
    imports, making, table = "", "", ""
    if positions == "sinusoidal":
        imports = "from posenc import sinusoidal\n"
        making = f'table = sinusoidal(words.shape[1], 384, base={base!r}, layout="{layout}")\n'
        table = ", table=table"
    data = (
        imports
        + "from posenc.sentence import first_layer_input, prepared\n\n"
        + dedent(f"""\
            # The word vectors of E5 come with posenc, and its LayerNorm(word + token type [+ position]).
            sentences = {{each.text: each.vectors for each in prepared("me5_small")}}
            words = np.stack([sentences["{first}"], sentences["{second}"]])  # (2, n, 384)
            """)
        + making
        + dedent(f"""\
            x_without = first_layer_input("me5_small", words, positions=False)
            x_with = first_layer_input("me5_small", words{table})
            """)
    )
    return {
        "NumPy": "import numpy as np\n"
        + data
        + dedent(f"""\


            def attention(x):
                scores = x @ x.swapaxes(1, 2) / np.sqrt(x.shape[2])         # (2, n, n): Q = K = V = x
                weights = np.exp(scores - scores.max(axis=2, keepdims=True))
                return weights / weights.sum(axis=2, keepdims=True) @ x     # (2, n, 384)


            without_positions, with_positions = attention(x_without), attention(x_with)
            outputs = {chosen}
            """),
        "PyTorch": "import numpy as np\nimport torch\n"
        + data
        + dedent(f"""\


            def attention(x):
                x = torch.from_numpy(x)
                return torch.nn.functional.scaled_dot_product_attention(x, x, x)  # (2, n, 384): Q = K = V = x


            without_positions, with_positions = attention(x_without), attention(x_with)
            outputs = {chosen}
            """),
        "TensorFlow": "import numpy as np\nimport tensorflow as tf\n"
        + data
        + dedent(f"""\


            def attention(x):
                x = tf.constant(x)
                scores = tf.matmul(x, x, transpose_b=True) / x.shape[2] ** 0.5  # (2, n, n): Q = K = V = x
                return tf.matmul(tf.nn.softmax(scores), x)                      # (2, n, 384)


            without_positions, with_positions = attention(x_without), attention(x_with)
            outputs = {chosen}
            """),
    }


_NUMPY_LAYOUT = {
    "interleaved": dedent("""\
        table = np.empty((seq_len, d_model))
        table[:, 0::2], table[:, 1::2] = sin, cos
        """),
    "sin_cos": "table = np.concatenate([sin, cos], axis=1)\n",
    "cos_sin": "table = np.concatenate([cos, sin], axis=1)\n",
}
_PYTORCH_LAYOUT = {
    "interleaved": dedent("""\
        table = torch.empty(seq_len, d_model, dtype=torch.float64)
        table[:, 0::2], table[:, 1::2] = sin, cos
        """),
    "sin_cos": "table = torch.cat([sin, cos], dim=1)\n",
    "cos_sin": "table = torch.cat([cos, sin], dim=1)\n",
}


def _tensorflow_layout(layout: str, d_model: int) -> str:
    if layout != "interleaved":
        return f"table = tf.concat([{layout.replace('_', ', ')}], axis=1)\n"
    if d_model % 2:  # tensors cannot be assigned into: give the last sine a partner, then cut it off
        return dedent("""\
            cos = tf.pad(cos, [[0, 0], [0, 1]])
            table = tf.reshape(tf.stack([sin, cos], axis=2), [seq_len, d_model + 1])[:, :d_model]
            """)
    return "table = tf.reshape(tf.stack([sin, cos], axis=2), [seq_len, d_model])\n"


def fixed_vs_learned(file: str) -> Snippets:
    """Return the code that reads a downloaded table; it leaves ``cosine`` (n, n) and ``by_offset`` (n,)."""
    return {
        "NumPy": dedent(f"""\
            import numpy as np

            table = np.load("{file}")                         # the file that the button below saves
            max_len, d_model = table.shape
            rows = table.astype(np.float64)
            rows /= np.linalg.norm(rows, axis=1, keepdims=True)
            cosine = rows @ rows.T                            # (max_len, max_len)
            by_offset = np.array([cosine.diagonal(k).mean() for k in range(max_len)])
            """),
        "PyTorch": dedent(f"""\
            import numpy as np
            import torch

            table = torch.from_numpy(np.load("{file}"))       # the file that the button below saves
            embedding = torch.nn.Embedding.from_pretrained(table, freeze=True)  # False: train on
            max_len = embedding.num_embeddings
            rows = embedding(torch.arange(max_len))           # index max_len would raise IndexError
            rows = torch.nn.functional.normalize(rows.double(), dim=1)
            cosine = rows @ rows.T                            # (max_len, max_len)
            by_offset = torch.stack([cosine.diagonal(k).mean() for k in range(max_len)])
            """),
        "TensorFlow": dedent(f"""\
            import numpy as np
            import tensorflow as tf

            table = np.load("{file}")                         # the file that the button below saves
            max_len, d_model = table.shape
            embedding = tf.keras.layers.Embedding(max_len, d_model, trainable=False)  # True: train on
            embedding.build(None)
            embedding.set_weights([table])
            rows = tf.cast(embedding(tf.range(max_len)), tf.float64)
            rows = tf.math.l2_normalize(rows, axis=1, epsilon=0.0)
            cosine = tf.matmul(rows, rows, transpose_b=True)  # (max_len, max_len)
            by_offset = tf.stack([tf.reduce_mean(tf.linalg.diag_part(cosine, k=k)) for k in range(max_len)])
            """),
    }


def sentence(
    pieces: Sequence[str],
    d_model: int,
    *,
    base: float,
    layout: str,
    file: str | None = None,
    scale: bool = False,
    dropout: float = 0.0,
    training: bool = False,
    seed: int = 0,
) -> Snippets:
    """Return the code from pieces to the first layer's input; it leaves ``x`` (1, seq_len, d_model), float32.

    With `file` the embedding rows are read from it; without, each piece gets its seeded vector.
    """
    table = sinusoidal(len(pieces), d_model, base=base, layout=layout)
    vectors = f'np.load("{file}")' if file else "np.array([vector(piece) for piece in pieces], np.float32)"
    making = "" if file else _seeded(pieces)
    scaled = "vectors * d_model**0.5" if scale else "vectors"
    dice = f"np.random.default_rng({seed}).random((1, seq_len, d_model)) >= {dropout!r}"
    others = "# the framework's own dropout layer does the same with other dice\n"
    kept = f"x / (1 - {dropout!r})"
    steps = {
        "NumPy": (
            f"vectors = {vectors}",
            "x = x[np.newaxis]",
            f"x = np.where({dice}, {kept}, 0)\n",
        ),
        "PyTorch": (
            f"vectors = torch.from_numpy({vectors})",
            "x = x.unsqueeze(0)",
            f"{others}keep = torch.from_numpy({dice})\nx = torch.where(keep, {kept}, 0.0)\n",
        ),
        "TensorFlow": (
            f"vectors = tf.constant({vectors})",
            "x = x[tf.newaxis]",
            f"{others}x = tf.where({dice}, {kept}, 0.0)\n",
        ),
    }
    return {
        framework: _with_numpy(table[framework])
        + f"\n{making}{read}  # (seq_len, d_model)\n"
        + f"x = {scaled} + table\n{batch}  # (1, seq_len, d_model)\n"
        + (drop if training and dropout else "# in evaluation dropout does nothing\n")
        for framework, (read, batch, drop) in steps.items()
    }


def _with_numpy(code: str) -> str:
    """Import NumPy as well: the vectors come from it, whatever the framework."""
    return code if "import numpy" in code else f"import numpy as np\n{code}"


def _seeded(pieces: Sequence[str]) -> str:
    lines = dedent("""\
        import hashlib


        def vector(piece):  # a stand-in for a trained embedding: the same piece, the same N(0, 1/d_model)
            digest = hashlib.sha256(f"0:{piece}".encode()).digest()
            return np.random.default_rng(int.from_bytes(digest)).standard_normal(d_model) / d_model**0.5


        """)
    return f"{lines}pieces = {pformat(list(pieces), width=100, compact=True)}\n"


def similarity(chosen: Pick, measure: str) -> Snippets:
    """Return the code of a similarity matrix of a table; the result is ``matrix`` (n, n), float64."""
    if chosen.name == "sinusoid":
        code = sinusoidal(chosen.rows, chosen.d_model, base=chosen.base, layout=chosen.layout)
        # Without the last line, which rounds to float32.
        tables = {framework: lines[: lines.rindex("table = ")] for framework, lines in code.items()}
    else:
        tables = _made(*_call(chosen))
    return {framework: table + "\n" + _MEASURES[framework][measure] for framework, table in tables.items()}


def _call(chosen: Pick) -> tuple[str, str]:
    """Return the import and the call that make a table of ours."""
    if chosen.kind == "scheme":
        places, _, size, options = chosen.arguments
        given = [f'"{chosen.name}"', repr(places), str(size), *(f"{key}={options[key]!r}" for key in options)]
        return "from posenc.scheme_tables import scheme_table", f"scheme_table({', '.join(given)})"
    if chosen.kind == "own":
        return "from numpy import load", f'load("{chosen.name}.npy")'
    if chosen.kind == "random":
        return "from posenc.learned import random_init", f"random_init({chosen.rows}, {chosen.d_model})"
    return "from posenc.learned import load", f'load("{chosen.name}")'


def _made(line: str, call: str) -> Snippets:
    """Return the code of a table of ours, ``table`` (n, d_model), float64."""
    return {
        "NumPy": f"import numpy as np\n\n{line}\n\ntable = {call}.astype(np.float64)\n",
        "PyTorch": f"import torch\n\n{line}\n\ntable = torch.tensor({call}, dtype=torch.float64)\n",
        "TensorFlow": f"import tensorflow as tf\n\n{line}\n\ntable = tf.cast({call}, tf.float64)\n",
    }


_MEASURES = {
    "NumPy": {
        "dot": "matrix = table @ table.T\n",
        "cosine": dedent("""\
            unit = table / np.linalg.norm(table, axis=1, keepdims=True)
            matrix = unit @ unit.T
            """),
        "distance": "matrix = np.stack([np.linalg.norm(table - row, axis=1) for row in table])\n",
    },
    "PyTorch": {
        "dot": "matrix = table @ table.T\n",
        "cosine": dedent("""\
            unit = table / table.norm(dim=1, keepdim=True)
            matrix = unit @ unit.T
            """),
        "distance": "matrix = torch.stack([(table - row).norm(dim=1) for row in table])\n",
    },
    "TensorFlow": {
        "dot": "matrix = tf.matmul(table, table, transpose_b=True)\n",
        "cosine": dedent("""\
            unit = table / tf.norm(table, axis=1, keepdims=True)
            matrix = tf.matmul(unit, unit, transpose_b=True)
            """),
        "distance": "matrix = tf.stack([tf.norm(table - row, axis=1) for row in table])\n",
    },
}
