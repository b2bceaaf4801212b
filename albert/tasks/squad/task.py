# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""The two versions of SQuAD as tasks.

outcome = fine_tuning.run(flags, SquadV1)
"""

import functools
import os
from typing import Any, Dict, List, Sequence, Tuple

import tensorflow.compat.v1 as tf

from albert.data import feature_cache
from albert.data.packing import SEQUENCES
from albert.data.record_format import FeatureSpec
from albert.fine_tuning_utils import Encoder, Features, HeadOutput
from albert.formats import model_paths, tflite, warm_start
from albert.models import inference
from albert.tasks.squad import decoding, head
from albert.tasks.squad import features as squad_features
from albert.tasks.squad import metrics as squad_metrics
from albert.tasks.squad.examples import SquadExample, read_squad_examples
from albert.tasks.squad.flags import SquadFlags, SquadV1Flags, SquadV2Flags
from albert.training import fine_tuned
from albert.training.task import Outputs, Task
from albert.util import UserError, files, log

TFLITE_NAME = "albert_model.tflite"
_LENGTHS = ("doc_stride", "max_query_length")
_THRESHOLD = "null_score_diff_threshold"


class SquadTask(Task):
    """Questions on paragraphs; a subclass is a version of SQuAD.

    --do_predict evaluates every checkpoint on --predict_file, if the file has answers, and writes
    the answers of the best checkpoint.
    """

    flags: SquadFlags
    description_name = "squad.json"
    best_metric = "f1"
    file_flags = {"train": "train_file", "dev": "predict_file"}
    record_flags = {"train": "train_feature_file", "predict": "predict_feature_file"}
    sequences = squad_features.SQUAD_SEQUENCES
    heard_flags: Tuple[str, ...] = ("n_best_size", "max_answer_length")
    recorded_flags: Tuple[str, ...] = (*_LENGTHS, *heard_flags)
    has_impossible = False  # whether there may be questions without an answer

    def __init__(self, *args: Any):
        super().__init__(*args)
        # (examples of the last prediction, their windows)
        self._windows: Tuple[Any, List[squad_features.Window]] = (None, [])

    @classmethod
    def check_flags(cls, flags: SquadFlags) -> None:  # type: ignore[override]
        """Checks that the flags name a file for each part of the run, and fit each other."""
        super().check_flags(flags)
        for part, name in (("do_train", "train_file"), ("do_predict", "predict_file")):
            if getattr(flags, part) and not getattr(flags, name):
                raise UserError(f"--{name} must be given with --{part}: the SQuAD file to read.")
        if flags.max_query_length > flags.max_seq_length - 4:
            raise UserError(
                f"--max_query_length={flags.max_query_length} must be at most --max_seq_length="
                f"{flags.max_seq_length} minus 4. Usual values are 64 and 384."
            )
        path = flags.train_feature_file
        if path and path == flags.predict_feature_file:
            raise UserError(
                f"--train_feature_file and --predict_feature_file are both {path}. Give two files."
            )

    # ---- data ----

    def splits(self, use: str) -> List[str]:
        """Returns --predict_file, also for evaluation if it has answers."""
        if not self.flags.do_predict:
            return []
        is_labelled = any(map(_is_labelled, self.examples("predict")))
        return ["predict"] if use == "test" or is_labelled else []

    @functools.lru_cache(maxsize=None)  # noqa: B019, it lives as long as the process
    def examples(self, split: str) -> List[SquadExample]:
        """Returns the questions of --train_file or --predict_file, which are read once."""
        path, limit = getattr(self.flags, f"{split}_file"), self.flags.max_misaligned_answers
        examples = read_squad_examples(path, split == "train", max_misaligned=limit)
        unanswered = [example.qas_id for example in examples if not example.answers]
        is_wrong = unanswered and (split == "train" or any(map(_is_labelled, examples)))
        if is_wrong and not self.has_impossible:
            raise UserError(
                f"{path}: question '{unanswered[0]}' has no answer. Use run_squad_v2, or give "
                "answers to all questions or to none."
            )
        return examples

    def items(
        self, examples: Sequence[SquadExample], is_training: bool
    ) -> List[squad_features.Window]:
        """Returns the windows of examples. Caches the windows of the last examples to predict."""
        examples_before, windows = self._windows  # one read: another thread may write it
        if examples_before is examples and not is_training:
            return windows
        lengths = {name: getattr(self.flags, name) for name in ("max_seq_length", *_LENGTHS)}
        windows = list(
            squad_features.make_windows(examples, self.tokenizer, is_training, **lengths)
        )
        if not is_training:
            self._windows = examples, windows
        return windows

    def parse(self, text: Sequence[str]) -> SquadExample:
        """Returns the example for a pair (question, context)."""
        parts = inference.parts_of(text)
        if len(parts) != 2:
            raise UserError("It must be a pair (question, context).")
        return SquadExample("", *parts)

    def spec(self, is_training: bool) -> FeatureSpec:
        """Returns the declaration of the records."""
        return squad_features.feature_spec(self.flags.max_seq_length, is_training)

    def encode(
        self, items: Sequence[squad_features.Window], is_training: bool
    ) -> feature_cache.Conversion:
        """Returns the records of windows."""
        flags = self.flags
        questions = [window for window in items if window.doc_span_index == 0]
        notes = {
            f"cut to {flags.max_query_length} tokens (the question)": sum(
                window.is_cut for window in questions
            ),
            "empty": sum(window.is_empty for window in questions),
        }
        records = squad_features.records_of(items, flags.max_seq_length, is_training)
        return feature_cache.Conversion(records, notes)

    # ---- answers ----

    def best_answers(
        self, examples: Sequence[SquadExample], outputs: Outputs
    ) -> List[decoding.Answer]:
        """Returns the most likely span for each question."""
        windows, flags = self.items(examples, False), self.flags
        spans = decoding.find_spans(outputs, windows, flags)
        return decoding.best_answers(examples, windows, [spans], n_best_size=flags.n_best_size)

    def decode(self, examples: Sequence[SquadExample], outputs: Outputs) -> List[decoding.Answer]:
        """Returns the answer to each question; empty if the null score is above the threshold."""
        return decoding.with_threshold(self.best_answers(examples, outputs), self.threshold())

    def predictions(
        self, split: str, examples: Sequence[SquadExample], outputs: Outputs
    ) -> Dict[str, str]:
        """Returns the files with the answers."""
        contents = decoding.file_contents(examples, self.decode(examples, outputs))
        return {name: decoding.file_text(content) for name, content in contents.items()}


def _is_labelled(example: SquadExample) -> bool:
    return bool(example.answers) or example.is_impossible


def _gold(examples: Sequence[SquadExample]) -> Dict[str, Sequence[str]]:
    return {example.qas_id: example.answers for example in examples}


class SquadV1(SquadTask):
    """SQuAD v1.1: every question has an answer."""

    flags_class = SquadV1Flags
    name = published_name = "squad_v1"

    def head(self, features: Features, encoder: Encoder) -> HeadOutput:
        """Builds the logits of starts and ends; in prediction, IMPOSSIBLE for padding.

        The amount of padding depends on the batch, so it must not compete with candidates.
        """
        output = head.v1_head(features, encoder)
        if encoder.is_training:
            return output
        is_used = features["input_mask"] > 0  # [B, L]
        fill = tf.fill(tf.shape(is_used), head.IMPOSSIBLE)
        logits = {
            name: tf.where(is_used, output.outputs[name], fill)
            for name in ("start_logits", "end_logits")
        }
        return output._replace(outputs={**output.outputs, **logits})

    def measure(self, examples: Sequence[SquadExample], outputs: Outputs) -> Dict[str, float]:
        """Returns the scores of the official script, and F1 by character."""
        texts, _ = decoding.file_contents(examples, self.decode(examples, outputs)).values()
        gold = _gold(examples)
        scores = squad_metrics.evaluate_v1(gold, texts)
        return {**scores, **squad_metrics.character_scores(gold, texts)}

    def export_more(self) -> None:
        """Writes albert_model.tflite, which reads int32 [1, S], into --export_dir."""
        flags = self.flags
        checkpoint = model_paths.resolve(flags.checkpoint or flags.output_dir)
        shape = (1, flags.max_seq_length)
        with warm_start.open_graph(self.build, SEQUENCES, checkpoint, shape=shape) as opened:
            content = tflite.convert(*opened)
        path = os.path.join(flags.export_dir, TFLITE_NAME)
        files.atomic_write_bytes(path, content)
        log.info("Wrote %s.", path)


class SquadV2(SquadTask):
    """SQuAD v2.0: questions may have no answer."""

    flags: SquadV2Flags
    flags_class = SquadV2Flags
    name = published_name = "squad_v2"
    heard_flags = (*decoding.Limits._fields, _THRESHOLD)
    recorded_flags = (*_LENGTHS, *decoding.Limits._fields)
    threshold_flag = _THRESHOLD  # the null score above which an answer is empty
    description_schema = {_THRESHOLD: (float, None)}
    has_impossible = True

    def head(self, features: Features, encoder: Encoder) -> HeadOutput:
        """Builds the best starts of each window, and the best ends for each start."""
        if "p_mask" not in features:  # in an exported model
            features = dict(features, p_mask=head.answer_mask(features))
        return head.v2_head(features, encoder, self.flags)

    def measure(self, examples: Sequence[SquadExample], outputs: Outputs) -> Dict[str, float]:
        """Returns the scores and the threshold: the flag, or the threshold with the best F1."""
        gold, answers = _gold(examples), self.best_answers(examples, outputs)
        texts, _, null_odds = decoding.file_contents(examples, answers).values()
        if self.flags.null_score_diff_threshold is None:
            scores = squad_metrics.evaluate_v2(gold, texts, null_odds)
            self.metrics = {_THRESHOLD: scores["best_f1_thresh"]}
        threshold = self.threshold()
        answers = decoding.with_threshold(answers, threshold)
        texts, *_ = decoding.file_contents(examples, answers).values()
        scores = squad_metrics.evaluate_v2(gold, texts, null_odds)
        scores.update(squad_metrics.character_scores(gold, texts))
        return {**scores, _THRESHOLD: threshold}

    def predictions(
        self, split: str, examples: Sequence[SquadExample], outputs: Outputs
    ) -> Dict[str, str]:
        """Returns the files with the answers, and logs the threshold."""
        log.info("If the null score is above %.4g, the answer is empty.", self.threshold())
        return super().predictions(split, examples, outputs)


class Reader(fine_tuned.FineTunedModel):
    """A model for SQuAD v1.1 or v2.0."""

    kinds = (SquadV1, SquadV2)
    batch_size = 8

    def answer(self, question: str, context: str) -> decoding.Answer:
        """Returns the answer to a question from a context of any length."""
        return self.predict([(question, context)])[0]
