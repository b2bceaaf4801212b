# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Converted models compute what transformers computes, in both directions.

`sh tools/environments.sh huggingface` makes the environment that these tests need.
"""

import io
import itertools
import json
import os
import pathlib
import re
import tempfile
import unicodedata

import numpy as np
import pytest
import sentencepiece

import albert
from albert import configs, modeling, tokenization
from albert.formats import huggingface, huggingface_tokenizer, model_vocabulary
from albert.formats.flags import ConversionFlags
from albert.models import pretrained
from albert.models.inference import InferenceModel
from albert.runtimes import compat
from albert.util import UserError
from albert.util import flags as flags_lib
from tests.support import (
    conversion_check,
    fine_tuned_models,
    huggingface_models,
    pretrained_models,
    write_json,
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
SWITCH = (True, False)
ENVIRONMENTS = [
    "huggingface",
    pytest.param("huggingface4", marks=huggingface_models.needs("huggingface4")),
]

# They take long, and what differs between the runtimes is tested without transformers.
once = pytest.mark.skipif(not compat.is_tf2(), reason="run on TensorFlow 2 only, to save time")


def assert_same_outputs(ours, theirs, outputs):
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
    small = dict(huggingface_models.CONFIG, scale=0.4)
    models = {name: dict(small, architecture=name) for name in CLASSES}
    models["base"] = dict(sizes, scale=0.05, architecture=PRETRAINING)
    huggingface_models.make(folder, models)
    return folder


@pytest.mark.parametrize("name", ["base", *(pytest.param(name, marks=once) for name in CLASSES)])
def test_conversion_keeps_outputs_both_ways(name, theirs, tmp_path):
    outputs, *flags = CLASSES.get(name, CLASSES[PRETRAINING])
    ours, back = tmp_path / "ours", tmp_path / "back"
    convert("from_huggingface", theirs / name, ours)
    assert_same_outputs(ours, theirs / name, outputs)
    convert("to_huggingface", ours, back, *flags)
    assert_same_outputs(ours, back, outputs)


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
@pytest.mark.parametrize("environment", ENVIRONMENTS)
def test_pipelines_answer_as_ours(environment, tmp_path):
    classifier = fine_tuned_models.write_classifier(tmp_path / "classifier")
    encoder = pretrained_models.write_archive(tmp_path / "pretrained")
    folders = [tmp_path / f"their_{name}" for name in ("classifier", "pretrained")]
    for source, target in zip((classifier, encoder), folders):
        convert("to_huggingface", source, target)
    pair, masked = ("the old man went home", "a bird and a dog"), "the old [MASK] went home"
    printed = huggingface_models.run(
        _PIPELINES, *map(str, folders), *pair, masked, environment=environment
    )
    shares, best, vector = json.loads(printed.splitlines()[-1])
    with albert.load(classifier) as model:
        assert shares == pytest.approx(model.predict([pair])[0].probabilities, abs=1e-5)
    with albert.load(encoder) as model:
        np.testing.assert_allclose(vector, model.embed([pair])[0], atol=1e-5)
    task = pretrained.MaskTask(pretrained.find_model(albert_dir=encoder))
    with InferenceModel(task, task.model.checkpoint) as model:
        proposals = model.predict([masked])[0][0]
    assert best == pytest.approx([one.probability for one in proposals], abs=1e-5)


# ---- text to ids ----

LINES = (pretrained_models.VOCABULARY.parent / "languages.txt").read_text(encoding="utf-8")
LINES = LINES.rstrip("\n").split("\n")
# Kinds of SentencePiece models -> options of the trainer.
KINDS = {
    "usual": {},
    "keeps accents": {},
    "byte fallback": {"byte_fallback": True, "character_coverage": 0.98, "vocab_size": 1000},
    "characters": {"model_type": "char"},
    "not normalised": {"normalization_rule_name": "identity"},
    "nfkc": {"normalization_rule_name": "nfkc"},
    "case folding": {"normalization_rule_name": "nmt_nfkc_cf"},
    "extra spaces": {"remove_extra_whitespaces": False},
    "symbols": {"user_defined_symbols": ["<sep>", "o'clock", "é", "Viktor", "मे", "ﬁ", "12"]},
}
# The same of those that tokenizer.json cannot describe, and what names the reason.
REFUSED_KINDS = {
    "model_type": {"model_type": "bpe"},
    "model_type is .WORD": {"model_type": "word", "hard_vocab_limit": False},
    "split_by_whitespace": {"split_by_whitespace": False},
    "treat_whitespace_as_suffix": {"treat_whitespace_as_suffix": True},
    "add_dummy_prefix": {"add_dummy_prefix": False},
    "CLS": {"control_symbols": []},
}


def in_all_forms(lines):
    """Each line as it is, and changed in nine ways."""
    texts = []
    for line, following in zip(lines, lines[1:] + lines[:1]):
        texts += [line, line.upper(), line.title(), f"({line}) {following}"]
        texts += [unicodedata.normalize(form, line) for form in ("NFC", "NFD", "NFKC")]
        texts += [f" \t{line}\u3000".replace(" ", "  "), f"In 1999, {line} 7,5,"]
        texts.append(" ".join(reversed(line.split())))
    return texts


def train(path, *, keep_accents=False, **options):
    """Trains a small SentencePiece model on the lines, and returns its vocabulary."""
    content, prepare = io.BytesIO(), tokenization.preprocess_text
    flags = {
        "vocab_size": 830,
        "pad_id": 0,
        "unk_id": 1,
        "bos_id": -1,
        "eos_id": -1,
        "control_symbols": ["[CLS]", "[SEP]", "[MASK]"],
        "user_defined_symbols": ["(", ")", '"', "-", "."],
        "minloglevel": 2,
        **options,
    }
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(3 * [prepare(line, True, True, keep_accents) for line in LINES]),
        model_writer=content,
        **flags,
    )
    path.write_bytes(tokenization.with_keep_accents(content.getvalue(), keep_accents))
    return model_vocabulary.Vocabulary("spm_model_file", str(path), True)


def our_ids(vocabulary, texts):
    paths = {vocabulary.key: vocabulary.path}
    tokenizer = tokenization.FullTokenizer(
        paths.get("vocab_file"), vocabulary.do_lower_case, paths.get("spm_model_file")
    )
    first, last = tokenizer.required_ids(["[CLS]", "[SEP]"])
    return [[first, *ids, last] for ids in tokenizer.encode_ids_batch(texts)]


_TOKENIZE = """
import json, pathlib, sys, transformers
is_fast = sys.argv[1] == "fast"
texts = json.loads(pathlib.Path(sys.argv[2]).read_text(encoding="utf-8"))
for folder in sys.argv[3:]:
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder, use_fast=is_fast)
    print(json.dumps([tokenizer(text)["input_ids"] for text in texts]))
