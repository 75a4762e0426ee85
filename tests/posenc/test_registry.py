"""Every scheme of the registry, by one set of tests: an encoding cannot be half added."""

import importlib
import inspect
import json
import math
import typing

import numpy as np
import pytest

import posenc
from posenc import bias, buckets, grid, registry, rotary, scaling, sinusoidal, windows
from posenc.implementations import IMPLEMENTATIONS
from posenc.registry import KINDS, SCHEMES, Rotation, Sizes, position_scores
from posenc.sources import SOURCES
from tests.conformance.check import MANIFEST, SHIPPED

NAMES = tuple(SCHEMES)
# A width of each kind, and a few positions: a number of them, or a shape.
SIZE = {"absolute": 16, "rotary": 32, "bias": 3, "grid": 48}
PLACES = {1: 6, 2: (3, 4), 3: (2, 3, 2)}
# Another value of each parameter than the one that a scheme has by itself.
OTHER = {
    "base": 77.0,
    "layout": "sin_cos",
    "freq_shift": 1,
    "max_len": 700,
    "seed": 5,
    "scale_base": 64.0,
    "gamma": 0.9,
    "factor": 3.0,
    "max_position_embeddings": 1000,
    "original_max_position_embeddings": 500,
    "seq_len": 200_000,
    "beta_fast": 64.0,
    "beta_slow": 3.0,
    "truncate": False,
    "attention_factor": 2.5,
    "mscale": 0.5,
    "mscale_all_dim": 1.0,
    "short_factor": [3.0] * 16,
    "long_factor": [3.0] * 16,
    "low_freq_factor": 2.0,
    "high_freq_factor": 9.0,
    "partial_rotary_factor": 0.5,
    "sections": [2, 7, 7],
    "interleaved": True,
    "angle": 1.0,
    "bias_max": 4.0,
    "symmetric": False,
    "num_buckets": 8,
    "max_distance": 20,
    "bidirectional": False,
    "left": 1,
    "right": 1,
    "bucket_size": 4,
    "max_position": 1000,
    "r1": 0.7,
    "r2": 0.3,
    "d_model": 8,
    "c": 0.5,
    "threshold": 9.0,
    "trained": (9, 9),
    "max_res": 10.0,
    "spacing": "linear",
}
# What shows only together with another parameter.
WITH = {
    ("yarn", "mscale"): {"mscale_all_dim": 1.0},
    ("yarn", "mscale_all_dim"): {"mscale": 0.5},
    ("longrope", "short_factor"): {"seq_len": 100},
    ("longrope", "seq_len"): {"seq_len": 100},
}
TABLES = {"t5": (32, 3), "shaw": (33, 3), "deberta": (512, 3)}
# Public functions that compute no encoding: parts, choices and ways back.
HELPERS = {
    "alibi_slopes",
    "check_cell",
    "check_shape",
    "columns",
    "hide_future",
    "log_distance",
    "members",
    "misread_cells",
    "offset_matrix",
    "pair_order",
    "per_feature",
    "sandwich_rates",
    "sandwich_ratios",
    "score_waves",
    "shift_matrix",
    "steps",
    "turns_made",
    "unscaled",
    "wavelengths",
    "window_distances",
    # Ways of seeing a grid.
    "axial_vectors",
    "cell_similarity",
    "flat_vectors",
    "wave_sum",
}


def scores(name, **options):
    scheme = SCHEMES[name]
    return position_scores(name, PLACES[scheme.axes], SIZE[scheme.kind], **options)


def options(name, parameter):
    """Keywords that give a scheme another value of one parameter."""
    if parameter == "table":
        return {"table": np.random.default_rng(1).normal(size=TABLES[name])}
    return {parameter: OTHER[parameter]} | WITH.get((name, parameter), {})


# Metadata


@pytest.mark.parametrize("name", NAMES)
def test_its_metadata_is_complete(name):
    scheme = SCHEMES[name]
    assert scheme.name == name
    assert scheme.kind in KINDS
    assert scheme.extrapolates in typing.get_args(registry.Extrapolates)
    assert scheme.paper is SOURCES[scheme.source]
    assert 2017 <= scheme.year == scheme.paper.year
    assert isinstance(scheme.used_by, tuple)
    assert all(model and model == model.strip() for model in scheme.used_by)
    assert len(set(scheme.used_by)) == len(scheme.used_by)
    assert scheme.axes in PLACES
    assert (scheme.kind == "grid") <= (scheme.axes > 1)


