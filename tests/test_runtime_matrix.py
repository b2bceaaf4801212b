# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""What this runtime writes, each other reads: checkpoints, records, SavedModels, modules.

A process takes seconds to start, so that one of each other runtime reads everything.
"""

import json
import pathlib

import numpy as np
import pytest

from albert.configs.shared_flags import EncoderFlags
from albert.formats import exported as programs
from albert.models import pretrained
from albert.tasks.squad import task as squad_task
from albert.util import flags as flags_lib
from tests.support import (
    classification_data,
    conversions,
    fine_tuned_models,
    hub_modules,
    other_runtime,
    pretrained_models,
    read_json,
    training_scripts,
)
from tests.support.recorded import assert_close, assert_equal

pytestmark = pytest.mark.slow

TEXTS = ["the old man went home .", ("a bird", "and a dog")]


# ---- written here --------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """What this runtime writes."""
    folder = tmp_path_factory.mktemp("written")
    # A rate at which the graph has its dropout and no number is dropped.
    archive = pretrained_models.write_archive(folder / "archive", hidden_dropout_prob=1e-6)
    for name in ("tf1", "tf2"):
        hub_modules.export(archive, folder / f"module_{name}", f"--format={name}")
    conversions.convert("to_huggingface", archive, folder / "huggingface")
    train_squad(folder)
    return folder


def train_squad(folder):
    training_scripts.write_data(folder)
    classification_data.write_config(folder, **classification_data.NO_DROPOUT)
    outcome = answer(folder, folder / "squad", f"--do_train --export_dir={folder}/exported")
    pathlib.Path(outcome.export).rename(folder / "exported" / "squad")


def answer(folder, output, flags):
    return training_scripts.run("run_squad_v1", folder, output, f"--do_predict {flags}")


# ---- read anywhere -------------------------------------------------------------------------------


def embed(flag):
    """Vectors of the model that a flag names."""
    encoder = pretrained.find_model(flags_lib.parse(EncoderFlags, [flag, "--max_seq_length=24"]))
    with pretrained.Embedder(encoder, pooling="mean") as model:
        return model.embed(TEXTS)


def answer_again(folder, name):
    """Evaluates again, with features in a file of this name; gives metrics and answers."""
    folder = pathlib.Path(folder)
    features = f"--predict_feature_file={folder}/{name}.tf_record"
    outcome = answer(folder, folder / name, f"--checkpoint={folder}/squad {features}")
    return [outcome.metrics, read_json(outcome.predictions[0])]


def read_everything(folder, name, is_lite_read):
    """Everything, as JSON, in the other runtime; features and answers are written by `name`."""
    batch, module, exported = hub_modules.BATCH, f"{folder}/module_tf1", f"{folder}/exported"
    conversions.convert("from_huggingface", f"{folder}/huggingface", f"{folder}/back_{name}")
    serve, answers = fine_tuned_models.serve, pretrained_models.inputs(32, 1)
    found = {
        "checkpoint": pretrained_models.outputs(f"{folder}/archive", batch),
        "signatures": [hub_modules.call(module, *item) for item in hub_modules.SIGNATURES.items()],
        "hub.Module": hub_modules.call_by_hub_module(module) if hub_modules.HAS_HUB_MODULE else {},
        "vectors": embed(f"--albert_hub_module_handle={module}"),
        "loaded": hub_modules.call_loaded(f"{folder}/module_tf2"),
        "answers": answer_again(folder, name),
        "squad": serve(f"{exported}/squad", "ids", answers)["start_logits"],
    }
    if is_lite_read:
        program = programs.open_program(f"{exported}/{squad_task.TFLITE_NAME}")
        found["lite"] = program.run(answers)["start_logits"]
    return json.loads(json.dumps(found, default=lambda array: array.tolist()))


@pytest.fixture(scope="module", params=other_runtime.OTHERS)
def found(request, folder):
    """What another runtime reads, and its name."""
    # An older interpreter may not know a newer converter.
    is_lite_read = other_runtime.HERE == "tf1" or request.param == other_runtime.NEWEST
    values = other_runtime.evaluate(
        request.param,
        f"test.read_everything(sys.argv[2], {request.param!r}, {is_lite_read})",
        "test_runtime_matrix",
        str(folder),
    )
    return dict(values, name=request.param)


# ---- compared ------------------------------------------------------------------------------------


def test_checkpoint_gives_same_outputs_elsewhere(folder, found):
    expected = pretrained_models.outputs(f"{folder}/archive", hub_modules.BATCH)
    assert set(found["checkpoint"]) == set(expected)
    assert_close(found["checkpoint"], expected)


def test_module_is_read_and_trained_elsewhere(folder, found):
    expected = pretrained_models.outputs(f"{folder}/archive", hub_modules.BATCH)
    assert bool(found["hub.Module"]) == (found["name"] != other_runtime.NEWEST)
    for outputs in [*found["signatures"], *found["hub.Module"].values(), *found["loaded"]]:
        assert_close(outputs, expected)
    vectors = embed(f"--albert_dir={folder}/archive")
    np.testing.assert_allclose(found["vectors"], vectors, atol=1e-5)


def test_conversion_comes_back_from_elsewhere(folder, found):
    before = conversions.values_in(folder / "archive")
    after = conversions.values_in(folder / f"back_{found['name']}")
    assert set(before) == set(after)
    assert_equal(before, after)


def test_squad_model_gives_same_answers_elsewhere(folder, found):
    here = answer_again(folder, "here")
    assert found["answers"][0] == pytest.approx(here[0])
    written = read_json(folder / "squad" / "predictions.json")
    assert found["answers"][1] == here[1] == written
    exported = f"{folder}/exported/squad"
    batch = pretrained_models.inputs(32, 1)
    expected = fine_tuned_models.serve(exported, "ids", batch)["start_logits"]
    np.testing.assert_allclose(found["squad"], expected, atol=1e-5)
    if "lite" in found:
        np.testing.assert_allclose(found["lite"], expected, atol=1e-4)
    # The records written there are current here.
    written = folder / f"{found['name']}.tf_record"
    before = written.stat().st_mtime_ns
    answer_again(folder, found["name"])
    assert written.stat().st_mtime_ns == before
