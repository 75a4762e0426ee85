"""The array of a page in a file: in each format the values that the code makes."""

from __future__ import annotations

import io

import numpy as np
import pytest
import safetensors.numpy

import posenc
from pages.ui.text import LANGUAGES, catalogue
from tests.pages.downloads import listen

READERS = {
    "npy": lambda data: np.load(io.BytesIO(data)),
    "npz": lambda data: np.load(io.BytesIO(data))["table"],
    "csv": lambda data: np.array([line.split(",") for line in data.decode().splitlines()], dtype=float),
    "safetensors": lambda data: safetensors.numpy.load(data)["table"],
}


@pytest.mark.parametrize("ending", READERS)
def test_a_file_holds_the_array_of_the_page(frame, monkeypatch, ending):
    files = listen(monkeypatch)
    app = frame(seq_len="30", d_model="12", file_format=ending).switch_page("sinusoidal.py").run()
    assert not app.exception
    assert [name for name in files if name.startswith("sinusoidal.")] == [f"sinusoidal.{ending}"]
    found = READERS[ending](files[f"sinusoidal.{ending}"]())
    np.testing.assert_array_equal(np.float32(found), posenc.sinusoidal(30, 12))


@pytest.mark.parametrize("lang", LANGUAGES)
def test_the_format_is_chosen_and_an_array_of_three_axes_says_what_its_lines_are(frame, monkeypatch, lang):
    files = listen(monkeypatch)
    app = frame(lang=lang).run()
    said = catalogue(lang)["code.csv_rows"].replace("{{columns}}", "384")
    assert "attention_outputs.npy" in files
    assert said not in [caption.value for caption in app.caption]
    whole = READERS["npy"](files["attention_outputs.npy"]())
    assert whole.shape == (2, 8, 384)
    app.segmented_control(key="file_format").set_value("csv").run()
    assert "csv" in app.query_params["file_format"]
    assert said in [caption.value for caption in app.caption]
    found = READERS["csv"](files["attention_outputs.csv"]())
    np.testing.assert_array_equal(found.astype(whole.dtype), np.concatenate([*whole]))


@pytest.mark.parametrize("junk", ["exe", "", "npy.csv"])
def test_junk_in_the_address_offers_the_first_format(frame, monkeypatch, junk):
    files = listen(monkeypatch)
    app = frame(file_format=junk).switch_page("sinusoidal.py").run()
    assert "sinusoidal.npy" in files
    assert app.toast