@pytest.mark.parametrize("name", NAMES)
def test_its_formula_is_one_of_latex(name):
    formula = SCHEMES[name].formula
    assert formula.strip()
    assert formula.count("{") == formula.count("}")
    for opening, closing in (
        (r"\left", r"\right"),
        (r"\bigl", r"\bigr"),
        (r"\Bigl", r"\Bigr"),
        (r"\begin", r"\end"),
    ):
        assert formula.count(opening) == formula.count(closing)


def test_formulas_are_of_one_scheme_each():
    assert len({scheme.formula for scheme in SCHEMES.values()}) == len(SCHEMES)


def test_every_kind_has_a_scheme():
    assert {scheme.kind for scheme in SCHEMES.values()} == set(KINDS)


# Functions


@pytest.mark.parametrize("name", NAMES)
def test_its_functions_are_public(name):
    scheme = SCHEMES[name]
    assert scheme.functions
    for function in scheme.functions:
        assert function in posenc.__all__
        assert callable(getattr(posenc, function))


@pytest.mark.parametrize(
    "module", [sinusoidal, rotary, scaling, bias, buckets, windows, grid], ids=lambda m: m.__name__
)
def test_no_public_function_of_a_family_is_left_out(module):
    public = {
        name
        for name, value in vars(module).items()
        if inspect.isfunction(value) and value.__module__ == module.__name__ and not name.startswith("_")
    }
    named = {function for scheme in SCHEMES.values() for function in scheme.functions}
    assert public <= named | HELPERS


# Building


