"""Curves, bars, a clock and a path: everything that is not a matrix."""

from collections.abc import Container, Iterable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from posenc.figures.style import BLUE, CYCLE, GREY, ORANGE, PURPLE, Figure, Part, draw

Values = NDArray[np.floating]


def series(
    x: Values | Sequence[float] | Mapping[str, Values],
    curves: Mapping[str, Values],
    x_title: str,
    y_title: str,
    *,
    log_x: bool = False,
    log_y: bool = False,
    powers_y: bool = False,
    points: bool = False,
    dashed: Container[str] = (),
    marks_x: Mapping[str, float] | None = None,
    marks_y: Mapping[str, float] | None = None,
    span_x: tuple[float, float] | None = None,
    height: int = 340,
) -> Figure:
    """Draw named curves over one axis, with named dashed lines at `marks_x` and `marks_y`.

    `x` holds the places of all curves, or the places of each by its name; the curves named in `dashed` are
    drawn so, to be seen where they cover another. `span_x` fixes the ends of a linear x axis.
    `powers_y` writes 10⁻¹² on a logarithmic y axis, which has no room for its zeros.
    """
    # Where there are more curves than colours, the next ones are dotted.
    dots = ["dot" if index >= len(CYCLE) else "solid" for index in range(len(curves))]
    traces = [
        {
            "x": np.asarray(x[name] if isinstance(x, Mapping) else x, dtype=np.float32),
            "y": np.asarray(y, dtype=np.float32),
            "name": name,
            "mode": "lines+markers" if points else "lines",
            "line": {"color": colour, "width": 2, "dash": "dash" if name in dashed else dot},
            "marker": {"size": 5},
            "hovertemplate": f"{x_title}: %{{x:.6g}}<br>{y_title}: <b>%{{y:.6g}}</b><extra>{name}</extra>",
        }
        for (name, y), colour, dot in zip(curves.items(), _colours(len(curves)), dots, strict=True)
    ]
    across = {"title": x_title, "type": "log" if log_x else "linear", "range": span_x}
    up: Part = {"title": y_title}
    if log_y:
        # 0.0001, not 100µ; the title clear of the small digits between the powers of ten
        digits: Part = {"exponentformat": "power"} if powers_y else {"tickformat": "~g"}
        few = {"nticks": 3} if _narrow(curves.values()) else {}
        up |= {"type": "log", "standoff": 20} | digits | few
    shapes = _marks(marks_x or {}, marks_y or {})
    return draw(traces, across, up, height=height, legend=len(curves) > 1, shapes=shapes)


def band(
    curves: Mapping[str, tuple[Values, Values, Values, Values]],
    x_title: str,
    y_title: str,
    *,
    log_x: bool = False,
    marks_x: Mapping[str, float] | None = None,
    height: int = 340,
) -> Figure:
    """Draw named curves (x, middle, lower, upper), each with its band."""
    traces: list[Part] = []
    for (name, (x, *ys)), colour in zip(curves.items(), _colours(len(curves)), strict=True):
        middle, lower, upper = (y.astype(np.float32) for y in ys)
        edge = {
            "x": x,
            "mode": "lines",
            "line": {"width": 0},
            "hoverinfo": "skip",
            "showlegend": False,
            "legendgroup": name,
        }
        traces += [
            edge | {"y": lower},
            edge | {"y": upper, "fill": "tonexty", "fillcolor": _transparent(colour)},
            {
                "x": x,
                "y": middle,
                "name": name,
                "legendgroup": name,
                "mode": "lines",
                "line": {"color": colour, "width": 2},
                "customdata": np.stack([lower, upper], axis=1),
                "hovertemplate": f"{x_title}: %{{x}}<br>{y_title}: <b>%{{y:.6g}}</b>"
                f"<br>%{{customdata[0]:.4g}} … %{{customdata[1]:.4g}}<extra>{name}</extra>",
            },
        ]
    shapes = _marks(marks_x or {}, {})
    across = {"title": x_title, "type": "log" if log_x else "linear"}
    return draw(traces, across, {"title": y_title}, height=height, legend=len(curves) > 1, shapes=shapes)