"""


def their_ids(folders, texts, environment, kind="fast"):
    """What their tokenizers make of texts, by folder."""
    path = pathlib.Path(folders[0]).parent / "texts.json"
    write_json(path, texts)
    for folder in folders:
        write_json(folder / "config.json", {"model_type": "albert"})
    printed = huggingface_models.run(
        _TOKENIZE, kind, str(path), *map(str, folders), environment=environment
    )
    return list(map(json.loads, printed.splitlines()[-len(folders) :]))


def assert_same_ids(ours, theirs, texts):
    assert [text for text, one, other in zip(texts, ours, theirs) if one != other] == []


@once
@pytest.mark.parametrize("environment", ENVIRONMENTS)
def test_written_tokenizers_give_our_ids(environment, tmp_path):
    vocabularies = {
        name: train(tmp_path / f"{name}.model", keep_accents=name == "keeps accents", **options)
        for name, options in KINDS.items()
    }
    vocabularies["cased"] = vocabularies["usual"]._replace(do_lower_case=False)
    greek, path = "\nο\n##δ\n##ο\n##ς", tmp_path / "vocab.txt"
    path.write_text(pretrained_models.WORDPIECES.read_text("utf-8").rstrip() + greek, "utf-8")
    for lower in (True, False):
        vocabulary = model_vocabulary.Vocabulary("vocab_file", str(path), lower)
        vocabularies[f"WordPiece {lower}"] = vocabulary
    texts, folders = [*in_all_forms(LINES), "the\ue000 ΟΔΟΣ"], []
    for name, vocabulary in vocabularies.items():
        folders.append(tmp_path / name)
        folders[-1].mkdir()
        kind = "" if name == "usual" else huggingface.ONNX_TOKENIZER
        huggingface_tokenizer.write_vocabulary(
            str(folders[-1]), vocabulary, 64, tokenizer_class=kind
        )
    for vocabulary, theirs in zip(vocabularies.values(), their_ids(folders, texts, environment)):
        assert_same_ids(our_ids(vocabulary, texts), theirs, texts)


@once
@pytest.mark.parametrize("named", REFUSED_KINDS)
def test_tokenizer_that_they_cannot_have_is_refused(named, tmp_path):
    vocabulary = train(tmp_path / "kind.model", **REFUSED_KINDS[named])
    with pytest.raises(UserError, match=named):
        huggingface_tokenizer.write_vocabulary(str(tmp_path), vocabulary, 64)
    assert os.listdir(tmp_path) == ["kind.model"]


_SAVE = """
import json, sys, transformers
for kind, options, source, target in json.loads(sys.argv[1]):
    getattr(transformers, kind).from_pretrained(source, **options).save_pretrained(target)
