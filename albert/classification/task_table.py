# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""The classification tasks as data: where their texts and labels are, how they are scored.

GLUE: Wang et al., arXiv:1804.07461; CLUE: Xu et al., arXiv:2004.05986. Hyper-parameters of GLUE are
those of the public run_glue.sh (WNLI: arXiv:1909.11942, appendix); those of the Chinese tasks are
albert_zh's and, where it names none, those of the most similar task.
"""

from typing import Any, Dict, List, Mapping, NamedTuple, Optional, Sequence, Tuple

from albert.classification.examples import (
    Columns,
    Fields,
    Labels,
    Source,
    Split,
    Texts,
    hub_files,
    text_of,
)
from albert.configs import published
from albert.util import wording
from albert.util.errors import UserError

# Metrics, by their names in eval_results.txt, and whether more is better.
METRICS = {
    "eval_accuracy": True,
    "f1": True,
    "matthew_corr": True,
    "pearson": True,
    "spearman": True,
    "MSE": False,
    "eval_loss": False,
}


class Recipe(NamedTuple):
    """Hyper-parameters that are known to work. Training is given in steps or epochs, not both."""

    max_seq_length: int
    train_batch_size: int
    learning_rate: float
    train_step: int = 0
    warmup_step: int = 0
    save_checkpoints_steps: int = 0  # 0: once an epoch
    num_train_epochs: float = 0.0
    warmup_proportion: float = 0.0


class Task(NamedTuple):
    """A classification or regression task."""

    name: str
    folders: Tuple[str, ...]  # names of its folder, the official one first; any case is accepted
    splits: Tuple[Split, ...]
    labels: Tuple[str, ...]  # in the order of their ids; () is regression
    recipe: Recipe
    glue_name: str = ""  # of its files in GLUE's zip
    # Measured beside eval_loss; the first chooses the checkpoint, on the first dev split.
    metrics: Tuple[str, ...] = ("eval_accuracy",)
    label_aliases: Mapping[str, str] = {}
    dropped_labels: Tuple[str, ...] = ()
    examples_per_row: int = 1  # in the data file; of several, the most probable one is the answer

    @property
    def best_metric(self) -> str:
        """Returns the metric that chooses the checkpoint."""
        return self.metrics[0]

    @property
    def is_regression(self) -> bool:
        """Returns whether the label is a number."""
        return not self.labels

    @property
    def is_pair(self) -> bool:
        """Returns whether an example has two texts."""
        return any(
            source.reading.text_b is not None for split in self.splits for source in split.sources
        )

    @property
    def submissions(self) -> Dict[str, str]:
        """Returns the file name in GLUE's zip for each test split."""
        parts = {"test": "", "test_matched": "-m", "test_mismatched": "-mm"}
        names = self.split_names("test") if self.glue_name else ()
        return {split: f"{self.glue_name}{parts[split]}.tsv" for split in names}

    def split_names(self, role: str) -> List[str]:
        """Returns the names of the splits of a role; the first of "dev" decides."""
        return [split.name for split in self.splits if split.role == role]

    def split(self, name: str) -> Split:
        """Returns a split, "dev" and "test" being the first of each; ValueError if it has none."""
        for split in self.splits:
            if name in (split.name, split.role):
                return split
        names = ", ".join(split.name for split in self.splits)
        raise UserError(f"Task '{self.name}' has no {name} data; it has: {names}.")

    def suffix(self, split: str) -> str:
        """Returns what a split's file names add: "_mismatched", or "" for the first of its role."""
        declared = self.split(split)
        is_first = declared == self.split(declared.role)
        return "" if is_first else declared.name[len(declared.role) :]


# ------------------------------------------------------------------------------------- rendering


def mark_spans(values: Mapping[str, Any]) -> List[Texts]:
    """Returns CLUEWSC's example: the noun wrapped in _ and the pronoun in [ ].

    Raises:
      ValueError: the text does not hold a span where the object says it does.
      KeyError: a field is missing.
    """
    text, target = values["text"], values["target"]
    spans = []
    for key, form in (("span1", "_{}_"), ("span2", "[{}]")):
        span, start = target[f"{key}_text"], int(target[f"{key}_index"])
        found = text[start : start + len(span)]
        if found != span:
            raise UserError(f"{key} is {span!r}, but the text holds {found!r} at {start}.")
        spans.append((start, span, form))
    for start, span, form in sorted(spans, reverse=True):  # the last first: indices stay valid
        text = text[:start] + form.format(span) + text[start + len(span) :]
    return [Texts(text, None, values.get("label"))]


