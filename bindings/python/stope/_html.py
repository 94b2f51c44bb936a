"""HTML for notebooks: self-contained, without scripts, legible on light and dark pages, every text escaped."""

from base64 import b64encode
from html import escape

__all__ = ["RichEstimator", "card", "note", "pairs", "svg", "table"]

MOST_NODES_IN_A_VIEW = 127  # of a tree; a larger one is a picture for a file
_CARD = (
    "font-family:system-ui,sans-serif;font-size:13px;line-height:1.4;border:1px solid rgba(128,128,128,.45);"
    "border-radius:6px;padding:8px 12px;display:inline-block;max-width:100%;overflow-x:auto"
)
_CELL = "padding:2px 10px;border-bottom:1px solid rgba(128,128,128,.25);text-align:{}"
_TABLE = "border-collapse:collapse;margin:4px 0;background:transparent"


def _text(value):
    """A value as text: numbers short, None empty."""
    if value is None:
        return ""
    if isinstance(value, float):
        return f"{value:.6g}"
    return str(value)


def card(title, *parts):
    """A box with a title around pieces that are HTML already."""
    return f'<div style="{_CARD}"><div style="font-weight:600">{escape(title)}</div>{"".join(parts)}</div>'


def pairs(items):
    """Names and values as one line of text for each."""
    rows = "".join(
        f'<tr><td style="{_CELL.format("left")};opacity:.7">{escape(_text(name))}</td>'
        f'<td style="{_CELL.format("left")}">{escape(_text(value))}</td></tr>'
        for name, value in items
    )
    return f'<table style="{_TABLE}"><tbody>{rows}</tbody></table>'


def table(headers, rows, *, limit=30):
    """A table. Cells are text and numbers; beyond ``limit`` rows it says how many are left out."""
    rows = list(rows)
    head = "".join(f'<th style="{_CELL.format("left")}">{escape(_text(name))}</th>' for name in headers)
    body = "".join(
        "<tr>"
        + "".join(
            f'<td style="{_CELL.format("right" if isinstance(cell, (int, float)) else "left")}">'
            f"{escape(_text(cell))}</td>"
            for cell in row
        )
        + "</tr>"
        for row in rows[:limit]
    )
    more = f'<div style="opacity:.7">and {len(rows) - limit:,} more</div>' if len(rows) > limit else ""
    return f'<table style="{_TABLE}"><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{more}'


def svg(text):
    """A picture in a frame of its own: its styles touch nothing else, and nothing in it can run."""
    data = b64encode(text.encode()).decode()
    style = "background:#fff;border-radius:4px;max-width:none"
    return f'<div style="overflow-x:auto"><img alt="tree" style="{style}" src="data:image/svg+xml;base64,{data}"></div>'


def note(text):
    """A line of small print."""
    return f'<div style="opacity:.7">{escape(text)}</div>'


class RichEstimator:
    """Gives an estimator the notebook view that its ``_html_parts`` describes, and a plain one before it is fitted."""

    def _repr_html_(self):
        parts = self._html_parts() if self.__sklearn_is_fitted__() else [note("not fitted")]
        return card(repr(self), *parts)

    def _repr_mimebundle_(self, **kwargs):
        return {"text/plain": repr(self), "text/html": self._repr_html_()}
