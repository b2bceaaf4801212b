# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""The classification tasks, as data: where their texts and labels are, how they are scored.

GLUE: Wang et al., arXiv:1804.07461; columns as in its files. CLUE: Xu et al., arXiv:2004.05986.
The hyper-parameters of GLUE are those of the public run_glue.sh (WNLI: arXiv:1909.11942, appendix),
those of the Chinese tasks are albert_zh's and, where it names none, those of the task most alike.
"""

from typing import Any, List, Mapping, NamedTuple, Optional, Sequence, Tuple

from albert.classification.examples import Columns, Fields, Source, Split, Texts, text_of

# Metrics, by the names they have in eval_results.txt, and whether more is better.
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
    """Hyper-parameters that are known to work. A run is given in steps or in epochs; 0: not so."""

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
    metrics: Tuple[str, ...] = ("eval_accuracy",)  # beside eval_loss; keys of METRICS
    best_metric: str = "eval_accuracy"  # chooses the checkpoint, on the first dev split
    label_aliases: Mapping[str, str] = {}
    dropped_labels: Tuple[str, ...] = ()
    submissions: Mapping[str, str] = {}  # test split -> file name in GLUE's zip
    clue_name: str = ""  # CLUE's predictions go to <clue_name>_predict.json
    examples_per_row: int = 1  # in the data file; of several, the likeliest one is the answer

    @property
    def folder(self) -> str:
        """Returns the official name of the task's folder."""
        return self.folders[0] if self.folders else ""

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
        return len(self.labels) or 1

    @property
    def label_list(self) -> List[Optional[str]]:
        """Returns the labels as processors do: [None] for regression."""
        return list(self.labels) or [None]

    @property
    def higher_is_better(self) -> bool:
        """Returns whether a larger best_metric is better."""
        return METRICS[self.best_metric]

    @property
    def dev_splits(self) -> Tuple[str, ...]:
        """Returns the names of the splits to evaluate on; the first decides."""
        return tuple(split.name for split in self.splits if split.role == "dev")

    @property
    def test_splits(self) -> Tuple[str, ...]:
        """Returns the names of the splits to predict."""
        return tuple(split.name for split in self.splits if split.role == "test")

    def split(self, name: str) -> Split:
        """Returns a split; "dev" and "test" stand for the first one.

        Raises:
          ValueError: the task has no such split.
        """
        for split in self.splits:
            if name in (split.name, split.role):
                return split
        names = ", ".join(split.name for split in self.splits)
        raise ValueError(f"Task '{self.name}' has no {name} data; it has: {names}.")


# ------------------------------------------------------------------------------ shapes of rendering


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
        if text[start : start + len(span)] != span:
            found = text[start : start + len(span)]
            raise ValueError(f"{key} is {span!r}, but the text holds {found!r} at {start}.")
        spans.append((start, opening + span + closing, len(span)))
    for start, marked, length in sorted(spans, reverse=True):  # the later first: places stay valid
        text = text[:start] + marked + text[start + length :]
    return [Texts(text, None, values.get("label"))]


def pair_choices(values: Mapping[str, Any]) -> List[Texts]:
    """Returns COPA's two examples of a line: cause and effect in order, label 1 if they belong.

    An answer that is none of the choices becomes the label of both, which no task knows. Accuracy
    is thus of choices, of which each is right or wrong, not of the questions as a leader board's.

    Raises:
      ValueError: the question is neither "cause" nor "effect", or there are not two choices.
      KeyError: a field is missing.
    """
    question, premise = values["question"], values["premise"]
    choices = values.get("choices") or [values["choice0"], values["choice1"]]
    if not isinstance(choices, list) or len(choices) != 2:
        raise ValueError(f"choices is {str(choices)[:80]!r}; it must be a list of two texts.")
    if question not in ("cause", "effect"):
        raise ValueError(f"question is {question!r}; it must be 'cause' or 'effect'.")
    answer = values.get("label")
    examples = []
    for index, choice in enumerate(choices):
        texts = (choice, premise) if question == "cause" else (premise, choice)
        label = None if answer in (None, "") else str(answer).strip()
        if label in _BINARY:
            label = str(int(int(label) == index))
        examples.append(Texts(*map(text_of, texts), label))
    return examples


# ----------------------------------------------------------------------------------- declarations


