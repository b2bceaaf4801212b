# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""The classification head against the reference's outputs, and the names programs rely on."""

import pytest
import tensorflow.compat.v1 as tf

from albert import classifier_utils, modeling
from albert.classification import tasks
from tests.support import classification_data as data
from tests.support import golden_heads
from tests.support.shared import needs_shared

GOLDEN = (("cls3", "mnli", 3), ("cls2", "mrpc", 2), ("cls2_cola", "cola", 2), ("stsb", "STS-B", 1))


@needs_shared
@pytest.mark.parametrize("name,task,labels", GOLDEN)
def test_create_model_equals_the_reference(name, task, labels):
    config = golden_heads.config()
    golden_heads.check_outputs(
        name,
        lambda inputs: classifier_utils.create_model(
            config, False, *inputs, labels, False, task, None
        ),
    )


@pytest.mark.slow
@needs_shared
@pytest.mark.parametrize("name,task,labels", GOLDEN)
def test_model_fn_metrics_equal_the_reference(name, task, labels):
    arrays = golden_heads.arrays(name)
    keys = (*golden_heads.INPUTS, "is_real_example")
    batches = [{key: arrays[key][rows] for key in keys} for rows in (slice(0, 8), slice(8, 16))]
    checkpoint = golden_heads.checkpoint(name)
    model_fn = classifier_utils.model_fn_builder(
        golden_heads.config(), labels, checkpoint, 1e-3, 10, 0, False, False, task
    )
    measured = golden_heads.measured(model_fn, batches)
    for key, value in golden_heads.expected_metrics(name).items():
        assert measured[key] == pytest.approx(value, abs=1e-4), key


def test_create_model_preln_without_labels():
    config = modeling.AlbertConfig.from_dict(dict(data.CONFIG, ln_type="preln"))
    with tf.Graph().as_default():
        ids = tf.zeros([1, 8], tf.int32)
        outputs = classifier_utils.create_model(
            config, False, ids, ids, ids, None, 2, False, "my own", None
        )
        names = {variable.op.name for variable in tf.trainable_variables()}
    assert {"loss/LayerNorm/beta", "loss/LayerNorm/gamma", "output_weights"} <= names
    assert outputs[:2] == (None, None)


def test_processors_prepare_texts_and_fill_unknown_labels(tmp_path):
    for folder, text in (
        ("SST-2", "index\tsentence\n0\tA  Café \n"),
        ("RTE", "index\tsentence1\tsentence2\n0\tA two.\tB two.\n"),
    ):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "test.tsv").write_text(text, encoding="utf-8")
    processor = classifier_utils.Sst2Processor(use_spm=True, do_lower_case=True)
    (example,) = processor.get_test_examples(str(tmp_path))
    assert (example.text_a, example.text_b, example.label) == ("a cafe", None, "0")
    (pair,) = classifier_utils.RteProcessor(True, True).get_test_examples(str(tmp_path))
    assert (pair.text_b, pair.label) == ("b two.", "entailment")


def test_processors_cover_every_task():
    assert list(classifier_utils.PROCESSORS) == list(tasks.TASKS)
    for name, processor in classifier_utils.PROCESSORS.items():
        assert getattr(classifier_utils, processor.__name__) is processor
        labels = list(tasks.get_task(name).labels) or [None]
        assert processor(True, True).get_labels() == labels
