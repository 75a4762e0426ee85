"""The table as the paper writes it, one scalar at a time: what the package is compared with."""

import math

import mpmath


def rates(d_model, base, freq_shift):
    """ω_i for every pair, by the letter of the definitions."""
    half = d_model // 2
    if freq_shift:
        return [base ** (-i / max(half - 1, 1)) for i in range(half)]
    return [base ** (-2 * i / d_model) for i in range((d_model + 1) // 2)]


def row(p, d_model, *, base=10_000.0, layout="interleaved", freq_shift=0):
    """One row, column after column."""
    width = d_model - 1 if freq_shift and d_model % 2 else d_model
    sines, cosines = [], []
    for i, rate in enumerate(rates(d_model, base, freq_shift)):
        sines.append(math.sin(p * rate))
        if 2 * i + 1 < width:
            cosines.append(math.cos(p * rate))
    if layout == "interleaved":
        cells = [(cosines if j % 2 else sines)[j // 2] for j in range(width)]
    elif layout == "sin_cos":
        cells = sines + cosines
    else:
        cells = cosines + sines
    return cells + [0.0] * (d_model - width)


def exact(p, i, d_model, *, base=10_000.0, freq_shift=0):
    """The sine and the cosine of pair i at the float p, in 50 digits."""
    with mpmath.workdps(50):
        half = d_model // 2
        exponent = mpmath.mpf(i) / max(half - 1, 1) if freq_shift else mpmath.mpf(2 * i) / d_model
        angle = mpmath.mpf(float(p)) * mpmath.power(float(base), -exponent)
        return mpmath.sin(angle), mpmath.cos(angle)
