# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""The script run_pretraining: flags, training, evaluation, and messages for mistakes."""

import json

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from albert import run_pretraining
from albert.data import batches
from albert.training import evaluation as checkpoint_evaluator
from albert.training import hooks
from albert.util import flags as flags_lib
from tests.support import pretraining_records as records
from tests.support.runtimes import needs_tf_estimator


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    """A folder with configurations and record files."""
    folder = tmp_path_factory.mktemp("data")
    records.write_config(folder / "tiny.json")
    records.write_config(folder / "wide.json", hidden_size=20)
    records.write_records(folder / "train-0.tf_record", 24, seed=0)
    records.write_records(folder / "train-1.tf_record", 24, seed=1)
    records.write_records(folder / "eval.tf_record", 10, seed=2)
    return folder


def settings_for(data, output_dir, *arguments):
    defaults = [
        f"--albert_config_file={data / 'tiny.json'}",
        f"--input_file={data / 'train-*.tf_record'}",
        f"--output_dir={output_dir}",
        f"--max_seq_length={records.LENGTH}",
        f"--max_predictions_per_seq={records.PREDICTIONS}",
        "--train_batch_size=8",
        "--eval_batch_size=4",
        "--num_train_steps=6",
        "--num_warmup_steps=2",
        "--save_checkpoints_steps=3",
        "--nouse_xla",
    ]
    return flags_lib.parse(run_pretraining.Flags, defaults + list(arguments))


def run(data, output_dir, *arguments):
    return run_pretraining.pretrain(settings_for(data, output_dir, *arguments))


def steps_in(folder):
    return [checkpoint.step for checkpoint in checkpoint_evaluator.list_checkpoints(str(folder))]


# ---------------------------------------------------------------------------------------------
# Training and evaluation.


@pytest.fixture(scope="module")
def trained(data, tmp_path_factory):
    """The folder of a training of six steps, evaluated."""
    folder = tmp_path_factory.mktemp("trained")
    outcome = run(data, folder, "--do_eval", f"--eval_file={data / 'eval.tf_record'}")
    return folder, outcome


def test_one_command_trains_and_evaluates(data, trained):
    folder, outcome = trained
    assert (outcome.training.first_step, outcome.training.last_step) == (0, 6)
    assert steps_in(folder) == [0, 3, 6]
    assert [result.step for result in outcome.evaluation.results] == [3, 6]
    assert outcome.evaluation.best_checkpoint == str(folder / "model.ckpt-best")
    for name in ("model.ckpt-best.index", "training_curve.csv"):
        assert (folder / name).exists()
    config = json.loads((folder / "albert_config.json").read_text(encoding="utf-8"))
    assert config["hidden_size"] == 16
    # Results have the published names and format.
    lines = (folder / "eval_results.txt").read_text(encoding="utf-8").splitlines()
    results = dict(line.split(" = ") for line in lines[-6:])
    means = ["masked_lm_accuracy", "masked_lm_loss"]
    means += ["sentence_order_accuracy", "sentence_order_loss"]
    assert list(results) == ["global_step", "loss", *means]
    assert results["global_step"] == "6" and np.isfinite(list(map(float, results.values()))).all()
    # They are of the evaluation file: ten records in batches of four, of which each counts once.
    content = json.loads((folder / "eval_results.json").read_text(encoding="utf-8"))["fingerprint"]
    (file,) = content["files"]
    size = (data / "eval.tf_record").stat().st_size
    assert (file["name"], file["size"], content["batches"]) == ("eval.tf_record", size, 3)
    accuracy = float(results["sentence_order_accuracy"])
    assert accuracy * 10 == pytest.approx(round(accuracy * 10), abs=1e-4)


def test_every_runtime_takes_the_same_six_updates(trained):
    """LAMB with dropout: the mean of the losses, and what evaluation found after three and six."""
    outcome = trained[1]
    assert outcome.training.scalars["loss"] == pytest.approx(4.4225033, rel=1e-6)
    assert outcome.training.scalars["gradient_norm"] == pytest.approx(1.7897836, rel=1e-6)
    losses = [result.metrics["loss"] for result in outcome.evaluation.results]
    assert losses == pytest.approx([4.4127893, 4.3931317], rel=1e-6)


