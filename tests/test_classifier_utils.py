# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""The names for classification that programs rely on; test_golden_heads.py has their outputs."""

import pytest
import tensorflow.compat.v1 as tf

from albert import classifier_utils, fine_tuning_utils, modeling
from albert.tasks.classification import registry
from tests.support import classification_data as data


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


def test_encoder_needs_a_configuration_or_a_module():
    with pytest.raises(ValueError):
        fine_tuning_utils.Encoder(None, False)


def test_processors_prepare_texts(tmp_path):
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
    assert list(classifier_utils.PROCESSORS) == list(registry.TASKS)
    for name, processor in classifier_utils.PROCESSORS.items():
        assert getattr(classifier_utils, processor.__name__) is processor
        labels = list(registry.get_task(name).labels) or [None]
        assert processor(True, True).get_labels() == labels
