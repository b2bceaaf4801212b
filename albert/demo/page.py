# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Building blocks of a report page: one HTML file with its pictures inside, that needs no network.

Each function returns a piece of HTML; `write_page` puts pieces together. All text is escaped here.
"""

import html
import io
import os
import re
from typing import Mapping, NamedTuple, Sequence, Union

from albert.util import files

_COLOURS = ("#2457a6", "#d1652b", "#3b8f5a")
_BASELINE_COLOUR = "#7a8194"
# Text stays text, in the reader's own font, so that it can be searched and scales well.
_CHART_STYLE = {
    "svg.fonttype": "none",
    "svg.hashsalt": "albert",
    "font.family": "sans-serif",
    "font.size": 10,
    "axes.edgecolor": "#c9cfdb",
    "axes.labelcolor": "#4a5166",
    "axes.spines.right": False,
    "axes.spines.top": False,
    "xtick.color": "#4a5166",
    "ytick.color": "#4a5166",
}

_STYLE = """
:root { color: #1d2333; background: #f3f5f9; font: 16px/1.55 system-ui, "Segoe UI", Roboto,
  "Helvetica Neue", Arial, sans-serif; }
body { margin: 0 auto; max-width: 64rem; padding: 2.5rem 1.25rem 4rem; }
h1 { font-size: 2rem; line-height: 1.2; margin: 0 0 .5rem; }
h2 { font-size: 1.25rem; margin: 0 0 .75rem; }
p { margin: 0 0 .75rem; }
.lead { color: #4a5166; font-size: 1.1rem; max-width: 48rem; margin-bottom: 1.75rem; }
section { background: #fff; border-radius: .75rem; box-shadow: 0 1px 3px rgba(29, 35, 51, .12);
  margin: 0 0 1.5rem; padding: 1.5rem; }
.cards { display: grid; gap: 1rem; grid-template-columns: repeat(auto-fit, minmax(13rem, 1fr));
  margin: 0 0 1.5rem; }
.card { background: #fff; border-radius: .75rem; border-top: .25rem solid #2457a6;
  box-shadow: 0 1px 3px rgba(29, 35, 51, .12); padding: 1rem 1.25rem; }
.card .value { font-size: 2rem; font-weight: 650; line-height: 1.2; }
.card .title { color: #4a5166; font-size: .9rem; }
.card .note { color: #4a5166; font-size: .85rem; margin-top: .35rem; }
.charts { display: grid; gap: 1.25rem;
  grid-template-columns: repeat(auto-fit, minmax(18rem, 1fr)); }
figure { margin: 0; }
figcaption { font-weight: 600; margin-bottom: .25rem; }
figure svg { display: block; height: auto; width: 100%; }
svg text { font-family: inherit; }
.scroll { margin: 0 0 .75rem; overflow-x: auto; }
table { border-collapse: collapse; width: 100%; }
th { color: #4a5166; font-size: .85rem; font-weight: 600; text-align: left; }
th, td { border-bottom: 1px solid #e4e8f0; padding: .45rem .75rem .45rem 0; vertical-align: top; }
tr:last-child td { border-bottom: 0; }
td.number, th.number { font-variant-numeric: tabular-nums; text-align: right; }
td.number { white-space: nowrap; }
.fill { border-bottom: 1px solid #e4e8f0; padding: .9rem 0; }
.fill:first-of-type { padding-top: 0; } .fill:last-child { border-bottom: 0; padding-bottom: 0; }
.gap { background: #e6edf9; border-bottom: 2px solid #2457a6; border-radius: .2rem;
  padding: 0 .4rem; }
.candidates { display: flex; flex-wrap: wrap; gap: .4rem; margin-top: .5rem; }
.candidate { background: linear-gradient(to right, #cfdcf3 var(--share), #eef1f7 var(--share));
  border-radius: 1rem; font-size: .88rem; padding: .1rem .75rem; }
.candidate.right { outline: 2px solid #3b8f5a; }
.note { color: #4a5166; font-size: .9rem; }
code, pre { font-family: ui-monospace, "SF Mono", Consolas, "DejaVu Sans Mono", monospace; }
code { font-size: .9em; }
pre { background: #f3f5f9; border-radius: .5rem; font-size: .84rem; line-height: 1.5;
  margin: 0 0 .75rem; overflow-x: auto; padding: .9rem 1rem; white-space: pre-wrap;
  overflow-wrap: anywhere; }
footer { color: #4a5166; font-size: .85rem; }
th:last-child, td:last-child { padding-right: 0; }
@media (max-width: 30rem) {
  body { padding: 1.5rem .75rem 2rem; } section { padding: 1rem; }
  th, td { font-size: .8rem; padding-right: .4rem; }
}
"""


class Curve(NamedTuple):
    """Numbers by training step."""

    label: str
    steps: Sequence[float]
    values: Sequence[float]
    is_faint: bool = False  # a noisy companion of another curve


class Chart(NamedTuple):
    """Curves over training steps, and constants to compare them with."""

    title: str
    curves: Sequence[Curve]
    baselines: Mapping[str, float]  # label -> value, drawn as dashed lines
    is_share: bool = False  # values from 0 to 1, shown in per cent


class Card(NamedTuple):
    """One number that matters."""

    title: str
    value: str
    note: str


class Candidate(NamedTuple):
    """A word that a model proposes."""

    word: str
    probability: float


class Fill(NamedTuple):
    """A sentence with a gap, and what the model proposes for it, the most probable first."""

    before: str
    after: str
    expected: str
    candidates: Sequence[Candidate]
    note: str = ""


def percent(share: float) -> str:
    """Returns "12.3%" for 0.123."""
    return f"{share:.1%}"


def cards(items: Sequence[Card]) -> str:
    """Returns a row of numbers."""
    pieces = [
        f'<div class="card"><div class="title">{html.escape(card.title)}</div>'
        f'<div class="value">{html.escape(card.value)}</div>'
        f'<div class="note">{html.escape(card.note)}</div></div>'
        for card in items
    ]
    return f'<div class="cards">{"".join(pieces)}</div>'


def section(title: str, *pieces: str) -> str:
    """Returns a titled box with pieces of HTML in it."""
    return f"<section><h2>{html.escape(title)}</h2>{''.join(pieces)}</section>"


def paragraph(text: str) -> str:
    """Returns a paragraph of plain text."""
    return f"<p>{html.escape(text)}</p>"


def table(head: Sequence[str], rows: Sequence[Sequence[str]], *, text_columns: int = 1) -> str:
    """Returns a table; columns after the first `text_columns` hold numbers, set to the right."""

    def cells(tag: str, values: Sequence[str]) -> str:
        marks = [
            "" if column < text_columns else ' class="number"' for column in range(len(values))
        ]
        return "".join(
            f"<{tag}{mark}>{html.escape(value)}</{tag}>" for mark, value in zip(marks, values)
        )

    body = "".join(f"<tr>{cells('td', row)}</tr>" for row in rows)
    content = f"<thead><tr>{cells('th', head)}</tr></thead><tbody>{body}</tbody>"
    return f'<div class="scroll"><table>{content}</table></div>'


def fills(items: Sequence[Fill]) -> str:
    """Returns sentences with gaps, each followed by what the model proposes."""
    pieces = []
    for item in items:
        gap = f'<span class="gap">{html.escape(item.expected)}</span>'
        text = f"{html.escape(item.before)}{gap}{html.escape(item.after)}"
        proposals = "".join(
            f'<span class="candidate{" right" * (candidate.word == item.expected)}" '
            f'style="--share: {100 * candidate.probability:.0f}%">{html.escape(candidate.word)} '
            f"{percent(candidate.probability)}</span>"
            for candidate in item.candidates
        )
        note = f'<div class="note">{html.escape(item.note)}</div>' if item.note else ""
        pieces.append(
            f'<div class="fill"><div>{text}</div>'
            f'<div class="candidates">{proposals}</div>{note}</div>'
        )
    return "".join(pieces)


def commands(lines: Sequence[str]) -> str:
    """Returns shell commands, each in a box of its own."""
    return "".join(f"<pre>{html.escape(line)}</pre>" for line in lines)


def charts(items: Sequence[Chart]) -> str:
    """Returns charts side by side."""
    figures = [
        f"<figure><figcaption>{html.escape(chart.title)}</figcaption>{draw_chart(chart)}</figure>"
        for chart in items
    ]
    return f'<div class="charts">{"".join(figures)}</div>'


def check_matplotlib() -> None:
    """Checks what draws the charts; before long work, so that it does not end without its report.

    Raises:
      ValueError: matplotlib is not installed; the message says how to get it.
    """
    try:
        import matplotlib
    except ImportError as error:
        raise ValueError(
            "The report page needs matplotlib, which is not installed. "
            "Run: pip install 'albert[plots]' (or: pip install matplotlib)"
        ) from error
    matplotlib.use("svg")


def draw_chart(chart: Chart) -> str:
    """Returns the chart as an SVG element.

    Raises:
      ValueError: matplotlib is not installed.
    """
    check_matplotlib()
    import matplotlib
    from matplotlib import pyplot, ticker

    with matplotlib.rc_context(_CHART_STYLE):
        figure, axes = pyplot.subplots(figsize=(3.7, 2.9))
        for colour, curve in zip(_COLOURS, (curve for curve in chart.curves if not curve.is_faint)):
            axes.plot(curve.steps, curve.values, "o-", color=colour, ms=4, lw=2, label=curve.label)
        for curve in (curve for curve in chart.curves if curve.is_faint):
            axes.plot(
                curve.steps, curve.values, color="#9db7e0", lw=1.2, label=curve.label, zorder=1
            )
        for style, (label, value) in zip(("--", ":"), chart.baselines.items()):
            axes.axhline(value, color=_BASELINE_COLOUR, ls=style, lw=1.4, label=label, zorder=0)
        if chart.is_share:
            axes.yaxis.set_major_formatter(ticker.PercentFormatter(1.0, decimals=0))
        axes.set_xlabel("step")
        axes.xaxis.set_major_locator(ticker.MaxNLocator(5))
        axes.grid(axis="y", color="#e4e8f0")
        axes.legend(frameon=False, fontsize=9)
        figure.tight_layout()
        svg = io.StringIO()
        figure.savefig(svg, format="svg", metadata={"Date": None})
        pyplot.close(figure)
    return _as_inline(svg.getvalue(), chart.title)


def _as_inline(document: str, title: str) -> str:
    """Keeps the svg element alone, with ids that no other chart on the page has."""
    element = document[document.index("<svg") :]
    element = re.sub(r"<metadata>.*?</metadata>", "", element, flags=re.DOTALL)
    prefix = re.sub(r"\W+", "-", title.lower())
    element = re.sub(r'\b(id="|href="#|url\(#)', rf"\g<1>{prefix}-", element)
    return element.replace("<svg ", f'<svg role="img" aria-label="{html.escape(title)}" ', 1)


def write_page(path: Union[str, os.PathLike], title: str, lead: str, *pieces: str) -> None:
    """Writes a page that needs nothing beside it.

    Args:
      path: of the file, which is replaced as a whole.
      title: heading of the page.
      lead: what it is about, in a sentence or two of plain text.
      *pieces: HTML from the functions above.
    """
    page = (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{html.escape(title)}</title>\n<style>{_STYLE}</style>\n</head>\n<body>\n"
        f'<h1>{html.escape(title)}</h1>\n<p class="lead">{html.escape(lead)}</p>\n'
        + "\n".join(pieces)
        + "\n</body>\n</html>\n"
    )
    files.atomic_write_text(str(path), page)