@pytest.mark.parametrize("name", NAMES)
def test_it_is_built_as_all_of_its_kind(name):
    scheme = SCHEMES[name]
    places, size = PLACES[scheme.axes], SIZE[scheme.kind]
    n = places if isinstance(places, int) else math.prod(places)
    built = scheme.build(places, size)
    if scheme.kind == "rotary":
        assert isinstance(built, Rotation)
        for part in built:
            assert part.shape == (n, size // 2)
            assert np.isfinite(part).all()
    else:
        assert built.shape == ((size, n, n) if scheme.kind == "bias" else (n, size))
        assert built.dtype == np.float64
        assert np.isfinite(built).all()
    heads = size if scheme.kind == "bias" else 1
    assert scores(name).shape == (heads, n, n)
    np.testing.assert_array_equal(scores(name), scores(name))


@pytest.mark.parametrize(
    ("name", "parameter"),
    [(scheme.name, parameter) for scheme in SCHEMES.values() for parameter in scheme.parameters],
)
def test_each_of_its_parameters_makes_a_difference(name, parameter):
    scheme = SCHEMES[name]
    places = PLACES[scheme.axes]
    if scheme.axes == 1:  # far enough for every bucket and every ramp
        places = np.array([0, 1, 2, 5, 9, 40, 130, 300])
    usual = scheme.build(places, SIZE[scheme.kind])
    other = scheme.build(places, SIZE[scheme.kind], **options(name, parameter))
    if (name, parameter) == ("learned", "max_len"):  # the rows that both have are the same
        with pytest.raises(ValueError, match="601"):
            scheme.build([600], 16)
        assert scheme.build([600], 16, max_len=700).shape == (1, 16)
    else:
        assert any(not np.allclose(a, b, rtol=1e-9, atol=1e-12) for a, b in zip(usual, other, strict=True))


@pytest.mark.parametrize("name", NAMES)
def test_what_is_no_parameter_of_it_is_refused(name):
    scheme = SCHEMES[name]
    with pytest.raises(TypeError):
        scheme.build(PLACES[scheme.axes], SIZE[scheme.kind], colour=3)


def by_offset(name, moved):
    """For each offset between two positions, or cells, all scores that have it."""
    scheme = SCHEMES[name]
    if scheme.axes == 1:
        cells = (np.arange(6) + moved)[:, np.newaxis]
        made = position_scores(name, cells[:, 0], SIZE[scheme.kind])
    else:
        cells = grid.grid_cells(PLACES[scheme.axes]).reshape(-1, scheme.axes)
        made = scores(name)
    found = {}
    for i, j in np.ndindex(*made.shape[1:]):
        found.setdefault(tuple(cells[i] - cells[j]), []).append(made[:, i, j])
    return found


@pytest.mark.parametrize("name", NAMES)
def test_it_is_relative_if_scores_of_one_offset_are_equal(name):
    scheme = SCHEMES[name]
    found = by_offset(name, 0)
    if scheme.axes == 1:
        for offset, more in by_offset(name, 400 if name == "learned" else 700).items():
            found[offset] += more
    same = all(np.ptp(values, axis=0).max() < 1e-9 for values in found.values())
    assert same == scheme.relative


@pytest.mark.parametrize("name", [name for name in NAMES if SCHEMES[name].axes == 1])
def test_far_positions_are_refused_only_where_it_says_so(name):
    scheme = SCHEMES[name]
    if scheme.extrapolates == "refused":
        with pytest.raises(ValueError, match="512"):
            scheme.build([100_000], SIZE[scheme.kind])
    else:
        made = position_scores(name, [100_000, 100_003], SIZE[scheme.kind])
        assert np.isfinite(made).all()


@pytest.mark.parametrize("name", [name for name in NAMES if SCHEMES[name].extrapolates == "clipped"])
def test_far_distances_share_a_value_where_it_says_so(name):
    made = position_scores(name, [0, 50_000, 90_000], SIZE["bias"])
    np.testing.assert_array_equal(made[:, 1, 0], made[:, 2, 0])


@pytest.mark.parametrize("name", [name for name in NAMES if SCHEMES[name].extrapolates == "fading"])
def test_scores_fall_with_the_distance_where_it_says_so(name):
    made = position_scores(name, [0, 10, 100, 1000], SIZE[SCHEMES[name].kind])
    past = made[:, 1:, 0]  # the key at 0 seen from farther and farther
    assert (past[:, 0] < made[:, 0, 0]).all()
    assert (past.max(axis=1) <= made[:, 0, 0]).all()
    assert (np.abs(past[:, -1] - made[:, 0, 0]) > 0.9 * np.abs(past - made[:, :1, 0]).max(axis=1)).all()


@pytest.mark.parametrize("name", [name for name in NAMES if SCHEMES[name].extrapolates == "rescaled"])
def test_slow_pairs_turn_less_where_it_says_so(name):
    base = {"llama3": 500_000.0}.get(name, 10_000.0)
    rates = SCHEMES[name].build([1.0], 64).angles[0]
    unscaled = posenc.inv_freq(64, base=base)
    assert (rates <= unscaled * (1 + 1e-12)).all()
    assert rates[-1] < 0.6 * unscaled[-1]


# What is learned


LEARNED = {
    "learned": 512 * 768,
    "mixed_rotary": 12 * 64,
    "t5": 32 * 12,
    "shaw": 33 * 64,
    "deberta": 512 * 768,
    "kerple_log": 24,
    "kerple_power": 24,
    "fire": 32 + 32 + 32 * 12 + 12 + 2,
    "swin": 13 * 13 * 12,
    "swin_v2": 2 * 512 + 512 + 512 * 12,
}


@pytest.mark.parametrize("name", NAMES)
def test_so_many_numbers_of_it_are_learned(name):
    assert SCHEMES[name].n_learned(Sizes()) == LEARNED.get(name, 0)


@pytest.mark.parametrize("name", LEARNED)
def test_what_is_learned_can_be_given_or_drawn(name):
    assert set(SCHEMES[name].parameters) & {"seed", "table", "r1", "angle"}


def test_networks_have_as_many_numbers_as_it_says():
    network = posenc.fire_network(12)
    assert sum(part.size for part in network) + 2 == LEARNED["fire"]
    assert posenc.swin_index(7, 7).max() + 1 == 13 * 13


# Scores, by hand


def test_scores_of_a_table_are_its_dot_products():
    for i, j in np.ndindex(6, 6):
        right = math.fsum(math.cos((i - j) * 10_000 ** (-2 * k / 16)) for k in range(8))
        assert scores("sinusoidal")[0, i, j] == pytest.approx(right, abs=1e-12)


def test_scores_of_a_rotation_are_those_of_rotated_ones():
    ones = posenc.rotate(np.ones((6, 32)), 6)
    np.testing.assert_allclose(scores("rotary")[0], ones @ ones.T, rtol=0, atol=1e-12)
    factor = 0.1 * math.log(4) + 1
    scaled = posenc.yarn(32, factor=4, original_max_position_embeddings=32_768).inv_freq
    ones = factor * posenc.rotate(np.ones((6, 32)), 6, inv_freq=scaled)
    np.testing.assert_allclose(scores("yarn")[0], ones @ ones.T, rtol=0, atol=1e-12)


def test_scores_of_xpos_are_those_of_its_function():
    right = posenc.score(np.ones(32), np.ones(32), 6, scale_base=512)
    np.testing.assert_allclose(scores("xpos")[0][:, 0], right, rtol=0, atol=1e-12)


def test_scores_of_a_bias_are_the_bias():
    np.testing.assert_allclose(scores("alibi"), posenc.alibi(3, 6, 6, symmetric=True))
    np.testing.assert_allclose(scores("alibi", symmetric=False), posenc.alibi(3, 6, 6))
    assert (scores("none") == 0).all()
    log = position_scores("kerple_log", [0, 7], 2, r1=2.0, r2=0.5)
    assert log[0, 1, 0] == pytest.approx(-2 * math.log(4.5))


def test_a_learned_table_has_a_row_for_each_position():
    table = posenc.random_init(512, 16)
    np.testing.assert_array_equal(SCHEMES["learned"].build(6, 16), table[:6])
    np.testing.assert_array_equal(SCHEMES["learned"].build([9, 0, 511], 16), table[[9, 0, 511]])


def test_the_biases_of_swin_v2_are_sixteen_times_a_sigmoid_of_nearly_nothing():
    made = scores("swin_v2")
    assert made.min() > 0
    assert made.max() < 16
    assert abs(made.mean() - 8) < 1.5


def test_scores_of_multimodal_positions_fall_together_where_the_offsets_are_the_same():
    made = position_scores("multimodal_rotary", (3, 4), 32)[0].reshape(3, 4, 3, 4)
    rates = posenc.inv_freq(32)
    # 4, 6 and 6 pairs for time, height and width.
    right = 2 * (4 + np.cos(2 * rates[4:10]).sum() + np.cos(3 * rates[10:]).sum())
    assert made[2, 3, 0, 0] == pytest.approx(right, abs=1e-12)


def test_an_unknown_scheme_is_refused():
    with pytest.raises(ValueError, match=r"^scheme must be 'sinusoidal' or .*, got 'rope'$"):
        position_scores("rope", 3, 8)


# Implementations


def ours(implementation):
    module, _, name = implementation.function.partition(".")
    return getattr(importlib.import_module(f"posenc.{module}"), name)


@pytest.mark.parametrize("name", IMPLEMENTATIONS)
def test_an_implementation_names_a_function_and_keywords_of_it(name):
    each = IMPLEMENTATIONS[name]
    function = ours(each)
    assert each.name == name
    assert each.library == name.split(".")[0]
    assert getattr(posenc, each.function.partition(".")[2]) is function
    assert set(each.parameters) <= set(inspect.signature(function).parameters)
    if each.scheme is None:
        assert each.function.split(".")[0] in ("position_ids", "interpolation")
    else:
        functions = SCHEMES[each.scheme].functions
        assert function.__name__ in (*functions, "unscaled", "grid_sinusoidal")


CALLS = {
    "sinusoidal": (5, 8),
    "rotate": (np.ones((3, 8)), 3),
    "fourier_bands": (4, 224),
    "alibi": (4, 3, 3),
    "model_ids": (np.ones((2, 3)),),
    "column_ids": (2, 3),
    "swin_index": (3, 4),
    "xpos_scale": (5, 8),
    "llama3": (64,),
}


@pytest.mark.parametrize("name", [name for name, each in IMPLEMENTATIONS.items() if each.parameters])
def test_the_parameters_of_an_implementation_are_allowed(name):
    each = IMPLEMENTATIONS[name]
    function, arguments = ours(each), dict(each.parameters)
    if function is posenc.grid_sinusoidal:
        n_axes = len(arguments["axes"])
        made = function(grid.grid_cells((2, 3, 2)[:n_axes]), [4] * n_axes, **arguments)
        assert made.shape[-1] == 4 * n_axes
    elif function is posenc.resize_grid:
        prefix = arguments.get("prefix", 0)
        assert len(function(np.ones((prefix + 6, 2)), (2, 3), (4, 4), **arguments)) == prefix + 16
    elif function is posenc.section_angles:
        assert function(np.zeros((3, 5)), np.ones(4), (1, 1, 2), **arguments).shape == (5, 4)
    elif function is posenc.model_ids:
        assert function(arguments["id_rule"], np.ones((2, 3))).shape == (2, 3)
    elif function is posenc.turn:
        assert function(np.ones((3, 8)), np.zeros((3, 4)), **arguments).shape == (3, 8)
    else:
        assert function(*CALLS[function.__name__], **arguments) is not None


def test_every_function_of_the_reference_arrays_is_an_implementation():
    entries = json.loads((SHIPPED / MANIFEST).read_text(encoding="utf-8"))["arrays"]
    assert {entry["callable"] for entry in entries} == set(IMPLEMENTATIONS)
