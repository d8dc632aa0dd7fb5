"""Our look for Vega-Lite, in light and in dark: the tokens of benchwright.css, and a palette.

The palette keeps its six colours apart for eyes that lack red, green or blue receptors, and each
has 3:1 or more against every surface; a test computes both.
"""

from collections.abc import Mapping
from typing import Any

FONT = (
    "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', 'Noto Sans', "
    "'Liberation Sans', Arial, sans-serif"
)
THEMES: dict[str, dict[str, str]] = {
    "light": {
        "surface": "#ffffff",
        "line": "#e4e0d8",
        "line-control": "#878175",
        "text": "#1b1d1c",
        "text-2": "#54524b",
        "accent": "#0b616d",
        "accent-soft": "#9cc9cd",
        "good": "#23693a",
        "warn": "#82530a",
        "bad": "#ab2b1f",
    },
    "dark": {
        "surface": "#191c1f",
        "line": "#2d3237",
        "line-control": "#7c858e",
        "text": "#eceae5",
        "text-2": "#b9b8b2",
        "accent": "#62c5cf",
        "accent-soft": "#2c6670",
        "good": "#7fcf95",
        "warn": "#e6b566",
        "bad": "#f59a8c",
    },
}
# Of things without an order: runs, people. The first is the accent.
CATEGORIES = {
    "light": ["#0b616d", "#c75615", "#8459c3", "#6f0f07", "#318f7f", "#4a177f"],
    "dark": ["#62c5cf", "#e87f25", "#8475f9", "#98636f", "#c3fadb", "#facb39"],
}
# Of things in an order, from little to much.
RAMP = {
    "light": ["#9cc9cd", "#5f9fa6", "#2f7c86", "#0b616d", "#06434c"],
    "dark": ["#2c6670", "#3d8791", "#4fa6b0", "#62c5cf", "#a5e6ec"],
}


def themed(spec: Mapping[str, Any], theme: str) -> dict[str, Any]:
    """The specification in a theme: `$accent` and the like replaced, axes and fonts as the site's.

    What the specification configures itself stays as it is.
    """
    tokens = {f"${name}": value for name, value in THEMES[theme].items()}
    coloured = _replaced(dict(spec), tokens)
    return {**coloured, "config": _merged(_config(theme), coloured.get("config", {}))}


def _replaced(value: Any, tokens: Mapping[str, str]) -> Any:
    if isinstance(value, str):
        return tokens.get(value, value)
    if isinstance(value, Mapping):
        return {key: _replaced(inner, tokens) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_replaced(inner, tokens) for inner in value]
    return value


def _merged(ours: dict[str, Any], theirs: Mapping[str, Any]) -> dict[str, Any]:
    out = dict(ours)
    for key, value in theirs.items():
        both = isinstance(value, Mapping) and isinstance(out.get(key), dict)
        out[key] = _merged(out[key], value) if both else value
    return out


def _config(theme: str) -> dict[str, Any]:
    tokens = THEMES[theme]
    return {
        "background": tokens["surface"],
        "font": FONT,
        "view": {"stroke": None},
        "axis": _axis(tokens),
        # A browser's own font may be wider than the one that labels were set with.
        "axisX": {
            "grid": False,
            "labelFlush": True,
            "labelSeparation": 12,
            "tickCount": {"expr": "ceil(width / 110)"},
        },
        "axisY": {"domain": False, "ticks": False, "tickCount": 5},
        "legend": {
            "orient": "top",
            "title": None,
            "labelColor": tokens["text-2"],
            "labelFontSize": 12,
            "labelLimit": 260,
            "symbolStrokeWidth": 2.5,
            "offset": 4,
        },
        "header": {"labelColor": tokens["text"], "labelFontSize": 12, "title": None},
        "text": {"color": tokens["text"], "fontSize": 12, "font": FONT},
        "mark": {"color": tokens["accent"], "tooltip": True},
        "line": {"strokeWidth": 2.25, "strokeJoin": "round", "strokeCap": "round"},
        "bar": {"cornerRadiusEnd": 2},
        "rule": {"color": tokens["line-control"], "strokeWidth": 1.25},
        "area": {"opacity": 0.22, "line": False},
        "point": {"filled": True, "size": 48, "opacity": 1},
        "range": {"category": CATEGORIES[theme], "ramp": RAMP[theme], "ordinal": RAMP[theme]},
    }


def _axis(tokens: Mapping[str, str]) -> dict[str, Any]:
    return {
        "labelColor": tokens["text-2"],
        "labelFontSize": 12,
        "labelPadding": 6,
        "titleColor": tokens["text-2"],
        "titleFontSize": 12,
        "titleFontWeight": "normal",
        "titlePadding": 8,
        "gridColor": tokens["line"],
        "domainColor": tokens["line-control"],
        "tickColor": tokens["line-control"],
        "tickSize": 4,
    }
