# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""The demo's report page: one HTML file with its charts inside, which needs no network.

page.html has the text and style; this module fills in what was measured.
"""

import html
import io
import pathlib
import string
from typing import Any, Dict, Iterator, List, Sequence, Tuple

from albert.demo import findings as demo_findings
from albert.demo.findings import EXAMPLES, Findings, Score
from albert.demo.questions import Question
from albert.util import files
from albert.util.errors import UserError

try:  # before long work, not after it
    import matplotlib

    matplotlib.use("svg")
    from matplotlib import pyplot, ticker
except ImportError as error:
    needed = "The report page needs matplotlib: pip install 'albert-tf[plots]'."
    raise UserError(needed) from error

_TEMPLATE = pathlib.Path(__file__).with_name("page.html")
_LOOKS = 4  # texts whose attention is shown
# Text stays text, in the page's font, so that it can be searched and scales well.
_CHART_STYLE: Dict[str, Any] = {
    "svg.fonttype": "none",
    "axes.prop_cycle": matplotlib.cycler(color=["#2f6fc4", "#c2701c", "#8a8f9c", "#9db7e0"]),
    "axes.spines.right": False,
    "axes.spines.top": False,
    "legend.frameon": False,
    "savefig.transparent": True,
    **dict.fromkeys(["axes.edgecolor", "xtick.color", "ytick.color"], "#8a8f9c"),
}
_Lines = Sequence[Tuple[str, str, Sequence[float], Sequence[float]]]  # label, style, steps, values


def write_page(
    path: pathlib.Path, findings: Findings, curve: List[Dict[str, str]], **run: Any
) -> None:
    """Writes the page.

    Args:
      path: of the page.
      findings: what it reports.
      curve: the rows of the training curve.
      **run: the fields of page.html that are not findings, in text; `commands` is a list.
    """
    commands = run.pop("commands")
    examples = list(zip(findings.questions, findings.guesses, findings.orders.T))[:EXAMPLES]
    looks = zip(findings.questions[:_LOOKS], findings.attention.looks)
    scores = {"trained": findings.trained, "baseline": findings.baseline}
    fields = {
        **{name: html.escape(str(value)) for name, value in run.items()},
        **{
            f"{name}_{kind}": f"{getattr(score, kind):.0%}"
            for name, score in scores.items()
            for kind in ("five", "order")
        },
        "count": len(findings.questions),
        "comparison": "".join(map(_row, demo_findings.comparison(findings)[1:])),
        "explanations": "".join(f"<p>{line}</p>" for line in demo_findings.explanations(findings)),
        "charts": "".join(_charts(findings, curve)),
        "fills": "".join(_fill(question, guesses) for question, guesses, _ in examples),
        "orders": "".join(_order(question, shares) for question, _, shares in examples),
        "attention": "".join(_look(question, weights) for question, weights in looks),
        "neighbours": "".join(_near(word, others) for word, others in findings.neighbours),
        "commands": "".join(f"<pre>{html.escape(line)}</pre>" for line in commands),
        "similarity": "from {:.2f} before training to {:.2f} after it".format(*findings.similarity),
        **findings.attention._asdict(),
    }
    template = string.Template(_TEMPLATE.read_text(encoding="utf-8"))
    files.atomic_write_text(str(path), template.substitute(fields))


def _row(cells: Sequence[str]) -> str:
    heads = ("", *demo_findings.HEAD)
    body = (f'<td data-head="{head}">{cell}</td>' for head, cell in zip(heads, cells))
    return f"<tr>{''.join(body)}</tr>"


def _chip(label: str, share: float, is_right: bool = False) -> str:
    """A label on a bar; the right one is marked by more than its colour."""
    kind, mark = (" right", " ✓") if is_right else ("", "")
    style = f"--share: {max(0, share):.0%}"
    return f'<span class="chip{kind}" style="{style}">{html.escape(label)}{mark}</span>'


def _fill(question: Question, guesses: demo_findings.Shares) -> str:
    """A text with its missing word, and the model's guesses."""
    texts = list(map(html.escape, question.parts))
    part = question.parts[question.part]
    places = (slice(question.start), slice(question.start, question.end), slice(question.end, None))
    before, word, after = (html.escape(part[place]) for place in places)
    texts[question.part] = f'{before}<span class="gap">{word}</span>{after}'
    chips = "".join(
        _chip(f"“{word}” {share:.0%}", share, word == question.word) for word, share in guesses
    )
    return f'<div class="item"><p>{" ".join(texts)}</p><div class="chips">{chips}</div></div>'


