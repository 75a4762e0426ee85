"""Tables in text: every separator, encoding, decimal mark and surrounding that people have."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

import posenc
from posenc.files.text import MAX_LINE

WANT = [[0.5, -1.25, 1234.5], [2.0, 0.0, 3e-07]]
FINITE = st.floats(allow_nan=False, allow_infinity=False)


def read(text, encoding="utf-8"):
    return posenc.read_table(text if isinstance(text, bytes) else text.encode(encoding))


def codes(table):
    return [note.code for note in table.notes]


def refusal(text):
    with pytest.raises(posenc.TableError) as caught:
        read(text)
    return caught.value


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r", "\n\n", "\r\n\r\n"])
@pytest.mark.parametrize("last", [True, False])
@pytest.mark.parametrize("separator", [",", ", ", ";", "\t", " ", "   ", " ; "])
def test_separators_and_ends_of_lines(separator, end, last):
    lines = [separator.join(["0.5", "-1.25", "1234.5"]), separator.join(["2", "0", "3e-07"])]
    table = read(end.join(lines) + end * last)
    np.testing.assert_array_equal(table.values, WANT)
    assert table.dtype == "text"
    assert codes(table) == []


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be", "utf-32", "cp949"])
def test_other_encodings_are_read_and_named(encoding):
    table = read("위치,차원 1,차원 2\n0.5,-1.25,1234.5\n2,0,3e-07\n", encoding)
    np.testing.assert_array_equal(table.values, WANT)
    assert codes(table) == ["encoding"]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig"])
def test_utf_8_with_or_without_its_mark_needs_no_note(encoding):
    table = read("위치,차원 1,차원 2\n0.5,-1.25,1234.5\n2,0,3e-07\n", encoding)
    np.testing.assert_array_equal(table.values, WANT)
    assert codes(table) == []


def test_a_mark_in_other_byte_order():
    np.testing.assert_array_equal(read(b"\xfe\xff" + "1,2\n3,4".encode("utf-16-be")).values, [[1, 2], [3, 4]])


@pytest.mark.parametrize("data", [b"gr\xf6e,b\n1,2\n", b"\xff\xff,1\n"])
def test_an_unknown_encoding_is_named(data):
    assert refusal(data).code == "encoding"


@pytest.mark.parametrize(
    ("text", "want"),
    [
        ("0,5;-1,25\n1;2", [[0.5, -1.25], [1, 2]]),
        ("0,5\t-1,25\n1\t2", [[0.5, -1.25], [1, 2]]),
        ("0,5 -1,25\n1 2", [[0.5, -1.25], [1, 2]]),
        ('"0,5","-1,25"\n"1","2"', [[0.5, -1.25], [1, 2]]),
        ("1.234,5;0,5\n2;1.234.567", [[1234.5, 0.5], [2, 1234567]]),
        ("1\u00a0234,5;0,5\n2;1\u202f000", [[1234.5, 0.5], [2, 1000]]),
        ("1,234.5;0.5\n2;1,234,567", [[1234.5, 0.5], [2, 1234567]]),
        ("1'234.5;0.5\n2;−3", [[1234.5, 0.5], [2, -3]]),
        ("1,234;0,5\n2;3", [[1.234, 0.5], [2, 3]]),
        ("1,234;0.5\n2;3", [[1234, 0.5], [2, 3]]),
        ("1,5e-3;,5\n2;3", [[0.0015, 0.5], [2, 3]]),
        ("0.001 1000000\n123 1e3", [[0.001, 1e6], [123, 1000]]),
    ],
)
def test_decimal_marks_and_thousands_where_they_are_clear(text, want):
    np.testing.assert_array_equal(read(text).values, want)


@pytest.mark.parametrize("text", ["1,234;2,345\n3,456;1,000", "1,234 2,345\n3,456 x,1", "1,234\t12"])
def test_a_comma_that_could_be_both_is_refused(text):
    assert refusal(text).code in ("either_comma", "cell", "no_numbers")


@pytest.mark.parametrize("text", ["0,5;0.5\n1;2", "0.5;1\n0,5;2", "0,5;0.123\n1;2"])
def test_two_decimal_marks_are_refused(text):
    assert refusal(text).code == "cell"


@pytest.mark.parametrize(
    ("text", "want", "code"),
    [
        ("a,b\n0.5,1\n", [[0.5, 1]], ""),
        ("a,b,\n0.5,1,\n2,3,\n", [[0.5, 1], [2, 3]], ""),
        ('"a, b","c"\n0.5,1', [[0.5, 1]], ""),
        ("# saved\n0.5 1\n", [[0.5, 1]], ""),
        ("My table\n0.5,1\n2,3", [[0.5, 1], [2, 3]], ""),
        ("0,1\n0.84,0.54\n0.9,-0.4", [[0, 1], [0.84, 0.54], [0.9, -0.4]], ""),
        ("0,1,0,1\n0.84,0.54,0.01,1", [[0, 1, 0, 1], [0.84, 0.54, 0.01, 1]], ""),
        ("0,1,2\n0.5,1,2", [[0.5, 1, 2]], "column_numbers"),
        ("x,y\n0,0.5\n1,0.25\n2,1", [[0, 0.5], [1, 0.25], [2, 1]], ""),
        (",x\n0,0.5\n1,0.25", [[0.5], [0.25]], "index_column"),
        ("pos,x\n7,0.5\n9,0.25", [[0.5], [0.25]], "index_column"),
        ("위치;x\n1;0,5\n2;0,25", [[0.5], [0.25]], "index_column"),
        ("pos,x\n0.5,1\n0.25,2", [[0.5, 1], [0.25, 2]], ""),
        ("0,0.5\n1,0.25\n2,1", [[0.5], [0.25], [1]], "index_column"),
        ("5,0.5\n6,0.25\n7,1", [[5, 0.5], [6, 0.25], [7, 1]], ""),
        ("0,3\n1,4\n2,5", [[0, 3], [1, 4], [2, 5]], ""),
        ('"x"\t"y"\n"1"\t0.5\t1\n"2"\t2\t3', [[0.5, 1], [2, 3]], "index_column"),
        ("   0    1    2\n0  0.5  1.0 2\n1  2.0  3.0 4", [[0.5, 1, 2], [2, 3, 4]], "index_column"),
        ("the,0.5,1\ncat,2,3", [[0.5, 1], [2, 3]], "label_column"),
        ("token,x,y\nthe,0.5,1\ncat,2,3", [[0.5, 1], [2, 3]], "label_column"),
    ],
)
def test_names_and_numbers_of_rows_and_columns(text, want, code):
    table = read(text)
    np.testing.assert_array_equal(table.values, want)
    assert not code or code in codes(table)
    assert code or codes(table) in ([], ["decimal_comma"])


@pytest.mark.parametrize(
    ("text", "row", "column", "line"),
    [
        ("1,2\n3,x", 1, 1, 2),
        ("a,b\n\n1,2\n3,n/a", 1, 1, 4),
        ("1,n/a,3\n4,5,6", 0, 1, 1),
        ("1,,3\n4,5,6", 0, 1, 1),
        ("1,2,3\n4,5,", 1, 2, 2),
        ("pos,a,b\n0,1,2\n1,x,2", 1, 0, 3),
        ("pos,a,b\n0,1,2\n1,2,3\n2,x,2", 2, 0, 4),
        ("1_0,2\n3,4", 0, 0, 1),
        ("１,2\n3,4", 0, 0, 1),
        ("0x1,2\n3,4", 0, 0, 1),
        ("1+2j,2\n3,4", 0, 0, 1),
        ("the,0.5\n1,2", 0, 0, 1),
        ("the,0.5,1", 0, 0, 1),
    ],
)
def test_a_cell_that_is_no_number_is_named(text, row, column, line):
    error = refusal(text)
    assert error.code == "cell"
    # Before a second row nothing tells that the first column counts the rows.
    counted = text.startswith("pos") and row == 1
    place = [error.values[key] for key in ("row", "column", "line")]
    assert place == [row, column + counted, line]


@pytest.mark.parametrize(
    ("text", "row", "line", "got", "expected"),
    [
        ("1,2,3\n4,5\n6,7,8", 1, 2, 2, 3),
        ("a,b\n1,2\n\n3,4,5", 1, 4, 3, 2),
        ("1 2\n3 4\n5", 2, 3, 1, 2),
        ("a,b,c\n1,2\n3,4", 0, 2, 2, 3),
        ("a,b\n0.5,1,2\n3,4,5", 0, 2, 3, 2),
    ],
)
def test_a_row_of_another_length_is_named(text, row, line, got, expected):
    error = refusal(text)
    assert error.code == "ragged"
    assert [error.values[key] for key in ("row", "line", "got", "expected")] == [row, line, got, expected]


def test_what_is_not_finite_is_named_in_all_places_up_to_ten():
    assert "[1, 0], [2, 0] counted" in str(refusal("0,1\nnan,0.5\n-inf,0.25"))
    assert "[0, 1] counted" in str(refusal("pos,a,b\n0,1,1e999\n1,2,3"))
    many = refusal("\n".join(["nan,1"] * 20))
    assert many.values["count"] == 20
    assert "[9, 0], …" in str(many)


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("words only\nand no more", "no_numbers"),
        ('{"error": "Repository not found"}', "no_numbers"),
        (" \n;;\n", "no_numbers"),
        ("\ufeff", "no_numbers"),
        ("0 1 ... 7\n1 2 ... 8", "elided"),
        ("0 " * MAX_LINE, "long_line"),
    ],
)
def test_other_text_is_refused(text, code):
    assert refusal(text).code == code


@settings(max_examples=150, deadline=None)
@given(
    table=arrays(np.float64, st.tuples(st.integers(1, 6), st.integers(2, 6)), elements=FINITE),
    separator=st.sampled_from([",", ";", "\t", " "]),
    named=st.booleans(),
    encoding=st.sampled_from(["utf-8", "utf-8-sig", "utf-16", "utf-16-be", "cp949"]),
    quoted=st.booleans(),
)
def test_what_is_written_in_full_is_read_back_exactly(table, separator, named, encoding, quoted):
    sign = '"' if quoted and separator != " " else ""
    rows = [[f"채널{column}" for column in range(table.shape[1])]] if named else []
    rows += [[f"{sign}{value!r}{sign}" for value in row] for row in table.tolist()]
    found = read("\n".join(separator.join(row) for row in rows), encoding)
    if "index_column" in codes(found):  # the table happens to begin with 0, 1, 2
        table = table[:, 1:]
    np.testing.assert_array_equal(found.values, table)


@settings(max_examples=100, deadline=None)
@given(table=arrays(np.float64, st.tuples(st.integers(1, 5), st.integers(2, 5)), elements=st.floats(-9, 9)))
def test_decimal_commas_are_read_back_exactly(table):
    table = np.round(table, 2) + 0.001
    text = "\n".join(";".join(f"{value:.4f}".replace(".", ",") for value in row) for row in table.tolist())
    np.testing.assert_allclose(read(text).values, table, atol=1e-12)
