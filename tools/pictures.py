# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Draws docs/images: bars of docs/results.md, the windows of a text, the model, and the code.

    python -m tools.pictures
    python -m tools.pictures demo/report.html    # the demo's report, by a headless Chromium

The bars take their numbers from the tables of docs/results.md, and the floors their names from
CONTRIBUTING.md.
"""

import itertools
import pathlib
import re
import subprocess
import sys
import tempfile
from typing import Any, Dict, List

from matplotlib import rcParams
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from albert.tasks.squad import features

ROOT = pathlib.Path(__file__).resolve().parents[1]
IMAGES = ROOT / "docs" / "images"
WIDTH = 6.4  # inches: letters of 10 points are legible on a phone
BLUE, ORANGE, GREY = "#2f6fc4", "#c2701c", "#b8c0cc"


def table(page: str, head: str) -> List[List[str]]:
    """Returns the rows of the table of a page whose head begins with `head`.

    A cell with two values counts as two.
    """
    lines = (ROOT / page).read_text(encoding="utf-8").splitlines()
    (start,) = [number for number, line in enumerate(lines) if line.startswith(head)]
    rows = itertools.takewhile(lambda line: line.startswith("|"), lines[start + 2 :])
    cells = ([cell.strip() for cell in row.strip("|").split("|")] for row in rows)
    return [[name, *", ".join(values).split(", ")] for name, *values in cells]


def save(figure: Figure, name: str) -> None:
    """Writes a picture with a white background, which a dark page can show too."""
    figure.savefig(IMAGES / name, dpi=130, facecolor="white", bbox_inches="tight", pad_inches=0.1)


def draw_bars() -> None:
    """Draws speed and memory of a training step beside others."""
    groups = (  # title, head of the table, columns of speed and memory
        ("Classification beside a plain graph (Zen 4)", "| program | Zen 4", (1, 4)),
        ("Pretraining beside Hugging Face (Zen 5)", "| program | Zen 5", (1, 2)),
    )
    figure = Figure(figsize=(WIDTH, 5), constrained_layout=True)
    for part, (title, head, columns) in zip(figure.subfigures(2, 1), groups):
        part.suptitle(title, fontweight="bold")
        rows = table("docs/results.md", head)
        names = [row[0].replace("torch.compile", "compiled") for row in rows]
        colors = [BLUE if name.startswith("ours") else GREY for name in names]
        panels = part.subplots(1, 2, sharey=True)
        for axes, column, unit in zip(panels, columns, ("sequences/s", "memory, GB")):
            texts = [row[column].replace(" GB", "") for row in rows]
            values = [float(text) for text in texts]
            axes.bar_label(axes.barh(names, values, color=colors), texts, padding=3)
            axes.set(xlim=(0, 1.25 * max(values)), xticks=[], xlabel=unit)
            axes.spines[["top", "right", "bottom"]].set_visible(False)
        panels[0].invert_yaxis()
    save(figure, "speed.png")


def draw_windows() -> None:
    """Draws the windows of a paragraph of 700 tokens, as the features have them."""
    tokens, question, length, stride = 700, 12, 384, 128
    spans = features.paragraph_spans(tokens, length - question - 3, stride)
    figure = Figure(figsize=(WIDTH, 2.6), constrained_layout=True)
    axes = figure.subplots()
    axes.barh(0, tokens, color=GREY)
    for row, (span, is_best) in enumerate(spans, 1):
        axes.barh(row, span.stop - span.start, left=span.start, color="#bcd2f0")
        best = [place for place, best in zip(range(span.start, span.stop), is_best) if best]
        axes.barh(row, len(best), left=best[0], color="#86aee8")
        axes.text(span.start + 4, row, f"tokens {span.start} to {span.stop - 1}", va="center")
    names = [f"window {number}" for number in range(1, len(spans) + 1)]
    axes.set_yticks(range(len(spans) + 1), ["paragraph", *names])
    axes.set(xlabel="token of the paragraph", xlim=(0, tokens))
    axes.invert_yaxis()
    axes.spines[["top", "right", "left"]].set_visible(False)
    save(figure, "windows.png")


def draw_model() -> None:
    """Draws ALBERT with the sizes of base."""
    figure = Figure(figsize=(WIDTH, 4.6))
    axes = figure.add_axes([0, 0, 1, 1])
    axes.set(xlim=(0, 64), ylim=(0, 46))
    axes.axis("off")
    _box(axes, (16, 1, 32, 4), "tokens, segments, positions", GREY)
    _box(axes, (10, 8, 44, 6), "embeddings: 30,000 x 128\nthen 128 x 768", "#bcd2f0")
    _box(axes, (10, 17, 44, 12), "", "#e4edf9")
    _box(axes, (12, 18, 40, 4.4), "self-attention, 12 heads", "#bcd2f0")
    _box(axes, (12, 23.6, 40, 4.4), "feed-forward, 768 x 3,072 x 768", "#bcd2f0")
    axes.text(55, 23, "one set of\nweights,\nused 12\ntimes", va="center")
    _box(axes, (1, 33, 20, 8), "masked words\n(each token)", "#f3dcc5")
    _box(axes, (22.5, 33, 19, 8), "sentence order\n([CLS])", "#f3dcc5")
    _box(axes, (43, 33, 20, 8), "your task:\na small head", "#f3dcc5")
    axes.text(21.2, 43.5, "pretraining", ha="center", fontweight="bold")
    axes.text(53, 43.5, "fine-tuning", ha="center", fontweight="bold")
    for bottom, top in ((5, 8), (14, 17)):
        axes.annotate("", (32, top), (32, bottom), arrowprops={"arrowstyle": "->"})
    for right in (11, 32, 53):
        axes.annotate("", (right, 33), (32, 29), arrowprops={"arrowstyle": "->"})
    save(figure, "model.png")


def draw_floors() -> None:
    """Draws the folders of the package; a module imports from lower floors only."""
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    floors: Dict[int, List[str]] = {}
    for floor, names in re.findall(r"^ {4}(\d+) +(.+?)(?: {2,}.*)?$", text, re.MULTILINE):
        floors.setdefault(int(floor), []).extend(names.split(":")[0].split(", "))
    figure = Figure(figsize=(WIDTH, 0.45 * len(floors)))
    axes = figure.add_axes([0, 0, 1, 1])
    axes.set(xlim=(0, 64), ylim=(0, len(floors)))
    axes.axis("off")
    for floor, names in floors.items():
        axes.text(1, floor + 0.45, str(floor), va="center", color="#555555")
        width = 60 / len(names)
        for number, name in enumerate(names):
            place = (4 + number * width, floor + 0.05, width - 0.6, 0.8)
            _box(axes, place, name, "#bcd2f0" if name.endswith("/") else "#e4edf9")
    save(figure, "floors.png")


def _box(axes: Any, place: Any, text: str, color: str) -> None:
    left, bottom, width, height = place
    axes.add_patch(Rectangle((left, bottom), width, height, facecolor=color, edgecolor="#5a6b80"))
    axes.text(left + width / 2, bottom + height / 2, text, ha="center", va="center")


def photograph(report: str) -> None:
    """Writes a picture of the cards, the curves and the first gap of the demo's report."""
    page = pathlib.Path(report).read_text(encoding="utf-8")
    page = re.sub(r"<section>\n<h2>Before and after.*?</section>", "", page, flags=re.DOTALL)
    hidden = ".card:nth-child(n+3), figure:nth-child(n+2), section > p { display: none; }"
    gaps = page.replace("</style>", f"{hidden}</style>").split('<div class="item">')
    with tempfile.TemporaryDirectory() as folder:
        short = pathlib.Path(folder, "report.html")
        short.write_text('<div class="item">'.join(gaps[:2]), encoding="utf-8")
        options = ["--headless", "--no-sandbox", "--hide-scrollbars", "--window-size=560,1150"]
        picture = f"--screenshot={IMAGES / 'demo.png'}"
        subprocess.run(["chromium", *options, picture, short.as_uri()], check=True)


def main() -> None:
    """Draws the pictures, or that of a report."""
    IMAGES.mkdir(exist_ok=True)
    rcParams["font.size"] = 11
    if sys.argv[1:]:
        photograph(sys.argv[1])
    else:
        for draw in (draw_bars, draw_windows, draw_model, draw_floors):
            draw()


if __name__ == "__main__":
    main()
