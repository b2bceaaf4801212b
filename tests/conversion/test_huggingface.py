# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""convert_checkpoint: to the files of Hugging Face and back, without PyTorch."""

import base64
import json
import pathlib
import shutil

import numpy as np
import pytest
import safetensors.numpy
import sentencepiece
import tensorflow.compat.v1 as tf

from albert import modeling, predictor
from albert.conversion import huggingface_files
from albert.pretrained import model_vocabulary
from tests.support import (
    fine_tuned_models,
    other_runtime,
    pretrained_models,
    released_archives,
    squad_models,
)
from tests.support.conversion_check import config_in
from tests.support.conversions import convert, restore, values_in


def to_theirs(source, target, *flags):
    return convert("to_huggingface", source, target, *flags)


def to_ours(source, target, *flags):
    return convert("from_huggingface", source, target, *flags)


def weights_in(folder):
    return huggingface_files.read_safetensors(str(pathlib.Path(str(folder)) / "model.safetensors"))


def config_of_theirs(folder):
    return json.loads((pathlib.Path(str(folder)) / "config.json").read_text())


def change_config(folder, **changes):
    """Changes keys of config.json; None removes one."""
    content = dict(config_of_theirs(folder), **changes)
    content = {key: value for key, value in content.items() if value is not None}
    (pathlib.Path(str(folder)) / "config.json").write_text(json.dumps(content))


def change_weights(folder, **changes):
    """Changes weights, whose names have "__" for "."; None removes one."""
    values = weights_in(folder)
    values.update({name.replace("__", "."): value for name, value in changes.items()})
    values = {name: value for name, value in values.items() if value is not None}
    path = pathlib.Path(str(folder)) / "model.safetensors"
    huggingface_files.write_safetensors(str(path), values)


def vocabulary_processor():
    processor = sentencepiece.SentencePieceProcessor()
    processor.Load(str(pretrained_models.VOCABULARY))
    return processor


@pytest.fixture
def theirs(tmp_path):
    """A converted pretraining model."""
    source = pretrained_models.write_archive(tmp_path / "source")
    to_theirs(source, tmp_path / "theirs")
    return tmp_path / "theirs"


class TestRoundTrip:
    @pytest.mark.slow
    @pytest.mark.parametrize(
        "changes",
        [
            {},
            {"num_hidden_groups": 2},
            {"num_hidden_layers": 4, "num_hidden_groups": 2, "inner_group_num": 2},
            {"share_type": "none", "num_hidden_layers": 3},
            {"embedding_size": 16},
            {"hidden_act": "relu"},
            {"type_vocab_size": 3, "gap_size": 0, "net_structure_type": 0},
        ],
    )
    def test_weights_and_configuration_come_back_as_they_were(self, changes, tmp_path):
        source = pretrained_models.write_archive(tmp_path / "ours", **changes)
        to_theirs(source, tmp_path / "theirs")
        converted = to_ours(tmp_path / "theirs", tmp_path / "back")
        before, after = values_in(source), values_in(tmp_path / "back")
        assert set(before) == set(after)
        for name in before:
            np.testing.assert_array_equal(before[name], after[name])
        assert converted.report.missing == ()
        wanted = config_in(source).to_dict()
        if wanted.pop("share_type", None):
            wanted["num_hidden_groups"] = wanted["num_hidden_layers"]
        assert config_in(tmp_path / "back").to_dict() == wanted
        restore(tmp_path / "back")

    @pytest.mark.slow
    @pytest.mark.parametrize("wordpiece", [False, True])
    def test_the_vocabulary_goes_along(self, wordpiece, tmp_path):
        source = pretrained_models.write_archive(
            tmp_path / "ours", wordpiece=wordpiece, vocab_size=257 if wordpiece else 400
        )
        to_theirs(source, tmp_path / "theirs", "--do_lower_case=false")
        converted = to_ours(tmp_path / "theirs", tmp_path / "back")
        names = ("vocab.txt", "vocab.txt") if wordpiece else ("spiece.model", "30k-clean.model")
        original = pretrained_models.WORDPIECES if wordpiece else pretrained_models.VOCABULARY
        for folder, name in zip(("theirs", "back"), names):
            assert (tmp_path / folder / name).read_bytes() == original.read_bytes()
        settings = json.loads((tmp_path / "theirs" / "tokenizer_config.json").read_text())
        kind = "BertTokenizer" if wordpiece else "AlbertTokenizer"
        assert (settings["tokenizer_class"], settings["do_lower_case"]) == (kind, False)
        assert any("cased" in note for note in converted.report.notes)
        record = json.loads((tmp_path / "back" / "vocabulary.json").read_text(encoding="utf-8"))
        assert record["do_lower_case"] is False

    @pytest.mark.slow
    def test_the_optimisers_variables_stay_behind(self, tmp_path):
        source = released_archives.write_model(tmp_path / "ours", slots="adam")
        converted = to_theirs(source, tmp_path / "theirs")
        assert {item.remark for item in converted.report.ignored} == {"of the optimiser"}
        assert not [name for name in weights_in(tmp_path / "theirs") if "adam" in name]

    @pytest.mark.slow
    @other_runtime.needs_other_runtime
    def test_what_one_runtime_converts_the_other_converts_back(self, theirs, tmp_path):
        said = other_runtime.evaluate(
            "len(test.convert('from_huggingface', sys.argv[2], sys.argv[3]).report.converted)",
            "support.conversions",
            str(theirs),
            str(tmp_path / "back"),
        )
        before, after = values_in(tmp_path / "source"), values_in(tmp_path / "back")
        assert said == len(before) == len(after)
        assert all(np.array_equal(before[name], after[name]) for name in before)


