"""The smallest recurrent network: it reads one row after the other, so it needs no positions."""

import math

import numpy as np
from numpy.typing import ArrayLike

from posenc.arrays import Floats, check_table
from posenc.learned import SEED
from posenc.parameters import Integer

N_HIDDEN = Integer("n_hidden", default=16, minimum=1, maximum=4096)


def rnn(x: ArrayLike, *, n_hidden: int = N_HIDDEN.default, seed: int = SEED.default) -> Floats:
    """h_t = tanh(W h_{t−1} + U x_t) with h_{−1} = 0 (Elman 1990), with seeded and untrained weights.

    Parameters
    ----------
    x
        (n, d) inputs, read from row 0 on.
    n_hidden
        Width of the state.
    seed
        W (n_hidden, n_hidden) is drawn from N(0, 1/n_hidden), U (n_hidden, d) from N(0, 1/d).

    Returns
    -------
    (n, n_hidden) float64: the state after each row; the last one is all that remains of the sequence.

    Raises
    ------
    ValueError
        If `x` is not a filled 2-D array or an argument is not allowed.
    """
    rows, width = check_table("x", x), N_HIDDEN.check(n_hidden)
    random = np.random.default_rng(SEED.check(seed))
    w = random.standard_normal((width, width)) / math.sqrt(width)
    u = random.standard_normal((width, rows.shape[1])) / math.sqrt(rows.shape[1])
    states, state = [], np.zeros(width)
    for row in rows:
        state = np.tanh(w @ state + u @ row)
        states.append(state)
    return np.array(states)
