"""What a table is: clean tables of every form, the bundled ones, and noise."""

import numpy as np
import pytest

import posenc
from posenc.identify import identify


@pytest.mark.parametrize("layout", posenc.LAYOUT.options)
@pytest.mark.parametrize("freq_shift", posenc.FREQ_SHIFT.options)
@pytest.mark.parametrize(("n", "d_model"), [(8, 4), (50, 128), (512, 64)])
@pytest.mark.parametrize("first", [0, 7])
def test_clean_tables_are_read_exactly(layout, freq_shift, n, d_model, first):
    table = posenc.sinusoidal(first + np.arange(n), d_model, layout=layout, freq_shift=freq_shift)
    found = identify(table)
    assert (found.scheme, found.layout, found.freq_shift) == ("sinusoidal", layout, freq_shift)
    assert found.base == pytest.approx(10_000, rel=1e-3)
    assert (found.first_position, found.step, found.sign, found.scale) == (first, 1, 1, 1)
    assert found.dtype == "float32"
    assert found.residual < 1e-6
    assert found.first_difference is None


@pytest.mark.parametrize("name", posenc.LEARNED)
def test_the_bundled_tables_and_their_shuffled_and_rescaled_copies(name):
    kind = {"sinusoid": "sinusoidal", "learned": "learned"}[posenc.LEARNED[name].kind]
    table = posenc.load(name)
    assert identify(table).scheme == identify(table * 37.0).scheme == kind
    assert identify(posenc.shuffle_rows(table)).scheme != "random"


@pytest.mark.parametrize("shape", [(512, 384), (64, 64), (16, 8)])
def test_noise_is_not_learned(shape):
    rng = np.random.default_rng(0)
    for table in (rng.normal(0, 0.02, shape), rng.uniform(-1, 1, shape), rng.standard_t(5, shape)):
        assert identify(table).scheme == "random"
