# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""One run of fine-tuning, whatever the task.

    outcome = run(flags, RaceTask)

`Task` says what differs between tasks; docs/new_task.md writes one. Dimensions: N examples.
"""

import math
import os
import time
from typing import Any, Callable, Dict, List, Mapping, NamedTuple, Optional, Sequence, Tuple, Type

import numpy as np

from albert.configs import published
from albert.configs.shared_flags import WINDOWS, FineTuningFlags
from albert.data import feature_cache, padded_batches, record_files
from albert.formats import model_paths, model_vocabulary
from albert.models import inference
from albert.runtimes import compat
from albert.training import (
    distribution,
    estimators,
    evaluation,
    fine_tuned,
    hooks,
    program,
    resuming,
    workflow,
)
from albert.training.evaluation import EvaluationSummary
from albert.training.metrics import classification_report, confusion_matrix
from albert.training.program import FineTuningProgram, training_length
from albert.training.run_files import CONFUSION_NAME, SUMMARY_NAME, read_summary
from albert.training.task import Outputs, Task
from albert.training.workflow import Outcome
from albert.util import UserError, files, garbage, log, progress, provenance

__all__ = ["FineTuning", "Outcome", "Split", "Task", "main", "run"]


BEST_TRIAL_NAME, REPORT_NAME = "best_trial.txt", "classification_report.txt"
OnEvaluation = Callable[[int, Dict[str, float]], Optional[bool]]


def main(flags: FineTuningFlags, task: Type[Task]) -> None:
    """Runs a script."""
    run(flags, task)


def run(
    flags: FineTuningFlags, task: Type[Task], on_evaluation: Optional[OnEvaluation] = None
) -> Outcome:
    """Trains, evaluates, predicts and exports as the flags say; see Workflow.run.

    With `on_evaluation`, each checkpoint is evaluated when it is saved. `on_evaluation` then gets
    its step and metrics; training stops if it returns False.
    """
    fine_tuning = FineTuning(flags, task)
    fine_tuning.on_evaluation = on_evaluation
    return fine_tuning.run()


class FineTuning(workflow.Workflow):
    """One run of one task.

    Attributes:
      task: with its model and vocabulary.
      published_model: what it is compared with; None for other sizes and random weights.
      schedule: of training, once its data were read.
      on_evaluation: see `run`.
    """

    flags: FineTuningFlags
    on_evaluation: Optional[OnEvaluation] = None
    _is_stopped = False

    def __init__(self, flags: FineTuningFlags, task: Type[Task]):
        """Checks the flags and finds the model; raises UserError."""
        task.check_flags(flags)
        super().__init__(flags)
        self._began = time.time()
        self._summary_path = os.path.join(flags.output_dir, SUMMARY_NAME)
        self.task = fine_tuned.set_up(flags, task)
        self.flags, self.config = self.task.flags, self.task.config
        sources = (flags.albert_hub_module_handle, flags.albert_dir, flags.init_checkpoint)
        is_random = flags.do_train and not any(sources)
        config = self.config.to_dict()
        self.published_model = None if is_random else published.recognise(config, *sources)
        self.schedule = program.ONE_STEP
        self._final_step: Optional[int] = None
        self._splits: Dict[str, Split] = {}
        # Rank, identity and outputs, by split, of the best checkpoint so far.
        self._best: Tuple[Tuple[float, ...], str, Dict[str, Outputs]] = ((-math.inf,), "", {})
        self._model = inference.InferenceModel(self.task, batch_size=flags.predict_batch_size)

    def check(self) -> None:
        """Reads the data; raises UserError for data, weights or a folder that do not fit."""
        flags, task = self.flags, self.task
        folder, config = flags.output_dir, self.config
        is_local = not flags.use_tpu and flags.distribution_strategy != distribution.MULTI_WORKER
        if self.on_evaluation and not (is_local and task.splits("dev")):
            raise UserError("A callback needs development data, and one machine without --use_tpu.")
        resuming.check_output_dir(folder, config)
        fine_tuned.check_description(task)
        steps = [checkpoint.step for checkpoint in evaluation.list_checkpoints(folder)]
        if flags.checkpoint or not (flags.do_train or flags.wait_for_checkpoints_minutes):
            self._check_chosen(loads=bool(flags.checkpoint or not steps))
        estimators.announce(flags, config, task.name.upper())
        if flags.do_train and not any(steps):
            if flags.init_checkpoint:
                start = model_paths.resolve(flags.init_checkpoint)
                model_vocabulary.check_same(os.path.dirname(start), task.vocabulary)
            else:
                log.warning(
                    "No pretrained weights: neither --init_checkpoint nor --albert_dir is given."
                )
            program.check_first_weights(flags, config)
        splits = task.splits("dev") + task.splits("test") if self.is_chief else []
        if flags.do_train:
            model_vocabulary.path_in(folder, task.vocabulary)
            splits.append("train")  # last: it takes the longest
        self._splits = {split: read_split(task, split) for split in dict.fromkeys(splits)}
        if flags.do_train:
            examples, _, records = self._splits["train"]
            count = records.count if flags.truncation == WINDOWS else len(examples)
            self.schedule = training_length(flags, count)
            self._final_step = self.schedule.num_train_steps
            if task.splits("dev") and self._final_step <= flags.save_checkpoints_steps:
                log.warning(
                    "There will be only one checkpoint to evaluate, because "
                    "--save_checkpoints_steps is %d and the training ends at step %d.",
                    flags.save_checkpoints_steps,
                    self._final_step,
                )
        elif "train_step" in flags.explicit:
            self._final_step = flags.train_step  # of another process

    def _check_chosen(self, loads: bool) -> None:
        """Checks the checkpoint that is evaluated or predicts, and with `loads` its weights."""
        flags, task = self.flags, self.task
        checkpoint = self._chosen_checkpoint()
        fine_tuned.check_description(task, os.path.dirname(checkpoint))
        unused = flags.command_line.init_checkpoint not in (None, "", flags.checkpoint)
        if unused and not flags.do_train:
            log.warning("--init_checkpoint is not used, but %s is.", checkpoint)
        if loads and not flags.use_tpu:
            self._model.load(checkpoint)

    def _chosen_checkpoint(self) -> str:
        """--checkpoint, the best one, or the newest; raises UserError if there is none."""
        return model_paths.resolve(self.flags.checkpoint or self.flags.output_dir)

    # ---- training ----

    def train(self) -> Optional[hooks.TrainingSummary]:
        """Trains to the last step; all checkpoints are kept until they are evaluated."""
        task, last_step = self.task, self.schedule.num_train_steps
        _, fingerprint, records = self._splits["train"]
        summary = estimators.train(
            self.flags,
            self.model_fn(),
            lambda step: self.input_fn(records.path, is_training=True, start_step=step),
            max_steps=last_step,
            documents=fine_tuned.portable_files(task),
            input_hashes={
                "training_data": fingerprint["examples"],
                "configuration": provenance.digest(self.config.to_dict()),
                "vocabulary": provenance.digest(fingerprint["tokenizer"]),
            },
            on_saved=self._evaluate_saved,
        )
        if summary and self.is_chief:
            self._add_to_summary(
                num_train_steps=last_step,
                train_seconds=summary.seconds,
                train_examples_per_second=summary.examples_per_second,
                wall_seconds=time.time() - self._began,
            )
        return summary

    def model_fn(self) -> estimators.ModelFn:
        """Returns the model function."""
        return FineTuningProgram(
            self.flags,
            self.config,
            self.task.head,
            schedule=self.schedule,
        ).model_fn

    def input_fn(
        self, file: str, *, is_training: bool = False, start_step: int = 0
    ) -> estimators.InputFn:
        """Returns the input function for a record file; its params have the batch size."""
        mode = self.flags.padding or ("max" if self.flags.use_tpu else "longest")
        return padded_batches.input_fn(
            file,
            self.task.spec(is_training),
            is_training=is_training,
            batch_size=None,
            padding=padded_batches.Padding(mode, features=tuple(self.task.sequences)),
            seed=self.flags.seed,
            start_step=start_step,
        )

    # ---- evaluation ----

    def evaluate(self) -> Tuple[Optional[EvaluationSummary], Mapping[str, Any]]:
        """Evaluates --checkpoint, or each checkpoint in --output_dir, and keeps the best."""
        flags, folder, task = self.flags, self.flags.output_dir, self.task
        if not task.splits("dev"):
            return None, {}
        wait_minutes = flags.wait_for_checkpoints_minutes
        if flags.checkpoint or not (evaluation.list_checkpoints(folder) or wait_minutes):
            metrics = evaluation.evaluate_one(folder, self._measure, self._chosen_checkpoint())
            self.compare(metrics)
            return None, metrics
        began = time.time()
        summary = self._evaluate_checkpoints(60.0 * wait_minutes)
        best, steps = summary.best, [result.step for result in summary.results]
        metrics = dict(best.metrics) if best else {}
        if best:
            trial = f"{steps[-1]}:{best.step}:{metrics[task.best_metric]}"
            files.atomic_write_text(os.path.join(folder, BEST_TRIAL_NAME), trial)
            recorded = read_summary(self._summary_path, missing={}).get("metrics")
            # The summary is written last: without these metrics, an evaluation was killed.
            if summary.evaluated_steps or recorded != metrics:
                self._describe_best(summary)
        now = time.time()
        times = {}
        if summary.evaluated_steps:
            times = {"eval_seconds": now - began, "wall_seconds": now - self._began}
        self._add_to_summary(
            **times,
            model=self.published_model and self.published_model._asdict(),
            published=[comparison._asdict() for comparison in self.compare(metrics)],
            num_train_steps=steps[-1],
            best_step=best and best.step,
            metrics=metrics,
            value=metrics.get(task.best_metric),
        )
        if flags.do_train:  # model.ckpt-0 is not needed any more either
            evaluation.prune_checkpoints(folder, flags.keep_checkpoint_max, [0, *steps])
        return summary, metrics

    def _evaluate_checkpoints(self, wait_seconds: float = 0.0) -> EvaluationSummary:
        """Evaluates the checkpoints without results, and reports them to the callback."""
        flags, task = self.flags, self.task
        identity = {"precision": flags.precision, **task.decoding()}
        for split in task.splits("dev"):
            identity[split] = self._splits[split].fingerprint
        summary = evaluation.evaluate_checkpoints(
            flags.output_dir,
            self._measure,
            best_metric=task.best_metric,
            fingerprint=identity,
            wait_seconds=wait_seconds,
            final_step=self._final_step,
        )
        for step, metrics in summary.results:
            if self.on_evaluation and step in summary.evaluated_steps:
                answer = self.on_evaluation(step, dict(metrics))
                self._is_stopped |= answer is not None and not answer
        return summary

    def _evaluate_saved(self) -> bool:
        """Evaluates a new checkpoint for the callback, if any; returns whether it ends training."""
        if self.on_evaluation:
            self._evaluate_checkpoints()
        return self._is_stopped

    def _measure(self, checkpoint: str) -> Dict[str, float]:
        """The measurements of a checkpoint; those of splits after the first carry their names."""
        task, outputs = self.task, {}
        metrics: Dict[str, float] = {}
        for split in task.splits("dev"):
            of_split = outputs[split] = self.outputs(checkpoint, split)
            measured = task.measure_all(self._splits[split].examples, of_split)
            suffix = "_" + split.replace("dev_", "") if metrics else ""
            metrics.update({name + suffix: value for name, value in measured.items()})
        rank = evaluation.rank_of(metrics, task.best_metric)
        if rank >= self._best[0]:  # of equal ones the later is the best
            self._best = rank, evaluation.identity(checkpoint), outputs
        step = evaluation.step_in(checkpoint)
        if step is not None:  # not in weights of another origin
            compat.write_evaluation(self.flags.output_dir, dict(metrics, global_step=step))
        return metrics

    def outputs(self, checkpoint: str, split: str) -> Outputs:
        """Returns the outputs of a checkpoint for a split, [R, ...] each."""
        _, best, best_outputs = self._best
        if split in best_outputs and best == evaluation.identity(checkpoint):
            return best_outputs[split]
        flags, task, (examples, _, records) = self.flags, self.task, self._splits[split]
        size = flags.predict_batch_size
        if split in task.splits("dev"):
            size = flags.eval_batch_size or size
        if flags.use_tpu:
            input_fn = self.input_fn(records.path)
            separate = estimators.tpu_outputs(
                flags, self.model_fn(), input_fn, checkpoint=checkpoint, batch_size=size
            )
            return task.merge(separate)
        self._model.load(checkpoint)
        self._model.notes.clear()
        items = task.items(examples, False)
        count = None if flags.truncation == WINDOWS else len(items)
        with progress.Progress(split, count, unit="examples") as bar:
            outputs = self._model.run(items, batch_size=size, on_batch=bar.update)
        notes = feature_cache.in_words(self._model.notes)
        if notes and split not in best_outputs:  # once, not for each checkpoint
            log.info("%s %s: %s.", task.name, split, notes)
        return outputs

    def _describe_best(self, summary: EvaluationSummary) -> None:
        """Writes its errors by label, and warns if it predicts the same label every time."""
        task, folder, split = self.task, self.flags.output_dir, self.task.splits("dev")[0]
        task.metrics = summary.best.metrics
        outputs = self.outputs(summary.best_checkpoint, split)
        if not task.labels or "label_ids" not in outputs:
            return
        right, predicted = task.label_pairs(self._splits[split].examples, outputs)
        report = classification_report(task.labels, right, predicted)
        files.atomic_write_text(os.path.join(folder, REPORT_NAME), report)
        content = dict(confusion_matrix(task.labels, right, predicted), step=summary.best.step)
        files.atomic_write_json(os.path.join(folder, CONFUSION_NAME), content)
        answers, right_answers = (np.unique(side, axis=0) for side in (predicted, right))
        if len(answers) == 1 < len(right_answers):
            log.warning(
                "The best checkpoint predicts %s every time. Try another --learning_rate (it is "
                "%g), more training steps or a longer warm-up, or another --seed.",
                "the same" if answers.ndim == 2 else task.labels[answers[0]],
                self.flags.learning_rate,
            )

    def compare(self, metrics: Mapping[str, float]) -> List[published.Comparison]:
        """Compares metrics with published results, and logs both."""
        name = self.task.published_name
        scores = {metric: [published.per_cent(name, value)] for metric, value in metrics.items()}
        comparisons = published.compare(name, self.published_model, scores)
        if comparisons:
            table = "\n".join(published.comparison_table(comparisons))
            log.info("Your and published results:\n%s", table)
        return comparisons

    # ---- prediction ----

    def predict_and_export(self, metrics: Mapping[str, Any]) -> Tuple[Sequence[str], Optional[str]]:
        """Predicts the test data and exports, with the best or the named checkpoint."""
        task, export_dir = self.task, self.flags.export_dir
        predicts = bool(task.splits("test"))
        if not (predicts or export_dir):
            return (), None
        checkpoint = self._chosen_checkpoint()
        task.metrics = metrics or evaluation.recorded_metrics(checkpoint, self.flags.output_dir)
        predictions = self.predict(checkpoint) if predicts else ()
        export = fine_tuned.export(task, checkpoint, export_dir) if export_dir else None
        if export:
            task.export_more()
        return predictions, export

    def predict(self, checkpoint: str) -> List[str]:
        """Predicts the test data; returns the files."""
        written, folder = [], self.flags.output_dir
        log.info("Predicting with %s.", checkpoint)
        if evaluation.step_in(checkpoint) == 0:
            log.warning("%s is untrained. Train first, or choose another.", checkpoint)
        for split in self.task.splits("test"):
            examples, outputs = self._splits[split].examples, self.outputs(checkpoint, split)
            for name, text in self.task.predictions(split, examples, outputs).items():
                written.append(os.path.join(folder, name))
                files.atomic_write_text(written[-1], text)
        log.info("Wrote %s.", ", ".join(written))
        return written

    def _add_to_summary(self, **values: Any) -> None:
        """Updates run_summary.json; its times are those of the start that did the work."""
        path, task = self._summary_path, self.task
        about = {"task": task.name, "metric": task.best_metric, "seed": self.flags.seed}
        files.atomic_write_json(path, {**read_summary(path, missing={}), **about, **values})


class Split(NamedTuple):
    """The examples of one use.

    Attributes:
      fingerprint: JSON values that decide the records.
      records: the file with the records in the same order; None if none is needed.
    """

    examples: Sequence[Any]
    fingerprint: Mapping[str, Any]
    records: Optional[record_files.RecordFile] = None


@garbage.kept()
def read_split(task: Task, split: str) -> Split:
    """Returns a split with its records, which are made if they are not there.

    Only training and TPUs read records. Otherwise there are none, unless one of `record_flags`
    names their file.
    """
    examples, is_training = task.examples(split), split == "train"
    if not len(examples):
        raise UserError(f"The {split} data of {task.name} has no examples.")
    flag = task.record_flags.get(split)
    named = flag and getattr(task.flags, flag)
    may_differ = task.decoding()
    fingerprint = {
        "description": {
            key: value for key, value in task.describe().items() if key not in may_differ
        },
        "examples": feature_cache.digest(examples),
        "tokenizer": feature_cache.tokenizer_fingerprint(task.tokenizer),
    }
    if not (is_training or named or task.flags.use_tpu):
        return Split(examples, fingerprint)
    folder = task.flags.cached_dir or task.flags.output_dir
    name = f"{task.name}_{split}.{task.flags.max_seq_length}.tf_record"
    records = feature_cache.build_records(
        named or os.path.join(folder, name),
        fingerprint=fingerprint,
        spec=task.spec(is_training),
        items=lambda: task.items(examples, is_training),
        convert=lambda group: task.encode(group, is_training),
        exact_path=bool(named),
        description=f"{task.name} {split}",
    )
    return Split(examples, fingerprint, records)
