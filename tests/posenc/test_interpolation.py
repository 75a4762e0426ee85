"""Resampled tables against PyTorch's numbers, scalar loops, and what holds for any kernel."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from posenc.interpolation import SquareGrid, resize, resize_grid, square_grid, taps
from posenc.learned import load
from posenc.windows import swin_index

sizes = st.integers(1, 12)
methods = st.sampled_from(["linear", "cubic"])
grid_methods = st.sampled_from(["bilinear", "bicubic"])

TWO_ROWS = [[1.0], [2.0], [4.0], [8.0], [0.0], [1.0], [0.0], [3.0]]
# torch.nn.functional.interpolate of PyTorch 2.13, align_corners=False, of the 2 × 4 cells above.
PYTORCH = {
    ("bicubic", False, (1, 3)): [0.634838, 1.515625, 5.006366],
    ("bicubic", True, (1, 3)): [0.718535, 1.661997, 4.663616],
    ("bilinear", False, (1, 3)): [0.666667, 1.75, 4.916667],
    ("bilinear", True, (1, 3)): [0.8, 1.75, 4.45],
    ("bicubic", False, (3, 6)): [
        *(1.0, 1.374891, 2.427071, 3.685414, 6.602539, 8.788785),
        *(0.413194, 0.953125, 1.597801, 1.641782, 3.796875, 5.803819),
        *(-0.173611, 0.531359, 0.768531, -0.401849, 0.991211, 2.818854),
    ],
    # Larger, and still not the same: the kernel is another one.
    ("bicubic", True, (3, 6)): [
        *(1.0, 1.407121, 2.3411, 3.774945, 6.544892, 8.596434),
        *(0.434211, 0.941176, 1.577546, 1.748843, 3.882353, 5.730263),
        *(-0.131579, 0.475232, 0.813992, -0.27726, 1.219814, 2.864093),
    ],
    ("bilinear", True, (3, 6)): [
        *(1.0, 1.5, 2.333333, 3.666667, 6.0, 8.0),
        *(0.5, 1.0, 1.583333, 1.916667, 3.75, 5.5),
        *(0.0, 0.5, 0.833333, 0.166667, 1.5, 3.0),
    ],
}


def kernel(t, method, a):
    t = abs(t)
    if method == "linear":
        return max(1 - t, 0)
    if t <= 1:
        return (a + 2) * t**3 - (a + 3) * t**2 + 1
    return a * (t**3 - 5 * t**2 + 8 * t - 4) if t < 2 else 0


def line(values, n_out, method, antialias, align_corners=False, a=None):
    """One row after the other, from the definitions of PyTorch and Pillow."""
    n_in, support = len(values), {"linear": 1, "cubic": 2}[method]
    made = []
    for o in range(n_out):
        if antialias:
            ratio = n_in / n_out
            stretch = max(ratio, 1)
            centre = (o + 0.5) * ratio
            low = max(math.floor(centre - support * stretch + 0.5), 0)
            high = min(math.floor(centre + support * stretch + 0.5), n_in)
            weights = {
                i: kernel((i - centre + 0.5) / stretch, method, -0.5 if a is None else a)
                for i in range(low, high)
            }
            made.append(sum(w * values[i] for i, w in weights.items()) / sum(weights.values()))
        else:
            x = o * (n_in - 1) / max(n_out - 1, 1) if align_corners else (o + 0.5) * n_in / n_out - 0.5
            around = range(math.floor(x) - support + 1, math.floor(x) + support + 1)
            made.append(
                sum(
                    kernel(x - i, method, -0.75 if a is None else a) * values[min(max(i, 0), n_in - 1)]
                    for i in around
                )
            )
    return made


@pytest.mark.parametrize(("method", "antialias", "new"), PYTORCH)
def test_grids_of_pytorch(method, antialias, new):
    found = resize_grid(TWO_ROWS, (2, 4), new, method=method, antialias=antialias)
    np.testing.assert_allclose(found[:, 0], PYTORCH[method, antialias, new], atol=5.1e-7)


@given(
    st.lists(st.floats(-10, 10), min_size=1, max_size=15),
    sizes,
    methods,
    st.sampled_from([(False, False), (True, False), (False, True)]),
    st.none() | st.floats(-1, 0),
)
def test_lines_one_row_at_a_time(values, n_out, method, how, a):
    antialias, align_corners = how
    found = resize(
        np.array(values)[:, None],
        n_out,
        method=method,
        antialias=antialias,
        align_corners=align_corners,
        a=a,
    )
    expected = line(values, n_out, method, antialias, align_corners, a)
    np.testing.assert_allclose(found[:, 0], expected, atol=1e-11)


@given(sizes, sizes, sizes, sizes, st.integers(0, 3), grid_methods, st.booleans())
def test_grids_are_lines_along_both_axes(height, width, new_height, new_width, prefix, method, antialias):
    random = np.random.default_rng(height * width)
    table = random.normal(size=(prefix + height * width, 2))
    found = resize_grid(
        table, (height, width), (new_height, new_width), prefix=prefix, method=method, antialias=antialias
    )
    np.testing.assert_array_equal(found[:prefix], table[:prefix])
    cells = table[prefix:].reshape(height, width, 2)
    kind = method.removeprefix("bi")
    for channel in range(2):
        wide = [line(list(row), new_width, kind, antialias) for row in cells[:, :, channel]]
        high = [line(list(column), new_height, kind, antialias) for column in np.array(wide).T]
        np.testing.assert_allclose(found[prefix:, channel], np.array(high).T.ravel(), atol=1e-11)


@given(sizes, sizes, methods, st.booleans())
def test_weights_sum_to_1_and_come_from_rows_of_the_table(n_in, n_out, method, antialias):
    made_of = taps(n_in, n_out, method=method, antialias=antialias)
    np.testing.assert_allclose(made_of.weights.sum(axis=1), 1, atol=1e-14)
    assert made_of.rows.min() >= 0
    assert made_of.rows.max() < n_in


@given(sizes, methods, st.sampled_from([(False, False), (True, False), (False, True)]))
def test_of_the_same_size_a_table_is_itself(n, method, how):
    table = np.random.default_rng(n).normal(size=(n, 3))
    antialias, align_corners = how
    found = resize(table, n, method=method, antialias=antialias, align_corners=align_corners)
    np.testing.assert_array_equal(found, table)


@given(sizes, sizes, methods, st.booleans())
def test_a_table_turned_over_gives_its_result_turned_over(n_in, n_out, method, antialias):
    table = np.random.default_rng(n_in).normal(size=(n_in, 2))
    options = {"method": method, "antialias": antialias}
    there, back = resize(table, n_out, **options), resize(table[::-1], n_out, **options)
    np.testing.assert_allclose(back[::-1], there, atol=1e-12)


@given(sizes, sizes, sizes, sizes, grid_methods, st.booleans())
def test_swapping_height_and_width_swaps_them_in_the_result(height, width, new_height, new_width, method, aa):
    table = np.random.default_rng(height).normal(size=(height * width, 2))
    found = resize_grid(table, (height, width), (new_height, new_width), method=method, antialias=aa)
    swapped = table.reshape(height, width, 2).swapaxes(0, 1).reshape(-1, 2)
    other = resize_grid(swapped, (width, height), (new_width, new_height), method=method, antialias=aa)
    np.testing.assert_allclose(
        other.reshape(new_width, new_height, 2).swapaxes(0, 1).reshape(-1, 2), found, atol=1e-12
    )


@pytest.mark.parametrize("a", [-0.5, -0.75, -1.0])
def test_the_slope_of_keys_is_exact_for_parabolas_and_others_not_even_for_lines(a):
    rows = np.arange(20.0)
    inside = slice(4, -4)
    x = (np.arange(30) + 0.5) * 20 / 30 - 0.5
    for power, exact in ((0, True), (1, a == -0.5), (2, a == -0.5)):
        found = resize(rows[:, None] ** power, 30, method="cubic", a=a)[inside, 0]
        assert np.allclose(found, x[inside] ** power, rtol=0, atol=1e-9) == exact


@pytest.mark.parametrize(
    ("old", "new"),
    [
        *((14, n) for n in (61, 115, 122)),
        *((37, n) for n in (39, 43, 78, 86, 115, 123, 156, 172, 193)),
    ],
)
def test_no_size_is_lost_to_rounding(old, new):
    # ⌊old · (new/old)⌋ is new − 1: sizes at which a scale factor lost a row of patches.
    assert math.floor(old * (new / old)) == new - 1
    table = np.zeros((1 + old * old, 1))
    assert resize_grid(table, (old, old), (new, old), prefix=1).shape == (1 + new * old, 1)
    assert resize(table, new).shape == (new, 1)


@pytest.mark.parametrize(
    ("n_rows", "grid"),
    [(196, (14, 0)), (197, (14, 1)), (256, (16, 0)), (257, (16, 1)), (1, (1, 0)), (2, (1, 1))],
)
def test_a_square_grid_is_told_by_its_root(n_rows, grid):
    assert square_grid(n_rows) == SquareGrid(*grid)


@pytest.mark.parametrize("n_rows", [195, 198, 261, 3, 255])
def test_what_is_no_square_grid_is_asked_about(n_rows):
    sentence = f"^n_rows must be a square number or one more, got {n_rows}: say height, width and prefix$"
    with pytest.raises(ValueError, match=sentence):
        square_grid(n_rows)


def test_a_bias_table_of_swin_grows_with_its_window():
    # A bias that is linear in the distances is so in a larger window, away from the edge of the table.
    old, new = 4, 8
    dy = np.repeat(np.arange(1.0 - old, old), 2 * old - 1)[:, None]
    found = resize_grid(dy, (2 * old - 1,) * 2, (2 * new - 1,) * 2, method="bilinear")
    assert found.shape == (225, 1)
    bias = found[swin_index(new, new), 0]
    np.testing.assert_allclose(bias, -bias.T, atol=1e-12)


def test_a_real_table_is_resized_and_not_changed():
    table = load("minilm_l6")
    before = table.copy()
    assert resize(table, 700, method="cubic").shape == (700, 384)
    assert resize_grid(table, (16, 32), (16, 32)).dtype == np.float64
    np.testing.assert_array_equal(table, before)


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: taps(0, 3), "n_in must be an integer from 1 to "),
        (lambda: taps(3, 2.5), "n_out must be an integer from 1 to "),
        (lambda: taps(3, 3, method="bicubic"), "method must be 'linear' or 'cubic', got 'bicubic'"),
        (lambda: taps(3, 3, a=1), "a must be a number from -3 to 0, got 1"),
        (
            lambda: taps(3, 3, antialias=True, align_corners=True),
            "antialias must be false with align_corners, got both",
        ),
        (lambda: resize([1.0], 3), "table must be a 2-D array"),
        (lambda: resize([[1.0]], 0), "seq_len must be an integer from 1 to "),
        (
            lambda: resize_grid(np.ones((16, 2)), (4, 4), (6, 6), prefix=1),
            "table must have prefix . height·width = 17 rows, got 16",
        ),
        (
            lambda: resize_grid(np.ones((16, 2)), (4, 4), (6, 6), method="cubic"),
            "method must be 'bicubic' or 'bilinear', got 'cubic'",
        ),
        (lambda: resize_grid(np.ones((4, 2)), 2, (6, 6)), "old must be two integers .height, width., got 2"),
        (
            lambda: resize_grid(np.ones((4, 2)), (2, 2), (6,)),
            "new must be two integers .height, width., got ",
        ),
        (lambda: resize_grid(np.ones((4, 2)), (2, 2), (1.5, 3)), "new height must be an integer from 1 to "),
        (lambda: resize_grid(np.ones((4, 2)), (2, 2), (1, 0)), "new width must be an integer from 1 to "),
        (lambda: resize_grid(np.ones((4, 2)), (2, 2), (1, 1), prefix=-1), "prefix must be an integer from 0"),
        (lambda: square_grid(0), "n_rows must be an integer from 1 to "),
    ],
)
def test_what_is_refused(call, sentence):
    with pytest.raises(ValueError, match=f"^{sentence}"):
        call()
