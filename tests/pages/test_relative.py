"""The page of rotary embedding and biases says what independent computations say, and moves as it should."""

import math
import re

import numpy as np
import pytest

from pages import relative_bias
from pages.ui.text import catalogue
from posenc import learned, weights
from tests.pages.pictures import act, array, charts, pictures

Q, K = (1.0, 2.0, 3.0, 4.0), (4.0, 3.0, 2.0, 1.0)


@pytest.fixture
def page(frame):
    return lambda **query: frame(**query).switch_page("relative.py").run()


def words(app):
    return " ".join("\n".join(element.value for element in app.markdown).split())


def pairs_of(x, pairs):
    m = len(x) // 2
    return [(x[i], x[i + m]) if pairs == "half_split" else (x[2 * i], x[2 * i + 1]) for i in range(m)]


def score(q, k, p, other, base=10_000.0, pairs="half_split"):
    """Rotate both by scalar loops, and multiply."""
    total = 0.0
    for i, (a, b) in enumerate(zip(pairs_of(q, pairs), pairs_of(k, pairs), strict=True)):
        rate = base ** (-2 * i / len(q))
        a, b = (
            complex(*x) * complex(math.cos(at * rate), math.sin(at * rate)) for x, at in ((a, p), (b, other))
        )
        total += (a * b.conjugate()).real
    return total


def gaussian(head_dim, seed):
    return np.random.default_rng(seed).standard_normal((2, head_dim)).tolist()


def metrics(app):
    return [float(metric.value) for metric in app.metric]


@pytest.mark.parametrize(("lang", "pairs"), [("en", "half_split"), ("ko", "adjacent")])
def test_the_example_by_hand(page, lang, pairs):
    app = page(lang=lang, pairs=pairs, seq_len="12")
    assert not app.exception
    assert not app.error
    text = words(app)
    assert "-1.142640, 1.922076, 2.959851, 4.029800" in text
    assert "-1.984111, 1.959901, 2.462378, 4.019800" in text
    assert "-0.760002" in text
    assert "-1.615580" in text
    # Here, a hundred positions on, and the difference: rounding.
    here, there, change = metrics(app)
    expected = {"half_split": -1.61558, "adjacent": -0.760002}[pairs]
    assert here == there == pytest.approx(expected, abs=5e-6)
    assert change < 1e-12
    matrix = pictures(app)["scores"]
    scored = [[score(Q, K, p, q, pairs=pairs) for q in range(12)] for p in range(12)]
    np.testing.assert_allclose(matrix.mean, scored, atol=1e-5)
    assert matrix.limits[1] == pytest.approx(np.abs(scored).max())
    assert matrix.head["rows"]["name"] == catalogue(lang)["axis.query_position"]


def stops(figure):
    """Return the trace of each clock's own hand, and the text at the mark, at every stop."""
    for frame in figure["frames"]:
        hands = {}
        for at, part in zip(frame["traces"], frame["data"], strict=True):
            trace = figure["data"][at] | part
            if trace.get("line", {}).get("width") == 4:
                hands[trace["xaxis"]] = [array(trace[axis])[1] for axis in "xy"]
        yield hands["x2"], hands["x3"], float(frame["data"][-1]["text"][2].replace("−", "-"))


@pytest.mark.parametrize(
    ("lang", "moves", "pairs"),
    [("en", "both", "half_split"), ("ko", "query", "adjacent"), ("en", "key", "adjacent")],
)
def test_the_hands_turn_in_the_browser(page, lang, moves, pairs):
    query = {"query_position": "9", "key_position": "30", "pair": "1", "base": "100"}
    app = page(lang=lang, moves=moves, pairs=pairs, **query)
    shown = list(stops(charts(app)["rotating"]))
    assert len(shown) == 65
    rate = 100 ** (-2 / 4)
    for step, (first, second, value) in enumerate(shown):
        p, other = 9 + step * (moves != "key"), 30 + step * (moves != "query")
        for hand, x, at in ((first, Q, p), (second, K, other)):
            turned = complex(*pairs_of(x, pairs)[1]) * complex(math.cos(at * rate), math.sin(at * rate))
            np.testing.assert_allclose(hand, [turned.real, turned.imag], atol=1e-5)
        assert value == pytest.approx(score(Q, K, p, other, 100.0, pairs), rel=1e-3, abs=1e-3)
    assert (len({value for *_, value in shown}) == 1) == (moves == "both")


