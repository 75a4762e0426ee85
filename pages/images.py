"""Images and grids: how alike two cells are, the orders of columns, the swap of height and width, rotary."""

from functools import partial

import streamlit as st

from pages import images_resized
from pages.ui import chart, controls, grids, guard, heatmap, layout
from pages.ui.text import label, number, prose
from posenc import figures, formulas, grid, images
from posenc.grid_blocks import angle_blocks, form_blocks, form_columns
from posenc.learned import SEED

PAGE = "images"
view = controls.settings()


def word(key: str, **values: object) -> str:
    return label(f"images.{key}", **values)


def size() -> tuple[int, int]:
    """Choose the grid."""
    with layout.columns(2):
        height, across = (controls.integer(side) for side in (images.IMAGE_HEIGHT, images.IMAGE_WIDTH))
    st.caption(word("settings"))
    return height, across


def pick() -> tuple[int, int]:
    """Pick a cell: how alike it and all others are, in three kinds of code side by side."""
    layout.section(PAGE, "cell", **sizes)
    with layout.columns(3):
        y = controls.index("cell_y", shape[0], 4)
        x = controls.index("cell_x", shape[1], 5)
        turn = controls.integer(images.TURN)
    names = {kind: word(f"kind_{kind}", turn=turn) for kind in images.KINDS}
    # Only the mixed vectors are turned: the others are the same whatever the angle.
    tables = {
        kind: {"base": view.base, "turn": turn if kind == "mixed" else 0, "kind": kind} for kind in names
    }
    with layout.waiting(word("wait"), cells, width):
        maps = {
            kind: images.similarity(shape=shape, cell=(y, x), d_model=width, **table)
            for kind, table in tables.items()
        }
    look = images.scale(*maps.values()) | grids.LOOK
    places = layout.columns(3, grids.THIRD)
    for kind, title in names.items():
        with places.cell():
            st.markdown(f"**{title}**")
            heatmap.show(
                f"cell_{kind}",
                word("cell_alt", kind=title, y=y, x=x, **sizes),
                heatmap.of_table(maps[kind]),
                *grids.image(),
                cosine,
                height=360,
                view="cell_view",
                on_pick=lambda y, x: controls.put(cell_y=y, cell_x=x),
                **look,
            )
    near = [images.near(shape=shape, d_model=width, **table) for table in tables.values()]
    rows = layout.rows(
        [word("offset"), *names.values()],
        [(word(f"offset_{name}"), *(number(each[name], 2) for each in near)) for name in images.OFFSETS],
    )
    layout.text(prose(PAGE, "kinds", turn=turn, last=shape[1] - 1, **sizes), rows)
    return y, x


def orders() -> str:
    """Show the order of columns of each form, that it does not count, and the table of one of them."""
    layout.section(PAGE, "orders")
    kinds = {
        (letter, is_cos): f"{letter} · {label('axis.cosine' if is_cos else 'axis.sine')}"
        for letter in images.LETTERS
        for is_cos in (False, True)
    }
    rows = {
        controls.option_label("form", name): [
            (kinds[axis, is_cos], str(pair)) for axis, is_cos, pair in images.tiles(name)
        ]
        for name in grid.GRID_FORMS
    }
    looks = {
        words: figures.Kind(images.LETTERS.index(letter), not is_cos)
        for (letter, is_cos), words in kinds.items()
    }
    chart.show(figures.tiles(rows, looks, label("axis.dimension")), "tiles", word("tiles_alt"))
    apart = images.orders(shape, width, base=view.base)
    table = layout.rows(
        [word(name) for name in ("form", "besides", "table_apart", "cosine_apart")],
        [
            (
                controls.option_label("form", name),
                word(f"besides_{images.besides(name)}"),
                number(apart[name].table, 2),
                number(apart[name].similarity, 2),
            )
            for name in images.IMAGE_FORMS
        ],
    )
    layout.text(prose(PAGE, "orders_same"), table, prose(PAGE, "orders_table"))
    name = controls.choice(images.FORM)
    form, options, title = images.IMAGE_FORMS[name], {"base": view.base}, controls.option_label("form", name)
    st.markdown(word("form_source", form=title, url=form.source))
    order, rates = form_columns(form, width, **options), images.rates_per_cell(name, shape, width, **options)
    heatmap.apart(
        "grid_table",
        word("table_alt", form=title, cells=f"{cells:,}", width=f"{width:,}"),
        heatmap.of_blocks((cells, width), partial(form_blocks, form, shape, width, **options)),
        grids.cells(shape),
        grids.columns(order, rates),
        label("axis.value"),
        limit=1.0,
        height=480,
    )
    return name