def _tsv_splits(train: Columns, test: Optional[Columns] = None) -> Tuple[Split, ...]:
    """GLUE's layout: train.tsv and dev.tsv alike, test.tsv without labels."""
    test = test or train._replace(label=None)
    columns = (("train", train), ("dev", train), ("test", test))
    return tuple(Split(name, (Source(f"{name}.tsv", reading),)) for name, reading in columns)


def _mnli_splits(train: bool, parts: Sequence[str]) -> Tuple[Split, ...]:
    """MNLI's train file and some of its matched and mismatched dev and test files."""
    columns = Columns(8, 9, -1, guid=0, header=True)
    splits = [Split("train", (Source("train.tsv", columns),))] if train else []
    for role, reading in (("dev", columns), ("test", columns._replace(label=None))):
        for part in parts:
            name = f"{role}_{part}"
            splits.append(Split(name, (Source(f"{name}.tsv", reading),)))
    return tuple(splits)


def _splits_of(readings: Mapping[str, Tuple[Any, ...]]) -> Tuple[Split, ...]:
    """Splits that lie in <split><extension>, for each extension the readings to try in turn.

    JSON files have CLUE's further names too.
    """
    splits = []
    for name in ("train", "dev", "test"):
        sources = [
            Source(name + number + extension, reading)
            for extension, several in readings.items()
            for number in ("",) + (_CLUE_NUMBERS.get(name, ()) if extension == ".json" else ())
            for reading in several
        ]
        splits.append(Split(name, tuple(sources)))
    return tuple(splits)


def _epochs(length: int, batch: int, rate: float, *, epochs: float) -> Recipe:
    """A recipe in epochs, with a tenth of the steps as warm-up."""
    return Recipe(length, batch, rate, num_train_epochs=epochs, warmup_proportion=0.1)


_NLI = ("contradiction", "entailment", "neutral")
_RTE = ("entailment", "not_entailment")
_BINARY = ("0", "1")

# Of CLUE's files some have a number in the name: OCNLI's train file the number of its examples,
# the largest first, and test files the version of the leader board, the newest first.
_CLUE_NUMBERS = {
    "train": (".50k", ".30k", ".10k", ".3k", ".1k"),
    "test": ("1.1", "1.0"),
}

# Chinese pairs: JSON lines as CLUE has them, or TSV with names or without, as people share them.
_PAIR_FIELDS = Fields("sentence1", "sentence2")
_PAIR_COLUMNS = (
    Columns("sentence1", "sentence2", "label"),
    Columns("text_a", "text_b", "label"),
    Columns(0, 1, 2),
)
_PAIR_SPLITS = _splits_of(
    {
        ".txt": _PAIR_COLUMNS,
        ".tsv": _PAIR_COLUMNS,
        ".json": (_PAIR_FIELDS,),
    }
)
_CLUE_PAIR_SPLITS = _splits_of(
    {
        ".json": (_PAIR_FIELDS,),
        ".txt": _PAIR_COLUMNS,
        ".tsv": _PAIR_COLUMNS,
    }
)
_LABEL_FIRST_PAIR = (
    Columns("text_a", "text_b", "label"),
    Columns("sentence1", "sentence2", "label"),
    Columns(1, 2, 0),
)
_LABEL_FIRST = (
    Columns("text_a", None, "label"),
    Columns("sentence", None, "label"),
    Columns(1, None, 0),
)
_XNLI_COLUMNS = (
    # XNLI 1.0 holds fifteen languages; its machine-translated train file is Chinese throughout.
    Columns("sentence1", "sentence2", "gold_label", only=("language", "zh")),
    Columns("premise", "hypo", "label"),
    Columns("text_a", "text_b", "label"),
    Columns(0, 1, 2),
)
_XNLI_FIELDS = Fields("premise", "hypo")


def _xnli_splits() -> Tuple[Split, ...]:
    """The official files by their own names, the renamed ones, and CLUE's JSON lines."""
    official = {
        "train": ("multinli.train.zh.tsv", "multinli/multinli.train.zh.tsv"),
        "dev": ("xnli.dev.tsv",),
        "test": ("xnli.test.tsv",),
    }
    splits = []
    for name, files in official.items():
        sources = [
            Source(file, columns) for file in (f"{name}.tsv",) + files for columns in _XNLI_COLUMNS
        ]
        splits.append(Split(name, tuple(sources) + (Source(f"{name}.json", _XNLI_FIELDS),)))
    return tuple(splits)