def weights_of(folder):
    reader = tf.train.load_checkpoint(str(folder / "model.ckpt-6"))
    return {name: reader.get_tensor(name) for name in reader.get_variable_to_shape_map()}


def curve_of(folder, name):
    lines = (folder / "training_curve.csv").read_text(encoding="utf-8").splitlines()
    place = lines[0].split(",").index(name)
    return [float(line.split(",")[place]) for line in lines[1:]]


def test_a_run_in_two_parts_is_the_run_in_one(data, trained, tmp_path):
    first = run(data, tmp_path, "--until_step=3", "--log_steps=1")
    assert (first.training.first_step, first.training.last_step) == (0, 3)
    assert steps_in(tmp_path) == [0, 3]
    assert run(data, tmp_path).training.last_step == 6
    for name, value in weights_of(trained[0]).items():
        np.testing.assert_array_equal(weights_of(tmp_path)[name], value)


def test_layers_that_share_their_weights_can_be_added(data, trained, tmp_path):
    log = ["--log_steps=1", "--do_eval", f"--eval_file={data / 'eval.tf_record'}"]
    shallow = run(data, tmp_path, "--until_step=3", "--train_layers=1", *log)
    config = json.loads((tmp_path / "albert_config.json").read_text(encoding="utf-8"))
    assert config["num_hidden_layers"] == 2
    run(data, tmp_path, *log)
    rates = [0.0, *(0.00176 * part for part in (1 / 2, 4 / 6, 3 / 6, 2 / 6, 1 / 6))]
    assert curve_of(tmp_path, "learning_rate") == pytest.approx(rates, rel=1e-4)
    weights = weights_of(tmp_path)
    assert sorted(weights) == sorted(weights_of(trained[0]))
    # Checkpoints are evaluated with all layers, whichever are trained.
    again = run(data, tmp_path, "--nodo_train", "--train_layers=1", *log)
    (early,), (same, late) = shallow.evaluation.results, again.evaluation.results
    assert (early.step, same.step, late.step) == (3, 3, 6)
    assert early.metrics["loss"] == same.metrics["loss"] != late.metrics["loss"]


@pytest.mark.slow
def test_every_runtime_takes_the_same_two_hundred_updates(data, tmp_path):
    arguments = ["--num_train_steps=200", "--save_checkpoints_steps=100", "--learning_rate=0.01"]
    outcome = run(data, tmp_path, *arguments, "--do_eval", "--log_steps=200")
    means = [outcome.training.scalars[name] for name in ("loss", "gradient_norm")]
    losses = [result.metrics["loss"] for result in outcome.evaluation.results]
    expected = [4.0400420, 1.1003151, 4.0056480, 3.9158542]  # of TensorFlow 2.15
    assert means + losses == pytest.approx(expected, rel=1e-6)


@pytest.mark.slow
def test_without_an_evaluation_file_the_input_is_evaluated(data, tmp_path):
    outcome = run(data, tmp_path, "--do_eval", "--num_train_steps=1", "--max_eval_steps=2")
    content = json.loads((tmp_path / "eval_results.json").read_text(encoding="utf-8"))
    names = [file["name"] for file in content["fingerprint"]["files"]]
    assert names == ["train-0.tf_record"]  # which has enough for two steps
    assert content["fingerprint"]["batches"] == 2
    assert [result.step for result in outcome.evaluation.results] == [1]


def test_a_second_run_of_the_same_command_changes_nothing(data, trained):
    folder, outcome = trained

    def content():
        files = (path for path in folder.iterdir() if path.is_file())
        return {path.name: path.read_bytes() for path in files if "run.toml" not in path.name}

    before = content()
    # It does not wait either: the last checkpoint is there.
    waiting = ["--do_eval", "--wait_for_checkpoints_minutes=60"]
    again = run(data, folder, f"--eval_file={data / 'eval.tf_record'}", *waiting)
    assert content() == before
    assert again.training is None
    assert again.evaluation.results == outcome.evaluation.results


# ---------------------------------------------------------------------------------------------
# Records without masks.


