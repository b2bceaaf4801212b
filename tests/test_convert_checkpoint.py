# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""convert_checkpoint: models of albert_zh, in their layout and in Google's, and its flags."""

import json
import os
import pathlib
import shutil
import subprocess
import sys

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from albert import modeling
from albert.pretrained import released as released_models
from tests.support import (
    albert_zh_models,
    conversion_check,
    huggingface_models,
    other_runtime,
    pretrained_models,
    released_archives,
)
from tests.support.conversion_check import config_in
from tests.support.conversions import convert, restore, values_in

ROOT = pathlib.Path(__file__).resolve().parents[1]


def differences_from_albert_zh(source, target, ln_type="postln"):
    """How far our outputs are from those of the model in albert_zh's folder."""
    settings = dict(albert_zh_models.CONFIG, ln_type=ln_type, embedding_layout="albert_zh")
    config = modeling.AlbertConfig.from_dict(settings)
    batch = conversion_check.random_batch(config)
    return conversion_check.largest_differences(
        conversion_check.albert_zh_outputs(source, config, batch),
        conversion_check.our_outputs(target, batch),
    )


class TestFromAlbertZh:
    @pytest.mark.slow
    @pytest.mark.parametrize("ln_type", ["postln", "preln"])
    @pytest.mark.parametrize("layout", ["native", "google"])
    def test_the_model_computes_what_albert_zh_computes(self, layout, ln_type, tmp_path, capsys):
        source = albert_zh_models.write(tmp_path / "zh", ln_type=ln_type, slots=True)
        convert("from_albert_zh", source, tmp_path / "ours", f"--layout={layout}")
        differences = differences_from_albert_zh(source, tmp_path / "ours", ln_type)
        assert len(differences) == 4 and max(differences.values()) < 2e-5
        config = config_in(tmp_path / "ours")
        assert config.ln_type == ln_type
        assert config.embedding_layout == ("albert_zh" if layout == "native" else "google")
        assert not [name for name in restore(tmp_path / "ours") if "lamb" in name]
        said = capsys.readouterr().out
        assert "of the optimiser, such as" in said
        assert "bert/pooler/dense/kernel [16, 16] -> bert/pooler/dense/kernel [16, 16]" in said

    @pytest.mark.slow
    def test_native_values_are_the_same_bytes_under_new_names(self, tmp_path):
        source = albert_zh_models.write(tmp_path / "zh")
        converted = convert("from_albert_zh", source, tmp_path / "ours")
        before = values_in(source, "albert_model.ckpt")
        after = values_in(tmp_path / "ours")
        assert len(before) == len(after) == len(converted.report.converted)
        for item in converted.report.converted:
            np.testing.assert_array_equal(before[item.source], after[item.target])
        block = "bert/encoder/transformer/group_0/inner_group_0"
        theirs = "bert/encoder/layer_shared"
        for ours, name in {
            f"{block}/LayerNorm/gamma": f"{theirs}/attention/output/LayerNorm/gamma",
            f"{block}/LayerNorm_1/gamma": f"{theirs}/output/LayerNorm/gamma",
            f"{block}/ffn_1/intermediate/output/dense/kernel": f"{theirs}/output/dense/kernel",
        }.items():
            np.testing.assert_array_equal(after[ours], before[name])

    @pytest.mark.slow
    def test_the_old_name_of_the_table_is_known(self, tmp_path):
        source = albert_zh_models.write(tmp_path / "zh", alias=True)
        convert("from_albert_zh", source, tmp_path / "ours")
        assert max(differences_from_albert_zh(source, tmp_path / "ours").values()) < 2e-5

    @pytest.mark.slow
    def test_unused_keys_of_the_configuration_survive(self, tmp_path):
        source = albert_zh_models.write(tmp_path / "zh")
        convert("from_albert_zh", source, tmp_path / "ours")
        written = json.loads((tmp_path / "ours" / "albert_config.json").read_text())
        unused = {key: albert_zh_models.CONFIG[key] for key in written if key.startswith("pooler")}
        assert len(unused) == 5
        assert written["directionality"] == "bidi"
        assert {key: written[key] for key in unused} == unused
        # The new folder is used as an archive is.
        found = released_models.find_files(str(tmp_path / "ours"), label="the folder")
        assert os.path.basename(found.vocab_file) == "vocab.txt"

    @pytest.mark.slow
    @pytest.mark.parametrize("ln_type", ["postln", "preln"])
    def test_a_fine_tuned_classifier_is_converted_with_its_head(self, ln_type, tmp_path):
        source = albert_zh_models.write(tmp_path / "zh", labels=3, ln_type=ln_type)
        convert("from_albert_zh", source, tmp_path / "ours")
        differences = differences_from_albert_zh(source, tmp_path / "ours", ln_type)
        assert "logits" in differences and max(differences.values()) < 2e-5
        assert ("loss/LayerNorm/beta" in values_in(tmp_path / "ours")) == (ln_type == "preln")

    @pytest.mark.slow
    def test_an_encoder_alone_is_converted(self, tmp_path):
        source = albert_zh_models.write(tmp_path / "zh")
        values = values_in(source, "albert_model.ckpt")
        values = {name: value for name, value in values.items() if name.startswith("bert/")}
        released_archives.save(pathlib.Path(source) / "albert_model.ckpt", values)
        convert("from_albert_zh", source, tmp_path / "ours")
        differences = differences_from_albert_zh(source, tmp_path / "ours")
        assert set(differences) == {"sequence_output", "pooled_output"}

    @pytest.mark.slow
    def test_a_configuration_of_another_size_is_refused(self, tmp_path):
        source = albert_zh_models.write(tmp_path / "zh")
        config = dict(albert_zh_models.CONFIG, intermediate_size=64)
        (tmp_path / "zh" / "albert_config_base.json").write_text(json.dumps(config))
        with pytest.raises(ValueError, match=r"intermediate/dense/kernel should be \[16, 64\]"):
            convert("from_albert_zh", source, tmp_path / "ours")
        assert not (tmp_path / "ours").exists()

    @pytest.mark.slow
    def test_an_unknown_variable_of_the_encoder_is_refused(self, tmp_path):
        source = albert_zh_models.write(tmp_path / "zh")
        values = values_in(source, "albert_model.ckpt")
        values["bert/encoder/extra/kernel"] = np.zeros([2, 2], np.float32)
        released_archives.save(pathlib.Path(source) / "albert_model.ckpt", values)
        with pytest.raises(ValueError, match="bert/encoder/extra/kernel"):
            convert("from_albert_zh", source, tmp_path / "ours")

    @pytest.mark.slow
    def test_several_groups_do_not_fit_the_layout(self, tmp_path):
        source = albert_zh_models.write(tmp_path / "zh", num_hidden_groups=2)
        with pytest.raises(ValueError, match="num_hidden_groups 2"):
            convert("from_albert_zh", source, tmp_path / "ours")

    @pytest.mark.slow
    def test_our_own_names_need_no_conversion(self, tmp_path):
        source = pretrained_models.write_archive(tmp_path / "ours")
        for direction in ("from_albert_zh", "to_google_layout"):
            with pytest.raises(ValueError, match="Google"):
                convert(direction, source, tmp_path / "new")

    @pytest.mark.slow
    def test_another_layout_is_refused_by_its_names(self, tmp_path):
        source = albert_zh_models.write(tmp_path / "zh")
        values = {"bert/encoder/layer_0/kernel": np.zeros([2, 2], np.float32)}
        released_archives.save(pathlib.Path(source) / "albert_model.ckpt", values)
        with pytest.raises(ValueError, match="bert/encoder/layer_0/kernel"):
            convert("from_albert_zh", source, tmp_path / "ours")

    @pytest.mark.slow
    @other_runtime.needs_other_runtime
    def test_the_other_runtime_computes_the_same(self, tmp_path):
        source = albert_zh_models.write(tmp_path / "zh")
        convert("from_albert_zh", source, tmp_path / "ours")
        here = pretrained_models.outputs(str(tmp_path / "ours"), pretrained_models.inputs())
        there = other_runtime.evaluate(
            "{name: value.tolist() for name, value in"
            " test.outputs(sys.argv[2], test.inputs()).items()}",
            "support.pretrained_models",
            str(tmp_path / "ours"),
        )
        for name, value in here.items():
            np.testing.assert_allclose(value, there[name], atol=1e-4)


