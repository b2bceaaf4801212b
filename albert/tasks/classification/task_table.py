# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""The classification tasks as data: columns of texts and labels, metrics and recipes.

GLUE: Wang et al., arXiv:1804.07461; CLUE: Xu et al., arXiv:2004.05986. GLUE's hyper-parameters come
from google-research/albert's run_glue.sh (WNLI: arXiv:1909.11942, appendix). The Chinese tasks use
albert_zh's hyper-parameters or, if it has none, those of the most similar task.
"""

from typing import Any, Dict, List, Mapping, Tuple

from albert.tasks.classification.examples import (
    GUID_NAMES,
    LABEL_NAMES,
    PAIR,
    TEXT,
    Columns,
    InputExample,
    Recipe,
    TaskSpec,
    text_of,
)
from albert.util import UserError, wording

# ------------------------------------------------------------------------------------- rendering


def mark_spans(values: Mapping[str, Any]) -> List[InputExample]:
    """Returns CLUEWSC's example, with the noun as _noun_ and the pronoun as [pronoun].

    Raises:
      ValueError: the text does not have a span at its index.
      KeyError: a field is missing.
    """
    text, target = values["text"], values.get("target", values)  # TSV files have no "target"
    spans = [
        (int(target[f"{key}_index"]), target[f"{key}_text"], form)
        for key, form in (("span1", "_{}_"), ("span2", "[{}]"))
    ]
    for start, span, form in sorted(spans, reverse=True):  # the last first: indices stay valid
        if start < 0 or not text.startswith(span, start):
            raise UserError(f"{span!r} is not at {start} of the text")
        text = text[:start] + form.format(span) + text[start + len(span) :]
    return [InputExample("", text, None, values.get("label"))]


def pair_choices(values: Mapping[str, Any]) -> List[InputExample]:
    """Returns COPA's two examples of a line: (cause, effect), label 1 if the choice is right.

    The accuracy counts choices. The leaderboard counts questions.

    Raises:
      ValueError: the question is neither "cause" nor "effect", or there are not two choices.
      KeyError: a field is missing.
    """
    question, premise, answer = values["question"], text_of(values["premise"]), values.get("label")
    if question not in ("cause", "effect"):
        raise UserError(f"question is {question!r}; it must be 'cause' or 'effect'")
    first, second = values.get("choices") or (values["choice0"], values["choice1"])
    other = answer if answer in (None, "") else 1 - float(answer)
    pairs = ((text_of(first), premise, other), (text_of(second), premise, answer))
    if question == "cause":
        return [InputExample("", *pair) for pair in pairs]
    return [InputExample("", cause, choice, label) for choice, cause, label in pairs]


# ----------------------------------------------------------------------------------- declarations

_BINARY = ("0", "1")
_RTE = ("entailment", "not_entailment")
_NLI = ("contradiction", "entailment", "neutral")
# Examples without a label, on which annotators disagreed, have "-", or -1 on the hubs.
_NLI_ALIASES = {"contradictory": "contradiction", "-": "", "-1": ""}
# The order of the labels on the hubs, if it differs from the task's order.
_MNLI_HUB = ("entailment", "neutral", "contradiction")
_CMNLI_HUB = ("neutral", "entailment", "contradiction")

_GLUE_TEXT = TEXT._replace(guid=GUID_NAMES)


def _task(name: str, labels: Tuple[str, ...], recipe: Recipe, **more: Any) -> TaskSpec:
    """Returns a task: by default with pairs, in CLUE's format or in tables without a header."""
    usual = {
        "folders": (name, f"{name}_public"),
        "columns": (PAIR, Columns(0, 1, 2)),
        "hub_labels": labels,
    }
    return TaskSpec(name, labels, recipe, **{**usual, **more})


def _glue(
    name: str, labels: Tuple[str, ...], recipe: Recipe, *, numbers: Any = (1, 2, -1, 0), **more: Any
) -> TaskSpec:
    """Returns a task of GLUE, by default with pairs. Without usual names, `numbers` are columns."""
    columns = (PAIR._replace(guid=GUID_NAMES), Columns(*numbers)._replace(header=True))
    usual = {"folders": (name,), "submissions": {"test": f"{name}.tsv"}, "columns": columns}
    return _task(name.lower(), labels, recipe, **{**usual, **more})


def _epochs(epochs: float, batch: int, rate: float, *, length: int = 128) -> Recipe:
    """Returns a recipe in epochs, with a warm-up of 10% of the steps."""
    return Recipe(length, batch, rate, num_train_epochs=epochs, warmup_proportion=0.1)


_MNLI = _glue(
    "MNLI",
    _NLI,
    Recipe(512, 128, 3e-5, 10000, 1000, 100),
    numbers=(8, 9, -1, 0),
    splits=("train", "dev_matched", "dev_mismatched", "test_matched", "test_mismatched"),
    submissions={"test_matched": "MNLI-m.tsv", "test_mismatched": "MNLI-mm.tsv"},
    hub_labels=_MNLI_HUB,
    label_aliases=_NLI_ALIASES,
)

