# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""The demo's report page: one HTML file with its pictures inside, that needs no network.

page.html has the page's text and style; here are its numbers, tables and charts.
"""

import html
import io
import pathlib
import platform
import re
import string
from typing import Any, List, Mapping, NamedTuple, Optional, Sequence

import tensorflow.compat.v1 as tf

from albert.demo.findings import HEAD, TASKS, Findings, Gap, comparison, percent
from albert.util import files, progress

_TEMPLATE = pathlib.Path(__file__).with_name("page.html")
_COLOURS = ("#2457a6", "#d1652b", "#3b8f5a")
_BASELINE_COLOUR = "#7a8194"
# Text stays text, in the reader's own font, so that it can be searched and scales well.
_CHART_STYLE: Any = {
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


def write_page(
    path: pathlib.Path,
    findings: Findings,
    *,
    commands: Sequence[str],
    seconds: Mapping[str, float],
    examples_per_second: Optional[float],
) -> None:
    """Writes the page; the file is replaced as a whole.

    Args:
      path, findings: of the page, and what to tell on it.
      commands: the lines that were run.
      seconds: how long each command took, by name, and "all".
      examples_per_second: of training; None if there was nothing left to train.
    """
    config = findings.config
    lead = (
        f"An ALBERT of {config.num_hidden_layers} layers and {findings.parameters:,} parameters, "
        f"pretrained with TensorFlow {tf.__version__} on {findings.characters / 1e6:.2f} million "
        f"characters of English prose that ship with Python {platform.python_version()}. The "
        f"numbers are those on {findings.held_out_documents} documents it never saw."
    )
    order_head = (
        "first sentence",
        "second sentence",
        "“in order” when so",
        "“in order” when swapped",
    )
    orders = [
        (order.first, order.second, percent(order.shown_right), percent(order.shown_swapped))
        for order in findings.orders
    ]
    page = string.Template(_TEMPLATE.read_text(encoding="utf-8")).substitute(
        lead=html.escape(lead),
        cards=_cards(findings, seconds, examples_per_second),
        charts="".join(map(_figure, _charts(findings))),
        comparison=_table(HEAD, comparison(findings), text_columns=1),
        steps=f"{findings.evaluations[-1].step:,}",
        taken=progress.format_seconds(seconds["run_pretraining"]),
        gaps="".join(map(_gap, findings.gaps)),
        orders=_table(order_head, orders, text_columns=2),
        commands="".join(f"<pre>{html.escape(line)}</pre>" for line in commands),
    )
    files.atomic_write_text(str(path), page)


def _cards(
    findings: Findings, seconds: Mapping[str, float], examples_per_second: Optional[float]
) -> str:
    """The numbers that matter."""
    items = [
        (
            title,
            percent(findings.trained[metric]),
            f"untrained {percent(findings.untrained[metric])}, without reading "
            f"{percent(getattr(findings.baselines, metric))}",
        )
        for title, metric in TASKS
    ]
    if examples_per_second:
        note = f"sequences of {findings.config.max_position_embeddings} tokens a second"
        items.append(("Training speed", f"{examples_per_second:,.0f}", note))
    labels = {
        "vocabulary": "train_vocab",
        "records": "create_pretraining_data",
        "training and evaluation": "run_pretraining",
    }
    note = ", ".join(
        f"{label} {progress.format_seconds(seconds[name])}" for label, name in labels.items()
    )
    items.append(("Time in all", progress.format_seconds(seconds["all"]), note))
    return "".join(
        f'<div class="card"><div class="title">{html.escape(title)}</div>'
        f'<div class="value">{html.escape(value)}</div>'
        f'<div class="note">{html.escape(note)}</div></div>'
        for title, value, note in items
    )


def _table(head: Sequence[str], rows: Sequence[Sequence[str]], *, text_columns: int) -> str:
    """Columns after the first `text_columns` hold numbers, set to the right."""

    def line(tag: str, values: Sequence[str]) -> str:
        kinds = [""] * text_columns + [' class="number"'] * len(values)
        cells = (f"<{tag}{kind}>{html.escape(text)}</{tag}>" for kind, text in zip(kinds, values))
        return f"<tr>{''.join(cells)}</tr>"

    body = "".join(line("td", row) for row in rows)
    return f"<thead>{line('th', head)}</thead><tbody>{body}</tbody>"


def _gap(gap: Gap) -> str:
    """A sentence with a gap, and what the model proposes for it."""
    proposals = "".join(
        f'<span class="candidate{" right" * (word == gap.word)}" '
        f'style="--share: {100 * share:.0f}%">{html.escape(word)} {percent(share)}</span>'
        for word, share in gap.candidates
    )
    note = (
        f"“{gap.word}” had a probability of {percent(gap.was)} before training, "
        f"{percent(gap.became)} after."
    )
    return (
        f'<div class="fill"><div>{html.escape(gap.before)}<span class="gap">'
        f"{html.escape(gap.word)}</span>{html.escape(gap.after)}</div>"
        f'<div class="candidates">{proposals}</div>'
        f'<div class="note">{html.escape(note)}</div></div>'
    )


def _charts(findings: Findings) -> List[Chart]:
    """The loss and both tasks over the steps, held-out and in training."""
    steps = [evaluation.step for evaluation in findings.evaluations]
    curve_steps = [row["step"] for row in findings.curve]
    charts = []
    for title, metric in (("Loss", "loss"), *TASKS):
        held_out = [evaluation.metrics[metric] for evaluation in findings.evaluations]
        training = [row[metric] for row in findings.curve]
        curves = [
            Curve("held-out documents", steps, held_out),
            Curve("training", curve_steps, training, is_faint=True),
        ]
        if metric == "loss":
            charts.append(Chart(title, curves, {}))
            continue
        baseline = getattr(findings.baselines, metric)
        baselines = {"without reading": baseline, "untrained": findings.untrained[metric]}
        charts.append(Chart(title, curves, baselines, is_share=True))
    return charts


def _figure(chart: Chart) -> str:
    return f"<figure><figcaption>{chart.title}</figcaption>{draw_chart(chart)}</figure>"


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
