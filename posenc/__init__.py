"""Positional encodings for transformers, in NumPy: the tables, what they keep and what breaks them."""

from posenc.mistakes import MISTAKES, Mistake
from posenc.parameters import BASE, D_MODEL, FREQ_SHIFT, LAYOUT, SEQ_LEN, Choice, Integer, Real
from posenc.sinusoidal import Columns, Steps, columns, inv_freq, shift_matrix, sinusoidal, steps, wavelengths

__all__ = [
    "BASE",
    "D_MODEL",
    "FREQ_SHIFT",
    "LAYOUT",
    "MISTAKES",
    "SEQ_LEN",
    "Choice",
    "Columns",
    "Integer",
    "Mistake",
    "Real",
    "Steps",
    "columns",
    "inv_freq",
    "shift_matrix",
    "sinusoidal",
    "steps",
    "wavelengths",
]
