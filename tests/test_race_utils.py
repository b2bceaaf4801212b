# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""The head of multiple choice against the reference's outputs, and the names programs rely on."""

import pytest

from albert import race_utils
from albert.race import model
from tests.support import golden_heads
from tests.support.shared import needs_shared


@needs_shared
def test_create_model_equals_the_reference():
    config = golden_heads.config()
    golden_heads.check_outputs(
        "race",
        lambda inputs: race_utils.create_model(
            config, False, *inputs, 4, False, 32, dropout_prob=0.0, hub_module=None
        ),
    )


@needs_shared
@pytest.mark.parametrize("shape", [[5, 4 * 32], [5, 4, 32]])
def test_model_fn_metrics_equal_the_reference(shape):
    arrays = golden_heads.arrays("race")
    batch = {key: arrays[key].reshape(shape) for key in model.SEQUENCES}
    batch.update({key: arrays[key] for key in ("label_ids", "is_real_example")})
    checkpoint = golden_heads.checkpoint("race")
    model_fn = race_utils.model_fn_builder(
        golden_heads.config(), 4, checkpoint, 1e-3, 10, 0, False, False, 32, 0.0, None
    )
    measured = golden_heads.measured(model_fn, [batch])
    assert measured == pytest.approx(golden_heads.expected_metrics("race"), abs=1e-4)


def test_processor_prepares_texts_for_the_tokenizer(tmp_path):
    text = (
        '{"article": "Caf\\u00e9  noir", "questions": ["Is  it _ ?"], '
        '"options": [["A", "B", "C", "D"]], "answers": ["C"]}'
    )
    (tmp_path / "train" / "high").mkdir(parents=True)
    (tmp_path / "train" / "high" / "1.txt").write_text(text, encoding="utf-8")
    for use_spm, expected in (
        (True, "cafe noir, is it c ?"),
        (False, "Caf\u00e9  noir, Is  it C ?"),
    ):
        processor = race_utils.RaceProcessor(use_spm, True, True, False)
        (example,) = processor.get_train_examples(str(tmp_path))
        assert f"{example.context_sentence}, {example.endings[2]}" == expected
        assert (example.example_id, example.label) == ("high1.txt", 2)
    assert processor.get_labels() == ["A", "B", "C", "D"]