class TestToGoogleLayout:
    @pytest.mark.slow
    @pytest.mark.parametrize("ln_type", ["postln", "preln"])
    def test_a_model_of_ours_becomes_wide_and_computes_the_same(self, ln_type, tmp_path):
        source = pretrained_models.write_archive(
            tmp_path / "ours", embedding_layout="albert_zh", ln_type=ln_type
        )
        converted = convert("to_google_layout", source, tmp_path / "wide")
        assert "product W P" in converted.report.notes[0]
        assert restore(tmp_path / "wide")["bert/embeddings/word_embeddings"] == [400, 16]
        batch = pretrained_models.inputs()
        before = pretrained_models.outputs(source, batch)
        after = pretrained_models.outputs(str(tmp_path / "wide"), batch)
        for name, value in before.items():
            np.testing.assert_allclose(value, after[name], rtol=1e-5, atol=5e-5)

    @pytest.mark.slow
    def test_a_model_without_a_projection_changes_its_configuration_only(self, tmp_path):
        source = pretrained_models.write_archive(
            tmp_path / "ours", embedding_layout="albert_zh", embedding_size=16
        )
        convert("to_google_layout", source, tmp_path / "wide")
        before, after = values_in(source), values_in(tmp_path / "wide")
        assert set(before) == set(after)
        assert all(np.array_equal(before[name], after[name]) for name in before)

    @pytest.mark.slow
    def test_a_checkpoint_of_albert_zh_itself_is_refused(self, tmp_path):
        source = albert_zh_models.write(tmp_path / "zh", embedding_layout="albert_zh")
        with pytest.raises(ValueError, match="from_albert_zh"):
            convert("to_google_layout", source, tmp_path / "wide")