GLUE = (
    _glue(
        "CoLA",
        _BINARY,
        Recipe(512, 16, 1e-5, 5336, 320, 100),
        columns=(_GLUE_TEXT, Columns(3, None, 1)),
        metrics=("matthew_corr", "eval_accuracy"),
    ),
    _glue(
        "SST-2",
        _BINARY,
        Recipe(512, 32, 1e-5, 20935, 1256, 100),
        folders=("SST-2", "SST2", "SST"),
        columns=(_GLUE_TEXT,),
    ),
    _glue(
        "MRPC",
        _BINARY,
        Recipe(512, 32, 2e-5, 800, 200, 100),
        numbers=(3, 4, 0),
        metrics=("eval_accuracy", "f1"),
    ),
    _glue(
        "STS-B",
        (),
        Recipe(512, 16, 2e-5, 3598, 214, 100),
        numbers=(7, 8, -1, 0),
        folders=("STS-B", "STSB", "STS"),
        metrics=("pearson", "spearman", "MSE"),
    ),
    _glue(
        "QQP",
        _BINARY,
        Recipe(512, 128, 5e-5, 14000, 1000, 100),
        numbers=(3, 4, 5, 0),
        metrics=("eval_accuracy", "f1"),
    ),
    _MNLI,
    _MNLI._replace(name="mismnli", splits=_MNLI.splits[::2]),
    _glue("QNLI", _RTE, Recipe(512, 32, 1e-5, 33112, 1986, 200)),
    _glue("RTE", _RTE, Recipe(512, 32, 3e-5, 800, 200, 100)),
    _glue("WNLI", _BINARY, Recipe(512, 16, 2e-5, 2000, 250, 100)),
    # GLUE's diagnostic data. A model trained on MNLI predicts them.
    _glue(
        "AX",
        _NLI,
        _MNLI.recipe,
        folders=("diagnostic", "AX"),
        splits=("test",),
    ),
)

# Chinese tasks. Their files are JSON lines as in CLUE, or TSV with or without a header. Predictions
# go to NAME_predict.json, CLUE's format.
_LCQMC = _task("lcqmc", _BINARY, _epochs(3, 64, 2e-5), folders=("LCQMC",))
_XNLI_RECIPE = _epochs(2, 64, 3e-5)

CHINESE = (
    _LCQMC,
    _LCQMC._replace(name="lcqmc_pair", folders=("LCQMC", "lcqmc_pair")),
    _task("sentence_pair", _BINARY, _LCQMC.recipe, columns=(PAIR, Columns(1, 2, 0))),
    _task(
        "xnli",
        _NLI,
        _XNLI_RECIPE,
        folders=("xnli", "XNLI-1.0", "XNLI-MT-1.0"),
        hub_labels=_MNLI_HUB,
        language="zh",  # XNLI 1.0 has fifteen languages
        label_aliases=_NLI_ALIASES,
    ),
    _task(
        "tnews",
        tuple(str(number) for number in range(100, 117) if number not in (105, 111)),
        _epochs(3, 16, 2e-5),
        columns=(TEXT,),
    ),
    _task(
        "iflytek",
        tuple(map(str, range(119))),
        _epochs(3, 32, 2e-5),
        columns=(TEXT,),
    ),
    _task("afqmc", _BINARY, _epochs(3, 16, 2e-5)),
    *(
        _task(name, _NLI, _XNLI_RECIPE, hub_labels=_CMNLI_HUB, label_aliases=_NLI_ALIASES)
        for name in ("cmnli", "ocnli")
    ),
    _task(
        "csl",
        _BINARY,
        _epochs(5, 16, 1e-5),
        columns=(Columns("keyword", "abst", "label"),),
    ),
    _task(
        "wsc",
        ("true", "false"),
        _epochs(10, 16, 1e-5),
        folders=("cluewsc", "wsc", "cluewsc2020", "cluewsc2020_public"),
        columns=(Columns("text", render=mark_spans),),
    ),
    # Each choice is an example, so the accuracy counts choices, not questions.
    _task(
        "copa",
        _BINARY,
        _epochs(10, 16, 1e-5),
        columns=(Columns("premise", "question", render=pair_choices),),
        examples_per_row=2,
    ),
    _task(
        "chnsenticorp",
        _BINARY,
        _epochs(3, 32, 2e-5, length=256),
        columns=(TEXT, Columns(1, None, 0)),
    ),
)
GLUE_TASKS = tuple(task.name for task in GLUE)
CHINESE_TASKS = tuple(task.name for task in CHINESE)
TASKS: Dict[str, TaskSpec] = {task.name: task for task in GLUE + CHINESE}
CUSTOM = "custom"


def get_task(name: str) -> TaskSpec:
    """Returns a task by its name, in any case; ValueError if there is none."""
    key = name.strip().lower()
    if key in TASKS:
        return TASKS[key]
    names = list(TASKS) + [CUSTOM]
    hint = wording.did_you_mean(key, names)
    raise UserError(
        f"Unknown task {name!r}.{hint} Tasks: {', '.join(names)} (custom is a task of your own)."
    )


def described_task(description: Mapping[str, Any]) -> TaskSpec:
    """Returns the task of a trained model, from the content of classifier.json.

    Columns of its data have usual names. Data can also give labels as numbers from 0, unless a
    label is such a number.
    """
    name, labels = description["task"], tuple(description["labels"])
    if name in TASKS and TASKS[name].labels == labels:
        return TASKS[name]
    separator = description.get("label_separator") or ""
    columns = {True: (PAIR,), False: (TEXT,), None: (PAIR, TEXT)}[description.get("is_pair")]
    if separator:
        columns = tuple(each._replace(label=("labels", *LABEL_NAMES)) for each in columns)
    numbered = {str(number): label for number, label in enumerate(labels)}
    task = TaskSpec(
        name,
        labels,
        _epochs(3, 32, 2e-5),
        folders=(name,),
        columns=columns,
        label_aliases=numbered if numbered.keys().isdisjoint(labels) else {},
        label_separator=separator,
    )
    return task._replace(metrics=task.suitable_metrics)
