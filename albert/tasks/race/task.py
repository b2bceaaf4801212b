# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Multiple choice as a task: RACE, and questions with any number of choices.

    outcome = fine_tuning.run(flags, RaceTask)

Dimensions: N questions, C options.
"""

import functools
import json
from typing import Any, Dict, List, NamedTuple, Sequence, Tuple, Union

import numpy as np

from albert.data import feature_cache, split_files
from albert.data.record_format import FeatureSpec
from albert.fine_tuning_utils import Encoder, Features, HeadOutput
from albert.models import network
from albert.tasks.race import choice_rows, head
from albert.tasks.race import examples as race_examples
from albert.tasks.race import features as race_features
from albert.tasks.race.examples import InputExample
from albert.tasks.race.flags import MultipleChoiceFlags, RaceFlags
from albert.training import fine_tuned
from albert.training.task import Outputs, Task
from albert.util import UserError


class Choice(NamedTuple):
    """The option that a model chooses."""

    option: str
    number: int  # index of the option
    probabilities: List[float]  # for each option


class ChoiceTask(Task):
    """Questions with options, of which one is right; a subclass reads data of one kind."""

    flags: Union[RaceFlags, MultipleChoiceFlags]
    description_name = "race.json"
    recorded_flags = ("max_qa_length", "truncation")

    @classmethod
    def check_flags(cls, flags: Any) -> None:
        """Checks the flags and the lengths."""
        super().check_flags(flags)
        race_features.check_lengths(flags)

    # ---- data ----

    def parse(self, text: Tuple[str, str, Sequence[str]]) -> InputExample:
        """Returns the example for (article, question, options)."""
        article, question, options = text
        is_list = isinstance(options, (list, tuple)) and options
        if not (is_list and all(isinstance(part, str) for part in (article, question, *options))):
            raise UserError("It must be (article, question, options): two texts, a list of texts.")
        endings = race_examples.endings_of(question, options)
        return InputExample("", article, None, endings, options=options)

    def encode(
        self, examples: Sequence[InputExample], is_training: bool
    ) -> feature_cache.Conversion:
        """Returns a record for each question, or for each of its windows."""
        return race_features.convert_examples(
            examples, self.tokenizer, self.flags, num_choices=self.num_choices(is_training)
        )

    def num_choices(self, is_training: bool) -> int:
        """Returns how many sequences a record has at least; padding follows the options.

        0: as many as the examples that are encoded together have options.
        """
        return 0

    def spec(self, is_training: bool) -> FeatureSpec:
        """Returns the declaration of the records."""
        return race_features.feature_spec(
            self.flags.max_seq_length,
            self.num_choices(is_training) or race_features.NUM_CHOICES,
            truncation=self.flags.truncation,
        )

    # ---- the model and its answers ----

    def head(self, features: Features, encoder: Encoder) -> HeadOutput:
        """Builds a softmax over the options."""
        return head.choice_head(features, encoder, self.flags.dropout_prob, has_padding=True)

    def decode(self, examples: Sequence[InputExample], outputs: Outputs) -> List[Choice]:
        """Returns the most probable option of each question."""
        numbers = outputs["predictions"].tolist()
        probabilities = outputs["probabilities"].tolist()
        return [
            Choice(example.options[number], number, row[: len(example.options)])
            for example, number, row in zip(examples, numbers, probabilities)
        ]

    def measure(self, examples: Sequence[InputExample], outputs: Outputs) -> Dict[str, float]:
        """Returns loss, accuracy, and accuracy by level, for questions with labels; {} for none."""
        levels = np.array([example.level for example in examples])
        labels = np.array([-1 if example.label is None else example.label for example in examples])
        has_label, is_right = labels >= 0, labels == outputs["predictions"]
        groups = {"": has_label}
        for level in race_examples.LEVELS:
            groups[f"_{level}"] = has_label & (levels == level)
        measurements = {
            self.best_metric + suffix: float(is_right[group].mean())
            for suffix, group in groups.items()
            if group.any()
        }
        if measurements:
            losses = outputs["per_example_loss"][has_label]
            measurements["eval_loss"] = float(losses.mean(dtype=np.float64))
        return measurements


class RaceTask(ChoiceTask):
    """Questions on passages, with four options each."""

    flags: RaceFlags
    flags_class = RaceFlags
    record_flags = {"train": "train_file", "dev": "eval_file", "test": "predict_file"}
    labels = race_examples.LETTERS
    rows_file = "{}/high/all.txt"
    folder_flags = {"high_only": True}

    def __init__(self, flags: RaceFlags, *arguments: Any):
        super().__init__(flags, *arguments)
        self.name = flags.task_name
        self._levels = race_examples.levels_of(flags.high_only, flags.middle_only)
        if self._levels == race_examples.LEVELS:  # results of one level are not published
            self.published_name = "race"

    @classmethod
    def check_flags(cls, flags: RaceFlags) -> None:  # type: ignore[override]
        """Checks the flags, lengths and feature files."""
        super().check_flags(flags)
        paths = list(filter(None, (flags.train_file, flags.eval_file, flags.predict_file)))
        if len(set(paths)) < len(paths):
            raise UserError("--train_file, --eval_file and --predict_file must differ.")

    def examples(self, split: str) -> List[InputExample]:
        """Reads the questions of a split."""
        return race_examples.read_examples(self.flags.data_dir, split, levels=self._levels)

    def predictions(
        self, split: str, examples: Sequence[InputExample], outputs: Outputs
    ) -> Dict[str, str]:
        """Returns the files with the answers.

        predictions.json has the letter of the answer to each question. test_results.tsv has a line
        per question, with the probabilities of the options. predict_results.txt has the number of
        questions and, if there are labels, the measurements.
        """
        letters = [self.labels[number] for number in outputs["predictions"]]
        answers = {example.name: letter for example, letter in zip(examples, letters)}
        rows = ["\t".join(map(str, row)) + "\n" for row in outputs["probabilities"]]
        results = {"num_questions": len(examples), **self.measure(examples, outputs)}
        return {
            # Questions and test_results.tsv have the same order.
            "predictions.json": json.dumps(answers, indent=2, ensure_ascii=False) + "\n",
            "test_results.tsv": "".join(rows),
            "predict_results.txt": "".join(
                f"{name} = {value}\n" for name, value in sorted(results.items())
            ),
        }


class MultipleChoiceTask(ChoiceTask):
    """Questions with any number of options, with or without a context."""

    flags: MultipleChoiceFlags
    flags_class = MultipleChoiceFlags
    name = "multiple_choice"
    file_flags = {"train": "train_file", "dev": "dev_file"}
    row_names = {
        3: ("question", "choices", "label"),
        4: ("context", "question", "choices", "label"),
    }

    @functools.lru_cache(maxsize=None)  # noqa: B019, it lives as long as the process
    def examples(self, split: str) -> List[InputExample]:
        """Reads the questions of a split."""
        paths = split_files.find(self.flags, split, choice_rows.ENDINGS)
        return choice_rows.read(paths, needs_labels=split != "test")

    def read_file(self, path: str) -> List[InputExample]:
        """Reads labelled questions."""
        return choice_rows.read([path], needs_labels=True)

    def parse(self, text: Any) -> InputExample:
        """Returns the example for (context, question, choices), or a row without a label."""
        if not isinstance(text, dict):
            choices = super().parse(text).options
            text = {"context": text[0], "question": text[1], "choices": list(choices)}
        return choice_rows.of_row(text, "It")

    @functools.lru_cache(maxsize=None)  # noqa: B019, it lives as long as the process
    def num_choices(self, is_training: bool) -> int:
        """Returns the most choices of a question in the data; 2 without data."""
        splits = ["train"] if is_training else [*self.splits("dev"), *self.splits("test")]
        counts = (len(example.options) for split in splits for example in self.examples(split))
        return max(counts, default=2)


class Answerer(fine_tuned.FineTunedModel):
    """A model for multiple choice."""

    kinds = (RaceTask, MultipleChoiceTask)
    batch_size = 8

    def outputs(self, examples: Sequence[InputExample]) -> Outputs:
        """Returns the outputs for questions. Questions with equally many options run together.

        So no option is padding, which exports of earlier versions do not ignore.
        """
        counts = np.array([len(example.endings) for example in examples])
        groups = [np.flatnonzero(counts == count).tolist() for count in np.unique(counts)]
        run = super().outputs
        parts = [run([examples[number] for number in group]) for group in groups]
        back = np.argsort(np.concatenate(groups))
        return {name: value[back] for name, value in network.joined(parts).items()}

    def answer(self, article: str, question: str, options: Sequence[str]) -> Choice:
        """Returns the option that answers a question on an article.

        An article that is too long is cut at its end, or as --truncation said in training. The
        question may have a blank (_) for the option, as in RACE.
        """
        return self.predict([(article, question, options)])[0]
