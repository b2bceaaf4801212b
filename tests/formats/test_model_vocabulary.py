# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Vocabularies that go with records and models: recorded, found, and never mistaken for others."""

import os
import shutil

import pytest

from albert import create_pretraining_data, run_pretraining
from albert.formats import model_vocabulary
from albert.formats.model_vocabulary import Vocabulary
from albert.tasks.pretraining import run as pretraining_run
from albert.util import UserError, files
from albert.util import flags as flags_lib
from tests.support import FIXTURES, read_json, released_archives, scripts, write_json
from tests.support import pretraining_records as records
from tests.support.released_archives import SPM_MODEL, WORDPIECES, resolved

LENGTH = 32
CASED = Vocabulary("spm_model_file", str(SPM_MODEL), do_lower_case=False)


@pytest.fixture(scope="module")
def plain(tmp_path_factory):
    """The folder of a model without a vocabulary."""
    folder = released_archives.write_model(tmp_path_factory.mktemp("plain") / "model")
    (folder / "30k-clean.model").unlink()
    return folder


@pytest.fixture
def cased(plain, tmp_path):
    """A folder of the same model, which records a cased vocabulary of another name."""
    folder = tmp_path / "cased"
    shutil.copytree(plain, folder)
    model_vocabulary.put(str(folder), CASED._replace(name="my.v1"))
    return folder


# ---- In a model's folder.


def test_folder_gives_vocabulary_and_lower_casing(cased):
    flags = resolved(f"--albert_dir={cased}")
    assert flags.spm_model_file == f"{cased}/my.v1" and flags.do_lower_case is False
    for arguments, is_lower in (
        ([f"--init_checkpoint={cased}", f"--spm_model_file={cased}/my.v1"], False),
        ([f"--albert_dir={cased}", f"--spm_model_file={SPM_MODEL}"], False),  # the same one
        ([f"--albert_dir={cased}", f"--vocab_file={WORDPIECES}"], True),
        ([f"--albert_dir={cased}", "--nodo_lower_case"], False),
    ):
        assert resolved(*arguments).do_lower_case is is_lower
    with pytest.raises(ValueError, match="do_lower_case"):
        resolved(f"--albert_dir={cased}", "--do_lower_case")


def test_fine_tuned_folder_gives_vocabulary(cased):
    (cased / "vocabulary.json").unlink()
    sha256 = files.sha256(str(SPM_MODEL))
    # The second folder has moved, and the vocabulary with it.
    for recorded, found in ((SPM_MODEL, SPM_MODEL), ("/nowhere/my.v1", cased / "my.v1")):
        vocabulary = {"path": str(recorded), "sha256": sha256}
        content = {"do_lower_case": False, "spm_model_file": vocabulary}
        write_json(cased / "classifier.json", content)
        flags = resolved(f"--albert_dir={cased}")
        assert (flags.spm_model_file, flags.do_lower_case) == (str(found), False)


def test_damaged_vocabulary_is_named(cased):
    (cased / "my.v1").write_text("")
    with pytest.raises(ValueError, match="my.v1"):
        resolved(f"--albert_dir={cased}")


def test_put_stays_in_folder_and_keeps_other_file(tmp_path):
    path = model_vocabulary.put(f"{tmp_path}/a/b", CASED._replace(name="../../x.model"))
    assert path == f"{tmp_path}/a/b/x.model"
    folder = tmp_path / "c"
    folder.mkdir()
    (folder / "tiny.model").write_text("mine")
    with pytest.raises(UserError, match=r"tiny\.model"):
        model_vocabulary.put(str(folder), CASED)
    assert (folder / "tiny.model").read_text() == "mine"


# ---- From records to the model they train.


@pytest.fixture(scope="module")
def cased_records(tmp_path_factory):
    """Records of a vocabulary that is gone, in a folder that has its copy."""
    folder = tmp_path_factory.mktemp("records")
    vocabulary = folder / "own.model"
    shutil.copy(SPM_MODEL, vocabulary)
    arguments = f"""--input_file={FIXTURES}/corpus.txt --output_file={folder}/data/train.tf_record
        --spm_model_file={vocabulary} --max_seq_length={LENGTH} --dupe_factor=1 --num_processes=1
        --nodo_lower_case"""
    scripts.run(create_pretraining_data, arguments)
    vocabulary.unlink()
    return folder / "data"


def keep(folder, output_dir, *arguments):
    """Does what a training does before its first step; returns what it put into output_dir."""
    config = folder / "tiny.json"
    records.write_config(config, vocab_size=400, max_position_embeddings=LENGTH)
    arguments = [
        f"--input_file={folder}/*.tf_record",
        f"--albert_config_file={config}",
        f"--output_dir={output_dir}",
        f"--max_seq_length={LENGTH}",
        *arguments,
    ]
    run = pretraining_run.Pretraining(flags_lib.parse(run_pretraining.Flags, arguments))
    run.check()
    if run.vocabulary:
        model_vocabulary.put(str(output_dir), run.vocabulary)
    return sorted(os.listdir(output_dir)) if os.path.exists(output_dir) else []


def test_training_keeps_vocabulary_of_records(cased_records, tmp_path):
    for _ in range(2):
        assert keep(cased_records, tmp_path / "out") == ["own.model", "vocabulary.json"]
    assert (tmp_path / "out" / "own.model").read_bytes() == SPM_MODEL.read_bytes()
    assert read_json(tmp_path / "out" / "vocabulary.json")["do_lower_case"] is False


def test_training_takes_records_without_vocabulary(cased_records, tmp_path):
    folder = tmp_path / "data"
    shutil.copytree(cased_records, folder)
    for path in folder.glob(".vocabulary-*"):
        path.unlink()
    assert keep(folder, tmp_path / "out") == []
    named = f"--spm_model_file={SPM_MODEL}"
    assert keep(folder, tmp_path / "out", named) == ["own.model", "vocabulary.json"]


def test_model_of_another_vocabulary_is_refused(cased_records, tmp_path):
    others = Vocabulary("vocab_file", str(WORDPIECES), False), CASED._replace(do_lower_case=True)
    for other in others:
        model_vocabulary.put(f"{tmp_path}/out", other)
        with pytest.raises(UserError, match="out/vocabulary.json"):
            keep(cased_records, tmp_path / "out")


def test_first_weights_of_another_vocabulary_are_named(cased_records, cased, tmp_path, caplog):
    arguments = cased_records, tmp_path / "out", f"--init_checkpoint={cased}"
    (cased / "vocabulary.json").unlink()
    (cased / "my.v1").rename(cased / "my.model")
    (cased / "old.model").mkdir()
    keep(*arguments)
    assert "my.model" not in caplog.text
    (cased / "my.model").write_text("another")
    keep(*arguments)
    assert str(cased / "my.model") in caplog.text


def test_model_with_unused_embeddings_is_named(cased_records, tmp_path, caplog):
    config = records.write_config(tmp_path / "large.json", vocab_size=600)
    keep(cased_records, tmp_path / "out", f"--albert_config_file={config}")
    assert caplog.records[-1].args == (400, 600)
