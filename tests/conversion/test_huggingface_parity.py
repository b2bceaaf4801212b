# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Converted models compute what transformers computes, in both directions.

`sh tools/environments.sh huggingface` makes the environment that these tests need.
"""

import json
import pathlib
import tempfile
import unicodedata

import numpy as np
import pytest

import albert
from albert import configs, modeling, tokenization
from albert.conversion import huggingface_files
from albert.pretrained import inference, model_vocabulary
from albert.pretraining import vocabulary
from albert.pretraining.settings import VocabularyFlags
from albert.runtimes import compat
from tests.support import (
    conversion_check,
    fine_tuned_models,
    huggingface_models,
    pretrained_models,
)
from tests.support.conversions import convert
from tests.support.huggingface_models import needs_huggingface

# Each test imports PyTorch; test_huggingface.py has quick tests of the same conversions.
pytestmark = [pytest.mark.slow, needs_huggingface]

PARITY = 1e-5

ENCODER = {"sequence_output", "pooled_output"}
# Class of transformers -> outputs that are compared, flags of the way back.
CLASSES = {
    "AlbertModel": (ENCODER,),
    "AlbertForMaskedLM": ({"sequence_output", "mlm_logits"},),  # it has no pooler
    "AlbertForPreTraining": (ENCODER | {"mlm_logits", "sop_logits"},),
    "AlbertForSequenceClassification": (ENCODER | {"logits"},),
    "AlbertForMultipleChoice": (ENCODER | {"logits"}, "--head=multiple_choice"),
    "AlbertForQuestionAnswering": ({"sequence_output", "start_logits", "end_logits"},),
    "AlbertForTokenClassification": ({"sequence_output", "logits"},),
}
PRETRAINING = "AlbertForPreTraining"

# They take long, and what differs between the runtimes is tested without transformers.
once = pytest.mark.skipif(not compat.is_tf2(), reason="run on TensorFlow 2 only, to save time")


def check(ours, theirs, outputs):
    """These outputs of a model of ours and one of theirs are the same within PARITY."""
    batch = conversion_check.random_batch(conversion_check.config_in(ours))
    with tempfile.TemporaryDirectory() as scratch:
        found = conversion_check.huggingface_outputs(theirs, batch, pathlib.Path(scratch))
    differences = conversion_check.largest_differences(
        found, conversion_check.our_outputs(ours, batch)
    )
    assert set(differences) == outputs
    assert max(differences.values()) < PARITY


@pytest.fixture(scope="module")
def theirs(tmp_path_factory):
    """Models that transformers made and saved: small ones by class, and one of base size."""
    folder = tmp_path_factory.mktemp("theirs")
    config = modeling.AlbertConfig.from_json_file(configs.preset_path("albert_base_v2"))
    sizes = {key: getattr(config, key) for key in huggingface_models.CONFIG}
    describe = huggingface_models.description
    huggingface_models.make(
        describe(folder / "base", PRETRAINING, scale=0.05, **sizes),
        *(describe(folder / name, name) for name in CLASSES),
    )
    return folder


@pytest.mark.parametrize("name", ["base", *(pytest.param(name, marks=once) for name in CLASSES)])
def test_conversion_keeps_outputs_both_ways(name, theirs, tmp_path):
    outputs, *flags = CLASSES.get(name, CLASSES[PRETRAINING])
    ours, back = tmp_path / "ours", tmp_path / "back"
    convert("from_huggingface", theirs / name, ours)
    check(ours, theirs / name, outputs)
    convert("to_huggingface", ours, back, *flags)
    check(ours, back, outputs)


_PIPELINES = """
import json, sys, torch, transformers
classifier, pretrained, first, second, masked = sys.argv[1:]
classify = transformers.pipeline("text-classification", classifier, top_k=None)
answers = classify({"text": first, "text_pair": second})
fill = transformers.pipeline("fill-mask", pretrained, top_k=5)
tokens = transformers.AutoTokenizer.from_pretrained(pretrained)(first, second, return_tensors="pt")
with torch.no_grad():
    vector = transformers.AutoModel.from_pretrained(pretrained)(**tokens).pooler_output[0].tolist()
print(json.dumps([{item["label"]: item["score"] for item in answers},
                  [item["score"] for item in fill(masked)], vector]))
