"""A library's sinusoid beside the paper's: against scalar loops, and what is known of its functions."""

from __future__ import annotations

import math

import numpy as np
import pytest

import posenc
from posenc import library_sinusoids as libraries

FAIRSEQ = "fairseq.modules.sinusoidal_positional_embedding.SinusoidalPositionalEmbedding."
MARIAN = "transformers.models.marian.modeling_marian.MarianSinusoidalPositionalEmbedding.create_weight"
KERAS = "keras_hub.layers.SinePositionEncoding"


def paper(p: int, j: int, d: int, base: float) -> float:
    return (math.cos if j % 2 else math.sin)(p / base ** (2 * (j // 2) / d))


def fairseq(p: int, j: int, d: int, base: float) -> float:
    """Sines, cosines, and zeros where the width is odd; the divisor is d/2 − 1."""
    half = d // 2
    if j == 2 * half:
        return 0.0
    return (math.sin if j < half else math.cos)(p / base ** (j % half / (half - 1)))


@pytest.mark.parametrize(("n", "d"), [(20, 8), (9, 9), (3, 128)])
def test_differences_are_those_of_two_loops(n, d):
    base = 500.0
    found = libraries.beside_paper(FAIRSEQ + "get_embedding", n, d, base=base)
    cells = [(p, j) for p in range(n) for j in range(d)]
    apart = {(p, j): abs(fairseq(p, j, d, base) - paper(p, j, d, base)) for p, j in cells}
    assert found.as_it_is.value == pytest.approx(max(apart.values()), abs=1e-12)
    assert apart[found.as_it_is[1:]] == pytest.approx(max(apart.values()), abs=1e-12)
    half = d // 2
    order = [j // 2 + half * (j % 2) if j < 2 * half else j for j in range(d)]  # of the paper's columns
    moved = {(p, j): abs(fairseq(p, order[j], d, base) - paper(p, j, d, base)) for p, j in cells}
    assert found.in_order.value == pytest.approx(max(moved.values()), abs=1e-12)
    assert moved[found.in_order[1:]] == pytest.approx(max(moved.values()), abs=1e-12)
    assert found.verdict == "rates"
    np.testing.assert_allclose(found.rates, [base ** (-i / (half - 1)) for i in range(half)], rtol=1e-12)
    np.testing.assert_allclose(
        found.paper_rates, [base ** (-2 * i / d) for i in range((d + 1) // 2)], rtol=1e-12
    )
    assert np.isnan(found.padded_rates[half:]).all()
    assert len(found.padded_rates) == len(found.paper_rates)


@pytest.mark.parametrize("name", libraries.IMPLEMENTATION.options)
@pytest.mark.parametrize("d", [1, 2, 3, 7, 64])
def test_the_verdict_follows_from_the_parameters(name, d):
    given = libraries.LIBRARY_SINUSOIDS[name].parameters
    found = libraries.beside_paper(name, 12, d)
    if given == {"layout": "interleaved", "freq_shift": 0}:
        assert found.verdict == "same"
    elif given["freq_shift"] == 0:
        assert found.verdict == ("order" if d > 2 else "same")
    else:
        # With one pair there is one rate; of an odd width the last sine is missing.
        assert found.verdict == {1: "zeros", 2: "same", 3: "zeros"}.get(d, "rates")


@pytest.mark.parametrize(
    ("seq_len", "d_model", "rows"),
    [(50, 128, 50), (10_000_000, 128, 2048), (10_000_000, 16_384, 16), (1, 1, 1)],
)
def test_as_many_positions_are_compared_as_is_quick(seq_len, d_model, rows):
    assert libraries.compared(seq_len, d_model) == rows


def test_equal_rates_leave_only_the_order():
    assert libraries.beside_paper(FAIRSEQ + "get_embedding", 12, 8, base=1.0).verdict == "order"


def test_the_first_token_of_fairseq_is_at_two():
    first = {name for name in libraries.IMPLEMENTATION.options if libraries.first_position(name) == 2}
    assert {name.rpartition(".")[2] for name in first} == {"forward"}
    assert {libraries.title(name).split(" · ")[1] for name in first} == {
        "SinusoidalPositionalEmbedding.forward",
        "fsmt",
        "m2m_100",
    }
    assert libraries.first_position(FAIRSEQ + "get_embedding") == 0


def test_titles_are_short_and_all_different():
    titles = [libraries.title(name) for name in libraries.IMPLEMENTATION.options]
    assert len(set(titles)) == len(titles) == len(libraries.LIBRARY_SINUSOIDS)
    assert titles[0] == "transformers · whisper · sinusoids"
    assert libraries.title(KERAS) == "keras_hub · SinePositionEncoding"
    assert libraries.title(MARIAN).startswith("transformers · marian · MarianSinusoidal")


# As the libraries themselves behaved when the reference arrays were made.
@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("transformers.models.whisper.modeling_whisper.sinusoids", ("even_only", "division")),
        ("diffusers.models.embeddings.SinusoidalPositionalEmbedding", ("even_only",)),
        (FAIRSEQ + "get_embedding", ("padding_row", "division")),
        (FAIRSEQ + "forward", ("padding_first", "padding_row", "division")),
        ("positional_encodings.torch_encodings.PositionalEncoding1D", ("odd_cut",)),
        ("transformers.models.gptj.modeling_gptj.create_sinusoidal_positions", ("rotation",)),
        ("fairseq.modules.positional_encoding.RelPositionalEncoding.forward", ("offsets_both",)),
        (MARIAN, ()),
        (KERAS, ()),
    ],
)
def test_quirks(name, expected):
    assert libraries.quirks(name) == expected


@pytest.mark.parametrize("name", libraries.IMPLEMENTATION.options)
def test_the_line_makes_the_librarys_table(name):
    code = libraries.code(name, 7, 10, base=500.0)
    assert code.startswith(f"# {name}\n")
    variables: dict[str, object] = {"posenc": posenc}
    exec(compile(code, name, "exec"), variables)
    options = libraries.LIBRARY_SINUSOIDS[name].parameters
    expected = posenc.sinusoidal(7, 10, base=500.0, **options)
    np.testing.assert_array_equal(variables["table"], expected)


def test_an_unknown_function_is_refused():
    with pytest.raises(ValueError, match="implementation must be"):
        libraries.beside_paper("numpy.sin", 4, 8)
