# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""The two versions of SQuAD as tasks.

    outcome = fine_tuning.run(settings, SquadV1)

Dimensions: F windows.
"""

import itertools
import logging
import os
from typing import Any, Callable, Dict, List, Mapping, NamedTuple, Optional, Sequence, Tuple

import numpy as np

from albert import fine_tuning_utils, tokenization
from albert.data import batches, feature_cache
from albert.pretrained import inference, model_vocabulary
from albert.pretrained.saved_model import Inputs
from albert.squad import decoding, heads
from albert.squad import export as squad_export
from albert.squad import features as squad_features
from albert.squad import metrics as squad_metrics
from albert.squad.examples import SquadExample, read_squad_examples
from albert.squad.settings import SquadFlags, SquadV1Flags, SquadV2Flags
from albert.training import fine_tuned
from albert.training.task import Outputs, Split, Task
from albert.util import files
from albert.util.errors import UserError

_LOGGER = logging.getLogger("albert")

_FILES = (
    *("train_file", "predict_file", "train_feature_file", "predict_feature_file"),
    *("predict_feature_left_file", "export_dir"),
)
_LENGTHS = ("doc_stride", "max_query_length")
_THRESHOLD = "null_score_diff_threshold"


class Answer(NamedTuple):
    """The answer to a question."""

    text: str  # from the context; "" where there is none (v2), "empty" where none was found (v1)
    probability: float  # among the best answers
    null_odds: Optional[float]  # the higher, the likelier there is no answer; None of a v1 model


class SquadTask(Task):
    """Questions on paragraphs; a subclass is a version of SQuAD.

    --do_predict evaluates every checkpoint on --predict_file, where its right answers are known,
    and writes the answers of the best one.
    """

    settings: SquadFlags
    description_name = "squad.json"
    best_metric = "f1"
    metric_scale = 1.0
    sequences = squad_features.SEQUENCES
    free_keys: Tuple[str, ...] = ("n_best_size", "max_answer_length")
    recorded_flags: Tuple[str, ...] = (*_LENGTHS, *free_keys)
    has_impossible = False  # whether there may be questions without an answer

    def __init__(
        self,
        settings: SquadFlags,
        tokenizer: tokenization.FullTokenizer,
        description: Mapping[str, Any],
    ):
        super().__init__(settings, tokenizer, description)
        self._data: Dict[str, List[SquadExample]] = {}
        self._windows: Tuple[Any, Any] = (None, None)  # the last examples, and theirs
        self._numbers = itertools.count()  # names of a program's questions

    @classmethod
    def check_flags(cls, settings: SquadFlags) -> None:  # type: ignore[override]
        """Checks that there is something to do, with its own file each, and that lengths fit."""
        super().check_flags(settings)
        for part, name in (("do_train", "train_file"), ("do_predict", "predict_file")):
            if getattr(settings, part) and not getattr(settings, name):
                raise UserError(f"--{name} must be given with --{part}: the SQuAD file to read.")
        if settings.do_train and not settings.num_train_epochs > 0:
            raise UserError(
                f"--num_train_epochs={settings.num_train_epochs:g} trains nothing; usual is 2 or 3."
            )
        if settings.max_query_length + 3 >= settings.max_seq_length:
            raise UserError(
                f"--max_query_length={settings.max_query_length} leaves no room for the paragraph "
                f"in --max_seq_length={settings.max_seq_length}: [CLS] question [SEP] paragraph "
                "[SEP]. Lower the first (24 is enough for most questions) or raise the second."
            )
        known: Dict[str, str] = {}
        for name in _FILES:
            path = getattr(settings, name)
            other = known.setdefault(os.path.abspath(path), name) if path else name
            if other != name and {name, other} != {"train_file", "predict_file"}:
                raise UserError(f"--{name} and --{other} are both {path}. Name different files.")

    # ---- data ----

    def splits(self, use: str) -> List[str]:
        """Returns --predict_file, which is evaluated too if its right answers are known."""
        if not self.settings.do_predict:
            return []
        is_known = use == "test" or all(item.has_gold for item in self.examples("predict"))
        return ["predict"] if is_known else []

    def examples(self, split: str) -> List[SquadExample]:
        """Returns the questions of --train_file or --predict_file, which are read once."""
        if split in self._data:
            return self._data[split]
        path, limit = getattr(self.settings, f"{split}_file"), self.settings.max_misaligned_answers
        examples = read_squad_examples(path, split == "train", max_misaligned=limit)
        impossible = [item for item in examples if item.has_gold and not item.answers]
        if impossible and not self.has_impossible:
            raise UserError(
                f"{path}: {len(impossible)} of {len(examples)} questions have no answer, the "
                f"first is {impossible[0].qas_id}. SQuAD v1.1 has no such questions: use "
                "run_squad_v2."
            )
        unknown = sum(not item.has_gold for item in examples)
        if unknown:
            _LOGGER.info(
                "%d of %d questions in %s come without answers: predicting without scores.",
                *(unknown, len(examples), path),
            )
        self._data[split] = examples
        return examples

    def record_file(self, split: str) -> Tuple[str, bool]:
        """Returns --train_feature_file or --predict_feature_file, or the usual file."""
        named = getattr(self.settings, f"{split}_feature_file")
        return (named, True) if named else super().record_file(split)

    def features(self, split: str) -> Split:
        """Returns the questions and their windows' records."""
        path, is_exact = self.record_file(split)
        examples = self.examples(split)
        found = squad_features.write_features(
            examples,
            output_file=path,
            exact_path=is_exact,
            tokenizer=self.tokenizer,
            is_training=split == "train",
            description=f"{self.name} {split}",
            **self._lengths(),
        )
        if split != "train":  # of which the dev windows stay
            self._windows = examples, found.windows
        return Split(examples, found.records)

    def _lengths(self) -> Dict[str, int]:
        return {name: getattr(self.settings, name) for name in ("max_seq_length", *_LENGTHS)}

    def parse(self, text: Sequence[str]) -> SquadExample:
        """Returns the example for a pair (question, context)."""
        parts = inference.parts_of(text)
        if len(parts) != 2:
            raise UserError("It must be a pair (question, context).")
        return SquadExample(str(next(self._numbers)), *parts)

    def spec(self, is_training: bool) -> batches.FeatureSpec:
        """Returns the declaration of the records."""
        return squad_features.feature_spec(self.settings.max_seq_length, is_training)

    def encode(
        self, examples: Sequence[SquadExample], is_training: bool
    ) -> feature_cache.Conversion:
        """Returns the records of the windows of some questions."""
        found = self._features_of(examples, is_training)
        self._windows = examples, self._windows_of(found)
        names = squad_features.SEQUENCES
        records = [
            {"unique_ids": item.unique_id, **{name: getattr(item, name) for name in names}}
            for item in found
        ]
        return feature_cache.Conversion(records)

    def _features_of(
        self, examples: Sequence[SquadExample], is_training: bool
    ) -> List[squad_features.InputFeatures]:
        found: List[squad_features.InputFeatures] = []
        squad_features.convert_examples_to_features(
            examples,
            self.tokenizer,
            **self._lengths(),
            is_training=is_training,
            output_fn=found.append,
            do_lower_case=self.settings.do_lower_case,
        )
        return found

    def _windows_of(self, found: Sequence[squad_features.InputFeatures]) -> squad_features.Windows:
        return squad_features.windows_of(found, self.settings.max_seq_length)

    def windows(self, examples: Sequence[SquadExample]) -> squad_features.Windows:
        """Returns how the records of examples relate to their paragraphs."""
        known = self._windows  # of another thread's call, perhaps
        if known[0] is examples:
            return known[1]
        return self._windows_of(self._features_of(examples, False))

    # ---- answers ----

    def limits(self) -> decoding.Limits:
        """Returns how many answers are looked at."""
        names = set(decoding.Limits._fields) & set(self.settings.to_dict())
        return decoding.Limits(**{name: getattr(self.settings, name) for name in names})

    def answers(
        self, examples: Sequence[SquadExample], outputs: Outputs, gold: Any = None
    ) -> decoding.Predictions:
        """Returns the answers with all that is known of them; `gold` sets the v2 threshold."""
        raise NotImplementedError

    def decode(self, examples: Sequence[SquadExample], outputs: Outputs) -> List[Answer]:
        """Returns the answer to each question."""
        found = self.answers(examples, outputs)
        odds = found.null_odds or {}
        return [
            Answer(text, found.nbest[name][0]["probability"], odds.get(name))
            for name, text in found.answers.items()
        ]

    def identity(self) -> Dict[str, Any]:
        """Returns the flags of decoding and the file, as its records do not hold the answers."""
        names = [*self.free_keys, *[_THRESHOLD] * self.has_impossible]
        content = {name: getattr(self.settings, name) for name in names}
        content["questions"] = files.file_fingerprint(self.settings.predict_file)
        return content

    def measure(self, examples: Sequence[SquadExample], outputs: Outputs) -> Dict[str, float]:
        """Returns the scores of the official script."""
        gold = {item.qas_id: item.answers for item in examples}
        return self.scores(gold, self.answers(examples, outputs, gold))

    def scores(self, gold: Any, found: decoding.Predictions) -> Dict[str, float]:
        """Returns the scores of answers."""
        return squad_metrics.evaluate_v1(gold, found.answers)

    def predictions(
        self, split: str, examples: Sequence[SquadExample], outputs: Outputs
    ) -> Dict[str, str]:
        """Returns the files with the answers."""
        found = self.answers(examples, outputs)
        if not any(text not in ("", "empty") for text in found.answers.values()):
            _LOGGER.warning(
                "None of the %d questions got an answer: the model has not learnt to answer (or "
                "--null_score_diff_threshold is too low). Train longer or with another --seed, and "
                "check the report on the first weights.",
                len(found.answers),
            )
        return found.files()

    # ---- the model ----

    def head(
        self, features: fine_tuning_utils.Features, encoder: fine_tuning_utils.Encoder
    ) -> fine_tuning_utils.HeadOutput:
        """Builds the head."""
        if "p_mask" not in features:  # of an exported model
            inputs = Inputs(*(features[name] for name in Inputs._fields))
            features = dict(features, p_mask=squad_export.answer_mask(inputs))
        return self.build_head()(features, encoder)

    def build_head(self) -> fine_tuning_utils.Head:
        """Returns the head of this version."""
        raise NotImplementedError


