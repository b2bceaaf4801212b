# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""The demo's report page: one HTML file with its charts inside, which needs no network.

page.html has the text and style; this module fills in what was measured.
"""

import html
import io
import pathlib
import re
import string
from typing import Any, List, Mapping, NamedTuple, Optional, Sequence, Tuple

import tensorflow.compat.v1 as tf

from albert.demo import findings as demo_findings
from albert.demo.findings import Attention, Filled, Findings, Look, Order
from albert.util import files, progress
from albert.util.errors import UserError

_TEMPLATE = pathlib.Path(__file__).with_name("page.html")
# Text stays text, in the page's font, so that it can be searched and scales well. Its colour and
# that of lines is the page's, which may be light or dark.
_CHART_STYLE: Any = {
    "svg.fonttype": "none",
    "svg.hashsalt": "albert",
    "font.family": "sans-serif",
    "font.size": 10,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "savefig.transparent": True,
}
_FONT = re.compile(r"font(?:-family)?: [^;\"]*(?:sans-serif|DejaVu)[^;\"]*;?")


class Line(NamedTuple):
    """A line of a chart."""

    label: str
    steps: Sequence[float]  # empty: the same value at every step
    values: Sequence[float]
    style: str  # of matplotlib
    colour: str


def write_page(
    path: pathlib.Path,
    findings: Findings,
    *,
    text: str,
    language: str,
    commands: Sequence[str],
    seconds: Mapping[str, float],
    examples_per_second: Optional[float],
) -> None:
    """Writes the page.

    Args:
      path: of the page.
      findings: what it reports.
      text: what the model was trained on, in words.
      language: of that text, such as "en".
      commands: the command lines that were run.
      seconds: how long each command took, by name, and "all".
      examples_per_second: of training; None if there was nothing left to train.
    """
    config, (training, held_out) = findings.config, findings.documents
    lead = (
        f"An ALBERT of {config.num_hidden_layers} layers and {findings.parameters:,} parameters, "
        f"pretrained by TensorFlow {tf.__version__} on {findings.characters / 1e6:.1f} million "
        f"characters: {text}. Measured on {findings.questions} of {held_out:,} documents that are "
        f"not among the {training:,} it was trained on ({findings.seen_sentences:.0%} of their "
        "sentences also occur there, in other documents)."
    )
    head, *rows = demo_findings.comparison(findings)
    page = string.Template(_TEMPLATE.read_text(encoding="utf-8")).substitute(
        language=language,
        lead=html.escape(lead),
        cards=_cards(findings, seconds, examples_per_second),
        comparison=_table(head, rows),
        explanations=_paragraphs(demo_findings.explanations(findings)),
        charts="".join(
            f"<figure><figcaption>{title}</figcaption>{draw_chart(title, lines, is_share)}</figure>"
            for title, lines, is_share in _charts(findings)
        ),
        fills="".join(map(_fill, findings.fills)),
        orders="".join(map(_order, findings.orders)),
        neighbours="".join(
            f'<div class="near"><dt>{html.escape(item.word)}</dt><dd>{_chips(item.others, "")}</dd>'
            "</div>"
            for item in findings.neighbours
        ),
        similarity="from {:.2f} before training to {:.2f} after it".format(*findings.similarity),
        attention=_attention(findings.attention),
        taken=progress.format_seconds(seconds["all"]),
        commands="".join(f"<pre>{html.escape(line)}</pre>" for line in commands),
    )
    files.atomic_write_text(str(path), page)


def _paragraphs(lines: Sequence[str]) -> str:
    return "".join(f"<p>{html.escape(line)}</p>" for line in lines)


def _cards(
    findings: Findings, seconds: Mapping[str, float], examples_per_second: Optional[float]
) -> str:
    """The main numbers."""
    items = [
        (title, f"{getattr(findings.trained, name):.0%}", f"without reading {base:.0%}")
        for title, name, base in (
            ("gaps with the right word among five guesses", "five", findings.baseline.five),
            ("order of two texts recognised", "order", findings.baseline.order),
        )
    ]
    if examples_per_second:
        note = f"sequences of {findings.config.max_position_embeddings} tokens a second"
        items.append(("training speed", f"{examples_per_second:,.0f}", note))
    note = ", ".join(
        f"{label} {progress.format_seconds(seconds[name])}"
        for label, name in (
            ("records", "create_pretraining_data"),
            ("training and evaluation", "run_pretraining"),
        )
    )
    items.append(("from text to page", progress.format_seconds(seconds["all"]), note))
    return "".join(
        f'<div class="card"><div class="title">{html.escape(title)}</div>'
        f'<div class="value">{html.escape(value)}</div>'
        f'<div class="note">{html.escape(note)}</div></div>'
        for title, value, note in items
    )


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table that becomes a list on a narrow screen; columns after the first hold numbers."""

    def line(tag: str, values: Sequence[str]) -> str:
        cells = [
            f"<{tag}{f' data-head={chr(34)}{html.escape(name)}{chr(34)}' if place else ''}>"
            f"{html.escape(value)}</{tag}>"
            for place, (name, value) in enumerate(zip(head, values))
        ]
        return f"<tr>{''.join(cells)}</tr>"

    body = "".join(line("td", row) for row in rows)
    return f"<table><thead>{line('th', head)}</thead><tbody>{body}</tbody></table>"


