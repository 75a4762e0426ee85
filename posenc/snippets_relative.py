"""The few lines that make rotary scores, a bias and its weights; see `posenc.snippets`.

They are written once, in NumPy, and spelled as the other frameworks have it.
"""

import re
from textwrap import dedent

from posenc.bias import alibi_slopes, fire_network, sandwich_ratios
from posenc.parameters import BUCKET_SIZE, LEFT, MAX_DISTANCE, MAX_POSITION, NUM_BUCKETS, RIGHT
from posenc.profiles import kerple_start
from posenc.snippets import Snippets

# Pattern → replacement, in this order. What no pattern names is the same everywhere.
_PYTORCH = {
    r"import numpy as np": "import numpy as np\nimport torch",
    r"np\.ones\((\d+)\)": r"torch.ones(\1, dtype=torch.float64)",
    r"np\.array\((.+?\])\)": r"torch.tensor(\1, dtype=torch.float64)",
    r"= (np\.(random|load)[^#\n]+)(?=  #|\n)": r"= torch.from_numpy(\1)",
    r"np\.arange\((.+?), dtype=float\)": r"torch.arange(\1, dtype=torch.float64)",
    r"np\.newaxis": "None",
    r"np\.concatenate\((.+), axis=1\)": r"torch.cat(\1, dim=1)",
    r"np\.stack\((.+), axis=2\)": r"torch.stack(\1, dim=2)",
    r"\.astype\(int\)": ".long()",
    r"np\.exp\(masked .+\n.+": "torch.softmax(masked, dim=1)",
    r"np\.(abs|ceil|clip|cos|floor|log|log1p|sign|sin|stack|where|zeros_like)\(": r"torch.\1(",
}
_TENSORFLOW = {
    r"import numpy as np": "import numpy as np\nimport tensorflow as tf",
    r"np\.ones\((\d+)\)": r"tf.ones(\1, tf.float64)",
    r"np\.array\((.+?\])\)": r"tf.constant(\1, tf.float64)",
    r"= (np\.(random|load)[^#\n]+)(?=  #|\n)": r"= tf.constant(\1)",
    r"np\.arange\((.+?), dtype=float\)": r"tf.range(\1, dtype=tf.float64)",
    r"np\.newaxis": "tf.newaxis",
    r"positions\.T": "tf.transpose(positions)",
    r"rotate\(q\) @ rotate\(k\)\.T": "tf.matmul(rotate(q), rotate(k), transpose_b=True)",
    r"np\.concatenate\(": "tf.concat(",
    r"np\.stack\((.+, axis=2)\)\.reshape\((.+)\)": r"tf.reshape(tf.stack(\1), [\2])",
    r"table\[(.+)\.astype\(int\)\]": r"tf.gather(table, tf.cast(\1, tf.int32))",
    r"np\.exp\(masked .+\n.+": "tf.nn.softmax(masked)",
    r"np\.clip\(": "tf.clip_by_value(",
    r"np\.(ceil|log|log1p)\(": r"tf.math.\1(",
    r"np\.(abs|cos|floor|sign|sin|stack|where|zeros_like)\(": r"tf.\1(",
}


def relative(
    vectors: str,
    head_dim: int,
    pairs: str,
    bias: str,
    n_heads: int,
    head: int,
    seq_len: int,
    *,
    causal: bool,
    base: float,
    seed: int,
) -> Snippets:
    """Return the code of rotary scores, a bias and its weights; ``result`` is (3, seq_len, seq_len), float64.

    What is learned is read from the files of `posenc.weights.drawn_values`.
    """
    given = {
        "worked": "np.array([[1.0, 2.0, 3.0, 4.0], [4.0, 3.0, 2.0, 1.0]])",
        "ones": f"np.ones({head_dim}), np.ones({head_dim})",
        "gaussian": f"np.random.default_rng({seed}).standard_normal((2, {head_dim}))",
    }
    code = dedent(f"""\
        import math

        import numpy as np

        seq_len, base = {seq_len}, {base!r}
        q, k = {given[vectors]}
        d = len(q)
        rates = base ** -(np.arange(0, d, 2, dtype=float) / d)  # (d/2,) rad per position
        positions = np.arange(seq_len, dtype=float)[:, np.newaxis]  # (seq_len, 1)
        cos, sin = np.cos(positions * rates), np.sin(positions * rates)

        """)
    code += _ROTATE[pairs] + dedent("""\

        scores = rotate(q) @ rotate(k).T  # (seq_len, seq_len): query, key

        offsets = positions - positions.T  # of the query from the key
        """)
    code += _bias(bias, n_heads, head, causal, seed)
    code += "masked = np.where(offsets >= 0, bias, -np.inf)\n" if causal else "masked = bias  # no mask\n"
    code += dedent("""\
        weights = np.exp(masked - masked.max(axis=1, keepdims=True))
        weights = weights / weights.sum(axis=1, keepdims=True)
        result = np.stack([scores, bias, weights])
        """)
    if "math." not in code:
        code = code.removeprefix("import math\n\n")
    return {"NumPy": code, "PyTorch": _spell(code, _PYTORCH), "TensorFlow": _spell(code, _TENSORFLOW)}