def test_a_click_on_the_matrix_sets_the_clocks(page):
    app = act(page(seq_len="40", vectors="gaussian", seed="5", head_dim="8"), "scores", pick=[33, 7])
    assert (app.query_params["query_position"], app.query_params["key_position"]) == ("33", "7")
    q, k = gaussian(8, 5)
    assert metrics(app)[0] == pytest.approx(score(q, k, 33, 7), rel=1e-5)
    first = next(stops(charts(app)["rotating"]))
    assert first[2] == pytest.approx(score(q, k, 33, 7), rel=1e-3)


def test_every_pairs_frequency_is_shown(page):
    app = page(head_dim="10", base="700", seq_len="30")
    (curve,) = charts(app)["frequencies"]["data"]
    rates = [700 ** (-2 * i / 10) for i in range(5)]
    np.testing.assert_allclose(array(curve["y"]), rates, rtol=1e-6)
    assert charts(app)["frequencies"]["layout"]["yaxis"]["type"] == "log"
    slow = sum(rate * 30 < math.tau for rate in rates)
    assert f"Within 30 positions {slow} of the 5 pairs" in words(app)


@pytest.mark.parametrize("lang", ["en", "ko"])
def test_scores_over_distances(page, lang):
    app = page(lang=lang, head_dim="64", seq_len="300", seed="4", peak="33", draws="50")
    ones, peaked = charts(app)["ones"]["data"]
    expected = [2 * sum(math.cos(k * 10_000 ** (-2 * i / 64)) for i in range(32)) for k in range(300)]
    np.testing.assert_allclose(array(ones["y"]), expected, atol=1e-4)
    assert np.argmax(array(peaked["y"])) == 33
    assert array(peaked["y"])[33] == pytest.approx(64)
    assert [mark["x0"] for mark in charts(app)["ones"]["layout"]["shapes"]] == [6]
    assert f"{min(expected):.4g}" in words(app)
    lower, upper, mean, *_, own = (array(curve["y"]) for curve in charts(app)["gaussian"]["data"])
    q, k = gaussian(64, 4)
    for offset in (0, 1, 299):
        assert own[offset] == pytest.approx(score(q, k, offset, 0), abs=1e-4)
    # Standard deviation 8 of each draw: of the mean of 50, 1.13.
    assert np.abs(mean).max() < 5 * 8 / math.sqrt(50)
    np.testing.assert_allclose((upper - lower) / 2, 8, rtol=0.4)
    app = app.button(key="next_seed").click().run()
    assert app.query_params["seed"] == "5"
    q, k = gaussian(64, 5)
    again = array(charts(app)["gaussian"]["data"][-1]["y"])
    assert again[7] == pytest.approx(score(q, k, 7, 0), abs=1e-4)


def test_one_order_makes_the_layouts_one(page):
    app = page(vectors="gaussian", head_dim="6", seed="2")
    q, k = gaussian(6, 2)
    adjacent, half = (score(q, k, 5, 2, pairs=pairs) for pairs in ("adjacent", "half_split"))
    found = re.search(
        r"adjacent: score \*\*(.+?)\*\*.*half-split: score (\S+).*reordered: score \*\*(.+?)\*\*", words(app)
    )
    shown = [float(number) for number in found.groups()]
    np.testing.assert_allclose(shown, [adjacent, half, adjacent], rtol=1e-5)
    arrows = charts(app)["order"]["data"]
    assert [arrow["text"] for arrow in arrows] == [[str(f), str(f)] for f in (0, 2, 4, 1, 3, 5)]
    assert "[0 2 4 1 3 5]" in [code.value for code in app.code]