def _chips(words: Sequence[Tuple[str, float]], right: str, *, is_share: bool = False) -> str:
    """Words with numbers; the right one is marked by more than its colour."""
    return "".join(
        f'<span class="chip{" right" * (word == right)}" style="--share: {100 * number:.0f}%">'
        f"“{html.escape(word)}” {f'{number:.0%}' if is_share else f'{number:.2f}'}"
        f"{' ✓' * (word == right)}</span>"
        for word, number in words
    )


def _fill(item: Filled) -> str:
    """A text with its missing word, and the model's guesses."""
    gap = item.gap
    texts = [html.escape(part) for part in gap.parts]
    part = gap.parts[gap.part]
    before, word, after = part[: gap.start], part[gap.start : gap.end], part[gap.end :]
    marked = f'<span class="gap">{html.escape(word)}</span>'
    texts[gap.part] = f"{html.escape(before)}{marked}{html.escape(after)}"
    chips = _chips(item.candidates, gap.word, is_share=True)
    return f'<div class="item"><p>{" ".join(texts)}</p><div class="chips">{chips}</div></div>'


def _order(item: Order) -> str:
    """Two texts, and what the model says of both orders."""
    verdicts = []
    for label, share, is_right in (
        ("as they stand here", item.in_order, item.in_order > 0.5),
        ("swapped", item.swapped, item.swapped <= 0.5),
    ):
        verdicts.append(
            f'<span class="chip{" right" * is_right}" style="--share: {100 * share:.0f}%">{label}: '
            f"in order with {share:.0%} {'✓' if is_right else '✗'}</span>"
        )
    return (
        f'<div class="item"><div class="pair"><p>{html.escape(item.first)}</p>'
        f"<p>{html.escape(item.second)}</p></div>"
        f'<div class="chips">{"".join(verdicts)}</div></div>'
    )


def _attention(item: Attention) -> str:
    """Texts whose words are shaded by where a head looks from the gap."""
    words = (
        f"What head {item.head} of layer {item.layer} reads to fill the gap: the darker a word, "
        "the more of its attention goes there. Of all heads it looks most at a single word: on "
        f"average {item.share:.0%} of its attention goes to the word that gets most, where all "
        f"tokens alike would get {item.even:.1%}. In {item.near:.0%} of the gaps that word is at "
        "most two tokens away."
    )
    return _paragraphs([words]) + "".join(map(_look, item.looks))


def _look(item: Look) -> str:
    pieces: List[str] = []
    for number, part in enumerate(item.weights):
        start = 0
        for piece, weight in part:
            is_gap = number == item.gap.part and item.gap.start <= start < item.gap.end
            kind, shade = ("gap", "") if is_gap else ("look", f' style="--look: {_shade(weight)}"')
            shown = f'<span class="{kind}"{shade} title="{weight:.0%}">{html.escape(piece)}</span>'
            pieces.append(shown if piece.strip() else piece)
            start += len(piece)
        pieces.append(" ")
    return f'<p class="looks item">{"".join(pieces).strip()}</p>'


def _shade(weight: float) -> str:
    """How much colour a share of attention gets: at most 60%, which letters can be read on."""
    return f"{60 * min(1.0, 1.5 * weight) ** 0.7:.0f}%"