class TestToHuggingFace:
    @pytest.mark.slow
    def test_the_configuration_has_their_keys(self, theirs):
        content = config_of_theirs(theirs)
        expected = {
            "architectures": ["AlbertForPreTraining"],
            "model_type": "albert",
            "hidden_act": "gelu_new",
            "layer_norm_eps": 1e-12,
            "classifier_dropout_prob": 0.1,
            "tie_word_embeddings": True,
            "hidden_size": 16,
            "num_hidden_groups": 1,
            "inner_group_num": 1,
            "embedding_size": 8,
        }
        assert {key: content[key] for key in expected} == expected
        ids = (content["pad_token_id"], content["bos_token_id"], content["eos_token_id"])
        assert ids == (0, 2, 3)
        assert "embedding_layout" not in content

    @pytest.mark.slow
    def test_the_ids_of_a_wordpiece_vocabulary_are_its_own(self, tmp_path):
        source = pretrained_models.write_archive(tmp_path / "ours", wordpiece=True, vocab_size=257)
        to_theirs(source, tmp_path / "theirs")
        content = config_of_theirs(tmp_path / "theirs")
        pieces = pretrained_models.WORDPIECES.read_text(encoding="utf-8").split("\n")
        for key, piece in (("pad", "[PAD]"), ("bos", "[CLS]"), ("eos", "[SEP]")):
            assert content[f"{key}_token_id"] == pieces.index(piece)

    @pytest.mark.slow
    def test_tied_weights_are_written_once(self, theirs):
        assert not [name for name in weights_in(theirs) if "decoder" in name]

    @pytest.mark.slow
    def test_the_file_says_that_it_is_for_pytorch(self, theirs):
        with safetensors.safe_open(str(theirs / "model.safetensors"), framework="np") as stream:
            assert stream.metadata() == {"format": "pt"}

    @pytest.mark.slow
    def test_no_vocabulary_is_no_obstacle(self, tmp_path):
        source = pathlib.Path(pretrained_models.write_archive(tmp_path / "ours"))
        (source / "30k-clean.model").unlink()
        converted = to_theirs(source, tmp_path / "theirs")
        assert converted.other_files == ["config.json"]
        assert "no vocabulary was found" in converted.report.notes[0]

    @pytest.mark.slow
    def test_a_missing_sentence_order_head_makes_a_model_of_masked_words(self, theirs, tmp_path):
        change_weights(
            theirs, sop_classifier__classifier__weight=None, sop_classifier__classifier__bias=None
        )
        converted = to_ours(theirs, tmp_path / "ours")
        assert {item.name for item in converted.report.missing} == {
            "cls/seq_relationship/output_weights",
            "cls/seq_relationship/output_bias",
        }
        to_theirs(tmp_path / "ours", tmp_path / "again")
        assert config_of_theirs(tmp_path / "again")["architectures"] == ["AlbertForMaskedLM"]

    @pytest.mark.slow
    def test_the_encoder_alone_is_converted_on_demand(self, tmp_path):
        source = pretrained_models.write_archive(tmp_path / "ours")
        converted = to_theirs(source, tmp_path / "theirs", "--head=encoder")
        assert config_of_theirs(tmp_path / "theirs")["architectures"] == ["AlbertModel"]
        assert {item.remark for item in converted.report.ignored} == {"no part of the head encoder"}
        back = to_ours(tmp_path / "theirs", tmp_path / "back")
        assert {name.split("/")[0] for name in values_in(tmp_path / "back")} == {"bert"}
        assert back.report.missing == ()

    @pytest.mark.slow
    @pytest.mark.parametrize(
        "changes, reason",
        [
            ({"share_type": "ffn"}, "share_type ffn has no counterpart"),
            ({"share_type": "attention"}, "share_type attention has no counterpart"),
            ({"ln_type": "preln"}, "ln_type preln has no counterpart"),
            ({"embedding_layout": "albert_zh"}, "convert_checkpoint to_google_layout"),
        ],
    )
    def test_variants_that_transformers_lacks_are_refused(self, changes, reason, tmp_path):
        source = pretrained_models.write_archive(tmp_path / "ours", **changes)
        with pytest.raises(ValueError, match=reason):
            to_theirs(source, tmp_path / "theirs")
        assert not (tmp_path / "theirs").exists()

    def test_groups_that_transformers_rounds_otherwise_are_refused(self):
        for layers, groups in ((12, 12), (24, 5), (12, 7)):
            huggingface_files.check_variant(
                pretrained_models.config(num_hidden_layers=layers, num_hidden_groups=groups)
            )
        config = pretrained_models.config(num_hidden_layers=18, num_hidden_groups=14)
        with pytest.raises(ValueError, match="layer 9 the group 6 .* ALBERT gives it 7"):
            huggingface_files.check_variant(config)

    def test_a_function_as_activation_is_refused(self):
        config = modeling.AlbertConfig.from_dict(pretrained_models.config().to_dict())
        config.hidden_act = tf.nn.elu
        with pytest.raises(ValueError, match="hidden_act .* has no counterpart"):
            huggingface_files.check_variant(config)

    @pytest.mark.slow
    def test_a_configuration_of_another_size_is_refused(self, tmp_path):
        source = pathlib.Path(pretrained_models.write_archive(tmp_path / "ours"))
        config = pretrained_models.config(max_position_embeddings=96)
        (source / "albert_config.json").write_text(config.to_json_string())
        with pytest.raises(ValueError, match=r"position_embeddings should be \[96, 8\]"):
            to_theirs(source, tmp_path / "theirs")

    @pytest.mark.slow
    def test_a_head_that_is_not_there_is_refused(self, tmp_path):
        source = pretrained_models.write_archive(tmp_path / "ours")
        for head in ("question_answering", "classification", "multiple_choice"):
            with pytest.raises(ValueError, match=f"--head={head}: the model has no such head"):
                to_theirs(source, tmp_path / "theirs", f"--head={head}")

    @pytest.mark.slow
    def test_without_pytorch_its_file_cannot_be_written(self, tmp_path, monkeypatch):
        source = pretrained_models.write_archive(tmp_path / "ours")
        monkeypatch.setattr(huggingface_files.importlib.util, "find_spec", lambda name: None)
        with pytest.raises(ValueError, match="Name an interpreter .* --huggingface_python"):
            to_theirs(source, tmp_path / "theirs", "--pytorch_model_bin")
        assert not (tmp_path / "theirs").exists()

    @pytest.mark.slow
    def test_an_interpreter_that_is_not_there_is_named(self, tmp_path):
        source = pretrained_models.write_archive(tmp_path / "ours")
        flags = ["--pytorch_model_bin", f"--huggingface_python={tmp_path}/python"]
        with pytest.raises(ValueError, match="python cannot be run"):
            to_theirs(source, tmp_path / "theirs", *flags)