class TestFolders:
    @pytest.mark.slow
    def test_an_existing_folder_is_not_touched(self, tmp_path):
        source = albert_zh_models.write(tmp_path / "zh")
        (tmp_path / "ours").mkdir()
        with pytest.raises(ValueError, match="ours"):
            convert("from_albert_zh", source, tmp_path / "ours")
        assert list((tmp_path / "ours").iterdir()) == []

    @pytest.mark.slow
    def test_files_named_by_flags_need_not_lie_in_the_folder(self, tmp_path):
        source = albert_zh_models.write(tmp_path / "zh", config_name="other.json")
        shutil.move(os.path.join(source, "vocab.txt"), str(tmp_path / "words.txt"))
        convert(
            "from_albert_zh",
            source,
            tmp_path / "ours",
            f"--albert_config_file={source}/other.json",
            f"--init_checkpoint={source}/albert_model.ckpt.index",
            f"--vocab_file={tmp_path}/words.txt",
        )
        assert (tmp_path / "ours" / "words.txt").exists()


class TestFlags:
    @pytest.mark.parametrize("direction", ["", "albert_zh"])
    def test_an_unknown_direction_is_refused(self, direction, tmp_path):
        with pytest.raises(ValueError, match="from_albert_zh, from_huggingface"):
            convert(direction, tmp_path, tmp_path / "new")

    @pytest.mark.parametrize(
        "direction, flag",
        [
            ("from_huggingface", "--layout=google"),
            ("from_albert_zh", "--head=encoder"),
            ("to_huggingface", "--approximate_gelu"),
            ("from_huggingface", "--pytorch_model_bin"),
            ("to_google_layout", "--huggingface_python=python"),
            ("from_huggingface", "--init_checkpoint=model.ckpt"),
        ],
    )
    def test_a_flag_of_another_direction_is_refused(self, direction, flag, tmp_path):
        with pytest.raises(ValueError, match=flag[: flag.index("=")] if "=" in flag else flag):
            convert(direction, tmp_path, tmp_path / "new", flag)

    @pytest.mark.slow
    def test_the_command_takes_the_direction_as_its_first_word(self, tmp_path):
        source = albert_zh_models.write(tmp_path / "zh")
        command = [sys.executable, "-m", "albert.convert_checkpoint"]
        arguments = [f"--input_dir={source}", f"--output_dir={tmp_path}/ours"]
        done = subprocess.run(
            [*command, "from_albert_zh", *arguments], cwd=str(ROOT), capture_output=True
        )
        assert done.returncode == 0, done.stderr
        assert b"converted: 31 variables" in done.stdout
        again = subprocess.run(
            [*command, "from_albert_zh", *arguments], cwd=str(ROOT), stderr=subprocess.PIPE
        )
        assert again.returncode == 1
        assert b"ERROR: --output_dir=" in again.stderr.splitlines()[-1]


@pytest.mark.slow
def test_what_training_says_to_such_a_checkpoint_names_a_command_that_works(tmp_path):
    from albert.pretrained import warm_start as checkpoint_init

    source = albert_zh_models.write(tmp_path / "zh")
    config = modeling.AlbertConfig.from_dict(
        dict(albert_zh_models.CONFIG, embedding_layout="albert_zh")
    )
    with tf.Graph().as_default():
        pretrained_models.build(config, *[tf.zeros([1, 4], tf.int32)] * 3)
        with pytest.raises(ValueError, match="convert_checkpoint from_albert_zh"):
            checkpoint_init.warm_start(source, tf.trainable_variables())
        convert("from_albert_zh", source, tmp_path / "ours")
        report = checkpoint_init.warm_start(
            str(tmp_path / "ours"), tf.trainable_variables(), required_scopes=("bert", "cls")
        ).report
    assert not report.new
    assert not report.left_over


def test_the_environment_that_messages_name_is_the_one_tests_use():
    assert huggingface_models.PYTHON.parts[-4:] == (".venv", "huggingface", "bin", "python")