def test_fewer_features_turn_and_xpos_fades(page):
    app = page(vectors="ones", head_dim="8", rotary_dim="4", scale_base="16")
    plain, partial, xpos = (array(curve["y"]) for curve in charts(app)["variants"]["data"])
    for k in (0, 3, 100):
        angles = [k * 10_000 ** (-2 * i / 8) for i in range(4)]
        assert plain[k] == pytest.approx(2 * sum(map(math.cos, angles)), abs=1e-5)
        # Two pairs with the rates of a width of four, and four features that stay.
        assert partial[k] == pytest.approx(2 * (math.cos(k) + math.cos(k / 100)) + 4, abs=1e-5)
        faded = sum(((2 * i / 8 + 0.4) / 1.4) ** (k / 16) * math.cos(a) for i, a in enumerate(angles))
        assert xpos[k] == pytest.approx(2 * faded, abs=1e-5)


def biases(bias, n, h, heads, seed):
    """Write the formula of a bias down again, for one head h = 1 … H."""
    k = np.abs(np.subtract.outer(range(n), range(n))).astype(float)
    even = (h - 0.5) / heads
    if bias == "alibi":  # a power of two of heads
        return -(2 ** (-8 * h / heads)) * k
    if bias == "kerple_log":
        return -2 * even * np.log(1 + even * k)
    if bias == "kerple_power":
        return -even * k ** (2 * even)
    if bias == "sandwich":
        return sum(np.cos(k / 10_000 ** (2 * i / 128)) - 1 for i in range(1, 65)) / (8 * h / heads)
    if bias == "none":
        return 0 * k
    random = np.random.default_rng(seed)
    if bias == "fire":
        w1, b1 = random.uniform(-1, 1, 32), random.uniform(-1, 1, 32)
        edge = 1 / math.sqrt(32)
        w2, b2 = random.uniform(-edge, edge, (heads, 32)), random.uniform(-edge, edge, heads)
        x = np.log(1 + 0.1 * k) / math.log(1 + 0.1 * 512)  # below position 512
        return np.maximum(x[..., np.newaxis] * w1 + b1, 0) @ w2[h - 1] + b2[h - 1]
    # Fewer than 16 positions: T5's causal buckets, Shaw's rows and DeBERTa's hold one distance each.
    rows, first = {"t5": (32, 0), "shaw": (33, 16), "deberta": (512, 256)}[bias]
    step = {"t5": 1, "shaw": -1, "deberta": 1}[bias]
    table = random.normal(0, 1, (rows, heads)).astype(np.float32)[:, h - 1]
    return table[(first + step * k).astype(int)]


@pytest.mark.parametrize("bias", weights.BIAS.options)
def test_every_bias_and_what_the_softmax_makes_of_it(page, bias):
    lang = "ko" if len(bias) % 2 else "en"
    app = page(lang=lang, bias=bias, n_heads="4", head="3", seq_len="15", seed="6")
    assert not app.exception
    assert not app.error
    before, after = (pictures(app)[key].mean for key in ("bias", "share"))
    expected, past = biases(bias, 15, 3, 4, 6), np.tri(15, dtype=bool)
    np.testing.assert_allclose(before, np.where(past, expected, np.nan), atol=1e-5)
    weight = np.exp(expected) * past
    weight /= weight.sum(axis=1, keepdims=True)
    with np.errstate(divide="ignore"):
        share = np.log10(weight * np.arange(1, 16)[:, np.newaxis])
    np.testing.assert_allclose(after, np.where(past, share, np.nan), atol=1e-5)
    assert pictures(app)["share"].limits == (-2, 2)
    # The curves of the last query, head 3 among them.
    names = [curve["name"] for curve in charts(app)["weights"]["data"]]
    assert (len(names) == 1) == (bias in weights.LOOKED_UP)
    at = names.index(catalogue(lang)["relative.head"].replace("{{head}}", "3"))
    np.testing.assert_allclose(array(charts(app)["biases"]["data"][at]["y"]), expected[-1, ::-1], atol=1e-5)
    np.testing.assert_allclose(array(charts(app)["weights"]["data"][at]["y"]), weight[-1, ::-1], atol=1e-6)
    assert ("rows" in charts(app)) == (bias in weights.LOOKED_UP)
    assert ("slopes" in charts(app)) == (bias == "alibi")
    drawn = catalogue(lang)["relative.drawn"].split("{{")[0]
    assert any(info.value.startswith(drawn) for info in app.info) == (
        bias in ("t5", "shaw", "deberta", "fire")
    )