def _spell(code: str, spelling: dict[str, str]) -> str:
    for pattern, replacement in spelling.items():
        code = re.sub(pattern, replacement, code)
    return code


_ROTATE = {
    "half_split": dedent("""\

        def rotate(x):  # the same vector at every position; feature i pairs with i + d/2
            a, b = x[: d // 2], x[d // 2 :]
            turned = a * cos - b * sin, b * cos + a * sin
            return np.concatenate(turned, axis=1)

        """),
    "adjacent": dedent("""\

        def rotate(x):  # the same vector at every position; feature 2i pairs with 2i + 1
            a, b = x[0::2], x[1::2]
            turned = a * cos - b * sin, b * cos + a * sin
            return np.stack(turned, axis=2).reshape(seq_len, d)

        """),
}


def _bias(bias: str, n_heads: int, head: int, causal: bool, seed: int) -> str:
    """Return the lines that leave ``bias`` (seq_len, seq_len) of one head."""
    if bias == "alibi":
        return f"bias = {-float(alibi_slopes(n_heads)[head])!r} * np.abs(offsets)\n"
    if bias.startswith("kerple"):
        r1, r2 = (float(r[head]) for r in kerple_start(n_heads, bias.removeprefix("kerple_")))
        power = f"np.abs(offsets) ** {r2!r}"
        return (
            f"bias = {-r1!r} * {f'np.log1p({r2!r} * np.abs(offsets))' if bias == 'kerple_log' else power}\n"
        )
    if bias == "sandwich":
        ratio = float(sandwich_ratios(n_heads)[head])
        return dedent(f"""\
            bias = np.zeros_like(offsets)
            for i in range(1, 65):  # 128 dimensions, whatever the model's width
                bias = bias + (np.cos(offsets / base ** (2 * i / 128)) - 1) / {ratio!r}
            """)
    if bias == "t5":
        return _t5(causal)
    if bias == "shaw":
        return dedent(f"""\
            table = np.load("shaw.npy")  # a number for each row of the learned table
            row = np.clip(-offsets, -{LEFT.default}, {RIGHT.default}) + {LEFT.default}
            bias = table[row.astype(int)]
            """)
    if bias == "deberta":
        size, middle, last = BUCKET_SIZE.default, BUCKET_SIZE.default // 2, MAX_POSITION.default - 1
        return dedent(f"""\
            table = np.load("deberta.npy")  # a number for each relative embedding
            far = np.clip(np.abs(offsets), {middle}, {last})
            wide = {middle} + np.ceil(np.log(far / {middle}) / math.log({last} / {middle}) * {middle - 1})
            bucket = np.where(np.abs(offsets) <= {middle}, offsets, np.sign(offsets) * wide)
            row = np.clip(bucket + {size}, 0, {2 * size - 1})
            bias = table[row.astype(int)]
            """)
    if bias == "fire":
        return dedent(f"""\
            network = np.load("fire.npy")  # w1, b1, w2: (3, hidden)
            longest = np.clip(positions, 512, seq_len + 512)
            x = np.log1p(0.1 * np.abs(offsets)) / np.log1p(0.1 * longest)
            bias = np.zeros_like(offsets) + {float(fire_network(n_heads, seed=seed).b2[head])!r}
            for i in range(network.shape[1]):  # one hidden unit after the other
                bias = bias + network[2, i] * np.clip(network[0, i] * x + network[1, i], 0, math.inf)
            """)
    return "bias = np.zeros_like(offsets)  # no positional encoding\n"


def _t5(causal: bool) -> str:
    n = NUM_BUCKETS.default if causal else NUM_BUCKETS.default // 2
    exact = n // 2
    distance = "np.clip(offsets, 0, seq_len)" if causal else "np.abs(offsets)"
    side = "" if causal else f"bucket = np.where(offsets < 0, bucket + {n}, bucket)\n        "
    per_step = f"math.log({MAX_DISTANCE.default} / {exact}) * {n - exact}"
    return dedent(f"""\
        table = np.load("t5.npy")  # a bias for each bucket
        distance = {distance}
        far = np.clip(distance, {exact}, seq_len + {exact})
        wide = {exact} + np.floor(np.log(far / {exact}) / {per_step})
        bucket = np.where(distance < {exact}, distance, np.clip(wide, 0, {n - 1}))
        {side}bias = table[bucket.astype(int)]
        """)
