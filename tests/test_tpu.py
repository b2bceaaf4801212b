# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""What a TPU would run: the configuration, and each script's steps, compiled by XLA on the CPU.

The sums over the cores of a TPU stand for those of two cores with the same batch.
"""

from typing import Any, Callable, NamedTuple

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from albert import fine_tuning_utils, modeling, run_pretraining
from albert.tasks.classification import task as classification_task
from albert.tasks.pretraining.head import PretrainingProgram
from albert.tasks.race import task as race_task
from albert.tasks.squad import task as squad_task
from albert.training import estimators, fine_tuning, program
from albert.util import flags as flags_lib
from tests.support import classification_data, training_scripts
from tests.support import pretraining_records as records
from tests.support.fine_tuned_models import NO_DROPOUT
from tests.support.runtimes import needs_tf_estimator

TRAIN, EVAL, PREDICT = "train", "eval", "infer"
BATCH = 2


# ---- configuration ----


@needs_tf_estimator
def test_flags_find_the_tpu(monkeypatch, tmp_path):
    resolvers, asked = tf.distribute.cluster_resolver, []
    spec = tf.train.ClusterSpec({"worker": ["10.1.2.3:8470", "10.1.2.4:8470"]})

    def resolve(tpu, zone=None, project=None):
        asked.extend([tpu, zone, project])
        return resolvers.SimpleClusterResolver(spec, master="grpc://10.1.2.3:8470")

    monkeypatch.setattr(resolvers, "TPUClusterResolver", resolve)
    arguments = f"""--albert_config_file=c --input_file=i --output_dir={tmp_path} --use_tpu
        --tpu_name=pod --tpu_zone=europe-west4-a --gcp_project=mine --num_tpu_cores=16
        --iterations_per_loop=50 --save_checkpoints_steps=20 --seed=7"""
    flags = flags_lib.parse(run_pretraining.Flags, arguments.split())
    config = estimators.run_config(flags, keep_checkpoint_max=3)
    assert asked == ["pod", "europe-west4-a", "mine"]
    assert config.master == "grpc://10.1.2.3:8470"
    assert config.cluster_spec.as_dict() == spec.as_dict()
    assert (config.tf_random_seed, config.keep_checkpoint_max) == (7, 3)
    tpu = config.tpu_config
    per_host = tf.estimator.tpu.InputPipelineConfig.PER_HOST_V2
    assert (tpu.num_shards, tpu.per_host_input_for_training) == (16, per_host)
    # The host saves between two loops, so that a longer one would leave checkpoints out.
    assert (tpu.iterations_per_loop, config.save_checkpoints_steps) == (20, 20)


# ---- steps ----


class Script(NamedTuple):
    """A script's model function and its input for each mode, as its flags make them."""

    model_fn: Callable
    inputs: Any  # mode -> input function


# Script -> its task and flags that leave out the warm-up.
SCRIPTS = {
    "run_pretraining": (None, "--num_warmup_steps=0"),
    "run_classifier": (classification_task.ClassifierTask, "--warmup_step=0"),
    "run_race": (race_task.RaceTask, "--warmup_step=0"),
    "run_squad_v1": (squad_task.SquadV1, "--warmup_proportion=0"),
    "run_squad_v2": (squad_task.SquadV2, "--warmup_proportion=0"),
}


def built(name, data, folder, tpu=""):
    """A script with flags that a TPU takes."""
    folder.mkdir()
    task, arguments = SCRIPTS[name]
    arguments += f" --train_batch_size={BATCH} --gradient_accumulation_steps=2 --learning_rate=0.01"
    arguments += f" --do_train --num_tpu_cores=1 {tpu} --albert_config_file="
    if task is None:
        path = records.write_config(folder / "tiny.json", **NO_DROPOUT)
        flags = training_scripts.settings_for(name, data, folder, arguments + path)
        files = [f"{data}/eval.tf_record"], records.LENGTH, records.PREDICTIONS
        inputs = {
            mode: run_pretraining.input_fn_builder(*files, mode == TRAIN) for mode in (TRAIN, EVAL)
        }
        config = modeling.AlbertConfig.from_json_file(path)
        return Script(PretrainingProgram(flags, config).model_fn, inputs)
    arguments += classification_data.write_config(folder, num_hidden_layers=1, **NO_DROPOUT)
    run = fine_tuning.FineTuning(training_scripts.settings_for(name, data, folder, arguments), task)
    run.schedule = program.Schedule(10)
    is_squad = "squad" in name
    inputs = {}
    for mode in (TRAIN, PREDICT) if is_squad else (EVAL, PREDICT, TRAIN):
        split = "predict" if is_squad and mode == PREDICT else "train"
        file = fine_tuning.read_split(run.task, split).records
        if file:  # only a TPU reads files to predict
            inputs[mode] = run.input_fn(file.path, is_training=mode == TRAIN)
    return Script(run.model_fn(), inputs)


def results(script, mode, *, inputs, compiled):
    """The outputs of two steps on one batch of a TPU's."""
    with tf.Graph().as_default(), tf.variable_scope("", use_resource=True):
        tf.set_random_seed(1)
        tf.train.get_or_create_global_step()
        dataset = inputs[mode]({"batch_size": BATCH, "use_tpu": True})
        shapes = tf.data.get_output_shapes(dataset)
        assert all(shape.is_fully_defined() for shape in shapes.values()), shapes
        features = tf.data.make_one_shot_iterator(dataset.take(1).repeat()).get_next()
        names = sorted(features)

        def step(*tensors):
            spec = script.model_fn(dict(zip(names, tensors)), None, mode, {"model_dir": "/none"})
            if mode == TRAIN:
                with tf.control_dependencies([spec.train_op]):
                    return [tf.identity(spec.loss)]
            outputs = spec.predictions if mode == PREDICT else spec.eval_metrics[1]
            return [outputs[name] for name in sorted(outputs)]

        tensors = [features[name] for name in names]
        outputs = tf.xla.experimental.compile(step, tensors) if compiled else step(*tensors)
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            return [session.run(outputs) for _ in range(2)]


@needs_tf_estimator
@pytest.mark.slow
@pytest.mark.parametrize("name", SCRIPTS)
def test_script_compiled_for_tpu_gives_same_outputs(monkeypatch, training_data, tmp_path, name):
    monkeypatch.setattr(tf.tpu, "cross_replica_sum", lambda tensor: 2.0 * tensor)
    # The masks of a TPU's cores are others than those of one device.
    monkeypatch.setattr(fine_tuning_utils.Encoder, "dropout", lambda _, tensor, *args: tensor)
    tpu = built(name, training_data, tmp_path / "a", "--use_tpu")
    other = built(name, training_data, tmp_path / "b")
    for mode in tpu.inputs:
        on_tpu = results(tpu, mode, inputs=tpu.inputs, compiled=True)
        plain = results(other, mode, inputs=tpu.inputs, compiled=False)
        for found, expected in zip(on_tpu, plain):
            for value, other_value in zip(found, expected):
                np.testing.assert_allclose(
                    value, other_value, rtol=1e-4, atol=1e-4, err_msg=f"{name}, {mode}"
                )
        assert mode != TRAIN or on_tpu[1] != on_tpu[0]