GLUE = (
    Task(
        name="cola",
        folders=("CoLA",),
        splits=_tsv_splits(Columns(3, None, 1, header=False), Columns(1, guid=0, header=True)),
        labels=_BINARY,
        metrics=("matthew_corr", "eval_accuracy"),
        best_metric="matthew_corr",
        recipe=Recipe(512, 16, 1e-5, 5336, 320, 100),
        submissions={"test": "CoLA.tsv"},
    ),
    Task(
        name="sst-2",
        folders=("SST-2", "SST2", "SST"),
        splits=_tsv_splits(Columns(0, None, 1, header=True), Columns(1, guid=0, header=True)),
        labels=_BINARY,
        recipe=Recipe(512, 32, 1e-5, 20935, 1256, 100),
        submissions={"test": "SST-2.tsv"},
    ),
    Task(
        name="mrpc",
        folders=("MRPC",),
        splits=_tsv_splits(Columns(3, 4, 0, header=True), Columns(3, 4, guid=0, header=True)),
        labels=_BINARY,
        metrics=("eval_accuracy", "f1"),
        recipe=Recipe(512, 32, 2e-5, 800, 200, 100),
        submissions={"test": "MRPC.tsv"},
    ),
    Task(
        name="sts-b",
        folders=("STS-B", "STSB", "STS"),
        splits=_tsv_splits(Columns(7, 8, -1, guid=0, header=True)),
        labels=(),
        metrics=("pearson", "spearman", "MSE"),
        best_metric="pearson",
        recipe=Recipe(512, 16, 2e-5, 3598, 214, 100),
        submissions={"test": "STS-B.tsv"},
    ),
    Task(
        name="qqp",
        folders=("QQP",),
        # The distributed train file holds rows that break off.
        splits=_tsv_splits(
            Columns(3, 4, 5, guid=0, header=True, short_rows_are_skipped=True),
            Columns(1, 2, guid=0, header=True),
        ),
        labels=_BINARY,
        metrics=("eval_accuracy", "f1"),
        recipe=Recipe(512, 128, 5e-5, 14000, 1000, 100),
        submissions={"test": "QQP.tsv"},
    ),
    Task(
        name="mnli",
        folders=("MNLI",),
        splits=_mnli_splits(True, ("matched", "mismatched")),
        labels=_NLI,
        dropped_labels=("-",),
        recipe=Recipe(512, 128, 3e-5, 10000, 1000, 100),
        submissions={"test_matched": "MNLI-m.tsv", "test_mismatched": "MNLI-mm.tsv"},
    ),
    Task(
        name="mismnli",
        folders=("MNLI",),
        splits=_mnli_splits(True, ("mismatched",)),
        labels=_NLI,
        dropped_labels=("-",),
        recipe=Recipe(512, 128, 3e-5, 10000, 1000, 100),
        submissions={"test_mismatched": "MNLI-mm.tsv"},
    ),
    Task(
        name="qnli",
        folders=("QNLI",),
        splits=_tsv_splits(Columns(1, 2, -1, guid=0, header=True)),
        labels=_RTE,
        recipe=Recipe(512, 32, 1e-5, 33112, 1986, 200),
        submissions={"test": "QNLI.tsv"},
    ),
    Task(
        name="rte",
        folders=("RTE",),
        splits=_tsv_splits(Columns(1, 2, -1, guid=0, header=True)),
        labels=_RTE,
        recipe=Recipe(512, 32, 3e-5, 800, 200, 100),
        submissions={"test": "RTE.tsv"},
    ),
    Task(
        name="wnli",
        folders=("WNLI",),
        splits=_tsv_splits(Columns(1, 2, -1, guid=0, header=True)),
        labels=_BINARY,
        recipe=Recipe(512, 16, 2e-5, 2000, 250, 100),
        submissions={"test": "WNLI.tsv"},
    ),
    Task(
        name="ax",  # GLUE's diagnostic data: predicted by a model that was trained on MNLI
        folders=("diagnostic", "AX"),
        splits=(Split("test", (Source("diagnostic.tsv", Columns(1, 2, guid=0, header=True)),)),),
        labels=_NLI,
        recipe=Recipe(512, 128, 3e-5, 10000, 1000, 100),
        submissions={"test": "AX.tsv"},
    ),
)

