"""The page of images and grids says what independent computations say, and changes what it should."""

import math
import re

import numpy as np
import pytest

from pages.ui.text import catalogue
from posenc import images
from tests.pages.pictures import act, array, charts, pictures


@pytest.fixture
def page(frame):
    return lambda **query: frame(**query).switch_page("images.py").run()


def words(app):
    return " ".join("\n".join(element.value for element in app.markdown).split())


def row_of(app, start, *, last=False):
    """The cells of the first or the last row of a table on the page that starts with these words."""
    rows = [line for element in app.markdown for line in element.value.splitlines()]
    found = [line for line in rows if line.startswith(f"| {start} |")]
    return [cell.strip() for cell in found[-1 if last else 0].strip("| ").split("|")]


def unbroken(app, lang="en"):
    assert not app.exception
    assert catalogue(lang)["notice.failure"] not in [error.value for error in app.error]


def cosine(kind, offset, width, d_model, base, degrees):
    """Σ cos(k·Δ)/m over the wave vectors of one kind of code, a wave at a time."""
    dy, dx = offset
    if kind == "flat":
        angles = [(dy * width + dx) * base ** (-2 * i / d_model) for i in range(d_model // 2)]
    else:
        turn = math.radians(degrees if kind == "mixed" else 0)
        down, across = (
            math.cos(turn) * dy + math.sin(turn) * dx,
            math.cos(turn) * dx - math.sin(turn) * dy,
        )
        rates = [base ** (-4 * i / d_model) for i in range(d_model // 4)]
        angles = [rate * c for c in (down, across) for rate in rates]
    return sum(map(math.cos, angles)) / len(angles)


def code(y, x, d_model=8, base=100.0):
    """MAE's code of a cell: sines and cosines of x, then of y."""
    rates = [base ** (-4 * i / d_model) for i in range(d_model // 4)]
    return [wave(c * rate) for c in (x, y) for wave in (math.sin, math.cos) for rate in rates]


@pytest.mark.parametrize("lang", ["en", "ko"])
def test_a_cell_is_compared_with_all_others_in_three_kinds_of_code(page, lang):
    app = page(lang=lang, height="5", width="7", cell_y="3", cell_x="1", turn="20", d_model="16", base="100")
    unbroken(app, lang)
    drawn = pictures(app)
    for kind in ("axial", "flat", "mixed"):
        shown = drawn[f"cell_{kind}"]
        right = [[cosine(kind, (y - 3, x - 1), 7, 16, 100.0, 20) for x in range(7)] for y in range(5)]
        np.testing.assert_allclose(shown.mean, right, atol=1e-6)
        assert shown.head["square"]
        assert shown.limits == drawn["cell_axial"].limits
    lowest = min(drawn[f"cell_{kind}"].mean.min() for kind in ("axial", "flat", "mixed"))
    assert drawn["cell_flat"].limits == pytest.approx((lowest, 1), abs=1e-6)
    for name, offset in {"below": (1, 0), "ends": (0, 6), "wrap": (1, -6)}.items():
        found = row_of(app, catalogue(lang)[f"images.offset_{name}"])[1:]
        right = [cosine(kind, offset, 7, 16, 100.0, 20) for kind in ("axial", "flat", "mixed")]
        assert [float(cell) for cell in found] == pytest.approx(right, abs=6e-3)


def test_a_click_on_any_of_the_three_picks_the_cell_and_the_link_keeps_it(page):
    app = page(height="9", width="16", d_model="16")
    act(app, "cell_flat", pick=[7, 2])
    assert (app.session_state["cell_y"], app.session_state["cell_x"]) == (7, 2)
    assert app.query_params["cell_y"] == "7"
    assert app.query_params["height"] == "9"
    assert "width" not in app.query_params  # 16 is the default
    drawn = pictures(app)
    for name in ("cell_axial", "cell_mixed", "swap_right", "scores_ones"):
        assert np.unravel_index(drawn[name].mean.argmax(), (9, 16)) == (7, 2)


@pytest.mark.parametrize("pick", [[9, 0], [0, 16], [-1, 3]])
def test_a_forged_click_shows_the_default(page, pick):
    app = page(height="9", d_model="8")
    act(app, "cell_axial", pick=pick)
    unbroken(app)
    for axis, at, chosen in zip("yx", pick, (4, 5), strict=True):
        assert app.session_state[f"cell_{axis}"] in (at, chosen)
        assert 0 <= app.session_state[f"cell_{axis}"] < 16


ROWS = {  # two pairs an axis, rates 1 and 1/10, at y = 2, x = 1 of 3 × 5 cells
    "mae": "sin(1) sin(.1) cos(1) cos(.1) sin(2) sin(.2) cos(2) cos(.2)",
    "aimv2": "sin(2) sin(.2) cos(2) cos(.2) sin(1) sin(.1) cos(1) cos(.1)",
    "timm": "sin(2) sin(.2) sin(1) sin(.1) cos(2) cos(.2) cos(1) cos(.1)",
    "positional_encodings": "sin(2) cos(2) sin(.2) cos(.2) sin(1) cos(1) sin(.1) cos(.1)",
    "big_vision": "sin(1) sin(.01) cos(1) cos(.01) sin(2) sin(.02) cos(2) cos(.02)",
    "detr": "sin(Y) cos(Y) sin(Y/10) cos(Y/10) sin(X) cos(X) sin(X/10) cos(X/10)",
}


def test_the_table_has_the_order_of_each_form(page):
    app = page(height="3", width="5", d_model="8", base="100")
    known = vars(math) | {"Y": 2 * math.pi, "X": 2 / 5 * 2 * math.pi}
    for name, row in ROWS.items():
        app.pills(key="form").set_value(name).run()
        shown = pictures(app)["grid_table"]
        assert shown.head["shape"] == [15, 8]
        right = [eval(term, known) for term in row.split()]
        np.testing.assert_allclose(shown.mean[2 * 5 + 1], right, atol=1e-5)
    assert set(ROWS) == set(images.FORM.options)
    letters = next(line["words"] for line in shown.head["columns"]["lines"] if "words" in line)
    axes = shown.arrays["columns0"].reshape(8, 2)[:, 0]
    assert [letters[int(axis)] for axis in axes] == list("yyyyxxxx")
    y, x = (shown.arrays[f"rows{k}"].reshape(15, 2)[:, 0] for k in (0, 1))
    assert (y[7], x[7]) == (1, 2)


@pytest.mark.parametrize("lang", ["en", "ko"])
def test_the_tiles_show_every_library_and_the_order_does_not_count(page, lang):
    app = page(lang=lang)
    tiles = charts(app)["tiles"]["data"]
    first = {
        trace["name"]: [name for name, base in zip(trace["y"], trace["base"], strict=True) if base == -0.5]
        for trace in tiles
    }
    sine = catalogue(lang)["axis.sine"]
    assert first[f"x · {sine}"] == ["MAE", "big_vision"]
    assert first[f"y · {sine}"] == ["AIMv2", "timm", "DETR", "positional-encodings"]
    assert first[f"t · {sine}"] == ["CogVideoX"]
    for name, same in {"AIMv2": True, "timm": True, "positional-encodings": True, "DETR": False}.items():
        rows = [line for each in app.markdown for line in each.value.splitlines()]
        (line,) = (line for line in rows if line.startswith(f"| {name} |"))
        *_, table, similarity = line.strip("| ").split("|")
        assert float(table) > 1
        assert (float(similarity) < 1e-12) == same


@pytest.mark.parametrize("lang", ["en", "ko"])
def test_the_swap_shows_whose_code_each_cell_gets(page, lang):
    app = page(lang=lang, height="3", width="4", d_model="8", base="100", cell_y="1", cell_x="2")
    drawn = pictures(app)
    # Made with meshgrid(x, y, indexing="ij"): y counts first.
    right_y = [[0, 1, 2, 0], [1, 2, 0, 1], [2, 0, 1, 2]]
    right_x = [[0, 0, 0, 1], [1, 1, 2, 2], [2, 3, 3, 3]]
    np.testing.assert_array_equal(drawn["swap_y"].mean, right_y)
    np.testing.assert_array_equal(drawn["swap_x"].mean, right_x)
    mine = np.array(code(right_y[1][2], right_x[1][2]))
    wrong = [[mine @ code(right_y[y][x], right_x[y][x]) / 4 for x in range(4)] for y in range(3)]
    np.testing.assert_allclose(drawn["swap_wrong"].mean, wrong, atol=1e-6)
    right = [[np.array(code(1, 2)) @ code(y, x) / 4 for x in range(4)] for y in range(3)]
    np.testing.assert_allclose(drawn["swap_right"].mean, right, atol=1e-6)
    own = sum((right_y[y][x], right_x[y][x]) == (y, x) for y in range(3) for x in range(4))
    kept = {
        "en": rf"Only {own} of 12 cells",
        "ko": rf"전체 12칸 가운데 자기 부호를 그대로 받는 칸은 {own}칸뿐",
    }
    assert re.search(kept[lang], words(app))


def test_a_square_grid_hides_the_swap(page):
    app = page(height="6", width="10", d_model="16")
    (button,) = (each for each in app.button if "6 × 6" in each.label)
    button.click().run()
    assert (app.session_state["height"], app.session_state["width"]) == (6, 6)
    assert "6 of 36 cells keep their own code" in words(app)
    drawn = pictures(app)
    np.testing.assert_allclose(drawn["swap_wrong"].mean, drawn["swap_right"].mean, atol=1e-6)
    right, wrong = map(float, row_of(app, catalogue("en")["images.offset_below"], last=True)[1:])
    assert right == wrong


def cubic(t, a=-0.75):
    t = abs(t)
    if t <= 1:
        return (a + 2) * t**3 - (a + 3) * t**2 + 1
    return a * (t**3 - 5 * t**2 + 8 * t - 4) if t < 2 else 0.0


def resized_by_loops(image, new):
    """Bicubic as PyTorch has it, a cell and a tap at a time."""
    out = np.zeros(new)
    for cell in np.ndindex(*new):
        places = [(o + 0.5) * n / m - 0.5 for o, n, m in zip(cell, image.shape, new, strict=True)]
        for y in range(math.floor(places[0]) - 1, math.floor(places[0]) + 3):
            for x in range(math.floor(places[1]) - 1, math.floor(places[1]) + 3):
                held = image[min(max(y, 0), image.shape[0] - 1), min(max(x, 0), image.shape[1] - 1)]
                out[cell] += cubic(y - places[0]) * cubic(x - places[1]) * held
    return out


@pytest.mark.parametrize("lang", ["en", "ko"])
def test_a_resized_table_is_compared_with_the_formula(page, lang):
    query = {"height": "4", "width": "6", "new_height": "6", "new_width": "5", "d_model": "8", "base": "100"}
    app = page(lang=lang, column="4", **query)
    drawn = pictures(app)
    before = np.array([[code(y, x) for x in range(6)] for y in range(4)])
    np.testing.assert_allclose(drawn["resize_before"].mean, before[..., 4], atol=1e-6)
    after = np.stack([resized_by_loops(before[..., k], (6, 5)) for k in range(8)], axis=2)
    np.testing.assert_allclose(drawn["resize_after"].mean, after[..., 4], atol=1e-6)
    direct = np.array(
        [[code((y + 0.5) * 4 / 6 - 0.5, (x + 0.5) * 6 / 5 - 0.5) for x in range(5)] for y in range(6)]
    )
    np.testing.assert_allclose(drawn["resize_direct"].mean, direct[..., 4], atol=1e-6)
    error = np.sqrt(((after - direct) ** 2).mean(axis=2))
    np.testing.assert_allclose(drawn["resize_error"].mean, error, atol=1e-6)
    curve, other = charts(app)["by_wave"]["data"]
    assert curve["name"] == catalogue(lang)["option.method.bicubic"]
    waves = [math.sqrt(((after - direct)[..., [k, k + 2, k + 4, k + 6]] ** 2).mean()) for k in (0, 1)]
    np.testing.assert_allclose(array(curve["y"]), waves, rtol=1e-5)
    np.testing.assert_allclose(array(curve["x"]), [2 * math.pi, 20 * math.pi], rtol=1e-6)
    assert other["name"] == catalogue(lang)["option.method.bilinear"]
    assert "(25, 8)" in words(app)  # a class token, and 4 × 6 or 6 × 5 cells
    assert "(31, 8)" in words(app)
    app.toggle(key="class_token").set_value(False).run()
    assert "(24, 8)" in words(app)
    assert "(30, 8)" in words(app)
    app.segmented_control(key="values").set_value("random").run()
    unbroken(app, lang)
    assert "resize_direct" not in pictures(app)
    assert "by_wave" not in charts(app)
    assert app.query_params["values"] == "random"


def test_the_size_is_given_and_not_a_ratio_and_rows_alone_do_not_say_the_grid(page):
    app = page(height="12", width="14", new_height="18", new_width="115")
    ratios = [line for each in app.markdown for line in each.value.splitlines()]
    for old, wanted, got in ((12, 18, 18), (14, 115, 114), (14, 61, 60), (37, 43, 42)):
        assert f"| {old} | {wanted} | {got} |" in ratios
    assert "taken for 13 × 13 cells and 0 further rows" in words(app)  # 12 · 14 + 1 = 13²: a wrong guess
    app = page()
    assert any(each.value.startswith("ValueError: n_rows must be a square number") for each in app.code)


@pytest.mark.parametrize("lang", ["en", "ko"])
def test_axial_rotary_turns_half_by_the_row_and_half_by_the_column(page, lang):
    app = page(lang=lang, height="3", width="5", head_dim="8", base="100", cell_y="2", cell_x="1")
    drawn = pictures(app)
    right = [[c * rate for c in (y, x) for rate in (1, 0.1)] for y in range(3) for x in range(5)]
    np.testing.assert_allclose(drawn["angles"].mean, right, atol=1e-6)
    ones = [[8 * cosine("axial", (y - 2, x - 1), 5, 8, 100.0, 0) for x in range(5)] for y in range(3)]
    np.testing.assert_allclose(drawn["scores_ones"].mean, ones, atol=1e-5)
    scores = [float(text) for text in re.findall(r"\*\*(-?\d+\.\d+)\*\*", words(app))]
    assert scores == [pytest.approx(float(drawn["scores_drawn"].mean[0, 0]), abs=1e-4)] * 2
    before = drawn["scores_drawn"].mean
    app.button(key="next_seed").click().run()
    assert not np.allclose(pictures(app)["scores_drawn"].mean, before)


@pytest.mark.parametrize(
    "query",
    [
        {"d_model": "1", "height": "1", "width": "1"},
        {"d_model": "2", "base": "1", "height": "1", "width": "30", "lang": "ko"},
        {"d_model": "3", "head_dim": "2", "height": "40", "width": "1", "new_height": "1"},
        {"d_model": "130", "seq_len": "10000000", "values": "random", "antialias": "1", "lang": "ko"},
        {"d_model": "64", "height": "256", "width": "200", "cell_y": "255", "form": "detr"},
    ],
    ids=lambda query: query["d_model"],
)
def test_extremes_work(page, query):
    app = page(**query)
    unbroken(app, query.get("lang", "en"))
    assert not app.toast
    shown = pictures(app)["cell_axial"]
    assert shown.mean.shape == (int(query.get("height", 12)), int(query.get("width", 16)))
    if int(query["d_model"]) % 4:
        used = {"1": "4", "2": "4", "3": "4", "130": "128"}[query["d_model"]]
        assert any("d_model" in note.value and used in note.value for note in app.info)


JUNK = {
    "height": ("0", 12),
    "width": ("257", 16),
    "cell_y": ("12", 4),
    "form": ("cogvideox", "mae"),
    "new_width": ("1e3", 24),
    "antialias": ("yes", False),
}


def test_junk_in_the_address_gives_the_default_and_says_so(page):
    app = page(**{name: junk for name, (junk, _) in JUNK.items()}, d_model="8")
    unbroken(app)
    for name, (_, default) in JUNK.items():
        assert app.session_state[name] == default
        assert any(name in toast.value for toast in app.toast)
    assert len(app.toast) == len(JUNK)


def test_the_code_makes_what_is_on_screen(page):
    app = page(height="3", width="5", d_model="8", base="100", form="timm", new_height="4", new_width="4")
    names = {}
    exec(next(each.value for each in app.code if "import numpy" in each.value), names)
    np.testing.assert_allclose(names["table"], pictures(app)["grid_table"].mean, atol=1e-6)
    app.segmented_control(key="code_array").set_value("resized").run()
    names = {}
    exec(next(each.value for each in app.code if "import numpy" in each.value), names)
    after = names["resized"][1:].reshape(4, 4, 8)
    np.testing.assert_allclose(after[..., 0], pictures(app)["resize_after"].mean, atol=1e-6)
