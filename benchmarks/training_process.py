# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""A process that makes a few updates of a training run, and prints its memory and time.

    python benchmarks/training_process.py '{"config": "albert_base_v2", "task": "classification",
        "batch": 32, "length": 128}'

The graph is that of the scripts, with a batch of random full sequences; the output is a line of
JSON. Other benchmarks start it once per run, because the peak memory is that of a whole process.
"""

import json
import os
import subprocess
import sys
import time

import numpy as np

# What a run may name, with the defaults.
DEFAULTS = {
    "config": None,  # a preset or a path
    "task": "classification",
    "batch": None,
    "length": None,
    "precision": "float32",
    "recompute": False,
    "accumulation": 1,
    "predictions": 20,
    "updates": 2,
}


def start(python, run, *, nice=0, timeout=None):
    """Makes the run in a process of the Python; returns what it tells, with "error" if it fails."""
    root = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    environment = dict(os.environ, TF_CPP_MIN_LOG_LEVEL="3")
    environment["PYTHONPATH"] = root + os.pathsep + environment.get("PYTHONPATH", "")
    command = ["nice", "-n", str(nice), python, os.path.abspath(__file__), json.dumps(run)]
    ended = subprocess.run(
        command,
        env=environment,
        capture_output=True,
        text=True,
        timeout=timeout,
    )
    if ended.returncode:
        return {"error": ended.stderr.strip().splitlines()[-1:] or [str(ended.returncode)]}
    return json.loads(ended.stdout.splitlines()[-1])


def features_of(run, vocab_size):
    """A batch as numpy arrays, by name; of every task's features."""
    batch, length, predictions = run["batch"], run["length"], run["predictions"]
    random = np.random.RandomState(0)
    shape = [batch, 4, length] if run["task"] == "race" else [batch, length]
    ids = random.randint(5, vocab_size, shape).astype(np.int32)
    features = {"input_ids": ids, "input_mask": np.ones_like(ids), "segment_ids": 0 * ids}
    positions = random.randint(0, length, [batch, predictions]).astype(np.int32)
    words = random.randint(5, vocab_size, [batch, predictions]).astype(np.int32)
    zeros = np.zeros([batch], np.int32)
    return dict(
        features,
        masked_lm_positions=positions,
        masked_lm_ids=words,
        masked_lm_weights=np.ones([batch, predictions], np.float32),
        next_sentence_labels=zeros[:, np.newaxis],
        label_ids=np.arange(batch, dtype=np.int32) % 2,
        start_positions=zeros + 1,
        end_positions=zeros + 2,
        p_mask=np.zeros([batch, length], np.float32),
        is_impossible=zeros,
    )


def model_fn_of(run, config):
    """The model function that the task's script trains with."""
    from albert import classifier_utils, race_utils
    from albert.configs.flags import FineTuningFlags
    from albert.pretraining import model
    from albert.pretraining.settings import PretrainingFlags
    from albert.squad import heads
    from albert.training import model_fn

    settings = {
        "learning_rate": 1e-5,
        "precision": run["precision"],
        "recompute": run["recompute"],
        "gradient_accumulation_steps": run["accumulation"],
        "seed": 1,
    }
    if run["task"] == "pretraining":
        return model.build_model_fn(PretrainingFlags(num_train_steps=1000, **settings), config)
    head = {
        "classification": lambda: classifier_utils.classification_head(2, False),
        "squad_v1": lambda: heads.v1_head,
        "squad_v2": lambda: heads.v2_head(heads.BeamSize(), 0.1),
        "race": lambda: race_utils.choice_head(0.1),
    }[run["task"]]()
    schedule = model_fn.Schedule(1000, 10)
    return model_fn.build_model_fn(FineTuningFlags(**settings), config, head, schedule=schedule)


def config_of(name):
    """The configuration of a preset or a file."""
    from albert import configs, modeling

    path = name if name.endswith(".json") else configs.preset_path(name)
    return modeling.AlbertConfig.from_json_file(path)


def make_updates(run):
    """Builds the graph and makes the updates."""
    import tensorflow.compat.v1 as tf

    from albert.runtimes import compat
    from albert.util import progress

    tf.logging.set_verbosity(tf.logging.ERROR)
    config = config_of(run["config"])
    batch = features_of(run, config.vocab_size)
    with tf.Graph().as_default():
        tf.set_random_seed(1)
        features = {name: tf.placeholder(value.dtype, value.shape) for name, value in batch.items()}
        feed = {features[name]: value for name, value in batch.items()}
        spec = model_fn_of(run, config)(features, None, "train", {})
        with tf.Session(config=compat.session_config()) as session:
            session.run(tf.global_variables_initializer())
            seconds, processor_seconds = [], []
            for _ in range(run["updates"]):
                begin, processor_begin = time.perf_counter(), time.process_time()
                _, loss = session.run([spec.train_op, spec.loss], feed)
                seconds.append(time.perf_counter() - begin)
                processor_seconds.append(time.process_time() - processor_begin)
            peak = progress.peak_memory()
    return {
        "tensorflow": tf.__version__,
        "peak_memory": peak,
        "seconds": seconds,
        "processor_seconds": processor_seconds,
        "loss": float(loss),
    }


if __name__ == "__main__":
    print(json.dumps(make_updates(dict(DEFAULTS, **json.loads(sys.argv[1])))))
