# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""The demo's report page: one HTML file with its charts inside, which needs no network.

page.html has the text and style; this module fills in numbers, tables and charts.
"""

import html
import io
import pathlib
import platform
import re
import string
from typing import Any, Mapping, Optional, Sequence

import tensorflow.compat.v1 as tf

from albert.demo.findings import EXPLANATIONS, HEAD, METRICS, Findings, Masked, comparison
from albert.util import files, progress

_TEMPLATE = pathlib.Path(__file__).with_name("page.html")
# Text stays text, in the reader's font, so that it can be searched and scales well.
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


def write_page(
    path: pathlib.Path,
    findings: Findings,
    *,
    commands: Sequence[str],
    seconds: Mapping[str, float],
    examples_per_second: Optional[float],
) -> None:
    """Writes the page.

    Args:
      path: of the page.
      findings: what it reports.
      commands: the command lines that were run.
      seconds: how long each command took, by name, and "all".
      examples_per_second: of training; None if there was nothing left to train.
    """
    config = findings.config
    lead = (
        f"An ALBERT of {config.num_hidden_layers} layers and {findings.parameters:,} parameters, "
        f"pretrained with TensorFlow {tf.__version__} on {findings.characters / 1e6:.2f} million "
        f"characters of English prose that ship with Python {platform.python_version()}, and "
        f"evaluated on {findings.held_out_documents} documents that it did not train on."
    )
    order_head = ("first sentence", "second sentence", "p(in order)", "p(in order) if swapped")
    orders = [
        (order.first, order.second, f"{order.in_order:.1%}", f"{order.swapped:.1%}")
        for order in findings.orders
    ]
    page = string.Template(_TEMPLATE.read_text(encoding="utf-8")).substitute(
        lead=html.escape(lead),
        cards=_cards(findings, seconds, examples_per_second),
        charts="".join(
            f"<figure><figcaption>{metric}</figcaption>{draw_chart(findings, metric)}</figure>"
            for metric in ("loss", *METRICS)
        ),
        comparison=_table(HEAD, comparison(findings), text_columns=1),
        explanations="".join(
            f"<dt>{name}</dt><dd>{html.escape(text)}</dd>" for name, text in EXPLANATIONS.items()
        ),
        steps=f"{findings.evaluations[-1].step:,}",
        taken=progress.format_seconds(seconds["run_pretraining"]),
        masked="".join(map(_masked, findings.masked)),
        orders=_table(order_head, orders, text_columns=2),
        commands="".join(f"<pre>{html.escape(line)}</pre>" for line in commands),
    )
    files.atomic_write_text(str(path), page)


def _cards(
    findings: Findings, seconds: Mapping[str, float], examples_per_second: Optional[float]
) -> str:
    """The main numbers."""
    items = [
        (
            metric,
            f"{findings.trained[metric]:.1%}",
            f"untrained {findings.untrained[metric]:.1%}, baseline "
            f"{findings.baselines[metric]:.1%}",
        )
        for metric in METRICS
    ]
    if examples_per_second:
        note = f"sequences of {findings.config.max_position_embeddings} tokens per second"
        items.append(("training speed", f"{examples_per_second:,.0f}", note))
    note = ", ".join(
        f"{label} {progress.format_seconds(seconds[name])}"
        for label, name in (
            ("vocabulary", "train_vocab"),
            ("records", "create_pretraining_data"),
            ("training and evaluation", "run_pretraining"),
        )
    )
    items.append(("total time", progress.format_seconds(seconds["all"]), note))
    return "".join(
        f'<div class="card"><div class="title">{html.escape(title)}</div>'
        f'<div class="value">{html.escape(value)}</div>'
        f'<div class="note">{html.escape(note)}</div></div>'
        for title, value, note in items
    )


def _table(head: Sequence[str], rows: Sequence[Sequence[str]], *, text_columns: int) -> str:
    """Columns after the first `text_columns` hold numbers, which are right-aligned."""

    def line(tag: str, values: Sequence[str]) -> str:
        kinds = [""] * text_columns + [' class="number"'] * len(values)
        texts = (html.escape(text).replace("_", "_<wbr>") for text in values)
        cells = (f"<{tag}{kind}>{text}</{tag}>" for kind, text in zip(kinds, texts))
        return f"<tr>{''.join(cells)}</tr>"

    body = "".join(line("td", row) for row in rows)
    return f"<thead>{line('th', head)}</thead><tbody>{body}</tbody>"


def _masked(item: Masked) -> str:
    """A sentence with its masked word, and the candidates."""
    candidates = "".join(
        f'<span class="candidate{" right" * (word == item.word)}" '
        f'style="--share: {100 * share:.0f}%">{html.escape(word)} {share:.1%}</span>'
        for word, share in item.candidates
    )
    note = f"p(“{item.word}”): {item.untrained:.1%} before training, {item.trained:.1%} after."
    return (
        f'<div class="fill"><div>{html.escape(item.before)}<span class="masked">'
        f"{html.escape(item.word)}</span>{html.escape(item.after)}</div>"
        f'<div class="candidates">{candidates}</div>'
        f'<div class="note">{html.escape(note)}</div></div>'
    )


def check_matplotlib() -> None:
    """Raises ValueError if matplotlib is missing: before long work, not after it."""
    try:
        import matplotlib
    except ImportError as error:
        raise ValueError(
            "The report page needs matplotlib, which is not installed. "
            "Run: pip install 'albert[plots]' (or: pip install matplotlib)"
        ) from error
    matplotlib.use("svg")


def draw_chart(findings: Findings, metric: str) -> str:
    """Returns an SVG element: the metric over the steps, on held-out text and in training."""
    check_matplotlib()
    import matplotlib
    from matplotlib import pyplot, ticker

    steps = [evaluation.step for evaluation in findings.evaluations]
    held_out = [evaluation.metrics[metric] for evaluation in findings.evaluations]
    training_steps = [row["step"] for row in findings.curve]
    training = [row[metric] for row in findings.curve]
    with matplotlib.rc_context(_CHART_STYLE):
        figure, axes = pyplot.subplots(figsize=(3.7, 3.2))
        axes.plot(steps, held_out, "o-", color="#2457a6", ms=4, lw=2, label="held-out documents")
        axes.plot(training_steps, training, color="#9db7e0", lw=1.2, label="training", zorder=1)
        if metric in findings.baselines:
            lines = (("--", "baseline", findings.baselines), (":", "untrained", findings.untrained))
            for style, label, values in lines:
                axes.axhline(values[metric], color="#7a8194", ls=style, lw=1.4, label=label)
            axes.yaxis.set_major_formatter(ticker.PercentFormatter(1.0, decimals=0))
        axes.set_xlabel("step")
        axes.xaxis.set_major_locator(ticker.MaxNLocator(5))
        axes.grid(axis="y", color="#e4e8f0")
        # Below the axes, where it covers no curve.
        axes.legend(
            frameon=False, fontsize=9, ncol=2, loc="upper center", bbox_to_anchor=(0.45, -0.2)
        )
        figure.tight_layout()
        svg = io.StringIO()
        figure.savefig(svg, format="svg", metadata={"Date": None})
        pyplot.close(figure)
    return _as_inline(svg.getvalue(), metric)


def _as_inline(document: str, title: str) -> str:
    """Keeps only the svg element, with ids that no other chart on the page has."""
    element = document[document.index("<svg") :]
    element = re.sub(r"<metadata>.*?</metadata>", "", element, flags=re.DOTALL)
    element = re.sub(r'\b(id="|href="#|url\(#)', rf"\g<1>{title}-", element)
    return element.replace("<svg ", f'<svg role="img" aria-label="{title}" ', 1)
