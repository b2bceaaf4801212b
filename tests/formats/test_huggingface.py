# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""convert_checkpoint: to the files of Hugging Face and back, without PyTorch."""

import base64
import functools
import json
import os
import shutil

import numpy as np
import pytest
import safetensors
import sentencepiece

import albert
from albert import tokenization
from albert.formats import huggingface_files, huggingface_tokenizer, model_vocabulary
from albert.tasks.classification.task import Predictor
from albert.tasks.race.task import Answerer
from albert.tasks.squad.task import Reader
from albert.tasks.tagging.task import Tagger
from albert.util import UserError
from tests.support import (
    fine_tuned_models,
    pretrained_models,
    read_json,
    squad_models,
    write_json,
)
from tests.support.conversion_check import config_in
from tests.support.conversions import convert, restore, values_in
from tests.support.fine_tuned_models import write_classifier, write_tagger
from tests.support.recorded import assert_equal

to_theirs = functools.partial(convert, "to_huggingface")
to_ours = functools.partial(convert, "from_huggingface")
write_regressor = functools.partial(write_classifier, labels=())
write_multi_label = functools.partial(write_classifier, description={"label_separator": "|"})
write_choices = functools.partial(write_regressor, description={"max_qa_length": 12})
weights_in, write_weights = huggingface_files.read_weights, huggingface_files.write_weights
slow = pytest.mark.slow
KINDS = {
    "AlbertForSequenceClassification": Predictor,
    "AlbertForMultipleChoice": Answerer,
    "AlbertForTokenClassification": Tagger,
    "AlbertForQuestionAnswering": Reader,
}


def kept(values):
    return {name: value for name, value in values.items() if value is not None}


def change_weights(folder, **changes):
    """Changes weights; None removes one."""
    write_weights(folder, kept({**weights_in(folder), **changes}))


def change_config(folder, **changes):
    """Changes keys of config.json; None removes one."""
    content = kept({**read_json(folder / "config.json"), **changes})
    write_json(folder / "config.json", content)


def architecture_of(folder):
    (name,) = read_json(folder / "config.json")["architectures"]
    return name


def assert_same_values(one, other):
    before, after = values_in(one), values_in(other)
    assert set(before) == set(after)
    assert_equal(before, after)


