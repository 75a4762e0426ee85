"""From the arguments of a library's function to the same arrays out of `posenc`: an adapter a semantics.

An adapter takes the arguments of the manifest, and by name the input arrays that are stored beside the output
(``case__x`` is ``x``). It returns the array, or where a case has several outputs a dictionary: ``""`` for the
array that bears the case's name, ``"cos"`` for ``case__cos``. It composes functions of the core, and every
argument comes from the manifest. What a library does that is its own habit, and not a property of the
encoding, stands there under "Quirk". Values are computed in float64, or in the dtype that the arguments name:
a manifest's tolerance covers what the library itself lost.
"""

from collections.abc import Callable, Mapping
from typing import Any

from numpy.typing import NDArray

from tests.conformance.adapters import bias, grid, ids, interpolation, rotary, sinusoid

Output = NDArray[Any] | Mapping[str, NDArray[Any]]
ADAPTERS: dict[str, Callable[..., Output]] = {
    **bias.ADAPTERS,
    **grid.ADAPTERS,
    **ids.ADAPTERS,
    **interpolation.ADAPTERS,
    **rotary.ADAPTERS,
    **sinusoid.ADAPTERS,
}