def pair_choices(values: Mapping[str, Any]) -> List[Texts]:
    """Returns COPA's two examples of a line: cause and effect in order, label 1 if they belong.

    An answer that is none of the choices becomes the label of both, which is an unknown label.
    Accuracy is of choices, not of questions as on the leader board.

    Raises:
      ValueError: the question is neither "cause" nor "effect", or there are not two choices.
      KeyError: a field is missing.
    """
    question, premise = values["question"], text_of(values["premise"])
    choices = values.get("choices") or [values["choice0"], values["choice1"]]
    if question not in ("cause", "effect") or len(choices) != 2:
        raise UserError(
            f"question is {question!r}, with choices {choices}. It must be 'cause' or 'effect', "
            "with two choices."
        )
    answer, examples = values.get("label"), []
    for index, choice in enumerate(map(text_of, choices)):
        pair = (choice, premise) if question == "cause" else (premise, choice)
        label = None if answer in (None, "") else str(answer)
        if label and float(label) in (0, 1):
            label = str(int(float(label) == index))
        examples.append(Texts(*pair, label))
    return examples


# ----------------------------------------------------------------------------------- declarations

_NLI = Labels(
    ("contradiction", "entailment", "neutral"),
    {"contradictory": "contradiction"},
    ("-", "-1"),  # annotators disagreed; the second on the hubs
)
_RTE = Labels(("entailment", "not_entailment"))
_BINARY = Labels(("0", "1"))

# The names of a split's files without their ending, in the order in which they are looked for.
Stems = Mapping[str, Sequence[str]]
_GLUE_STEMS: Stems = {"train": ["train"], "dev": ["dev"], "test": ["test"]}
_MNLI_STEMS: Stems = {
    name: [name]
    for name in ("train", "dev_matched", "dev_mismatched", "test_matched", "test_mismatched")
}
# OCNLI's train file has the number of its examples, the largest first; test files have the version
# of the leader board, the newest first.
_CLUE_STEMS: Stems = {
    "train": ["train", *(f"train.{count}k" for count in (50, 30, 10, 3, 1))],
    "dev": ["dev"],
    "test": ["test", "test1.1", "test1.0"],
}
_XNLI_STEMS: Stems = {
    "train": ["train", "multinli.train.zh", "multinli/multinli.train.zh"],
    "dev": ["dev", "xnli.dev"],
    "test": ["test", "xnli.test"],
}


def _task(
    name: str,
    labels: Labels,
    recipe: Recipe,
    *,
    hub: Columns,
    glue_name: str = "",
    glue_test: Sequence[Columns] = (),
    folders: Tuple[str, ...] = (),
    stems: Optional[Stems] = None,
    metrics: Tuple[str, ...] = ("eval_accuracy",),
    **readings: Sequence[Columns],
) -> Task:
    """A task, of GLUE if it has a name there, or else by default in the files of CLUE.

    Args:
      hub: the Parquet files in which the common hubs keep it. Labels are numbers there, in the
        order of `labels` unless hub.label_names says another.
      glue_test: the columns of GLUE's test files, where they are not those of train.
      **readings: by ending of the files, to try in turn; without, the fields of `hub` as JSON.
    """
    readings = readings or {"json": [hub]}
    hub = hub._replace(
        label_names=hub.label_names or labels.names, guid="idx" if glue_name else None
    )
    splits = []
    for split, names in (stems or (_GLUE_STEMS if glue_name else _CLUE_STEMS)).items():
        is_hidden = bool(glue_name) and split.startswith("test")
        sources = [
            Source(f"{stem}.{ending}", reading)
            for stem in names
            for ending, several in readings.items()
            for reading in (is_hidden and glue_test or several)
        ] + [Source(file, hub) for file in hub_files(split)]
        if is_hidden:  # -1 on the hubs, but of MRPC the true ones
            sources = [Source(file, reading._replace(label=None)) for file, reading in sources]
        splits.append(Split(split, tuple(sources)))
    folders = folders or ((glue_name,) if glue_name else (name, f"{name}_public"))
    return Task(name, folders, tuple(splits), labels.names, recipe, glue_name, metrics, *labels[1:])


