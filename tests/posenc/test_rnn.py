"""The recurrent network, against a scalar loop."""

from __future__ import annotations

import math

import numpy as np
import pytest

from posenc.rnn import rnn


@pytest.mark.parametrize(("n", "d", "n_hidden", "seed"), [(1, 1, 1, 0), (4, 3, 2, 7), (5, 2, 6, 1)])
def test_the_states_are_those_of_a_scalar_loop(n: int, d: int, n_hidden: int, seed: int) -> None:
    x = np.random.default_rng(99).standard_normal((n, d))
    random = np.random.default_rng(seed)
    w = random.standard_normal((n_hidden, n_hidden)) / math.sqrt(n_hidden)
    u = random.standard_normal((n_hidden, d)) / math.sqrt(d)
    states, before = [], [0.0] * n_hidden
    for row in x:
        before = [
            math.tanh(
                sum(w[i, j] * before[j] for j in range(n_hidden)) + sum(u[i, j] * row[j] for j in range(d))
            )
            for i in range(n_hidden)
        ]
        states.append(before)
    np.testing.assert_allclose(rnn(x, n_hidden=n_hidden, seed=seed), states, atol=1e-12)


def test_the_order_of_the_rows_changes_the_last_state_and_the_past_does_not_see_the_future() -> None:
    x = np.random.default_rng(0).standard_normal((6, 8))
    turned = x[[0, 2, 1, 3, 4, 5]]
    one, two = rnn(x), rnn(turned)
    assert np.abs(one[-1] - two[-1]).max() > 1e-3
    np.testing.assert_array_equal(one[0], two[0])
    assert not np.allclose(one[1], two[1])
    assert np.abs(one).max() < 1


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"x": [1.0, 2.0]}, "x must be a 2-D array"),
        ({"x": [[1.0]], "n_hidden": 0}, "n_hidden must be an integer from 1 to 4096, got 0"),
        ({"x": [[1.0]], "seed": -1}, "seed must be an integer"),
    ],
)
def test_a_bad_argument_is_named(arguments: dict[str, object], sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        rnn(**arguments)
