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
    Reading,
    Source,
    Split,
    Texts,
    hub_files,
    text_of,
    whole,
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
    def folder(self) -> str:
        """Returns the official name of the task's folder."""
        return self.folders[0]

    @property
    def best_metric(self) -> str:
        """Returns the metric that chooses the checkpoint."""
        return self.metrics[0]

    @property
    def higher_is_better(self) -> bool:
        """Returns whether a larger best_metric is better."""
        return METRICS[self.best_metric]

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
    def num_labels(self) -> int:
        """Returns the number of outputs of the head."""
        return len(self.label_list)

    @property
    def label_list(self) -> List[Optional[str]]:
        """Returns the labels as processors do: [None] for regression."""
        return list(self.labels) or [None]

    @property
    def dev_splits(self) -> Tuple[str, ...]:
        """Returns the names of the splits to evaluate on; the first decides."""
        return tuple(split.name for split in self.splits if split.role == "dev")

    @property
    def test_splits(self) -> Tuple[str, ...]:
        """Returns the names of the splits to predict."""
        return tuple(split.name for split in self.splits if split.role == "test")

    @property
    def submissions(self) -> Dict[str, str]:
        """Returns the file name in GLUE's zip for each test split."""
        parts = {"test": "", "test_matched": "-m", "test_mismatched": "-mm"}
        names = self.test_splits if self.glue_name else ()
        return {split: f"{self.glue_name}{parts[split]}.tsv" for split in names}

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
    for key, opening, closing in (("span1", "_", "_"), ("span2", "[", "]")):
        span, start = target[f"{key}_text"], int(target[f"{key}_index"])
        found = text[start : start + len(span)]
        if found != span:
            raise UserError(f"{key} is {span!r}, but the text holds {found!r} at {start}.")
        spans.append((start, opening + span + closing, len(span)))
    for start, marked, length in sorted(spans, reverse=True):  # the last first: indices stay valid
        text = text[:start] + marked + text[start + length :]
    return [Texts(text, None, values.get("label"))]


def pair_choices(values: Mapping[str, Any]) -> List[Texts]:
    """Returns COPA's two examples of a line: cause and effect in order, label 1 if they belong.

    An answer that is none of the choices becomes the label of both, which is an unknown label.
    Accuracy is of choices, not of questions as on the leader board.

    Raises:
      ValueError: the question is neither "cause" nor "effect", or there are not two choices.
      KeyError: a field is missing.
    """
    question, premise = values["question"], values["premise"]
    choices = values.get("choices") or [values["choice0"], values["choice1"]]
    if not isinstance(choices, list) or len(choices) != 2:
        raise UserError(f"choices is {str(choices)[:80]!r}; it must be a list of two texts.")
    if question not in ("cause", "effect"):
        raise UserError(f"question is {question!r}; it must be 'cause' or 'effect'.")
    answer = whole(values.get("label"))
    examples = []
    for index, choice in enumerate(choices):
        first, second = (choice, premise) if question == "cause" else (premise, choice)
        label = None if answer in (None, "") else str(answer).strip()
        if label in _BINARY:
            label = str(int(int(label) == index))
        examples.append(Texts(text_of(first), text_of(second), label))
    return examples


# ----------------------------------------------------------------------------------- declarations

_NLI = ("contradiction", "entailment", "neutral")
_RTE = ("entailment", "not_entailment")
_BINARY = ("0", "1")
_NO_LABEL = ("-", "-1")  # of pairs on which annotators disagreed; the second on the hubs


def _tsv_splits(
    train: Columns,
    test: Optional[Columns] = None,
    names: Sequence[str] = ("train", "dev", "test"),
) -> Tuple[Split, ...]:
    """GLUE's layout: <split>.tsv. Test files have other columns, or the same without labels."""
    test = test or train._replace(label=None)
    return tuple(
        Split(name, (Source(f"{name}.tsv", test if name.startswith("test") else train),))
        for name in names
    )


# Numbers in CLUE's file names: OCNLI's train file has that of its examples, the largest first; test
# files have the version of the leader board, the newest first.
_CLUE_NUMBERS = {"train": (".50k", ".30k", ".10k", ".3k", ".1k"), "test": ("1.1", "1.0")}