def _epochs(length: int, batch: int, rate: float, *, epochs: float) -> Recipe:
    """A recipe in epochs, with a tenth of the steps as warm-up."""
    return Recipe(length, batch, rate, num_train_epochs=epochs, warmup_proportion=0.1)


def _published(task: str) -> Recipe:
    """The published recipe of a task, for the base model."""
    found = published.recipes(task)[0]
    return _epochs(
        found.max_seq_length,
        found.train_batch_size,
        found.learning_rate,
        epochs=found.num_train_epochs,
    )


_GLUE_PAIR = [Columns(1, 2, -1, guid=0, header=True)]
_GLUE_TEST = [Columns(1, guid=0, header=True)]
_PAIR = Fields("sentence1", "sentence2")
_SENTENCE = Fields("sentence")
_MNLI_HUB = Fields("premise", "hypothesis", label_names=("entailment", "neutral", "contradiction"))

_MNLI = _task(
    "mnli",
    _NLI,
    Recipe(512, 128, 3e-5, 10000, 1000, 100),
    glue_name="MNLI",
    tsv=[Columns(8, 9, -1, guid=0, header=True)],
    hub=_MNLI_HUB,
    stems=_MNLI_STEMS,
)

GLUE = (
    _task(
        "cola",
        _BINARY,
        Recipe(512, 16, 1e-5, 5336, 320, 100),
        glue_name="CoLA",
        tsv=[Columns(3, None, 1, header=False)],
        glue_test=_GLUE_TEST,
        hub=_SENTENCE,
        metrics=("matthew_corr", "eval_accuracy"),
    ),
    _task(
        "sst-2",
        _BINARY,
        Recipe(512, 32, 1e-5, 20935, 1256, 100),
        glue_name="SST-2",
        folders=("SST-2", "SST2", "SST"),
        tsv=[Columns(0, None, 1, header=True)],
        glue_test=_GLUE_TEST,
        hub=_SENTENCE,
    ),
    _task(
        "mrpc",
        _BINARY,
        Recipe(512, 32, 2e-5, 800, 200, 100),
        glue_name="MRPC",
        tsv=[Columns(3, 4, 0, header=True)],
        glue_test=[Columns(3, 4, guid=0, header=True)],
        hub=_PAIR,
        metrics=("eval_accuracy", "f1"),
    ),
    _task(
        "sts-b",
        Labels(()),
        Recipe(512, 16, 2e-5, 3598, 214, 100),
        glue_name="STS-B",
        folders=("STS-B", "STSB", "STS"),
        tsv=[Columns(7, 8, -1, guid=0, header=True)],
        hub=_PAIR,
        metrics=("pearson", "spearman", "MSE"),
    ),
    _task(
        "qqp",
        _BINARY,
        Recipe(512, 128, 5e-5, 14000, 1000, 100),
        glue_name="QQP",
        # Some rows of the distributed train file are cut short.
        tsv=[Columns(3, 4, 5, guid=0, header=True, short_rows_are_skipped=True)],
        glue_test=_GLUE_PAIR,
        hub=Fields("question1", "question2"),
        metrics=("eval_accuracy", "f1"),
    ),
    _MNLI,
    _MNLI._replace(name="mismnli", splits=_MNLI.splits[::2]),
    _task(
        "qnli",
        _RTE,
        Recipe(512, 32, 1e-5, 33112, 1986, 200),
        glue_name="QNLI",
        tsv=_GLUE_PAIR,
        hub=Fields("question", "sentence"),
    ),
    _task(
        "rte",
        _RTE,
        Recipe(512, 32, 3e-5, 800, 200, 100),
        glue_name="RTE",
        tsv=_GLUE_PAIR,
        hub=_PAIR,
    ),
    _task(
        "wnli",
        _BINARY,
        Recipe(512, 16, 2e-5, 2000, 250, 100),
        glue_name="WNLI",
        tsv=_GLUE_PAIR,
        hub=_PAIR,
    ),
    # GLUE's diagnostic data, predicted by a model that was trained on MNLI.
    _task(
        "ax",
        _NLI,
        _MNLI.recipe,
        glue_name="AX",
        folders=("diagnostic", "AX"),
        tsv=_GLUE_PAIR,
        hub=_MNLI_HUB,
        stems={"test": ["diagnostic"]},
    ),
)

