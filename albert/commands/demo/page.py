# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""The demo's report page: one HTML file with its charts inside, which needs no network.

page.html has the text and style, page.mplstyle the charts' style. This module fills in the
measurements.
"""

import io
import pathlib
from html import escape
from typing import Any, Dict, List, Sequence

from albert.commands.demo.findings import Findings, Question, Ranking
from albert.util import files
from albert.util.errors import needing

with needing("plots", "The report page"):  # Fail before the long work.
    from matplotlib import rc_context
    from matplotlib.figure import Figure

_TEMPLATE, _STYLE = map(pathlib.Path(__file__).with_name, ("page.html", "page.mplstyle"))
_EXAMPLES, _LOOKS = 8, 4  # texts to show, and texts to show with attention
# Title -> the column of the training curve, and the lines: fields of a Score, and their names.
_CHARTS = {
    "Gaps with the right word": ("", {"five": "among five guesses", "first": "first guess"}),
    "Order of two texts": ("sentence_order_accuracy", {"order": "held-out texts"}),
    "Loss": ("loss", {"loss": "held-out texts"}),
}


def write_page(
    path: pathlib.Path, findings: Findings, curve: List[Dict[str, str]], **fields: Any
) -> None:
    """Writes the page. `fields`: the fields of page.html besides the findings."""
    style, body, text = _TEMPLATE.read_text(encoding="utf-8").partition("<body>")
    examples = findings.questions[:_EXAMPLES]
    page = text.format(
        findings=findings,
        questions=len(findings.questions),
        untrained=findings.scores[0],
        trained=findings.scores[-1],
        charts="".join(_chart(title, findings, curve) for title in _CHARTS),
        gaps="".join(map(_gap, examples, findings.guesses)),
        pairs="".join(map(_pair, examples, findings.orders.T)),
        looks="".join(map(_look, examples[:_LOOKS], findings.attention["looks"])),
        near="".join(map(_near, findings.neighbours, findings.neighbours.values())),
        **fields,
    )
    files.atomic_write_text(str(path), style + body + page)


def _chip(label: str, share: float, is_right: bool = False) -> str:
    """Returns a label on a bar. A tick marks the right label, besides its colour."""
    kind, mark = (" right", " ✓") if is_right else ("", "")
    return f'<span class="chip{kind}" style="--share: {share:.0%}">{escape(label)}{mark}</span>'


def _item(content: str, *chips: str) -> str:
    return f'<div class="item">{content}<div class="chips">{"".join(chips)}</div></div>'


def _gap(question: Question, guesses: Ranking) -> str:
    """Returns a text with its missing word, and the model's guesses."""
    text, start, end = question.text, question.start, question.end
    before, word, after = map(escape, (text[:start], text[start:end], text[end:]))
    chips = (
        _chip(f"“{guess}” {share:.0%}", share, guess == question.word)
        for guess, share in guesses.items()
    )
    return _item(f'<p>{before}<span class="gap">{word}</span>{after}</p>', *chips)


def _pair(question: Question, probabilities: Sequence[float]) -> str:
    """Returns two texts, and the model's probabilities of both orders."""
    (first, second), (in_order, swapped) = map(escape, question.parts), probabilities
    return _item(
        f'<div class="pair"><p>{first}</p><p>{second}</p></div>',
        _chip(f"as shown: probability {in_order:.0%}", in_order, in_order > 0.5),
        _chip(f"swapped: probability {swapped:.0%}", swapped, swapped <= 0.5),
    )


def _look(question: Question, weights: Sequence[float]) -> str:
    """Returns a text whose words are shaded by a head's attention."""
    html, done = "", 0
    for token, ((start, end), weight) in enumerate(zip(question.spans, weights)):
        if end > done:
            space, word = question.text[done:start], question.text[max(start, done) : end]
            # At most 60% of the colour, so that letters stay readable.
            shade = f"--look: {0.6 * min(1.0, 1.5 * weight) ** 0.7:.0%}"
            kind = 'class="gap"' if token in question.masked else f'class="look" style="{shade}"'
            html += f'{escape(space)}<span {kind} title="{weight:.0%}">{escape(word)}</span>'
            done = end
    return f'<p class="looks item">{html}</p>'


def _near(word: str, others: Ranking) -> str:
    chips = "".join(_chip(f"“{other}” {cosine:.2f}", cosine) for other, cosine in others.items())
    return f'<div class="near"><dt>{escape(word)}</dt><dd>{chips}</dd></div>'


def _chart(title: str, findings: Findings, curve: List[Dict[str, str]]) -> str:
    """Returns a chart over the steps, in per cent except for the loss."""
    column, lines = _CHARTS[title]
    with rc_context({"svg.hashsalt": title}, str(_STYLE)):
        figure = Figure()
        axes = figure.subplots()
        for (name, label), color in zip(lines.items(), ("#2f6fc4", "#c2701c")):
            points = [(score.step, getattr(score, name)) for score in findings.scores]
            axes.plot(*zip(*points), "o-", color=color, label=label)
            base = getattr(findings.baseline, name)
            axes.axhline(base, color=color, ls="--", lw=1, label="baseline")
        if column:
            points = [(int(row["step"]), float(row[column])) for row in curve]
            axes.plot(*zip(*points), color="#9db7e0", label="training")
        if title != "Loss":
            axes.set_ylim(0, 1.02)
            axes.yaxis.set_major_formatter("{x:.0%}")
        axes.set_xlabel("step")
        axes.locator_params(axis="x", nbins=4)
        # Below the axes, the legend covers no curve.
        axes.legend(ncol=2, loc="upper center", bbox_to_anchor=(0.45, -0.2))
        svg = io.StringIO()
        figure.savefig(svg, format="svg", metadata={"Date": None})
    element = svg.getvalue().partition("<svg ")[2]
    head = f'<figcaption>{title}</figcaption><svg role="img" aria-label="{title}" '
    return f"<figure>{head}{element}</figure>"