def _splits_of(
    readings: Mapping[str, Sequence[Reading]], official: Mapping[str, Sequence[str]] = {}
) -> Tuple[Split, ...]:
    """Splits in files <split><extension>, for each extension the readings to try in turn.

    JSON files may have CLUE's names, TSV files those of `official`, by split.
    """
    splits = []
    for name in ("train", "dev", "test"):
        further: Dict[str, Sequence[str]] = {
            ".json": [f"{name}{number}.json" for number in _CLUE_NUMBERS.get(name, ())],
            ".tsv": official.get(name, ()),
        }
        sources = [
            Source(file, reading)
            for extension, several in readings.items()
            for file in (name + extension, *further.get(extension, ()))
            for reading in several
        ]
        splits.append(Split(name, tuple(sources)))
    return tuple(splits)


def _epochs(length: int, batch: int, rate: float, *, epochs: float) -> Recipe:
    """A recipe in epochs, with a tenth of the steps as warm-up."""
    return Recipe(length, batch, rate, num_train_epochs=epochs, warmup_proportion=0.1)


def _published(task: str) -> Recipe:
    """The published recipe of a task, for the base model."""
    found = published.recipes(task)[0]
    return Recipe(
        *(found.max_seq_length, found.train_batch_size, found.learning_rate),
        num_train_epochs=found.num_train_epochs or 0.0,
        warmup_proportion=found.warmup,
    )


_GLUE_PAIR = _tsv_splits(Columns(1, 2, -1, guid=0, header=True))
_COLA = _tsv_splits(Columns(3, None, 1, header=False), Columns(1, guid=0, header=True))
_SST2 = _tsv_splits(Columns(0, None, 1, header=True), Columns(1, guid=0, header=True))
_MRPC = _tsv_splits(Columns(3, 4, 0, header=True), Columns(3, 4, guid=0, header=True))
_STSB = _tsv_splits(Columns(7, 8, -1, guid=0, header=True))
_QQP = _tsv_splits(  # some rows of the distributed train file are cut short
    Columns(3, 4, 5, guid=0, header=True, short_rows_are_skipped=True),
    Columns(1, 2, guid=0, header=True),
)
_MNLI_COLUMNS = Columns(8, 9, -1, guid=0, header=True)
_MNLI_NAMES = ("train", "dev_matched", "dev_mismatched", "test_matched", "test_mismatched")
_MISMNLI = _tsv_splits(_MNLI_COLUMNS, names=("train", "dev_mismatched", "test_mismatched"))
_AX = (Split("test", (Source("diagnostic.tsv", Columns(1, 2, guid=0, header=True)),)),)

_MNLI = Task(
    "mnli",
    ("MNLI",),
    _tsv_splits(_MNLI_COLUMNS, names=_MNLI_NAMES),
    _NLI,
    Recipe(512, 128, 3e-5, 10000, 1000, 100),
    "MNLI",
    dropped_labels=_NO_LABEL,
)

_GLUE = (
    Task(
        "cola",
        ("CoLA",),
        _COLA,
        _BINARY,
        Recipe(512, 16, 1e-5, 5336, 320, 100),
        "CoLA",
        metrics=("matthew_corr", "eval_accuracy"),
    ),
    Task(
        "sst-2",
        ("SST-2", "SST2", "SST"),
        _SST2,
        _BINARY,
        Recipe(512, 32, 1e-5, 20935, 1256, 100),
        "SST-2",
    ),
    Task(
        "mrpc",
        ("MRPC",),
        _MRPC,
        _BINARY,
        Recipe(512, 32, 2e-5, 800, 200, 100),
        "MRPC",
        metrics=("eval_accuracy", "f1"),
    ),
    Task(
        "sts-b",
        ("STS-B", "STSB", "STS"),
        _STSB,
        (),
        Recipe(512, 16, 2e-5, 3598, 214, 100),
        "STS-B",
        metrics=("pearson", "spearman", "MSE"),
    ),
    Task(
        "qqp",
        ("QQP",),
        _QQP,
        _BINARY,
        Recipe(512, 128, 5e-5, 14000, 1000, 100),
        "QQP",
        metrics=("eval_accuracy", "f1"),
    ),
    _MNLI,
    _MNLI._replace(name="mismnli", splits=_MISMNLI),
    Task("qnli", ("QNLI",), _GLUE_PAIR, _RTE, Recipe(512, 32, 1e-5, 33112, 1986, 200), "QNLI"),
    Task("rte", ("RTE",), _GLUE_PAIR, _RTE, Recipe(512, 32, 3e-5, 800, 200, 100), "RTE"),
    Task("wnli", ("WNLI",), _GLUE_PAIR, _BINARY, Recipe(512, 16, 2e-5, 2000, 250, 100), "WNLI"),
    # GLUE's diagnostic data, predicted by a model that was trained on MNLI.
    Task("ax", ("diagnostic", "AX"), _AX, _NLI, _MNLI.recipe, "AX"),
)

