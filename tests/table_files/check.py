"""Opens each file of a folder that holds EXPECTED.json and files/, and says what is not as expected there."""

import json
import math
import re
import unicodedata
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

import posenc

# Values are given to eight digits and more, and one stored in half the width is rounded by the file.
RELATIVE = 1e-6


def expected(folder: Path) -> dict[str, dict[str, Any]]:
    """Read what is expected of each file, by its name."""
    found: dict[str, dict[str, Any]] = json.loads((folder / "EXPECTED.json").read_text("utf-8"))
    return found


def faults(path: Path, want: Mapping[str, Any]) -> list[str]:
    """Open a file from its path and from its bytes, and list what differs from what is wanted of it."""
    name = want.get("upload_name", path.name)
    found = []
    for source in (path, path.read_bytes()):
        try:
            table = posenc.read_table(source, name)
        except posenc.TableError as error:
            found += _of_refusal(error, want)
        except Exception as error:
            found.append(f"{type(error).__name__} came out: {error}")
        else:
            found += _of_table(table, name, want)
    return list(dict.fromkeys(found))


def _of_refusal(error: posenc.TableError, want: Mapping[str, Any]) -> Iterator[str]:
    message = str(error)
    if want["verdict"] != "reject" and not _is_choice(error, want):
        yield f"refused: {message}"
    if not message.strip() or "Traceback" in message or len(message) > 1000:
        yield f"no plain sentence: {message!r}"
    places = {tuple(map(int, place)) for place in re.findall(r"\[(\d+), (\d+)\]", message)}
    places |= {tuple(map(int, place)) for place in re.findall(r"row (\d+), column (\d+)", message)}
    for cell in want.get("bad", ()):
        if tuple(cell) not in places:
            yield f"cell {cell} is not named: {message}"


def _is_choice(error: posenc.TableError, want: Mapping[str, Any]) -> bool:
    """Say whether it is the keys that are offered, where no shape says which of them to take."""
    offered = error.values.get("candidates", ()) if error.code == "choose" else ()
    return "shape" not in want and {found.key for found in offered} == set(want.get("keys", "-"))


def _of_table(table: posenc.Table, name: str, want: Mapping[str, Any]) -> Iterator[str]:
    if want["verdict"] == "reject":
        yield f"opened as {table.shape}"
        return
    notes = " ".join(map(str, table.notes))
    if bool(notes) != (want["verdict"] == "accept_with_note"):
        yield f"notes: {notes or 'none'}"
    if "shape" in want and table.shape != tuple(want["shape"]):
        yield f"shape {table.shape}"
    if "v10" in want and not math.isclose(table.values[1, 0], want["v10"], rel_tol=RELATIVE):
        yield f"value at row 1, column 0: {table.values[1, 0]!r}"
    if "zero_rows" in want and list(table.zero_rows) != want["zero_rows"]:
        yield f"zero rows {table.zero_rows}"
    if "keys" in want and {found.key for found in table.candidates} != set(want["keys"]):
        yield f"keys {[found.key for found in table.candidates]}"
    if table.name != unicodedata.normalize("NFC", table.name) or table.name != unicodedata.normalize(
        "NFC", name
    ):
        yield f"name {table.name!r}"
    values = table.values
    if values.flags.writeable or not values.flags.c_contiguous or not values.dtype.isnative:
        yield f"values are not read-only, in C order and native: {values.flags} {values.dtype}"
    if values.dtype not in (np.float32, np.float64) or not np.isfinite(values).all():
        yield f"values of {values.dtype} or not finite"