"""


def our_vocabulary_for(folder, *arguments):
    """Our vocabulary for a folder of theirs; UserError where ids would differ."""
    arguments = [
        f"--input_dir={folder}",
        "--direction=from_huggingface",
        "--output_dir=new",
        *arguments,
    ]
    flags = flags_lib.parse(ConversionFlags, arguments)
    vocabulary, keep_accents = huggingface_tokenizer.read_vocabulary(flags)
    if not keep_accents:
        return vocabulary
    path = folder / "keeps_accents.model"
    content = pathlib.Path(vocabulary.path).read_bytes()
    path.write_bytes(tokenization.with_keep_accents(content, True))
    return vocabulary._replace(path=str(path))


@once
@pytest.mark.parametrize("environment", ENVIRONMENTS)
def test_read_tokenizers_give_their_ids(environment, tmp_path):
    """Of ALBERT: those of transformers 4 in Python; of transformers 5, on Latin letters."""
    is_4 = environment == "huggingface4"
    source, wordpieces = tmp_path / "spiece.model", tmp_path / "vocab.txt"
    train(source, user_defined_symbols=[])
    wordpieces.write_bytes(pretrained_models.WORDPIECES.read_bytes())
    write_json(tmp_path / "config.json", {"model_type": "albert"})
    orders, convertible = [], []
    for lower in (True, False):
        options = {"do_lower_case": lower, "keep_accents": not lower}
        orders.append(("AlbertTokenizer", options))
    for lower, strips, chinese in itertools.product(SWITCH, (None, *SWITCH), SWITCH):
        options = {"do_lower_case": lower, "strip_accents": strips}
        orders.append(("BertTokenizerFast", dict(options, tokenize_chinese_chars=chinese)))
        convertible.append(chinese and strips in (None, lower))
    folders = [tmp_path / str(number) for number in range(len(orders))]
    arguments = [(*order, str(tmp_path), str(folder)) for order, folder in zip(orders, folders)]
    huggingface_models.run(_SAVE, json.dumps(arguments), environment=environment)
    # Theirs replace such quotes, and write a capital sigma in one way.
    texts = in_all_forms(LINES if is_4 else LINES[:14])
    texts = [text for text in texts if not re.search("``|''|\u03a3", text)]
    albert, bert = folders[:2], folders[2:]
    found = their_ids(albert, texts, environment, "slow" if is_4 else "fast")
    flags = () if is_4 else (f"--spm_model_file={source}",)
    for folder, theirs in zip(albert, found):
        assert_same_ids(our_ids(our_vocabulary_for(folder, *flags), texts), theirs, texts)
    flags = () if is_4 else (f"--vocab_file={wordpieces}",)
    for folder, theirs, is_known in zip(bert, their_ids(bert, texts, environment), convertible):
        if is_known:
            assert_same_ids(our_ids(our_vocabulary_for(folder, *flags), texts), theirs, texts)
        else:
            with pytest.raises(UserError, match="strip_accents|tokenize_chinese_chars"):
                our_vocabulary_for(folder, *flags)