def assert_refused(direction, source, *flags, named):
    target = os.path.join(os.path.dirname(source), "refused")
    with pytest.raises(UserError, match=named):
        direction(source, target, *flags)
    assert not os.path.exists(target)


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A pretraining model of ours in `source`, and converted in `theirs`."""
    folder = tmp_path_factory.mktemp("made")
    to_theirs(pretrained_models.write_archive(folder / "source"), folder / "theirs")
    return folder


@pytest.fixture
def theirs(made, tmp_path):
    """A copy of the converted model."""
    shutil.copytree(made / "theirs", tmp_path / "theirs")
    return tmp_path / "theirs"


@slow
@pytest.mark.parametrize(
    "changes",
    [
        {"num_hidden_layers": 4, "num_hidden_groups": 2, "inner_group_num": 2},
        {"share_type": "none", "num_hidden_layers": 3},
        {"embedding_size": 16, "hidden_act": "gelu_pytorch_tanh"},
        {"hidden_act": "relu", "type_vocab_size": 3, "gap_size": 0, "net_structure_type": 0},
    ],
)
def test_weights_and_config_come_back(changes, tmp_path):
    source = pretrained_models.write_archive(tmp_path / "ours", **changes)
    to_theirs(source, tmp_path / "theirs")
    assert to_ours(tmp_path / "theirs", tmp_path / "back")["missing"] == []
    assert_same_values(source, tmp_path / "back")
    wanted = config_in(source).to_dict()
    if wanted.pop("share_type", None):
        wanted["num_hidden_groups"] = wanted["num_hidden_layers"]
    wanted["hidden_act"] = wanted["hidden_act"].replace("_pytorch_tanh", "")
    assert config_in(tmp_path / "back").to_dict() == wanted
    restore(tmp_path / "back")


@slow
@pytest.mark.parametrize("wordpiece", [False, True])
def test_vocabulary_goes_over_and_back(wordpiece, tmp_path):
    source = pretrained_models.write_archive(
        tmp_path / "ours", wordpiece=wordpiece, vocab_size=257 if wordpiece else 400
    )
    to_theirs(source, tmp_path / "theirs", "--do_lower_case=false")
    to_ours(tmp_path / "theirs", tmp_path / "back")
    names = ("vocab.txt", "vocab.txt") if wordpiece else ("spiece.model", "30k-clean.model")
    original = pretrained_models.WORDPIECES if wordpiece else pretrained_models.VOCABULARY
    for folder, name in zip(("theirs", "back"), names):
        assert (tmp_path / folder / name).read_bytes() == original.read_bytes()
    flags = read_json(tmp_path / "theirs" / "tokenizer_config.json")
    kind = "BertTokenizer" if wordpiece else "PreTrainedTokenizerFast"
    assert (flags["tokenizer_class"], flags["do_lower_case"]) == (kind, False)
    model = read_json(tmp_path / "theirs" / "tokenizer.json")["model"]
    assert model["type"] == ("WordPiece" if wordpiece else "Unigram")
    assert read_json(tmp_path / "back" / "vocabulary.json")["do_lower_case"] is False


@slow
@pytest.mark.parametrize(
    "write, description, architecture, labels",
    [
        (write_classifier, "", "AlbertForSequenceClassification", ["no", "maybe", "yes"]),
        (write_multi_label, "", "AlbertForSequenceClassification", ["no", "maybe", "yes"]),
        (write_regressor, "", "AlbertForSequenceClassification", ["LABEL_0"]),
        (write_choices, "race.json", "AlbertForMultipleChoice", []),
        (write_tagger, "", "AlbertForTokenClassification", ["O", "B-PER", "I-PER"]),
        (squad_models.write, "", "AlbertForQuestionAnswering", []),
    ],
)
def test_head_and_labels_come_back(write, description, architecture, labels, tmp_path):
    ours, theirs, back = (tmp_path / name for name in ("ours", "theirs", "back"))
    write(ours)
    if description:
        (ours / "classifier.json").rename(ours / description)
    to_theirs(ours, theirs)
    assert architecture_of(theirs) == architecture
    config = read_json(theirs / "config.json")
    assert list(config.get("id2label", {}).values()) == labels
    is_regression = labels == ["LABEL_0"]
    problems = {write_regressor: "regression", write_multi_label: "multi_label_classification"}
    assert config.get("problem_type") == (problems.get(write) if labels else None)
    to_ours(theirs, back)
    assert_same_values(ours, back)
    with albert.load(str(back)) as model:
        assert isinstance(model, KINDS[architecture])
        if labels:
            assert list(model.task.labels) == ([] if is_regression else labels)
        if write == write_multi_label:
            assert model.task.is_multi_label
        if write == write_choices:
            assert model.task.flags.max_qa_length == 12


def test_tagger_keeps_length(tmp_path):
    ours, theirs = write_tagger(tmp_path / "ours"), tmp_path / "theirs"
    to_theirs(ours, theirs)
    pooler = dict.fromkeys(("albert.pooler.weight", "albert.pooler.bias"))
    change_weights(theirs, **pooler)  # as transformers saves it
    path = theirs / "tokenizer_config.json"
    assert read_json(path)["model_max_length"] == fine_tuned_models.LENGTH
    for name, length, limit in (
        ("back", fine_tuned_models.LENGTH, fine_tuned_models.LENGTH),
        ("endless", int(1e30), fine_tuned_models.CONFIG["max_position_embeddings"]),
    ):
        write_json(path, dict(read_json(path), model_max_length=length))
        to_ours(theirs, tmp_path / name)
        assert read_json(tmp_path / name / "tagging.json")["max_seq_length"] == limit


# ---- to Hugging Face ----


def test_to_huggingface_writes_what_transformers_reads(made):
    content = read_json(made / "theirs" / "config.json")
    assert content["architectures"] == ["AlbertForPreTraining"]
    assert content["hidden_act"] == "gelu_new" and "embedding_layout" not in content
    flags = read_json(made / "theirs" / "tokenizer_config.json")
    assert "token_type_ids" in flags["model_input_names"]
    # Of tied weights the bias is written twice: some versions read only its copy.
    values = weights_in(made / "theirs")
    assert [name for name in values if "decoder" in name] == ["predictions.decoder.bias"]
    np.testing.assert_array_equal(values["predictions.decoder.bias"], values["predictions.bias"])
    path = f"{made}/theirs/model.safetensors"
    with safetensors.safe_open(path, framework="np") as stream:
        assert stream.metadata() == {"format": "pt"}


@pytest.mark.parametrize(
    "changes, flag, named",
    [
        ({"share_type": "attention"}, "--head=auto", "share_type"),
        ({"ln_type": "preln"}, "--head=auto", "ln_type"),
        ({"embedding_layout": "albert_zh"}, "--head=auto", "to_google_layout"),
        ({"num_hidden_layers": 18, "num_hidden_groups": 14}, "--head=auto", "14 groups"),
        ({"max_position_embeddings": 96}, "--head=auto", r"position_embeddings \[96, 8\]"),
        ({}, "--head=question_answering", "cls/squad/output_bias"),
    ],
)
def test_to_huggingface_refuses(changes, flag, named, made, tmp_path):
    source = tmp_path / "ours"
    shutil.copytree(made / "source", source)
    config = pretrained_models.config(**changes)
    (source / "albert_config.json").write_text(config.to_json_string())
    assert_refused(to_theirs, source, flag, named=named)


def test_tokenizer_has_tokens_scores_and_replacements(tmp_path):
    path = pretrained_models.VOCABULARY
    vocabulary = model_vocabulary.Vocabulary("spm_model_file", str(path), do_lower_case=False)
    huggingface_tokenizer.write_vocabulary(str(tmp_path), vocabulary, 64)
    content = read_json(tmp_path / "tokenizer.json")
    processor = sentencepiece.SentencePieceProcessor()
    processor.Load(str(path))
    vocab = content["model"]["vocab"]
    assert len(vocab) == processor.GetPieceSize()
    for number, (token, score) in enumerate(vocab):
        assert token == processor.IdToPiece(number)
        forbidden = len(token) > 1 and token[-1] == "," and token[-2].isdigit()
        assert score == (-1e4 if forbidden else processor.GetScore(number))
    # Special tokens alone are looked for in the raw text; cased text stays cased.
    names = [item["content"] for item in content["added_tokens"]]
    assert names == ["<pad>", "<unk>", "[CLS]", "[SEP]", "[MASK]"]
    steps = content["normalizer"]["normalizers"]
    assert [step["type"] for step in steps] == ["NFKD", "Replace", "NFC", "Precompiled", "NFC"]
    assert base64.b64decode(steps[3]["precompiled_charsmap"]) in path.read_bytes()


@slow
def test_keep_accents_goes_over_and_back(tmp_path):
    source = pretrained_models.write_archive(tmp_path / "ours")
    plain = pretrained_models.VOCABULARY.read_bytes()
    marked = tokenization.with_keep_accents(plain, True)
    (tmp_path / "ours" / "30k-clean.model").write_bytes(marked)
    theirs = tmp_path / "theirs"
    to_theirs(source, theirs)
    flags = read_json(theirs / "tokenizer_config.json")
    assert flags["keep_accents"] is True
    steps = read_json(theirs / "tokenizer.json")["normalizer"]["normalizers"]
    assert "NFKD" not in [step["type"] for step in steps]
    to_ours(theirs, tmp_path / "again")
    assert (tmp_path / "again" / "30k-clean.model").read_bytes() == marked
    (theirs / "tokenizer.json").unlink()
    for vocabulary, keep, ours in (
        (marked, None, marked),
        (marked, False, plain),
        (plain, True, marked),
    ):
        (theirs / "spiece.model").write_bytes(vocabulary)
        text = json.dumps(dict(flags, keep_accents=keep))
        (theirs / "tokenizer_config.json").write_text(text)
        to_ours(theirs, tmp_path / f"back{keep}")
        assert (tmp_path / f"back{keep}" / "30k-clean.model").read_bytes() == ours


# ---- from Hugging Face ----


@pytest.fixture(scope="module")
def masked(made):
    """(our folder, its report) of a model without a head of sentence order."""
    source = made / "masked"
    shutil.copytree(made / "theirs", source)
    names = [name for name in weights_in(source) if "sop_classifier" in name]
    change_weights(source, **dict.fromkeys(names))
    return made / "our_masked", to_ours(source, made / "our_masked")


@slow
def test_missing_head_of_sentence_order_is_reported(masked):
    missing = {f"cls/seq_relationship/output_{ending}" for ending in ("weights", "bias")}
    assert set(masked[1]["missing"]) == missing


@slow
def test_head_of_masked_words_alone_goes_back(masked, tmp_path):
    to_theirs(masked[0], tmp_path / "again")
    assert architecture_of(tmp_path / "again") == "AlbertForMaskedLM"


@slow
def test_encoder_without_a_vocabulary_goes_back(masked, tmp_path):
    ours = shutil.copytree(masked[0], tmp_path / "ours")
    for name in ("30k-clean.model", "vocabulary.json"):
        (ours / name).unlink()
    to_theirs(ours, tmp_path / "encoder", "--head=encoder")
    assert sorted(os.listdir(tmp_path / "encoder")) == ["config.json", "model.safetensors"]
    assert architecture_of(tmp_path / "encoder") == "AlbertModel"


@slow
def test_bare_model_gets_a_new_pooler(theirs, tmp_path):
    first, values = "albert.", weights_in(theirs)
    encoder = [name for name in values if name.startswith(first) and "pooler" not in name]
    write_weights(theirs, {name[len(first) :]: values[name] for name in encoder})
    report = to_ours(theirs, tmp_path / "bare")
    names = {"bert/pooler/dense/kernel", "bert/pooler/dense/bias"}
    assert names == set(report["missing"])
    after = values_in(tmp_path / "bare")
    assert {name.split("/")[0] for name in after} == {"bert"} and names < set(after)
    pooler = after["bert/pooler/dense/kernel"]
    assert 0.01 < pooler.std() < 0.025 and abs(pooler).max() <= 0.04 + 1e-7


def test_head_flag_chooses_one_of_several(theirs, tmp_path):
    report = to_ours(theirs, tmp_path / "ours", "--head=encoder")
    assert {name.split("/")[0] for name in values_in(tmp_path / "ours")} == {"bert"}
    assert len(report["ignored"]) == 7 and report["missing"] == []
    assert_refused(to_ours, theirs, "--head=classification", named="--head")


def test_weights_in_parts_and_tied_weights_are_read(theirs, made, tmp_path):
    values = weights_in(theirs)
    tied = {"weight": values["albert.embeddings.word_embeddings.weight"]}
    tied["bias"] = values["predictions.bias"] + 1
    values.update({f"predictions.decoder.{name}": value for name, value in tied.items()})
    values["albert.embeddings.position_ids"] = np.arange(48)[None]
    for part in (0, 1):
        write_weights(theirs, {name: values[name] for name in sorted(values)[part::2]})
        path = theirs / f"model-0000{part + 1}-of-00002.safetensors"
        (theirs / "model.safetensors").rename(path)
    to_ours(theirs, tmp_path / "ours")
    assert_same_values(made / "source", tmp_path / "ours")
    change_config(theirs, tie_word_embeddings=False)
    assert_refused(to_ours, theirs, named="predictions.decoder.bias")


@pytest.mark.parametrize("kind", ["F64", "F16", "BF16", "I8"])
def test_float_types_are_read_exactly_and_others_refused(kind, tmp_path):
    numbers = np.array([1.0, -2.5, 3.140625], np.float32)
    # A bfloat16 is the upper half of a float32.
    data = (numbers.view(np.uint32) >> 16).astype("<u2").tobytes()
    if kind in ("F64", "F16"):
        data = numbers.astype(f"<f{int(kind[1:]) // 8}").tobytes()
    header = {"dtype": kind, "shape": [3], "data_offsets": [0, len(data)]}
    text = json.dumps({"x": header}).encode()
    path = tmp_path / "model.safetensors"
    path.write_bytes(len(text).to_bytes(8, "little") + text + data)
    if kind == "I8":
        with pytest.raises(UserError, match=str(path)):
            weights_in(tmp_path)
        return
    found = weights_in(tmp_path)["x"]
    assert found.dtype == np.float32 and found.tolist() == numbers.tolist()


@pytest.mark.parametrize("name", ["config.json", "model.safetensors"])
def test_missing_file_is_named(name, theirs):
    (theirs / name).unlink()
    assert_refused(to_ours, theirs, named=name)


@pytest.mark.parametrize(
    "changes, named",
    [
        ({"model_type": "bert"}, "model_type"),
        ({"layer_norm_eps": 1e-5}, "layer_norm_eps"),
        ({"hidden_act": "gelu"}, "--approximate_gelu"),
        ({"num_hidden_layers": 18, "num_hidden_groups": 14}, "18 layers in 14 groups"),
        ({"hidden_size": 17}, "config.json: hidden_size 17"),
        ({"architectures": ["AlbertForTokenClassification"]}, "classifier.weight"),
        ({"intermediate_size": 64}, r"ffn.weight \[64, 16\]"),
    ],
)
def test_from_huggingface_refuses(changes, named, theirs):
    change_config(theirs, **changes)
    assert_refused(to_ours, theirs, named=named)


@slow
@pytest.mark.parametrize("name", ["adapter", "encoder.embedding_hidden_mapping_in"])
def test_weight_without_counterpart_is_refused(name, tmp_path):
    source = pretrained_models.write_archive(tmp_path / "source", embedding_size=16)
    to_theirs(source, tmp_path / "wide")
    change_weights(tmp_path / "wide", **{f"albert.{name}.weight": 2 * np.eye(16, dtype=np.float32)})
    assert_refused(to_ours, tmp_path / "wide", named=name)


def change_json(path, keys, value):
    """Sets one value deep in a JSON file."""
    content = read_json(path)
    inner = content
    for key in keys[:-1]:
        inner = inner[key]
    inner[keys[-1]] = value
    write_json(path, content)


@pytest.mark.parametrize(
    "name, keys, value, named",
    [
        ("config", ["is_decoder"], True, "is_decoder"),
        ("config", ["position_embedding_type"], "relative_key", "position_embedding_type"),
        ("config", ["new_setting"], 0, "new_setting"),
        ("tokenizer_config", ["remove_space"], False, "remove_space"),
        ("tokenizer_config", ["cls_token"], {"content": "<s>"}, "cls_token"),
        ("tokenizer_config", ["tokenizer_class"], "XLNetTokenizer", "tokenizer_class"),
        ("tokenizer_config", ["model_input_names"], ["input_ids"], "model_input_names"),
        ("tokenizer_config", ["do_lower_case"], False, "do_lower_case"),
        ("tokenizer_config", ["keep_accents"], True, "keep_accents"),
        ("tokenizer_config", ["do_lower_case"], "no", "do_lower_case"),
        ("tokenizer_config", ["new_setting"], 0, "new_setting"),
        (
            "tokenizer_config",
            ["added_tokens_decoder"],
            {"400": {"content": "new", "special": True}},
            "new",
        ),
        ("tokenizer", ["added_tokens", 0], {"content": "new", "special": True}, "new"),
        ("tokenizer", ["added_tokens", 0], {"content": "the", "special": False}, "the"),
        ("tokenizer", ["normalizer", "normalizers", 0], {"type": "Nmt"}, "Nmt"),
        ("tokenizer", ["normalizer", "normalizers", 5, "precompiled_charsmap"], "AAAA", "charsmap"),
        ("tokenizer", ["normalizer"], {"type": "Precompiled"}, "charsmap"),
        ("tokenizer", ["pre_tokenizer", "pretokenizers", 1, "prepend_scheme"], "never", "never"),
        ("tokenizer", ["pre_tokenizer"], None, "tokenizer.json"),
        ("tokenizer", ["post_processor"], None, "tokenizer.json"),
        ("tokenizer", ["model", "byte_fallback"], True, "byte_fallback"),
        ("tokenizer", ["model", "vocab", 9], ["another", 0.0], "vocab"),
        ("tokenizer", ["model", "vocab"], None, "vocab"),
    ],
)
def test_setting_that_changes_results_is_refused(name, keys, value, named, theirs):
    change_json(theirs / f"{name}.json", keys, value)
    assert_refused(to_ours, theirs, named=named)


def test_given_case_wins(theirs, tmp_path):
    change_json(theirs / "tokenizer_config.json", ["do_lower_case"], False)
    to_ours(theirs, tmp_path / "given", "--do_lower_case=false")
    assert read_json(tmp_path / "given" / "vocabulary.json")["do_lower_case"] is False


def test_named_vocabulary_keeps_the_settings_of_the_folder(tmp_path):
    """As of transformers 5, whose folders have no spiece.model."""
    theirs = tmp_path / "theirs"
    to_theirs(write_classifier(tmp_path / "ours"), theirs)
    for name in ("spiece.model", "tokenizer.json"):
        (theirs / name).unlink()
    change_json(theirs / "tokenizer_config.json", ["do_lower_case"], False)
    to_ours(theirs, tmp_path / "bare")
    assert "spm_model_file" not in read_json(tmp_path / "bare" / "classifier.json")
    to_ours(theirs, tmp_path / "named", f"--spm_model_file={pretrained_models.VOCABULARY}")
    description = read_json(tmp_path / "named" / "classifier.json")
    assert description["do_lower_case"] is False and description["spm_model_file"]
    assert description["labels"] == ["no", "maybe", "yes"]


def test_old_config_with_exact_gelu_is_taken_on_demand(theirs, tmp_path):
    gone = ("layer_norm_eps", "tie_word_embeddings", "dtype", "torch_dtype", "architectures")
    change_config(theirs, **dict.fromkeys(gone), hidden_act="gelu")
    to_ours(theirs, tmp_path / "ours", "--approximate_gelu")
    assert config_in(tmp_path / "ours").hidden_act == "gelu"


@slow
def test_multi_label_classifier_of_one_label_gets_no_description(tmp_path):
    theirs = tmp_path / "theirs"
    to_theirs(write_regressor(tmp_path / "classifier"), theirs)
    change_config(theirs, problem_type="multi_label_classification")
    to_ours(theirs, tmp_path / "again")
    assert not (tmp_path / "again" / "classifier.json").exists()


@slow
def test_squad_v2_goes_over_as_encoder_only(tmp_path):
    reader = squad_models.write(tmp_path / "reader", is_v2=True)
    assert_refused(to_theirs, reader, named="run_squad_v2")
    to_theirs(reader, tmp_path / "encoder", "--head=encoder")
