"""The few lines that make what a page shows, for NumPy, PyTorch and TensorFlow; each is executed in tests.

Every snippet runs as it stands and leaves its result in the variable that the page names.
"""

from textwrap import dedent

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