def test_without_a_mask_every_key_is_weighed(page):
    app = page(bias="t5", mask="none", n_heads="2", seq_len="9", seed="1")
    table = learned.random_init(32, 2, std=1.0, seed=1)[:, 0].astype(float)
    k = np.subtract.outer(range(9), range(9))
    # Eight buckets of one distance each, and the first wider one; future keys 16 rows on.
    expected = table[np.abs(k) + np.where(k < 0, 16, 0)]
    np.testing.assert_allclose(pictures(app)["bias"].mean, expected, atol=1e-6)
    weight = np.exp(expected)
    share = np.log10(9 * weight / weight.sum(axis=1, keepdims=True))
    np.testing.assert_allclose(pictures(app)["share"].mean, share, atol=1e-6)


@pytest.mark.parametrize("lang", ["en", "ko"])
def test_twelve_slopes_are_not_monotone_and_mpts_are_the_same(page, lang):
    app = page(lang=lang, n_heads="12")
    slopes = [2.0**-h for h in range(1, 9)] + [2 ** -(h / 2) for h in (1, 3, 5, 7)]
    figure = charts(app)["slopes"]
    assert figure["layout"]["yaxis"]["type"] == "log"
    for curve in figure["data"]:
        np.testing.assert_allclose(array(curve["y"]), slopes, rtol=1e-6)
    assert "0.7071, 0.3536, 0.1768, 0.08839" in words(app)


def test_rows_of_t5_in_both_forms(page):
    bidirectional, causal = charts(page(bias="t5"))["rows"]["data"]
    at = {int(k): index for index, k in enumerate(array(causal["x"]))}
    expected = {-128: 31, -64: 30, -16: 26, -8: 24, -1: 17, 0: 0, 1: 1, 8: 8, 16: 10, 128: 15}
    assert {k: array(bidirectional["y"])[at[k]] for k in expected} == expected
    assert 16 not in array(bidirectional["y"])
    expected = {-5: 0, 0: 0, 1: 1, 15: 15, 16: 16, 19: 17, 21: 18, 64: 26, 128: 31}
    assert {k: array(causal["y"])[at[k]] for k in expected} == expected


@pytest.mark.parametrize(
    "query",
    [{"bias": "shaw", "vectors": "gaussian"}, {"bias": "deberta", "vectors": "ones", "pairs": "adjacent"}],
)
def test_the_code_makes_what_is_on_screen(page, monkeypatch, query):
    app = page(seq_len="14", head_dim="6", n_heads="3", head="2", seed="3", **query)
    code = next(block.value for block in app.code if "result" in block.value)
    values = weights.drawn_values(query["bias"], 3, 1, seed=3)
    monkeypatch.setattr(np, "load", values.__getitem__)
    names = {}
    exec(compile(code, "snippet", "exec"), names)
    scored, bias, weighed = names["result"]
    shown = pictures(app)
    np.testing.assert_allclose(scored, shown["scores"].mean, atol=1e-5)
    past = np.tri(14, dtype=bool)
    np.testing.assert_allclose(bias[past], shown["bias"].mean[past], atol=1e-6)
    share = np.log10(weighed[past] * (np.arange(14)[:, np.newaxis] + np.ones(14))[past])
    np.testing.assert_allclose(share, shown["share"].mean[past], atol=1e-5)