# Chinese files: JSON lines as in CLUE, or TSV with or without names, as people share them.
_PAIR_COLUMNS = (
    Columns("sentence1", "sentence2", "label"),
    Columns("text_a", "text_b", "label"),
    Columns(0, 1, 2),
)
_PAIR_FIELDS = (Fields("sentence1", "sentence2"),)
_PAIRS = _splits_of({".txt": _PAIR_COLUMNS, ".tsv": _PAIR_COLUMNS, ".json": _PAIR_FIELDS})
_CLUE_PAIRS = _splits_of({".json": _PAIR_FIELDS, ".txt": _PAIR_COLUMNS, ".tsv": _PAIR_COLUMNS})
_SENTENCES = _splits_of({".json": (Fields("sentence"),)})
_LABEL_FIRST = (
    Columns("text_a", None, "label"),
    Columns("sentence", None, "label"),
    Columns(1, None, 0),
)
_LABEL_FIRST_PAIR = (
    Columns("text_a", "text_b", "label"),
    Columns("sentence1", "sentence2", "label"),
    Columns(1, 2, 0),
)
_SENTENCE_PAIR = _splits_of({".tsv": _LABEL_FIRST_PAIR})
_XNLI_COLUMNS = (
    # XNLI 1.0 holds fifteen languages; its machine-translated train file is Chinese throughout.
    Columns("sentence1", "sentence2", "gold_label", only=("language", "zh")),
    Columns("premise", "hypo", "label"),
    Columns("text_a", "text_b", "label"),
    Columns(0, 1, 2),
)
_XNLI_FILES = {
    "train": ("multinli.train.zh.tsv", "multinli/multinli.train.zh.tsv"),
    "dev": ("xnli.dev.tsv",),
    "test": ("xnli.test.tsv",),
}

_TNEWS_LABELS = tuple(str(number) for number in range(100, 117) if number not in (105, 111))
_IFLYTEK_LABELS = tuple(str(number) for number in range(119))
_CSL = _splits_of({".json": (Fields("keyword", "abst"),)})
_WSC = _splits_of({".json": (Fields("text", render=mark_spans),)})
_WSC_FOLDERS = ("cluewsc", "wsc", "cluewsc2020", "cluewsc2020_public")
_COPA = _splits_of({".json": (Fields("premise", "choices", render=pair_choices),)})
_CHNSENTICORP = _splits_of({".tsv": _LABEL_FIRST, ".txt": _LABEL_FIRST})

_LCQMC = Task("lcqmc", ("LCQMC",), _PAIRS, _BINARY, _published("lcqmc"))
_XNLI = Task(
    "xnli",
    ("xnli", "XNLI-1.0", "XNLI-MT-1.0"),
    _splits_of({".tsv": _XNLI_COLUMNS, ".json": (Fields("premise", "hypo"),)}, _XNLI_FILES),
    _NLI,
    _published("xnli"),
    label_aliases={"contradictory": "contradiction"},
    dropped_labels=_NO_LABEL,
)


def _clue(name: str, splits: Tuple[Split, ...], labels: Sequence[str], *, recipe: Recipe) -> Task:
    """A task that CLUE distributes in a folder of its name."""
    return Task(name, (name, f"{name}_public"), splits, tuple(labels), recipe)


