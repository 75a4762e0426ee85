"""Tables as people bring them along, right and wrong, made by the functions of this package."""

from collections.abc import Callable, Mapping
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from posenc import learned
from posenc.files.checks import as_table
from posenc.grid import grid_sinusoidal
from posenc.mistakes import MISTAKES
from posenc.precision import sinusoid_in
from posenc.sinusoidal import sinusoidal
from posenc.tables import Table

Floats = NDArray[np.floating]
ROWS, WIDTH = 64, 64
GRID = (14, 14)  # cells of ViT-B/16 at 224 × 224 pixels


def _grid() -> Floats:
    """Make MAE's table: a row of zeros for the class token, then the cells."""
    half = WIDTH // 2
    cells = grid_sinusoidal(
        np.indices(GRID).reshape(2, -1).T, (half, half), axes=(1, 0), grid_layout="sin_cos"
    )
    return np.vstack([np.zeros((1, WIDTH)), cells])


# In the order in which they are offered: mistakes, tables that are right, noise.
EXAMPLES: Mapping[str, Callable[[], Floats]] = MappingProxyType(
    {
        "raw_column": lambda: MISTAKES["raw_column"].build(ROWS, WIDTH),
        # The rows that fairseq gives to a text: its first token has position padding_idx + 1 = 2.
        "fairseq": lambda: sinusoidal(np.arange(2, ROWS + 2), WIDTH, layout="sin_cos", freq_shift=1),
        "half_precision": lambda: sinusoid_in(512, WIDTH, "float16"),
        "transposed": lambda: sinusoidal(ROWS, WIDTH + 32).T,
        "grid": _grid,
        "learned": lambda: learned.load("rxnmapper"),
        "random_init": lambda: learned.random_init(ROWS, WIDTH),
    }
)


def example(name: str) -> Table:
    """Return one of `EXAMPLES`, read as a float32 file of that name would be.

    Raises
    ------
    KeyError
        If there is no such example.
    """
    values = EXAMPLES[name]().astype(np.float32)
    return as_table(values, what=name, dtype="float32", name=f"{name}.npy")
