# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""The three changes: their numbers, the pairs of both tasks, and what a model says of them."""

import numpy as np
import pytest

from albert import configs, tokenization
from albert.commands import show_changes
from albert.configs import model_config
from albert.util import UserError
from albert.util import flags as flags_lib
from tests.support import pretrained_models


def shown(*arguments):
    return show_changes.changes(flags_lib.parse(show_changes.Flags, arguments))


def config_of(name):
    return model_config.AlbertConfig.from_json_file(configs.preset_path(name))


def test_changes_have_the_published_numbers():
    xxlarge = config_of("albert_xxlarge_v2")
    assert show_changes.embedding_parameters(xxlarge) == (122_880_000, 4_364_288)
    # BERT-base of V=30000: 85,054,464 in its layers, 12 times those of ALBERT-base.
    bert = model_config.parameter_counts(show_changes.bert_like(config_of("albert_base_v2")))
    assert bert["encoder"] == 85_054_464
    # V * E: no matrix widens them.
    assert bert["embeddings"] == (30000 + 2 + 512 + 2) * 768
    text = shown("--name=xxlarge_v2")
    assert all(number in text for number in ("4,364,288", "28.2", "2,416,558,080", "201,379,840"))


def test_changes_on_given_sentences():
    assert "Martha" in shown() and "玛 莎" in shown("--language=zh")
    text = shown("--text_a=He left.", "--text_b=It rains.")
    assert "segment 0  [CLS] He left . [SEP]\n       segment 1  It rains . [SEP]" in text
    assert "segment 0  [CLS] It rains . [SEP]\n       segment 1  He left . [SEP]" in text


@pytest.mark.parametrize(
    "arguments, named",
    [
        (["--name=base_v9"], "base_v9"),
        (["--name=base_v2", "--albert_dir=base_v2"], "--albert_dir"),
        (["--text_a=He left."], "--text_b"),
        (["--albert_dir=/nowhere"], "/nowhere"),
    ],
)
def test_changes_name_a_wrong_flag(arguments, named):
    with pytest.raises(UserError, match=named):
        shown(*arguments)


@pytest.mark.slow
def test_changes_with_a_model(tmp_path):
    folder = pretrained_models.write_archive(tmp_path / "model")
    text = shown(f"--albert_dir={folder}", "--text_a=The King", "--text_b=went home")
    tokenizer = tokenization.FullTokenizer(None, spm_model_file=str(pretrained_models.VOCABULARY))
    assert f"[CLS] {' '.join(tokenizer.tokenize('the king'))} [SEP]" in text
    for texts in (("the king", "went home"), ("went home", "the king")):
        batch = pretrained_models.batch_of(tokenizer, *texts)
        share = np.exp(pretrained_models.outputs(folder, batch)["sop_log_probs"][0, 0])
        assert f"{share:.1%} in order" in text