_CHINESE = (
    _LCQMC,
    _LCQMC._replace(name="lcqmc_pair", folders=("LCQMC", "lcqmc_pair")),
    _LCQMC._replace(name="sentence_pair", folders=("sentence_pair",), splits=_SENTENCE_PAIR),
    _XNLI,
    _clue("tnews", _SENTENCES, _TNEWS_LABELS, recipe=_epochs(128, 16, 2e-5, epochs=3)),
    _clue("iflytek", _SENTENCES, _IFLYTEK_LABELS, recipe=_epochs(128, 32, 2e-5, epochs=3)),
    _clue("afqmc", _CLUE_PAIRS, _BINARY, recipe=_epochs(128, 16, 2e-5, epochs=3)),
    _XNLI._replace(name="cmnli", folders=("cmnli", "cmnli_public"), splits=_CLUE_PAIRS),
    _XNLI._replace(name="ocnli", folders=("ocnli", "ocnli_public"), splits=_CLUE_PAIRS),
    _clue("csl", _CSL, _BINARY, recipe=_epochs(128, 16, 1e-5, epochs=5)),
    Task("wsc", _WSC_FOLDERS, _WSC, ("true", "false"), _epochs(128, 16, 1e-5, epochs=10)),
    # A choice is an example: accuracy is of choices, not of questions.
    _clue("copa", _COPA, _BINARY, recipe=_epochs(128, 16, 1e-5, epochs=10))._replace(
        examples_per_row=2
    ),
    Task(
        "chnsenticorp", ("chnsenticorp",), _CHNSENTICORP, _BINARY, _epochs(256, 32, 2e-5, epochs=3)
    ),
)

# The common hubs keep these as Parquet files. Labels are numbers there, in an order of their own.
_PAIR_OF_01 = Fields("sentence1", "sentence2", label_names=_BINARY)
_NLI_ORDER = ("entailment", "neutral", "contradiction")
_CLUE_NLI_ORDER = ("neutral", "entailment", "contradiction")
_ON_THE_HUB = {
    "cola": Fields("sentence", label_names=_BINARY),
    "sst-2": Fields("sentence", label_names=_BINARY),
    "mrpc": _PAIR_OF_01,
    "sts-b": Fields("sentence1", "sentence2"),
    "qqp": Fields("question1", "question2", label_names=_BINARY),
    "mnli": Fields("premise", "hypothesis", label_names=_NLI_ORDER),
    "mismnli": Fields("premise", "hypothesis", label_names=_NLI_ORDER),
    "qnli": Fields("question", "sentence", label_names=_RTE),
    "rte": Fields("sentence1", "sentence2", label_names=_RTE),
    "wnli": _PAIR_OF_01,
    "ax": Fields("premise", "hypothesis", label_names=_NLI_ORDER),
    "lcqmc": _PAIR_OF_01,
    "lcqmc_pair": _PAIR_OF_01,
    "sentence_pair": _PAIR_OF_01,
    "xnli": Fields("premise", "hypothesis", label_names=_NLI_ORDER),
    "tnews": Fields("sentence", label_names=_TNEWS_LABELS),
    "iflytek": Fields("sentence", label_names=_IFLYTEK_LABELS),
    "afqmc": _PAIR_OF_01,
    "cmnli": Fields("sentence1", "sentence2", label_names=_CLUE_NLI_ORDER),
    "ocnli": Fields("sentence1", "sentence2", label_names=_CLUE_NLI_ORDER),
    "csl": Fields("keyword", "abst", label_names=_BINARY),
    "wsc": Fields("text", render=mark_spans, label_names=("true", "false")),
    "copa": Fields("premise", "choices", render=pair_choices),
    "chnsenticorp": Fields("text", label_names=_BINARY),
}


def _with_parquet(task: Task) -> Task:
    """The task, its files on a hub being the last of the sources of each split."""
    splits = []
    for split in task.splits:
        reading = _ON_THE_HUB[task.name]
        if task.glue_name:
            # GLUE hides the labels of test data: they are -1 there, of MRPC the true ones.
            hidden = split.role == "test"
            reading = reading._replace(guid="idx", label=None if hidden else reading.label)
        further = tuple(Source(file, reading) for file in hub_files(split.name))
        splits.append(split._replace(sources=split.sources + further))
    return task._replace(splits=tuple(splits))


GLUE = tuple(map(_with_parquet, _GLUE))
# Their predictions go to <name>_predict.json, as CLUE wants them.
CHINESE = tuple(map(_with_parquet, _CHINESE))
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