"""


@once
@pytest.mark.parametrize(
    "environment",
    ["huggingface", pytest.param("huggingface4", marks=huggingface_models.needs("huggingface4"))],
)
def test_pipelines_answer_as_ours(environment, tmp_path):
    classifier = fine_tuned_models.write_classifier(tmp_path / "classifier")
    pretrained = pretrained_models.write_archive(tmp_path / "pretrained")
    folders = [tmp_path / f"their_{name}" for name in ("classifier", "pretrained")]
    for source, target in zip((classifier, pretrained), folders):
        convert("to_huggingface", source, target)
    pair, masked = ("the old man went home", "a bird and a dog"), "the old [MASK] went home"
    printed = huggingface_models.run(
        _PIPELINES, *map(str, folders), *pair, masked, environment=environment
    )
    shares, best, vector = json.loads(printed.splitlines()[-1])
    with albert.load(classifier) as model:
        assert shares == pytest.approx(model.predict([pair])[0].probabilities, abs=1e-5)
    with albert.load(pretrained) as model:
        np.testing.assert_allclose(vector, model.embed([pair])[0], atol=1e-5)
    with inference.MaskFiller(inference.find_source(albert_dir=str(pretrained))) as model:
        proposals = model.fill([masked])[0][0]
    assert best == pytest.approx([one.probability for one in proposals], abs=1e-5)


# ---- text to ids ----

_TOKENIZE = """
import json, pathlib, sys, transformers
texts = json.loads(pathlib.Path(sys.argv[2]).read_text(encoding="utf-8"))
tokenizer = transformers.AutoTokenizer.from_pretrained(sys.argv[1])
print(json.dumps([tokenizer(text)["input_ids"] for text in texts]))
"""


def their_ids(folder, texts, environment="huggingface"):
    """What their tokenizer makes of texts."""
    path = pathlib.Path(str(folder)) / "texts.json"
    path.write_text(json.dumps(texts), encoding="utf-8")
    printed = huggingface_models.run(_TOKENIZE, str(folder), str(path), environment=environment)
    return json.loads(printed.splitlines()[-1])


@pytest.mark.parametrize("wordpiece", [False, True])
def test_tokenizer_gives_our_ids(wordpiece, tmp_path):
    source = pretrained_models.write_archive(
        tmp_path / "ours", wordpiece=wordpiece, vocab_size=257 if wordpiece else 400
    )
    convert("to_huggingface", source, tmp_path / "theirs")
    texts = ["The old man went home.", '  Once there was a King\'s - "bird" (small), (9-10)!']
    tokenizer = tokenization.FullTokenizer(
        str(pretrained_models.WORDPIECES) if wordpiece else None,
        True,
        None if wordpiece else str(pretrained_models.VOCABULARY),
    )
    first, last = tokenizer.required_ids(["[CLS]", "[SEP]"])
    pieces = [tokenizer.tokenize_text(text) for text in texts]
    ours = [[first, *tokenizer.convert_tokens_to_ids(item), last] for item in pieces]
    assert their_ids(tmp_path / "theirs", texts) == ours


_FROM_FILE = """
import json, sys, tokenizers
tokenizer = tokenizers.Tokenizer.from_file(sys.argv[1] + "/tokenizer.json")
print(json.dumps([tokenizer.encode(text).ids for text in sys.argv[2:]]))
"""


@pytest.mark.parametrize(
    "environment",
    ["huggingface", pytest.param("huggingface4", marks=huggingface_models.needs("huggingface4"))],
)
def test_tokenizer_keeps_accents_as_ours(environment, tmp_path):
    vietnamese = "Má tôi trồng mạ, mà ma\u0301 nói: “Đừng sợ ma”!  TIẾNG VIỆT\n"
    text = tmp_path / "text.txt"
    text.write_text(vietnamese * 3, encoding="utf-8")
    flags = VocabularyFlags(str(text), f"{tmp_path}/mine", 41, keep_accents=True)
    model = vocabulary.train(flags).model_file
    huggingface_files.write_vocabulary(
        str(tmp_path), model_vocabulary.Vocabulary("spm_model_file", model, True), 64
    )
    (tmp_path / "config.json").write_text(json.dumps({"model_type": "albert"}))
    texts = [vietnamese, unicodedata.normalize("NFD", vietnamese), "Ma mà MẠ İ ﬁ é"]
    tokenizer = tokenization.FullTokenizer(None, True, model)
    ours = [[2, *ids, 3] for ids in tokenizer.encode_ids_batch(texts)]
    arguments = (_FROM_FILE, str(tmp_path), *texts)
    theirs = huggingface_models.run(*arguments, environment=environment).splitlines()[-1]
    assert json.loads(theirs) == ours
    # transformers 5 loses second marks of decomposed letters: it has normalizers of its own.
    step = 2 if environment == "huggingface" else 1
    assert their_ids(tmp_path, texts[::step], environment) == ours[::step]