@pytest.mark.parametrize("bias", ["alibi", "deberta", "fire", "sandwich"])
def test_ten_million_positions(page, bias):
    app = page(seq_len="10000000", bias=bias, mask="causal" if bias != "fire" else "none", head_dim="1024")
    assert not app.exception
    assert not app.error
    shown = pictures(app)
    for key in ("scores", "bias", "share"):
        assert shown[key].head["shape"] == [10_000_000, 10_000_000]
        assert shown[key].mean.shape == (400, 400)
    for figure in charts(app).values():
        assert max(len(array(trace["y"])) for trace in figure["data"] if "y" in trace) <= 1026
    if bias == "alibi":
        # Blocks of 25,000 positions: the mean distance within them.
        assert shown["bias"].mean[399, 0] == pytest.approx(-(2**-1) * 399 * 25_000, rel=1e-4)
        assert any("diagonal" in caption.value for caption in app.caption)
        assert np.isnan(shown["bias"].mean[0, 1])


@pytest.mark.parametrize(
    "query",
    [
        {"d_model": "1", "seq_len": "1", "lang": "ko", "head_dim": "2"},
        {"d_model": "3", "seq_len": "2", "base": "1", "n_heads": "1", "mask": "none"},
        {
            "seq_len": "3",
            "bias": "t5",
            "n_heads": "1024",
            "head": "1024",
            "lang": "ko",
            "scale_base": "0.001",
        },
        {"seq_len": "801", "bias": "fire", "mask": "none", "head_dim": "1024", "base": "1000000000000"},
        {
            "vectors": "two",
            "pairs": "all",
            "head_dim": "7",
            "n_heads": "0",
            "head": "9",
            "bias": "rope",
            "mask": "1",
            "peak": "-1",
            "draws": "1e3",
            "query_position": "50",
            "moves": "all",
        },
    ],
)
def test_edges_and_junk_show_a_page(page, query):
    app = page(**query)
    assert not app.exception
    assert not app.error
    assert "nan" not in re.sub("[a-z]*nan[a-z]+", "", words(app).lower())
    assert not re.search(r"\{\{|\}\}", words(app))
    if "two" in query.values():
        defaults = ("worked", "half_split", 128, 8, 1, "alibi", "causal", 20, 200, 5, "both")
        assert [app.session_state[name] for name in query] == list(defaults)
        assert not set(query) & set(app.query_params)


@pytest.mark.parametrize(
    "changed", [{"bias": "shaw"}, {"n_heads": 4}, {"head": 1}, {"causal": False}, {"base": 10.0}, {"seed": 2}]
)
def test_the_biases_that_two_pictures_share_are_those_of_every_setting(changed):
    usual = {"bias": "t5", "n_heads": 8, "head": 2, "causal": True, "base": 1e4, "seed": 1}
    if "base" in changed:
        usual["bias"] = "sandwich"
    view, most = ((0, 40), (0, 40)), {"most_rows": 40, "most_columns": 40}
    found = []
    for settings in (usual, usual | changed):
        made = relative_bias.biases(relative_bias.Chosen(**settings), *view, **most)
        bias, n_heads, head = settings["bias"], settings["n_heads"], settings["head"]
        options = {name: settings[name] for name in ("causal", "base", "seed")}
        one = weights.heads_of(bias, n_heads, [head], **options)[head]
        right = weights.bias_blocks(one, *view, causal=settings["causal"], **most)
        np.testing.assert_array_equal(made.mean, right.mean)
        found.append(made.mean)
    assert not np.array_equal(*found, equal_nan=True)
