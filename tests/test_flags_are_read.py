# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Every flag of the fine-tuning scripts is read when the script runs."""

import shutil

import pytest
import tensorflow.compat.v1 as tf

from albert import estimator_utils, predict, run_classifier, run_race, sweep
from tests import classification_data, race_data, recording_settings
from tests import fine_tuned_models as models


@pytest.fixture(scope="module")
def model_dir(tmp_path_factory):
    """A folder that is a fine-tuned model, and a released one."""
    folder = tmp_path_factory.mktemp("model")
    models.write_classifier(folder)
    (folder / "checkpoint").unlink()
    shutil.copy(str(models.VOCABULARY), str(folder / "30k-clean.model"))
    return folder


def with_tpu_flags(main, monkeypatch):
    """The script's main, and the reading of the flags that find a TPU; there is none here."""

    def resolver(*_, **__):
        raise ConnectionError

    def run(settings):
        main(settings)
        with pytest.raises(ConnectionError):
            estimator_utils.run_config(
                settings.replace(use_tpu=True, tpu_name="tpu"), keep_checkpoint_max=0
            )

    monkeypatch.setattr(tf.distribute.cluster_resolver, "TPUClusterResolver", resolver)
    return run


@pytest.mark.slow
def test_every_flag_of_run_classifier_is_read(tmp_path, monkeypatch):
    config = classification_data.write_config(tmp_path)
    classification_data.write_mrpc(tmp_path)
    classification_data.write_own(tmp_path)
    base = [
        f"--albert_config_file={config}",
        f"--spm_model_file={classification_data.VOCABULARY}",
        f"--data_dir={tmp_path}",
        "--max_seq_length=16",
        "--train_batch_size=8",
        "--train_step=1",
    ]
    commands = [
        ["--task_name=mrpc", "--do_train", "--do_eval", "--do_predict", "--use_xla=false"]
        + [f"--output_dir={tmp_path / 'mrpc'}", f"--export_dir={tmp_path / 'export'}"],
        ["--task_name=custom", "--do_train", "--text_a_column=words", "--label_column=answer"]
        + ["--labels=bird,king", f"--output_dir={tmp_path / 'own'}"],
    ]

    main = with_tpu_flags(run_classifier.main, monkeypatch)
    unread = recording_settings.unread_flags(
        run_classifier.define_flags, [base + command for command in commands], main
    )
    assert unread == []


def test_every_flag_of_run_race_is_read(tmp_path, monkeypatch):
    race_data.write_race(tmp_path, passages=1)
    command = [
        f"--albert_config_file={classification_data.write_config(tmp_path)}",
        f"--spm_model_file={race_data.VOCABULARY}",
        f"--data_dir={tmp_path}",
        f"--output_dir={tmp_path / 'out'}",
        "--do_predict",
        "--max_seq_length=32",
        "--max_qa_length=16",
        "--train_batch_size=2",
        "--train_step=1",
    ]
    main = with_tpu_flags(run_race.main, monkeypatch)
    assert recording_settings.unread_flags(run_race.define_flags, [command], main) == []


def test_every_flag_of_sweep_is_read(tmp_path, model_dir):
    classification_data.write_mrpc(tmp_path)
    command = ["--dry_run", f"--model_dir={model_dir}", f"--data_dir={tmp_path}"]
    command += [f"--output_dir={tmp_path / 'out'}", "--max_seq_length=16"]
    assert recording_settings.unread_flags(sweep.define_flags, [command], sweep.main) == []


def test_every_flag_of_predict_is_read(tmp_path, model_dir):
    texts = tmp_path / "texts.tsv"
    texts.write_text("the king\n", encoding="utf-8")
    command = [f"--model_dir={model_dir}", f"--input_file={texts}"]
    command += [f"--output_file={tmp_path / 'answers'}"]
    unread = recording_settings.unread_flags(predict.define_flags, [command], predict.predict)
    assert unread == []