class TestTokenizer:
    @pytest.fixture(scope="class")
    def content(self, tmp_path_factory):
        folder = tmp_path_factory.mktemp("tokenizer")
        path = str(pretrained_models.VOCABULARY)
        vocabulary = model_vocabulary.Vocabulary("spm_model_file", path, do_lower_case=False)
        huggingface_files.write_vocabulary(str(folder), vocabulary)
        return json.loads((folder / "tokenizer.json").read_text(encoding="utf-8"))

    def test_pieces_and_scores_are_the_models_but_for_digits_with_a_comma(self, content):
        processor = vocabulary_processor()
        vocab = content["model"]["vocab"]
        assert [piece for piece, _ in vocab] == [
            processor.IdToPiece(number) for number in range(processor.GetPieceSize())
        ]
        for number, (piece, score) in enumerate(vocab):
            forbidden = len(piece) > 1 and piece[-1] == "," and piece[-2].isdigit()
            assert score == (-1e4 if forbidden else processor.GetScore(number))

    def test_only_special_pieces_are_looked_for_in_the_raw_text(self, content):
        names = [item["content"] for item in content["added_tokens"]]
        assert names == ["<pad>", "<unk>", "[CLS]", "[SEP]", "[MASK]"]

    def test_cased_text_stays_cased_and_replacements_are_the_models(self, content):
        kinds = [step["type"] for step in content["normalizer"]["normalizers"]]
        assert kinds == ["NFKD", "StripAccents", "Precompiled"]
        table = content["normalizer"]["normalizers"][-1]["precompiled_charsmap"]
        table = base64.b64decode(table)
        model = pretrained_models.VOCABULARY.read_bytes()
        # In the file the table comes after its length in bytes, seven bits at a time.
        size, length = len(table), b""
        while size >= 128:
            length, size = length + bytes([size % 128 + 128]), size // 128
        assert b"\x12" + length + bytes([size]) + table in model

    def test_a_pair_of_texts_gets_two_segments(self, content):
        pair = content["post_processor"]["pair"]
        assert [list(item.values())[0]["type_id"] for item in pair] == [0, 0, 0, 1, 1]