def strip_masks(source, target, *, vocabulary, ngram=2):
    """Copies records without their masks, as data creation writes them for masks on the fly."""
    fingerprint = {"settings": {"ngram": ngram}}
    if vocabulary:
        ordinary = [[records.FIRST_PIECE, records.VOCAB_SIZE]]
        fingerprint["vocabulary"] = {"mask_id": records.MASK, "ordinary": ordinary}
    with batches.AtomicRecordWriter(str(target), fingerprint) as writer:
        for serialized in tf.python_io.tf_record_iterator(str(source)):
            example = tf.train.Example.FromString(serialized)
            features = example.features.feature
            ids = features["input_ids"].int64_list.value
            places = features["masked_lm_positions"].int64_list.value
            labels = features["masked_lm_ids"].int64_list.value
            weights = features["masked_lm_weights"].float_list.value
            for place, label, weight in zip(places, labels, weights):
                ids[place] = label if weight else ids[place]
            for name in ("masked_lm_positions", "masked_lm_ids", "masked_lm_weights"):
                del features[name]
            writer.write(example.SerializeToString())


@pytest.fixture(scope="module")
def without_masks(data, tmp_path_factory):
    """A folder with training and evaluation records that hold no masks."""
    folder = tmp_path_factory.mktemp("unmasked")
    strip_masks(data / "train-0.tf_record", folder / "train.tf_record", vocabulary=True)
    strip_masks(data / "eval.tf_record", folder / "eval.tf_record", vocabulary=True)
    return folder


def run_without_masks(data, without_masks, output_dir, *arguments):
    files = [f"--input_file={without_masks / 'train.tf_record'}", "--num_train_steps=3"]
    files.append(f"--eval_file={without_masks / 'eval.tf_record'}")
    return run(data, output_dir, *files, "--do_eval", *arguments)


@pytest.mark.slow
def test_precision_recomputation_accumulation_and_masking_on_the_fly_work_together(
    data, without_masks, tmp_path
):
    outcome = run_without_masks(
        data,
        without_masks,
        tmp_path,
        "--precision=float16",
        "--recompute",
        "--use_xla",
        "--gradient_accumulation_steps=2",
        "--masked_lm_budget=0.2",
        "--optimizer=adamw",
    )
    assert np.isfinite(outcome.training.scalars["gradient_norm"])
    assert outcome.training.scalars["loss_scale"] == 2.0**15
    assert np.isfinite(outcome.evaluation.best.metrics["loss"])


@pytest.mark.slow
def test_records_without_masks_are_masked_in_training_and_the_same_way_in_each_evaluation(
    data, without_masks, tmp_path
):
    outcomes = []
    for number, seed in enumerate((1, 2)):
        flags = ["--masked_lm_budget=0.25", f"--seed={seed}", "--max_predictions_per_seq=4"]
        if number:  # of the first run's weights
            flags += [f"--init_checkpoint={tmp_path / '0' / 'model.ckpt-3'}", "--eval_untrained"]
        outcomes.append(run_without_masks(data, without_masks, tmp_path / str(number), *flags))
    first, second = (outcome.evaluation.results for outcome in outcomes)
    assert first[-1].step == 3 and second[0].step == 0
    assert second[0].metrics["masked_lm_loss"] == pytest.approx(first[-1].metrics["masked_lm_loss"])
    assert first[-1].metrics["masked_lm_loss"] > 1.0
    # Another number of masks is another measurement.
    again = run_without_masks(
        data,
        without_masks,
        tmp_path / "0",
        "--masked_lm_budget=0.25",
        "--max_predictions_per_seq=1",
    )
    assert again.evaluation.evaluated_steps == [3]
    assert again.evaluation.best.metrics["masked_lm_loss"] != first[-1].metrics["masked_lm_loss"]


def test_records_without_masks_need_a_budget(data, without_masks, tmp_path):
    with pytest.raises(ValueError, match="tf_record.*--masked_lm_budget="):
        run_without_masks(data, without_masks, tmp_path)


def write_vocabulary(folder, specials, pieces):
    path = folder / "vocab.txt"
    path.write_text("\n".join([*specials, *pieces]), encoding="utf-8")
    return f"--vocab_file={path}"


