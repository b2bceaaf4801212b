# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Processes and devices that train together: what each reads and writes, means over all."""

import contextlib
import json
import types

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from albert import run_classifier, run_pretraining
from albert.configs.shared_flags import TrainingFlags
from albert.data import shuffling
from albert.runtimes import compat
from albert.runtimes import estimator as tf_estimator
from albert.training import distribution, estimators, program
from albert.util import UserError
from albert.util import flags as flags_lib
from tests.support import classification_data, graphs, one_weight, training_scripts
from tests.support.runtimes import needs_tf_estimator
from tests.support.workers import MIRRORED, MULTI_WORKER

HOSTS = ["host1:2222", "host2:2222", "host3:2222"]


@pytest.fixture
def worker(monkeypatch):
    """Makes this process that worker of a cluster, or what other values of TF_CONFIG say."""

    def put(index=0, cluster=None, **task):
        content = {"cluster": cluster or {"worker": HOSTS}}
        content["task"] = {"type": "worker", "index": index, **task}
        monkeypatch.setenv("TF_CONFIG", json.dumps(content))

    return put


def settings_for(*arguments):
    required = ["--albert_config_file=c", "--input_file=i", "--output_dir=o"]
    return flags_lib.parse(run_pretraining.Flags, [*required, *arguments])


# ---------------------------------------------------------------------------------------------
# TF_CONFIG.


@pytest.mark.parametrize(
    "cluster, kind, index, rank",
    [
        ({"worker": HOSTS}, "worker", "2", 2),
        ({"worker": HOSTS[1:], "chief": HOSTS[:1]}, "chief", 0, 0),
        ({"worker": HOSTS[1:], "chief": HOSTS[:1]}, "worker", 1, 2),
    ],
)
def test_chief_is_rank_0(worker, cluster, kind, index, rank):
    worker(index, cluster, type=kind)
    assert distribution.read_cluster() == (HOSTS, rank)
    assert distribution.is_chief(settings_for(MULTI_WORKER)) == (rank == 0)


@pytest.mark.parametrize(
    "text",
    [
        "{worker}",
        '{"cluster": [], "task": {"type": "worker", "index": 0}}',
        '{"cluster": {"worker": ["a:1"], "ps": ["b:1"]}, "task": {"type": "ps", "index": 0}}',
        '{"cluster": {"worker": ["a:1"]}, "task": null}',
        '{"cluster": {"worker": ["a:1"]}, "task": {"type": "worker", "index": 1}}',
    ],
)
def test_wrong_tf_config_is_refused(monkeypatch, text):
    monkeypatch.setenv("TF_CONFIG", text)
    with pytest.raises(UserError, match="TF_CONFIG"):
        estimators.check_batch_sizes(settings_for(MULTI_WORKER))


@needs_tf_estimator
def test_run_config_does_not_see_the_cluster(worker, tmp_path):
    worker(1)
    config = estimators.run_config(settings_for(f"--output_dir={tmp_path}"))
    assert config.is_chief and config.num_worker_replicas == 1
    assert distribution.read_cluster().rank == 1


# ---------------------------------------------------------------------------------------------
# Flags.


@pytest.mark.parametrize(
    "arguments, named",
    [
        ([MIRRORED[0], "--num_devices=3", "--train_batch_size=32"], "--train_batch_size"),
        ([MULTI_WORKER, "--gradient_accumulation_steps=4", "--train_batch_size=18"], "of 12"),
        (MIRRORED[1:], "--num_devices"),
        ([MULTI_WORKER, *MIRRORED[1:]], "--num_devices"),
        pytest.param(["--use_tpu", MIRRORED[0]], "--use_tpu", marks=needs_tf_estimator),
        (["--worker_patience_seconds=90"], "--worker_patience_seconds"),
        (["--do_train"], "TF_CONFIG.*--distribution_strategy"),  # each would train alone
    ],
)
def test_wrong_flag_is_refused(worker, arguments, named):
    if MIRRORED[0] not in arguments:
        worker()
    with pytest.raises(UserError, match=named):
        estimators.check_batch_sizes(settings_for(*arguments))


def test_tpu_without_tf_estimator_is_refused(monkeypatch):
    monkeypatch.setattr(tf_estimator, "HAS_TF_ESTIMATOR", False)
    with pytest.raises(UserError, match="--use_tpu"):
        estimators.check_batch_sizes(settings_for("--use_tpu"))


def test_padding_of_workers_is_max_on_tensorflow_1(worker):
    worker()
    arguments = ["--task_name=mrpc", "--data_dir=d", "--output_dir=o", "--train_batch_size=6"]
    arguments += ["--albert_hub_module_handle=m", "--padding=max"]
    flags = flags_lib.parse(run_classifier.Flags, [*arguments, MULTI_WORKER])
    estimators.check_batch_sizes(flags)
    refuses = contextlib.ExitStack() if compat.is_tf2() else pytest.raises(UserError)
    with refuses:
        estimators.check_batch_sizes(flags.replace(padding=None))