CHINESE = (
    Task(
        name="lcqmc",
        folders=("LCQMC",),
        splits=_PAIR_SPLITS,
        labels=_BINARY,
        recipe=_epochs(128, 64, 2e-5, epochs=3),
        clue_name="lcqmc",
    ),
    Task(
        name="lcqmc_pair",
        folders=("LCQMC", "lcqmc_pair"),
        splits=_PAIR_SPLITS,
        labels=_BINARY,
        recipe=_epochs(128, 64, 2e-5, epochs=3),
        clue_name="lcqmc_pair",
    ),
    Task(
        name="sentence_pair",
        folders=("sentence_pair",),
        splits=_splits_of({".tsv": _LABEL_FIRST_PAIR}),
        labels=_BINARY,
        recipe=_epochs(128, 64, 2e-5, epochs=3),
        clue_name="sentence_pair",
    ),
    Task(
        name="xnli",
        folders=("xnli", "XNLI-1.0", "XNLI-MT-1.0"),
        splits=_xnli_splits(),
        labels=_NLI,
        label_aliases={"contradictory": "contradiction"},
        dropped_labels=("-",),
        recipe=_epochs(128, 64, 3e-5, epochs=2),
        clue_name="xnli",
    ),
    Task(
        name="tnews",
        folders=("tnews", "tnews_public"),
        splits=_splits_of({".json": (Fields("sentence"),)}),
        labels=tuple(str(number) for number in range(100, 117) if number not in (105, 111)),
        recipe=_epochs(128, 16, 2e-5, epochs=3),
        clue_name="tnews",
    ),
    Task(
        name="iflytek",
        folders=("iflytek", "iflytek_public"),
        splits=_splits_of({".json": (Fields("sentence"),)}),
        labels=tuple(str(number) for number in range(119)),
        recipe=_epochs(128, 32, 2e-5, epochs=3),
        clue_name="iflytek",
    ),
    Task(
        name="afqmc",
        folders=("afqmc", "afqmc_public"),
        splits=_CLUE_PAIR_SPLITS,
        labels=_BINARY,
        recipe=_epochs(128, 16, 2e-5, epochs=3),
        clue_name="afqmc",
    ),
    Task(
        name="cmnli",
        folders=("cmnli", "cmnli_public"),
        splits=_CLUE_PAIR_SPLITS,
        labels=_NLI,
        label_aliases={"contradictory": "contradiction"},
        dropped_labels=("-",),
        recipe=_epochs(128, 64, 3e-5, epochs=2),
        clue_name="cmnli",
    ),
    Task(
        name="ocnli",
        folders=("ocnli", "ocnli_public"),
        splits=_CLUE_PAIR_SPLITS,
        labels=_NLI,
        label_aliases={"contradictory": "contradiction"},
        dropped_labels=("-",),
        recipe=_epochs(128, 64, 3e-5, epochs=2),
        clue_name="ocnli",
    ),
    Task(
        name="csl",
        folders=("csl", "csl_public"),
        splits=_splits_of({".json": (Fields("keyword", "abst"),)}),
        labels=_BINARY,
        recipe=_epochs(128, 16, 1e-5, epochs=5),
        clue_name="csl",
    ),
    Task(
        name="wsc",
        folders=("cluewsc", "wsc", "cluewsc2020", "cluewsc2020_public"),
        splits=_splits_of({".json": (Fields("text", render=mark_spans),)}),
        labels=("true", "false"),
        recipe=_epochs(128, 16, 1e-5, epochs=10),
        clue_name="wsc",
    ),
    Task(
        name="copa",  # a choice is an example: accuracy is of choices, not of questions
        folders=("copa", "copa_public"),
        splits=_splits_of({".json": (Fields("premise", "choices", render=pair_choices),)}),
        labels=_BINARY,
        recipe=_epochs(128, 16, 1e-5, epochs=10),
        clue_name="copa",
        examples_per_row=2,
    ),
    Task(
        name="chnsenticorp",
        folders=("chnsenticorp",),
        splits=_splits_of({".tsv": _LABEL_FIRST, ".txt": _LABEL_FIRST}),
        labels=_BINARY,
        recipe=_epochs(256, 32, 2e-5, epochs=3),
        clue_name="chnsenticorp",
    ),
)