def test_records_of_other_masks_or_vocabularies_are_refused(data, without_masks, tmp_path):
    def refused(match, *files, more=()):
        names = f"--input_file={','.join(map(str, files))}"
        with pytest.raises(ValueError, match=match):
            run(data, tmp_path / "out", names, "--masked_lm_budget=0.25", *more)

    masked, train = data / "train-1.tf_record", without_masks / "train.tf_record"
    unknown, other = (tmp_path / f"{name}.tf_record" for name in ("unknown", "other"))
    strip_masks(masked, unknown, vocabulary=False)
    refused("--vocab_file", unknown)
    strip_masks(masked, other, vocabulary=True, ngram=1)
    refused("'ngram': ", train, other)
    named = write_vocabulary(tmp_path, ["[PAD]", "[UNK]", "[MASK]", "[CLS]", "[SEP]"], ["a", "b"])
    refused("2 of the one and 4 of the other", train, more=[named])
    specials = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    named = write_vocabulary(tmp_path, specials, map(str, range(records.VOCAB_SIZE)))
    refused(f"{records.VOCAB_SIZE + 5} .* {records.VOCAB_SIZE}", train, more=[named])


# ---------------------------------------------------------------------------------------------
# Where the first weights come from.


def test_a_checkpoint_or_folder_of_another_size_is_refused(data, trained, tmp_path):
    wide = f"--albert_config_file={data / 'wide.json'}"
    named = write_vocabulary(tmp_path, ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"], ["a"])
    with pytest.raises(ValueError, match="(?s)model.ckpt-6.*embedding_hidden_mapping_in/kernel"):
        checkpoint = f"--init_checkpoint={trained[0] / 'model.ckpt-6'}"
        run(data, tmp_path / "out", wide, checkpoint, named)
    assert not list((tmp_path / "out").glob("model*"))
    with pytest.raises(ValueError, match="hidden_size was 16 and is 20"):
        run(data, trained[0], wide)


# ---------------------------------------------------------------------------------------------
# Mistakes.


def test_divergence_is_reported_with_its_step_and_leaves_no_bad_checkpoint(data, tmp_path):
    with pytest.raises(hooks.TrainingDivergedError, match="step [23].*--learning_rate"):
        run(data, tmp_path, "--learning_rate=1e30", "--num_warmup_steps=0", "--optimizer=adamw")
    assert steps_in(tmp_path) == [0]


@pytest.mark.parametrize(
    "arguments, words",
    [
        (["--nodo_train"], "--do_train, --do_eval"),
        (["--gradient_accumulation_steps=3"], "--train_batch_size=8 .* 3"),
        pytest.param(
            ["--use_tpu", "--num_tpu_cores=16"],
            "--train_batch_size=8 .* 16",
            marks=needs_tf_estimator,
        ),
        (["--max_seq_length=64"], "--max_seq_length=64 .* 32"),
        (["--max_seq_length=24"], "16, but --max_seq_length=24"),
        (["--max_predictions_per_seq=5"], "3, but --max_predictions_per_seq=5"),
        (["--input_file=nothing*"], "--input_file: 'nothing\\*'"),
        (["--do_eval", "--eval_file=nothing*"], "--eval_file: 'nothing\\*'"),
        (["--nodo_train", "--do_eval"], "no readable checkpoint"),
        (["--init_checkpoint=nowhere"], "nowhere"),
        (["--train_layers=3"], "--train_layers=3"),
        (["--train_layers=1", "--share_type=none"], "--train_layers=1 .*share_type"),
        (["--albert_config_file=missing.json"], "missing.json"),
        (["--vocab_file=a", "--spm_model_file=b"], "--spm_model_file or --vocab_file"),
        (["--masked_lm_budget=15"], "masked_lm_budget"),
        (["--masked_lm_budget=nan"], "masked_lm_budget"),
        (["--masked_lm_budget=0.2", "--use_tpu", "--tpu_name=a"], "masked_lm_budget.* TPU"),
    ],
)
def test_a_mistake_is_answered_by_a_message_that_names_it(data, tmp_path, arguments, words):
    with pytest.raises(ValueError, match=words):
        run(data, tmp_path / "out", *arguments)
