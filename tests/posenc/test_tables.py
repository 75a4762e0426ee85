"""The sentences about tables, and names that can be shown."""

import string
import unicodedata

import numpy as np
import pytest

from posenc.tables import MESSAGES, NOTES, Note, Table, TableError, clean_name


def placeholders(template: str) -> set[str]:
    return {field for _, field, _, _ in string.Formatter().parse(template) if field}


@pytest.mark.parametrize("code", MESSAGES)
def test_an_error_is_one_sentence_with_all_its_values(code):
    values = {name: f"<{name}>" for name in placeholders(MESSAGES[code])}
    error = TableError(code, **values)
    assert isinstance(error, ValueError)
    assert error.code == code
    assert error.values == values
    assert all(value in str(error) for value in values.values())
    assert not str(error).endswith(".")
    assert ". " not in MESSAGES[code].split("\n")[0]


@pytest.mark.parametrize("code", NOTES)
def test_a_note_is_one_sentence_with_all_its_values(code):
    values = {name: f"<{name}>" for name in placeholders(NOTES[code])}
    note = str(Note(code, values))
    assert all(value in note for value in values.values())
    assert note.endswith(".")
    assert ". " not in note


def test_braces_of_a_file_do_not_become_placeholders():
    assert "{code} {0}" in str(TableError("unreadable", name="{code} {0}"))


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        (unicodedata.normalize("NFD", "위치표.npy"), "위치표.npy"),
        ("abc\ud800.csv", "abc\ufffd.csv"),
        ("a\nb\x00\u2028.csv", "a\ufffdb\ufffd\ufffd.csv"),
        ("pos 100% ✅ 👨‍👩‍👧 (1).npy", "pos 100% ✅ 👨‍👩‍👧 (1).npy"),
    ],
)
def test_a_name_is_composed_and_can_be_encoded(given, shown):
    assert clean_name(given) == shown
    assert clean_name(given).encode("utf-8")


def test_rows_of_zeros_are_found():
    table = Table(np.array([[0.0, 0.0], [0.0, 1e-300], [-0.0, 0.0]]))
    assert table.shape == (3, 2)
    assert table.zero_rows == (0, 2)