def _order(question: Question, shares: Sequence[float]) -> str:
    """Two texts, and what the model says of both orders."""
    halves = "".join(f"<p>{html.escape(part)}</p>" for part in question.parts)
    here, swapped = shares
    chips = _chip(f"as they stand here: in order with {here:.0%}", here, here > 0.5)
    chips += _chip(f"swapped: in order with {swapped:.0%}", swapped, swapped <= 0.5)
    return (
        f'<div class="item"><div class="pair">{halves}</div><div class="chips">{chips}</div></div>'
    )


def _look(question: Question, weights: Sequence[float]) -> str:
    """A text whose words are shaded by where a head looks from the gap."""
    pieces = []
    for number, part in enumerate(question.parts):
        done = 0
        for (place, start, stop), weight in zip(question.places, weights):
            if place != number or stop <= done:
                continue
            # At most 60% of the colour, which letters can be read on.
            shade = f"--look: {0.6 * min(1.0, 1.5 * weight) ** 0.7:.0%}"
            is_gap = number == question.part and question.start <= start < question.end
            mark = 'class="gap"' if is_gap else f'class="look" style="{shade}"'
            word = html.escape(part[max(start, done) : stop])
            pieces.append(f'{html.escape(part[done:start])}<span {mark} title="{weight:.0%}">')
            pieces.append(f"{word}</span>")
            done = stop
        pieces.append(" ")
    return f'<p class="looks item">{"".join(pieces)}</p>'


def _near(word: str, others: demo_findings.Shares) -> str:
    chips = "".join(_chip(f"“{other}” {cosine:.2f}", cosine) for other, cosine in others)
    return f'<div class="near"><dt>{html.escape(word)}</dt><dd>{chips}</dd></div>'


# ---- Charts.


def _charts(findings: Findings, curve: List[Dict[str, str]]) -> Iterator[str]:
    steps, base = list(findings.scores), findings.baseline
    held_out = Score(*zip(*findings.scores.values()))
    ends = steps[0], steps[-1]

    def training(column: str) -> Tuple[str, str, List[float], List[float]]:
        values = [float(row[column]) for row in curve]
        return "training", "C3-", [int(row["step"]) for row in curve], values

    yield draw_chart(
        "Gaps with the right word",
        [
            ("among five guesses", "C0o-", steps, held_out.five),
            ("without reading", "C2--", ends, [base.five] * 2),
            ("first guess", "C1s-", steps, held_out.first),
            ("without reading", "C2:", ends, [base.first] * 2),
        ],
    )
    yield draw_chart(
        "Order of two texts",
        [
            ("held-out texts", "C0o-", steps, held_out.order),
            ("guessing", "C2--", ends, [base.order] * 2),
            training("sentence_order_accuracy"),
        ],
    )
    yield draw_chart(
        "Loss",
        [
            ("held-out texts", "C0o-", steps, held_out.loss),
            ("without reading", "C2--", ends, [base.loss] * 2),
            training("loss"),
        ],
        is_share=False,
    )


def draw_chart(title: str, lines: _Lines, *, is_share: bool = True) -> str:
    """Returns a figure with lines over the steps, of shares from 0 to 100% or other values."""
    with matplotlib.rc_context({**_CHART_STYLE, "svg.hashsalt": title}):
        figure, axes = pyplot.subplots(figsize=(3.7, 3.4))
        for label, style, steps, values in lines:
            axes.plot(steps, values, style, label=label, lw=1.8, ms=4)
        if is_share:
            axes.set_ylim(0, 1.02)
            axes.yaxis.set_major_formatter(ticker.PercentFormatter(1.0, decimals=0))
        axes.set_xlabel("step")
        axes.xaxis.set_major_locator(ticker.MaxNLocator(4, integer=True))
        axes.grid(axis="y", alpha=0.25)
        # Below the axes, where it covers no curve.
        axes.legend(fontsize=9, ncol=2, loc="upper center", bbox_to_anchor=(0.45, -0.2))
        figure.tight_layout()
        svg = io.StringIO()
        figure.savefig(svg, format="svg", metadata={"Date": None})
        pyplot.close(figure)
    element = svg.getvalue().partition("<svg ")[2]
    label = f'<svg role="img" aria-label="{title}" '
    return f"<figure><figcaption>{title}</figcaption>{label}{element}</figure>"