# Chinese files: JSON lines as in CLUE, or TSV with or without names, as people share them.
_PAIR_COLUMNS = [
    Columns("sentence1", "sentence2", "label"),
    Columns("text_a", "text_b", "label"),
    Columns(0, 1, 2),
]
_LABEL_FIRST = [
    Columns("text_a", None, "label"),
    Columns("sentence", None, "label"),
    Columns(1, None, 0),
]
_LCQMC = _task(
    "lcqmc",
    _BINARY,
    _published("lcqmc"),
    folders=("LCQMC",),
    txt=_PAIR_COLUMNS,
    tsv=_PAIR_COLUMNS,
    json=[_PAIR],
    hub=_PAIR,
)
_CLUE_PAIRS: Dict[str, Any] = {"json": [_PAIR], "txt": _PAIR_COLUMNS, "tsv": _PAIR_COLUMNS}

# Their predictions go to <name>_predict.json, as CLUE wants them.
CHINESE = (
    _LCQMC,
    _LCQMC._replace(name="lcqmc_pair", folders=("LCQMC", "lcqmc_pair")),
    _task(
        "sentence_pair",
        _BINARY,
        _LCQMC.recipe,
        tsv=[*_PAIR_COLUMNS[:2], Columns(1, 2, 0)],
        hub=_PAIR,
    ),
    _task(
        "xnli",
        _NLI,
        _published("xnli"),
        folders=("xnli", "XNLI-1.0", "XNLI-MT-1.0"),
        tsv=[
            # XNLI 1.0 holds fifteen languages; its translated train file is Chinese throughout.
            Columns("sentence1", "sentence2", "gold_label", filter="language", filter_value="zh"),
            Columns("premise", "hypo", "label"),
            *_PAIR_COLUMNS[1:],
        ],
        json=[Fields("premise", "hypo")],
        hub=_MNLI_HUB,
        stems=_XNLI_STEMS,
    ),
    _task(
        "tnews",
        Labels(tuple(str(number) for number in range(100, 117) if number not in (105, 111))),
        _epochs(128, 16, 2e-5, epochs=3),
        hub=_SENTENCE,
    ),
    _task(
        "iflytek",
        Labels(tuple(map(str, range(119)))),
        _epochs(128, 32, 2e-5, epochs=3),
        hub=_SENTENCE,
    ),
    _task("afqmc", _BINARY, _epochs(128, 16, 2e-5, epochs=3), hub=_PAIR, **_CLUE_PAIRS),
    *(
        _task(
            name,
            _NLI,
            _published("xnli"),
            hub=_PAIR._replace(label_names=("neutral", "entailment", "contradiction")),
            **_CLUE_PAIRS,
        )
        for name in ("cmnli", "ocnli")
    ),
    _task(
        "csl",
        _BINARY,
        _epochs(128, 16, 1e-5, epochs=5),
        hub=Fields("keyword", "abst"),
    ),
    _task(
        "wsc",
        Labels(("true", "false")),
        _epochs(128, 16, 1e-5, epochs=10),
        folders=("cluewsc", "wsc", "cluewsc2020", "cluewsc2020_public"),
        hub=Fields("text", render=mark_spans),
    ),
    # A choice is an example: accuracy is of choices, not of questions.
    _task(
        "copa",
        _BINARY,
        _epochs(128, 16, 1e-5, epochs=10),
        hub=Fields("premise", "choices", render=pair_choices),
    )._replace(examples_per_row=2),
    _task(
        "chnsenticorp",
        _BINARY,
        _epochs(256, 32, 2e-5, epochs=3),
        tsv=_LABEL_FIRST,
        txt=_LABEL_FIRST,
        hub=Fields("text"),
    ),
)
GLUE_TASKS = tuple(task.name for task in GLUE)
CHINESE_TASKS = tuple(task.name for task in CHINESE)
TASKS: Dict[str, Task] = {task.name: task for task in GLUE + CHINESE}
CUSTOM = "custom"


def get_task(name: str) -> Task:
    """Returns a task by its name, in any case; ValueError if there is none."""
    key = name.strip().lower()
    if key in TASKS:
        return TASKS[key]
    known = list(TASKS) + [CUSTOM]
    hint = wording.did_you_mean(key, known)
    raise UserError(
        f"Unknown task {name!r}.{hint} Tasks: {', '.join(known)} (custom is a task of your own)."
    )