# ---- Charts.


def check_matplotlib() -> None:
    """Raises ValueError if matplotlib is missing: before long work, not after it."""
    try:
        import matplotlib
    except ImportError as error:
        raise UserError(
            "The report page needs matplotlib, which is not installed. "
            "Run: pip install 'albert-tf[plots]' (or: pip install matplotlib)"
        ) from error
    matplotlib.use("svg")


def _charts(findings: Findings) -> List[Tuple[str, List[Line], bool]]:
    """Titles and lines, and whether the values are shares."""
    steps, curve = sorted(findings.scores), findings.curve

    def held_out(name: str, values: Sequence[float]) -> Line:
        return Line(name, steps, values, "o-", "#2f6fc4")

    def training(metric: str) -> Line:
        at = [row["step"] for row in curve]
        return Line("training", at, [row[metric] for row in curve], "-", "#9db7e0")

    def without_reading(name: str, value: float) -> Line:
        return Line(name, (), (value,), "--", "#8a8f9c")

    scores, baseline = [findings.scores[step] for step in steps], findings.baseline
    losses = {item.step: item.metrics["loss"] for item in findings.evaluations}
    return [
        (
            "Gaps with the right word",
            [
                held_out("among five guesses", [score.five for score in scores]),
                without_reading("without reading", baseline.five),
                held_out("first guess", [score.first for score in scores])._replace(
                    style="s-", colour="#c2701c"
                ),
                without_reading("without reading", baseline.first)._replace(style=":"),
            ],
            True,
        ),
        (
            "Order of two texts",
            [
                held_out("held-out texts", [score.order for score in scores]),
                without_reading("guessing", baseline.order),
                training("sentence_order_accuracy"),
            ],
            True,
        ),
        (
            "Loss",
            [
                held_out("held-out texts", [losses[step] for step in steps]),
                without_reading("without reading", findings.loss_baseline),
                training("loss"),
            ],
            False,
        ),
    ]


def draw_chart(title: str, lines: Sequence[Line], is_share: bool) -> str:
    """Returns an SVG element: lines over the steps, with shares from 0 to 100% or other values."""
    check_matplotlib()
    import matplotlib
    from matplotlib import pyplot, ticker

    with matplotlib.rc_context(_CHART_STYLE):
        figure, axes = pyplot.subplots(figsize=(3.7, 3.4))
        for line in lines:
            if line.steps:
                axes.plot(
                    *(line.steps, line.values, line.style),
                    color=line.colour,
                    label=line.label,
                    lw=1.8,
                    ms=4,
                )
            else:
                axes.axhline(line.values[0], color=line.colour, ls=line.style, label=line.label)
        if is_share:
            axes.set_ylim(0, 1.02)
            axes.yaxis.set_major_formatter(ticker.PercentFormatter(1.0, decimals=0))
        axes.set_xlabel("step")
        axes.xaxis.set_major_locator(ticker.MaxNLocator(4, integer=True))
        axes.grid(axis="y", color="#8a8f9c", alpha=0.25)
        # Below the axes, where it covers no curve.
        axes.legend(
            frameon=False, fontsize=9, ncol=2, loc="upper center", bbox_to_anchor=(0.45, -0.2)
        )
        figure.tight_layout()
        svg = io.StringIO()
        figure.savefig(svg, format="svg", metadata={"Date": None})
        pyplot.close(figure)
    return _as_inline(svg.getvalue(), title)


def _as_inline(document: str, title: str) -> str:
    """Keeps only the svg element, with ids that no other chart has, in the page's font and ink."""
    element = document[document.index("<svg") :]
    element = re.sub(r"<metadata>.*?</metadata>", "", element, flags=re.DOTALL)
    prefix = re.sub(r"\W+", "-", title.lower())
    element = re.sub(r'\b(id="|href="#|url\(#)', rf"\g<1>{prefix}-", element)
    element = _FONT.sub(lambda found: _only_size(found.group()), element)
    element = element.replace("#000000", "currentColor")
    return element.replace("<svg ", f'<svg role="img" aria-label="{html.escape(title)}" ', 1)


def _only_size(font: str) -> str:
    """The size in a CSS font, such as "font: 10px 'sans-serif';"."""
    size = re.search(r"[\d.]+px", font)
    return f"font-size: {size.group()};" if size else ""
