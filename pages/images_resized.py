"""The second half of /images: a table at another resolution, and the code of both halves."""

from functools import partial

import streamlit as st

import posenc
from pages.ui import chart, controls, grids, guard, heatmap, layout
from pages.ui.text import label, number, prose
from posenc import figures, formulas, images, resizing, snippets_images
from posenc.interpolation import GRID_METHOD

PAGE = "images"
CODE = posenc.Choice("code_array", ("table", "resized"))
resize = st.cache_resource(max_entries=2, show_spinner=False)(resizing.resized)
compare = st.cache_resource(max_entries=2, show_spinner=False)(
    lambda task: resizing.compared(task, resize(task))
)


def word(key: str, **values: object) -> str:
    return label(f"images.{key}", **values)


@guard.fragment
def show(shape: tuple[int, int], width: int, base: float, form: str) -> None:
    """Resize a table, compare it with the sinusoid computed at the new cells, and take the code."""
    layout.section(PAGE, "resize")
    st.latex(formulas.RESIZED_CELL)
    task = ask(shape, width, base)
    with layout.waiting(word("wait"), *task.products):
        found = resize(task)
        compared = compare(task) if task.values == "sinusoid" else None
    columns(task, found, compared)
    if compared:
        errors(task, compared)
    rows(task, found)
    if controls.choice(CODE) == "resized":
        given = {"table.npy": found.given} if task.values == "random" else None
        code = snippets_images.resized(task)
        layout.in_code(code, found.table.shape, lambda: found.table, "resized", given)
    else:
        kept = images.kept_cells(shape, width)
        code = snippets_images.grid_table(form, *shape, width, base=base, cells=kept)
        make = partial(images.first_cells, form, shape, width, kept, base=base)
        layout.in_code(code, (kept, width), make, "grid_table", cut=kept < images.count(shape))


def ask(shape: tuple[int, int], width: int, base: float) -> resizing.Task:
    """Choose the table, the new size and the kernel."""
    first, second, third = st.columns(3)
    with first:
        values = controls.choice(resizing.VALUES)
        class_token = controls.switch("class_token", default=True)
    with second:
        new = tuple(
            controls.integer(resizing.target(f"new_{name}", side))
            for name, side in zip(("height", "width"), shape, strict=True)
        )
    with third:
        method, antialias = controls.choice(GRID_METHOD), controls.switch("antialias")
    kept = resizing.kept_width(width, shape, new)
    if kept < width:
        st.info(word("fewer_columns", kept=kept, width=f"{width:,}"), icon=":material/crop:")
    return resizing.Task(values, shape, new, kept, base, method, antialias, class_token)


def columns(task: resizing.Task, found: resizing.Resized, compared: resizing.Compared | None) -> None:
    """Pick a column: as it is, resized, and as the formula has it at the new cells."""
    column = controls.index("column", task.d_model, 0)
    tables = {"before": found.before, "after": found.after} | (
        {"direct": compared.direct} if compared else {}
    )
    values = {"column": column, "old": by(task.old), "new": by(task.new)}
    look = {"limit": found.largest, "height": 360}
    with layout.columns(3, grids.THIRD):
        for name, table in tables.items():
            title, alt = word(name, **values), word(f"{name}_alt", **values)
            grids.over_cells(title, f"resize_{name}", alt, table[..., column], label("axis.value"), **look)
    before, after = (number(size) for size in found.rms)
    kind = "resize_sinusoid" if compared else "resize_random"
    st.markdown(prose(PAGE, kind, before=before, after=after))


def errors(task: resizing.Task, compared: resizing.Compared) -> None:
    """Show in which cells, and for which waves, the resized table misses the formula."""
    limit = heatmap.largest(heatmap.of_table(compared.error))
    figure = figures.series(
        compared.wavelengths,
        {controls.option_label("method", name): error for name, error in compared.by_wave.items()},
        label("axis.wavelength_cell"),
        word("rms"),
        log_x=True,
        points=len(compared.wavelengths) <= posenc.D_MODEL.default,
    )
    with layout.columns(2, grids.HALF):
        look, alt = {"limit": limit, "sequential": True}, word("error_alt", new=by(task.new))
        grids.over_cells(word("error"), "resize_error", alt, compared.error, word("rms"), **look)
        chart.show(figure, "by_wave", word("by_wave_alt"))


def rows(task: resizing.Task, found: resizing.Resized) -> None:
    """Show the shapes, what a ratio in place of the size gives, and the guess from the rows alone."""
    before, after = (f"({len(table):,}, {task.d_model:,})" for table in (found.given, found.table))
    values = {"before": before, "after": after, "change": number(found.class_change)}
    wanted = dict.fromkeys((*zip(task.old, task.new, strict=True), *resizing.LOST))
    ratios = layout.rows(
        [word(name) for name in ("cells_old", "cells_wanted", "cells_ratio")],
        [(old, new, resizing.by_ratio(old, new)) for old, new in wanted],
    )
    count = len(found.given)
    guessed = resizing.guess(count)
    guess = guessed.square._asdict() if guessed.square else {}
    layout.text(
        *([prose(PAGE, "resize_waves")] if task.values == "sinusoid" else []),
        prose(PAGE, "resize_class" if task.class_token else "resize_shapes", **values),
        prose(PAGE, "resize_ratio"),
        ratios,
        prose(PAGE, "guess" if guess else "guess_refused", rows=f"{count:,}", **guess),
    )
    if not guess:
        st.code(f"ValueError: {guessed.refusal}", language=None, wrap_lines=True)


def by(shape: tuple[int, int]) -> str:
    return "×".join(map(str, shape))