class TestFineTunedModels:
    @pytest.mark.slow
    def test_a_classifier_takes_its_labels_along_and_predicts_the_same_after_all(self, tmp_path):
        source = fine_tuned_models.write_classifier(tmp_path / "ours")
        to_theirs(source, tmp_path / "theirs")
        content = config_of_theirs(tmp_path / "theirs")
        assert content["architectures"] == ["AlbertForSequenceClassification"]
        assert content["id2label"] == {"0": "no", "1": "maybe", "2": "yes"}
        assert content["label2id"] == {"no": 0, "maybe": 1, "yes": 2}
        assert weights_in(tmp_path / "theirs")["classifier.weight"].shape == (3, 16)
        to_ours(tmp_path / "theirs", tmp_path / "back")
        texts = ["the king", "a bird of the sea"]
        arrays = []
        for folder in (source, tmp_path / "back"):
            with predictor.Predictor(str(folder)) as model:
                arrays.append(model.predict_array(texts))
                assert model.predict(texts[:1])[0].label in ("no", "maybe", "yes")
        np.testing.assert_allclose(arrays[0], arrays[1], atol=1e-6)

    def test_a_regressor_stays_one(self, tmp_path):
        source = fine_tuned_models.write_classifier(tmp_path / "ours", labels=())
        to_theirs(source, tmp_path / "theirs")
        assert config_of_theirs(tmp_path / "theirs")["problem_type"] == "regression"
        to_ours(tmp_path / "theirs", tmp_path / "back")
        description = json.loads((tmp_path / "back" / "classifier.json").read_text())
        assert (description["is_regression"], description["labels"]) == (True, [])

    def test_labels_that_do_not_fit_the_head_are_refused(self, tmp_path):
        source = fine_tuned_models.write_classifier(
            tmp_path / "ours", description={"labels": ["a", "b"]}
        )
        with pytest.raises(ValueError, match="names 2 labels, and the head has 3 outputs"):
            to_theirs(source, tmp_path / "theirs")

    def test_independent_labels_get_no_description(self, tmp_path):
        source = fine_tuned_models.write_classifier(tmp_path / "ours")
        to_theirs(source, tmp_path / "theirs")
        change_config(tmp_path / "theirs", problem_type="multi_label_classification")
        converted = to_ours(tmp_path / "theirs", tmp_path / "back")
        assert "classifier.json" not in converted.other_files
        assert "independent" in converted.report.notes[0]

    def test_the_head_of_squad_v1_goes_over_and_comes_back(self, tmp_path):
        source = squad_models.write(tmp_path / "ours")
        to_theirs(source, tmp_path / "theirs")
        assert config_of_theirs(tmp_path / "theirs")["architectures"] == [
            "AlbertForQuestionAnswering"
        ]
        assert weights_in(tmp_path / "theirs")["qa_outputs.weight"].shape == (2, 16)
        to_ours(tmp_path / "theirs", tmp_path / "back")
        before, after = values_in(source), values_in(tmp_path / "back")
        assert set(before) == set(after)
        assert all(np.array_equal(before[name], after[name]) for name in before)

    @pytest.mark.slow
    def test_the_head_of_squad_v2_is_refused(self, tmp_path):
        source = squad_models.write(tmp_path / "ours")
        values = values_in(source)
        values["start_logits/dense/kernel"] = np.zeros([16, 1], np.float32)
        released_archives.save(tmp_path / "ours" / "model.ckpt-best", values)
        with pytest.raises(ValueError, match="run_squad_v2 .* has no counterpart"):
            to_theirs(source, tmp_path / "theirs")
        to_theirs(source, tmp_path / "theirs", "--head=encoder")

    def test_a_model_of_race_is_one_of_multiple_choice(self, tmp_path):
        source = fine_tuned_models.write_classifier(tmp_path / "ours", labels=())
        shutil.move(str(tmp_path / "ours/classifier.json"), str(tmp_path / "ours/race.json"))
        to_theirs(source, tmp_path / "theirs")
        content = config_of_theirs(tmp_path / "theirs")
        assert content["architectures"] == ["AlbertForMultipleChoice"]
        assert "problem_type" not in content
        converted = to_ours(tmp_path / "theirs", tmp_path / "back")
        assert "classifier.json" not in converted.other_files


