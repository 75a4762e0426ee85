"""Judge every array of a folder with a `manifest.json` and the `.npz` files it names."""

import json
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tests.conformance.adapters import ADAPTERS

MANIFEST = "manifest.json"
SHIPPED = Path(__file__).parent / "data"


class Verdict(NamedTuple):
    """What became of one array, and why if it did not pass."""

    name: str
    status: Literal["passed", "failed", "skipped"]
    reason: str = ""


def check_folder(folder: Path) -> list[Verdict]:
    """Judge each array that the manifest of `folder` names; a folder that cannot be read is one failure."""
    try:
        entries = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))["arrays"]
        if not isinstance(entries, list) or not entries:
            raise ValueError("`arrays` must be a list of at least one entry")
    except (OSError, ValueError, LookupError, TypeError, RecursionError) as error:
        return [Verdict(MANIFEST, "failed", _described(error))]
    named = [entry for entry in entries if isinstance(entry, dict) and isinstance(entry.get("name"), str)]
    inputs = {entry["name"]: entry for entry in named if entry.get("role") == "input"}
    return [
        check_entry(folder, entry, f"arrays[{number}]", inputs)
        for number, entry in enumerate(entries)
        if not (entry in named and entry["name"] in inputs)  # inputs are judged by what comes of them
    ]


def check_entry(folder: Path, entry: Any, place: str, inputs: Mapping[str, Any]) -> Verdict:
    """Judge one entry of a manifest; `place` names one without a name, `inputs` are all input entries."""
    name = str(entry["name"]) if isinstance(entry, dict) and "name" in entry else place
    # Whatever is wrong with one array must neither hide the others nor end in a traceback.
    try:
        if entry["role"] != "output":
            return Verdict(name, "skipped", f"its role is {entry['role']}")
        if entry["semantics"] not in ADAPTERS:
            return Verdict(name, "skipped", f"no adapter for {entry['semantics']}")
        case, _, part = name.partition("__")
        given = {
            other.removeprefix(f"{case}__"): _stored(folder, inputs[other])
            for other in inputs
            if other.startswith(f"{case}__")
        }
        got = ADAPTERS[entry["semantics"]](entry["args"], **given)
        fault = _fault(entry, got[part] if isinstance(got, Mapping) else got, _stored(folder, entry))
    except Exception as error:
        fault = _described(error)
    return Verdict(name, "failed", fault) if fault else Verdict(name, "passed")


def summary(verdicts: list[Verdict]) -> str:
    """Count the verdicts in one line."""
    count = Counter(verdict.status for verdict in verdicts)
    return f"{count['passed']} passed, {count['failed']} failed, {count['skipped']} skipped"


def _stored(folder: Path, entry: dict[str, Any]) -> NDArray[Any]:
    """Read what the library returned, and hold it to the shape and dtype of its entry."""
    # np.load leaves a file that it opened itself open when the archive is broken.
    with (folder / entry["file"]).open("rb") as archive, np.load(archive, allow_pickle=False) as arrays:
        stored: NDArray[Any] = arrays[entry["name"]]
    if list(stored.shape) != entry["shape"] or stored.dtype != entry["dtype"]:
        raise ValueError(
            f"the stored array is {stored.dtype} {list(stored.shape)}, "
            f"its entry says {entry['dtype']} {entry['shape']}"
        )
    return stored


def _fault(entry: dict[str, Any], got: NDArray[Any], want: NDArray[Any]) -> str:
    """Say where the core's array is not the library's; nothing if it is."""
    got = np.asarray(got)
    if "rows" in entry:
        got = got[entry["rows"]]
    if got.shape != want.shape:
        return f"the core gives the shape {got.shape}, the library {want.shape}"
    got, want = got.astype(np.float64), want.astype(np.float64)
    atol, rtol = entry["suggested_atol"], entry.get("suggested_rtol", 0)
    wrong = ~np.isclose(got, want, rtol=rtol, atol=atol, equal_nan=True)
    # At these distances the exact value is a whole number, and float32 falls on the one or the other side.
    for distance, library, exact in entry.get("float32_boundary", ()):
        at = distance - entry["args"]["rel_min"]
        wrong[at] &= got[at] not in (library, exact)
    if not wrong.any():
        return ""
    first = tuple(int(k) for k in np.argwhere(wrong)[0])
    return (
        f"{wrong.sum()} of {wrong.size} values differ, first at {list(first)}: "
        f"the core gives {got[first]:.9g}, the library {want[first]:.9g} (atol {atol:g}, rtol {rtol:g})"
    )


def _described(error: Exception) -> str:
    """Write an exception on one line."""
    return " ".join(f"{type(error).__name__}: {error}".split())