def swap() -> None:
    """Swap height and width: whose code each cell gets, and what becomes of the similarity."""
    axial = images.vectors("axial", shape, width, base=view.base)
    found = images.swap(axial, shape)
    layout.section(PAGE, "swap", **sizes)
    kept = {"kept": f"{found.kept:,}", "cells": f"{cells:,}"}
    st.markdown(prose(PAGE, "swap_square" if found.square else "swap_broken", **kept, **sizes))
    if not found.square:
        square = {"height": shape[0], "width": shape[0]}
        words = word("make_square", height=shape[0])
        st.button(words, on_click=controls.put, kwargs=square, icon=":material/crop_square:")
    right = images.similarity("axial", shape, cell, width, base=view.base)
    wrong = images.misread_similarity(axial, shape, cell)
    y, x = ({"limit": last, "sequential": True} for last in found.last)
    pictures = {
        "swap_y": (found.cells[..., 0], label("axis.image_y"), y),
        "swap_x": (found.cells[..., 1], label("axis.image_x"), x),
        "swap_right": (right, cosine, images.scale(right, wrong)),
        "swap_wrong": (wrong, cosine, images.scale(right, wrong)),
    }
    for names in (("swap_y", "swap_x"), ("swap_right", "swap_wrong")):
        with layout.columns(2, grids.HALF):
            for name in names:
                values, unit, look = pictures[name]
                alt = word(f"{name}_alt", y=cell[0], x=cell[1], **sizes)
                grids.over_cells(word(name), name, alt, values, unit, **look)
    means = {"offset_right": found.right, "offset_below": found.below}
    layout.table(
        [word("mean_cosine"), word("swap_right"), word("swap_wrong")],
        [(word(name), *(number(mean) for mean in both)) for name, both in means.items()],
    )


@guard.fragment
def rotary() -> None:
    """Show the angles of axial rotary embedding, and the scores of a query at the cell with all keys."""
    layout.section(PAGE, "rotary")
    st.latex(formulas.AXIAL_ROTARY)
    chosen = controls.integer(images.AXIAL_HEAD_DIM)
    head_dim = images.whole_width(chosen)
    narrower("head_dim", chosen, head_dim)
    pairs = images.rotary_pairs(head_dim, base=view.base)
    angles = heatmap.of_blocks((cells, len(pairs.rates)), partial(angle_blocks, shape, pairs.one_axis))
    heatmap.apart(
        "angles",
        word("angles_alt", cells=f"{cells:,}", pairs=len(pairs.rates)),
        angles,
        grids.cells(shape),
        grids.axial_pairs(*pairs),
        label("axis.angle"),
        limit=heatmap.largest(angles),
        sequential=True,
        height=400,
    )
    text, seed = st.container(), controls.reseed(SEED)
    found = images.rotary_scores(shape, cell, head_dim, base=view.base, seed=seed)
    values = {"y": cell[0], "x": cell[1], "down": found.move[0], "across": found.move[1]}
    with text:
        scores = {"score": number(found.score, 6), "moved": number(found.moved, 6)}
        st.markdown(prose(PAGE, "rotary_scores", **values, **scores))
    pictures = {"ones": found.ones, "drawn": found.drawn}
    with layout.columns(2, grids.HALF):
        for name, scored in pictures.items():
            title, alt = word(f"scores_{name}", seed=seed), word(f"scores_{name}_alt", **values, **sizes)
            limit = heatmap.largest(heatmap.of_table(scored))
            grids.over_cells(title, f"scores_{name}", alt, scored, word("score"), limit=limit)


def narrower(name: str, chosen: int, used: int) -> None:
    """Say that both axes need whole pairs, where the width that was chosen does not give them."""
    if used != chosen:
        st.info(word("narrower", name=name, chosen=f"{chosen:,}", used=f"{used:,}"), icon=":material/crop:")


layout.opening(PAGE, formulas.GRID, formulas.GRID_SIMILARITY)
shape = size()
width, cells = images.whole_width(view.d_model), images.count(shape)
narrower("d_model", view.d_model, width)
sizes, cosine = {"height": shape[0], "width": shape[1]}, controls.option_label("measure", "cosine")
cell = pick()
form = orders()
layout.folds(PAGE, swap=swap, rotary=rotary)
images_resized.show(shape, width, view.base, form)
layout.sources("dosovitskiy2021", "he2022", "carion2020", "yang2024", "heo2024", "wang2024qwen")