def bars(
    groups: Mapping[str, tuple[Values, Values]], x_title: str, y_title: str, *, height: int = 300
) -> Figure:
    """Draw groups of bars: name → (x, y)."""
    traces = [
        {
            "type": "bar",
            "x": np.asarray(x, dtype=np.float32),
            "y": np.asarray(y, dtype=np.float32),
            "name": name,
            "marker": {"color": colour, "line": {"width": 0}},
            "hovertemplate": f"{x_title}: %{{x}}<br>{y_title}: <b>%{{y:.6g}}</b><extra>{name}</extra>",
        }
        for (name, (x, y)), colour in zip(groups.items(), _colours(len(groups)), strict=True)
    ]
    titles = {"title": x_title}, {"title": y_title}
    bars: Part = {"barmode": "overlay", "bargap": 0.1}
    return draw(traces, *titles, height=height, legend=len(groups) > 1, **bars)


def lines(
    groups: Mapping[str, tuple[Values, Values]], x_title: str, y_title: str, *, height: int = 300
) -> Figure:
    """Draw what `bars` draws as lines: where there are more values than pixels."""
    places, values = ({name: pair[k] for name, pair in groups.items()} for k in (0, 1))
    return series(places, values, x_title, y_title, height=height)


def path(x: Values, y: Values, x_title: str, y_title: str, position: str, *, height: int = 340) -> Figure:
    """Draw the positions as a path through a plane, coloured from first to last."""
    trace = {
        "x": np.asarray(x, dtype=np.float32),
        "y": np.asarray(y, dtype=np.float32),
        "mode": "lines+markers",
        "line": {"color": GREY, "width": 0.7},
        "marker": {
            "size": 6,
            "color": np.arange(len(x), dtype=np.float32),
            "colorscale": [[0.0, BLUE], [0.5, PURPLE], [1.0, ORANGE]],
            "colorbar": {"title": {"text": position, "side": "right"}, "thickness": 14},
        },
        "customdata": np.arange(len(x)),
        "hovertemplate": f"{position} %{{customdata}}<br>%{{x:.4g}}, %{{y:.4g}}<extra></extra>",
    }
    return draw([trace], {"title": x_title}, {"title": y_title}, height=height)


def _colours(count: int) -> list[str]:
    return [CYCLE[index % len(CYCLE)] for index in range(count)]


def _transparent(colour: str) -> str:
    red, green, blue = (int(colour[at : at + 2], 16) for at in (1, 3, 5))
    return f"rgba({red}, {green}, {blue}, 0.18)"


def _narrow(curves: Iterable[Values]) -> bool:
    """Say whether values span less than two powers of ten: there plotly writes 0.09 over 0.08, all nine."""
    every = np.concatenate([np.empty(0), *curves])
    above = every[every > 0]
    return bool(above.size and above.max() < 100 * above.min())


def _marks(vertical: Mapping[str, float], horizontal: Mapping[str, float]) -> list[Part]:
    """Draw dashed lines with their names inside the plot, where no axis can cut them off."""
    line = {"type": "line", "line": {"dash": "dash", "width": 1.5, "color": GREY}}
    # Beside the line, not above it: there the legend would cover the name.
    beside = {"textposition": "end", "textangle": 0, "xanchor": "left", "yanchor": "top"}
    above = {"textposition": "end", "yanchor": "bottom"}
    upright = [
        line | {"x0": x, "x1": x, "y0": 0, "y1": 1, "yref": "y domain", "label": {"text": name, **beside}}
        for name, x in vertical.items()
    ]
    flat = [
        line | {"x0": 0, "x1": 1, "xref": "x domain", "y0": y, "y1": y, "label": {"text": name, **above}}
        for name, y in horizontal.items()
    ]
    return upright + flat