class SquadV1(SquadTask):
    """SQuAD v1.1: every question has an answer."""

    flags = SquadV1Flags
    name = "squad_v1"
    fills = dict.fromkeys(heads.SpanLogits._fields, heads.IMPOSSIBLE)

    def build_head(self) -> fine_tuning_utils.Head:
        """Returns a start and an end for each window."""
        return heads.v1_head

    def answers(
        self, examples: Sequence[SquadExample], outputs: Outputs, gold: Any = None
    ) -> decoding.Predictions:
        """Returns the most likely spans."""
        windows, limits = self.windows(examples), self.limits()
        spans = decoding.v1_spans(outputs, windows, limits)
        found = decoding.best_answers(spans, windows, examples, n_best_size=limits.n_best_size)
        return decoding.predictions(found, examples)

    def export_more(self, export_dir: str, build: Callable[[Inputs], Any], checkpoint: str) -> None:
        """Writes a TensorFlow Lite file."""
        squad_export.export_tflite(
            export_dir,
            build,
            checkpoint,
            max_seq_length=self.settings.max_seq_length,
            vocab_size=len(self.tokenizer.vocab),
        )


class SquadV2(SquadTask):
    """SQuAD v2.0: questions may have no answer."""

    settings: SquadV2Flags
    flags = SquadV2Flags
    name = "squad_v2"
    free_keys = decoding.Limits._fields
    recorded_flags = (*_LENGTHS, *free_keys)
    has_impossible = True

    @classmethod
    def check_flags(cls, settings: SquadV2Flags) -> None:  # type: ignore[override]
        """Checks also the beams and the threshold."""
        super().check_flags(settings)
        for name in ("start_n_top", "end_n_top"):
            if getattr(settings, name) > settings.max_seq_length:
                raise UserError(
                    f"--{name}={getattr(settings, name)} is more than there are positions in "
                    f"--max_seq_length={settings.max_seq_length}. Usual is 5."
                )
        threshold = settings.null_score_diff_threshold
        if threshold is not None and not np.isfinite(threshold):
            raise UserError(f"--null_score_diff_threshold={threshold} is not a finite number.")

    def build_head(self) -> fine_tuning_utils.Head:
        """Returns the best starts, and the best ends of each of them, for each window."""
        beam = heads.BeamSize(self.settings.start_n_top, self.settings.end_n_top)
        return heads.v2_head(beam, self.settings.dropout_prob)

    def threshold(self) -> float:
        """Returns the null score up to which answers are kept."""
        known = (
            self.settings.null_score_diff_threshold,
            self.metrics.get(_THRESHOLD),
            self.description.get(_THRESHOLD),
        )
        return next((value for value in known if value is not None), 0.0)

    def answers(
        self, examples: Sequence[SquadExample], outputs: Outputs, gold: Any = None
    ) -> decoding.Predictions:
        """Returns the most likely spans, and none where the null score is above the threshold."""
        windows, limits = self.windows(examples), self.limits()
        spans = decoding.v2_spans(outputs, windows, limits)
        found = decoding.best_answers(spans, windows, examples, n_best_size=limits.n_best_size)
        odds = decoding.null_scores(outputs["cls_logits"], windows, len(examples))
        threshold = self.threshold()
        if gold and self.settings.null_score_diff_threshold is None:
            every = decoding.predictions(found, examples, odds)
            threshold = squad_metrics.usable_threshold(gold, every.answers, every.null_odds)
            self.metrics = {_THRESHOLD: threshold}
        return decoding.predictions(found, examples, odds, threshold=threshold)

    def scores(self, gold: Any, found: decoding.Predictions) -> Dict[str, float]:
        """Returns the scores of answers, and the threshold."""
        scores = squad_metrics.evaluate_v2(gold, found.answers, found.null_odds)
        return dict(scores, **{_THRESHOLD: self.threshold()})

    def predictions(
        self, split: str, examples: Sequence[SquadExample], outputs: Outputs
    ) -> Dict[str, str]:
        """Says where the threshold comes from."""
        threshold = self.threshold()
        _LOGGER.info("Answers with a null score above %.4g are left empty.", threshold)
        if self.settings.null_score_diff_threshold is None and _THRESHOLD not in self.metrics:
            _LOGGER.warning(
                "There is no evaluation to take the threshold of the null score from; taking %g. "
                "--null_score_diff_threshold sets another.",
                threshold,
            )
        return super().predictions(split, examples, outputs)

    def served(self) -> Dict[str, Any]:
        """Returns the threshold."""
        return {_THRESHOLD: self.threshold()}


class Reader(fine_tuned.Model):
    """A model for SQuAD v1.1 or v2.0; options are those of `fine_tuned.Model`."""

    def __init__(self, model_dir: str, checkpoint: Optional[str] = None, **options: Any):
        description, _ = model_vocabulary.read_description(os.path.expanduser(str(model_dir)))
        task = SquadV2 if description.get("task") == SquadV2.name else SquadV1
        super().__init__(task, model_dir, checkpoint, **{"batch_size": 8, **options})

    def answer(self, question: str, context: str) -> Answer:
        """Returns the answer that the context, of any length, gives to a question."""
        return self.predict([(question, context)])[0]