class TestFromHuggingFace:
    @pytest.mark.slow
    def test_a_model_without_a_pooler_gets_a_new_one(self, theirs, tmp_path):
        change_weights(theirs, albert__pooler__weight=None, albert__pooler__bias=None)
        converted = to_ours(theirs, tmp_path / "ours")
        assert {item.name for item in converted.report.missing} == {
            "bert/pooler/dense/kernel",
            "bert/pooler/dense/bias",
        }
        assert "random values" in converted.report.missing[0].remark
        pooler = values_in(tmp_path / "ours")["bert/pooler/dense/kernel"]
        assert 0.01 < pooler.std() < 0.025
        assert abs(pooler).max() <= 0.04 + 1e-7
        restore(tmp_path / "ours")

    @pytest.mark.slow
    def test_the_weights_of_a_bare_model_have_no_prefix(self, theirs, tmp_path):
        values = weights_in(theirs)
        bare = {
            name[len("albert.") :]: value
            for name, value in values.items()
            if name.startswith("albert.")
        }
        huggingface_files.write_safetensors(str(theirs / "model.safetensors"), bare)
        to_ours(theirs, tmp_path / "ours")
        before, after = values_in(tmp_path / "source"), values_in(tmp_path / "ours")
        assert set(after) == {name for name in before if name.startswith("bert/")}

    @pytest.mark.slow
    def test_tied_and_constant_weights_are_ignored(self, theirs, tmp_path):
        values = weights_in(theirs)
        change_weights(
            theirs,
            predictions__decoder__weight=values["albert.embeddings.word_embeddings.weight"],
            predictions__decoder__bias=values["predictions.bias"] + 1,
            albert__embeddings__position_ids=np.arange(48)[None],
        )
        report = to_ours(theirs, tmp_path / "ours").report
        assert {item.name: item.remark for item in report.ignored} == {
            "albert.embeddings.position_ids": "a constant",
            "predictions.decoder.weight": "the same as albert.embeddings.word_embeddings.weight",
            "predictions.decoder.bias": "replaced by predictions.bias, to which it is tied",
        }

    @pytest.mark.slow
    def test_a_decoder_of_its_own_is_refused(self, theirs, tmp_path):
        table = weights_in(theirs)["albert.embeddings.word_embeddings.weight"]
        change_weights(theirs, predictions__decoder__weight=table + 1)
        change_config(theirs, tie_word_embeddings=False)
        with pytest.raises(ValueError, match="predictions.decoder.weight .* is not known"):
            to_ours(theirs, tmp_path / "ours")

    @pytest.mark.slow
    def test_half_precision_becomes_float32(self, theirs, tmp_path):
        values = {name: value.astype(np.float16) for name, value in weights_in(theirs).items()}
        huggingface_files.write_safetensors(str(theirs / "model.safetensors"), values)
        to_ours(theirs, tmp_path / "ours")
        after = values_in(tmp_path / "ours")["bert/pooler/dense/bias"]
        assert after.dtype == np.float32
        np.testing.assert_array_equal(after, values["albert.pooler.bias"].astype(np.float32))

    def test_bfloat16_is_read_exactly(self, tmp_path):
        # 1.0, -2.5 and 3.140625 are bfloat16 numbers: the upper halves of their float32.
        numbers = np.array([1.0, -2.5, 3.140625], np.float32)
        upper = (numbers.view(np.uint32) >> 16).astype("<u2").tobytes()
        header = json.dumps({"x": {"dtype": "BF16", "shape": [3], "data_offsets": [0, 6]}})
        content = len(header).to_bytes(8, "little") + header.encode() + upper
        (tmp_path / "model.safetensors").write_bytes(content)
        np.testing.assert_array_equal(weights_in(tmp_path)["x"], numbers)

    def test_a_type_of_quantised_weights_is_refused(self, tmp_path):
        header = json.dumps({"x": {"dtype": "I8", "shape": [3], "data_offsets": [0, 3]}})
        content = len(header).to_bytes(8, "little") + header.encode() + b"abc"
        (tmp_path / "model.safetensors").write_bytes(content)
        with pytest.raises(ValueError, match="x have the type I8"):
            weights_in(tmp_path)

    @pytest.mark.slow
    def test_parts_are_put_together(self, theirs, tmp_path):
        values = weights_in(theirs)
        names = sorted(values)
        parts = {"model-00001-of-00002.safetensors": names[:9]}
        parts["model-00002-of-00002.safetensors"] = names[9:]
        for part, held in parts.items():
            content = {name: values[name] for name in held}
            huggingface_files.write_safetensors(str(theirs / part), content)
        index = {"weight_map": {name: part for part, held in parts.items() for name in held}}
        (theirs / "model.safetensors.index.json").write_text(json.dumps(index))
        (theirs / "model.safetensors").unlink()
        to_ours(theirs, tmp_path / "ours")
        assert set(values_in(tmp_path / "ours")) == set(values_in(tmp_path / "source"))

    @pytest.mark.slow
    def test_a_damaged_file_is_refused(self, theirs, tmp_path):
        path = theirs / "model.safetensors"
        path.write_bytes(path.read_bytes()[:-5])
        with pytest.raises(
            ValueError, match="model.safetensors cannot be read .*download it again"
        ):
            to_ours(theirs, tmp_path / "ours")

    @pytest.mark.slow
    def test_a_folder_without_weights_is_refused(self, theirs, tmp_path):
        (theirs / "model.safetensors").unlink()
        with pytest.raises(ValueError, match="has no weights.*spiece.model"):
            to_ours(theirs, tmp_path / "ours")

    @pytest.mark.slow
    def test_a_folder_of_another_kind_is_refused(self, tmp_path):
        source = pretrained_models.write_archive(tmp_path / "source")
        with pytest.raises(ValueError, match="no model folder of Hugging Face.*albert_config.json"):
            to_ours(source, tmp_path / "ours")

    @pytest.mark.slow
    def test_a_configuration_that_is_no_json_is_named(self, theirs, tmp_path):
        for text in ("{", "[1, 2]"):
            (theirs / "config.json").write_text(text)
            with pytest.raises(ValueError, match="config.json"):
                to_ours(theirs, tmp_path / "ours")

    @pytest.mark.slow
    def test_a_vocabulary_that_is_not_there_is_asked_for(self, theirs, tmp_path):
        (theirs / "spiece.model").unlink()
        converted = to_ours(theirs, tmp_path / "ours")
        assert "tokenizer.json cannot be read here" in converted.report.notes[0]
        flag = f"--spm_model_file={pretrained_models.VOCABULARY}"
        converted = to_ours(theirs, tmp_path / "again", flag)
        names = ["30k-clean.model", "albert_config.json", "vocabulary.json"]
        assert converted.other_files == names

    @pytest.mark.slow
    @pytest.mark.parametrize(
        "changes, reason",
        [
            ({"model_type": "bert"}, "model_type is 'bert'"),
            ({"layer_norm_eps": 1e-5}, "layer_norm_eps is 1e-05"),
            ({"position_embedding_type": "relative_key"}, "position_embedding_type"),
            ({"hidden_act": "gelu"}, "--approximate_gelu takes the one for the other"),
            ({"hidden_act": "silu"}, "hidden_act 'silu' has no counterpart here. There are"),
            ({"num_hidden_layers": 18, "num_hidden_groups": 14}, "divides in floating point"),
            ({"hidden_size": 17}, "config.json: hidden_size 17 is not a multiple"),
            ({"architectures": ["AlbertForTokenClassification"]}, "no head labels each token"),
            ({"intermediate_size": 64}, r"ffn.weight should be \[64, 16\]"),
        ],
    )
    def test_models_without_a_counterpart_are_refused(self, changes, reason, theirs, tmp_path):
        change_config(theirs, **changes)
        with pytest.raises(ValueError, match=reason):
            to_ours(theirs, tmp_path / "ours")
        assert not (tmp_path / "ours").exists()

    def test_the_exact_gelu_is_taken_for_the_other_on_demand(self, theirs, tmp_path):
        change_config(theirs, hidden_act="gelu")
        converted = to_ours(theirs, tmp_path / "ours", "--approximate_gelu")
        assert "third decimal" in converted.report.notes[0]
        assert config_in(tmp_path / "ours").hidden_act == "gelu"

    @pytest.mark.slow
    def test_old_configurations_have_fewer_keys(self, theirs, tmp_path):
        gone = ("layer_norm_eps", "tie_word_embeddings", "dtype", "torch_dtype", "architectures")
        change_config(theirs, **dict.fromkeys(gone))
        to_ours(theirs, tmp_path / "ours")

    @pytest.mark.slow
    def test_another_dropout_of_the_head_is_noted(self, theirs, tmp_path):
        change_config(theirs, classifier_dropout_prob=0.3)
        notes = to_ours(theirs, tmp_path / "ours").report.notes
        assert "classifier_dropout_prob 0.3" in notes[0]

    @pytest.mark.slow
    def test_a_mapping_between_equal_sizes_has_no_counterpart(self, tmp_path):
        source = pretrained_models.write_archive(tmp_path / "source", embedding_size=16)
        converted = to_theirs(source, tmp_path / "theirs")
        assert "is the identity" in converted.report.notes[0]
        mapping = "albert__encoder__embedding_hidden_mapping_in__weight"
        change_weights(tmp_path / "theirs", **{mapping: 2 * np.eye(16, dtype=np.float32)})
        with pytest.raises(ValueError, match="is not the identity"):
            to_ours(tmp_path / "theirs", tmp_path / "ours")

    @pytest.mark.slow
    def test_unknown_weights_of_the_encoder_are_refused(self, theirs, tmp_path):
        change_weights(theirs, albert__adapter__weight=np.zeros([2], np.float32))
        with pytest.raises(ValueError, match=r"albert.adapter.weight \[2\] is not known"):
            to_ours(theirs, tmp_path / "ours")

    def test_one_head_of_several_is_taken_on_demand(self, theirs, tmp_path):
        converted = to_ours(theirs, tmp_path / "ours", "--head=encoder")
        assert {name.split("/")[0] for name in values_in(tmp_path / "ours")} == {"bert"}
        assert len(converted.report.ignored) == 7
        with pytest.raises(ValueError, match="--head=classification: the model has no such head"):
            to_ours(theirs, tmp_path / "other", "--head=classification")