def test_num_replicas_counts_gpus(monkeypatch, worker):
    gpus = ["a", "b", "c", "d"]
    monkeypatch.setattr(tf.config.experimental, "list_physical_devices", lambda kind: gpus)
    mirrored = settings_for(MIRRORED[0])
    assert distribution.num_replicas(mirrored) == 4
    assert distribution.local_devices(settings_for(*MIRRORED)) == ["/gpu:0", "/gpu:1"]
    with pytest.raises(UserError, match="--num_devices=5"):
        distribution.local_devices(mirrored.replace(num_devices=5))
    worker()
    assert distribution.num_replicas(settings_for(MULTI_WORKER)) == 12


# ---------------------------------------------------------------------------------------------
# What a replica reads and computes.


def test_input_shard_of_worker_has_batch_per_device():
    context = tf.distribute.InputContext(3, 1, 12)
    assert shuffling.input_shard({"input_context": context}) == (1, 3, 4)


def place_among_six_replicas(number):
    """As TensorFlow tells a replica its place: 2.15 counts over all workers, 1.15 does not."""
    extended = types.SimpleNamespace(worker_devices=["/gpu:0", "/gpu:1"])
    return types.SimpleNamespace(
        replica_id_in_sync_group=number,
        num_replicas_in_sync=6,
        strategy=types.SimpleNamespace(extended=extended),
    )


@pytest.mark.parametrize("told, expected", [(0, 4), (1, 5), (4, 4), (5, 5)])
def test_replica_number_counts_over_workers(monkeypatch, worker, told, expected):
    worker(2)
    monkeypatch.setattr(
        tf.distribute, "get_replica_context", lambda: place_among_six_replicas(told)
    )
    with graphs.new_session() as session:
        assert session.run(distribution.replica_number()) == expected


def on_two_replicas(function):
    """Returns what the function returns on each of two parts of the CPU, evaluated."""
    with tf.Graph().as_default():
        strategy = tf.distribute.MirroredStrategy(
            ["/cpu:0", "/cpu:1"], cross_device_ops=tf.distribute.ReductionToOneDevice()
        )
        with strategy.scope():
            tf.train.get_or_create_global_step()
            run = getattr(strategy, "run", None) or strategy.experimental_run_v2
            values = strategy.experimental_local_results(run(function))
        with tf.Session(config=tf.ConfigProto(device_count={"CPU": 2})) as session:
            session.run(tf.global_variables_initializer())
            return session.run(list(values))


def test_dropout_seed_differs_by_replica_and_micro_batch():
    flags = TrainingFlags(seed=3, gradient_accumulation_steps=2)

    def keys():
        return tf.stack([program.dropout_seed(flags, {}, part) for part in range(2)])

    found = on_two_replicas(keys)
    assert len({tuple(key) for keys in found for key in keys}) == 4
    np.testing.assert_array_equal(found, on_two_replicas(keys))


# ---------------------------------------------------------------------------------------------
# Training by the scripts, on two parts of the CPU.


def test_warm_start_reaches_every_device(tmp_path):
    one_weight.save(tmp_path, 0, weight=3.0)

    def read():
        variable = tf.get_variable("weight", [3], initializer=tf.zeros_initializer())
        program.initialize_weights(TrainingFlags(), f"{tmp_path}/model.ckpt-0")
        return tf.identity(variable)

    assert np.array(on_two_replicas(read)).tolist() == [[3.0] * 3] * 2


@pytest.mark.slow
def test_two_devices_fine_tune_as_one(tmp_path, caplog):
    """AdamW; the replicas' inputs differ in length."""
    training_scripts.write_data(tmp_path)
    classification_data.write_config(tmp_path, **classification_data.NO_DROPOUT)
    flags = "--do_train --dropout_prob=0 --warmup_step=0 --padding=bucket --log_steps=1"
    for name, devices in (("one", []), ("two", MIRRORED)):
        with caplog.at_level("INFO", "albert"):
            arguments = " ".join([flags, *devices])
            training_scripts.run("run_race", tmp_path, tmp_path / name, arguments)
        assert ("/cpu:1" in caplog.text) == (name == "two")
    found, expected = (
        one_weight.values_in(tmp_path / name / "model.ckpt-4") for name in ("two", "one")
    )
    assert sorted(found) == sorted(expected)
    # Softmax does not see what is added to all it compares; the gradients of these are rounding,
    # of which AdamW makes steps of any size.
    for name in expected:
        if name != "output_bias" and not name.endswith("key/bias"):
            np.testing.assert_allclose(found[name], expected[name], atol=1e-5, err_msg=name)
    losses = (one_weight.losses_of(tmp_path / name) for name in ("two", "one"))
    np.testing.assert_allclose(*losses, rtol=1e-5)
