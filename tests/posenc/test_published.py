from posenc.published import PUBLISHED
from posenc.sources import SOURCES

BY_NAME = {result.name: result for result in PUBLISHED}


def test_every_row_has_a_number_for_each_column_and_every_result_a_source():
    assert len(BY_NAME) == len(PUBLISHED)
    for result in PUBLISHED:
        assert result.source in SOURCES
        for cells in result.rows.values():
            assert len(cells) == len(result.columns)
            assert all(float(cell) > 0 for cell in cells)


def test_the_numbers_are_those_of_the_papers():
    assert BY_NAME["vaswani_e"].rows == {"sinusoid": ("4.92", "25.8"), "learned": ("4.92", "25.7")}
    printed = " ".join(" ".join(cells) for cells in BY_NAME["haviv_1"].rows.values())
    assert printed == "20.97 13.10 20.42 13.05 20.16 12.93 19.71 12.51"
    printed = " ".join(" ".join(cells) for cells in BY_NAME["haviv_2"].rows.values())
    assert printed == "22.04 16.84 14.21 13.05 21.49 16.58 14.04 12.93"
    printed = " ".join(" ".join(cells) for cells in BY_NAME["press_2"].rows.values())
    assert printed == (
        "20.05 43.54 76.23 178.97 20.07 21.37 25.99 35.54 19.65 18.79 18.91 22.91 19.73 18.73 18.52 18.40"
    )


def test_the_two_tables_of_one_paper_agree_where_they_overlap():
    # Haviv et al.: the largest model of table 2 is the Pile model of table 1.
    for name, cells in BY_NAME["haviv_2"].rows.items():
        assert cells[-1] == BY_NAME["haviv_1"].rows[name][1]
