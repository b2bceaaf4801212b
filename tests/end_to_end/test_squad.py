# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""run_squad_v2 in processes of its own: killed again and again, it ends in the same results."""

import signal

import pytest

from tests.support import classification_data, processes, squad_data
from tests.support.squad_runs import CONTEXT


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    folder = tmp_path_factory.mktemp("data")
    # With dropout: its masks too must be those of an uninterrupted run.
    classification_data.write_config(folder)
    words = ("king", "small bird", "old town", "river", "bird sang")
    asked = [squad_data.answered(f"q{n}", CONTEXT, text) for n, text in enumerate(words)]
    asked.append(squad_data.question("none", "which ship ?", is_impossible=True))
    squad_data.write_squad(folder, [squad_data.paragraph(CONTEXT, *asked)])
    return folder


def start(data, output_dir):
    """Starts a run of 9 steps with a checkpoint every three."""
    return processes.start(
        "albert.run_squad_v2",
        [
            f"--train_file={data / 'squad.json'}",
            f"--predict_file={data / 'squad.json'}",
            f"--output_dir={output_dir}",
            f"--albert_config_file={data / 'config.json'}",
            f"--spm_model_file={classification_data.VOCABULARY}",
            "--max_seq_length=32",
            "--doc_stride=8",
            "--max_query_length=8",
            "--train_batch_size=2",
            "--num_train_epochs=3",
            "--learning_rate=0.003",
            "--save_checkpoints_steps=3",
            "--log_steps=1",
            "--do_train",
            "--do_predict",
        ],
    )


def results(folder):
    answers = ("predictions.json", "nbest_predictions.json", "null_odds.json")
    return {
        name: (folder / name).read_bytes()
        for name in ("eval_results.txt", "best_trial.txt", *answers)
    }


@pytest.mark.slow
def test_a_run_that_is_killed_again_and_again_ends_in_the_same_results(data, tmp_path):
    whole, killed = tmp_path / "whole", tmp_path / "killed"
    process = start(data, whole)
    said = processes.finish(process)
    assert process.returncode == 0, said
    assert "Best of 3 evaluated checkpoints" in said

    for words in ("5/9 steps", "(2 of 3)"):
        process = start(data, killed)
        said = processes.kill_at(process, words)
        assert process.returncode == -signal.SIGKILL, said
    process = start(data, killed)
    said = processes.finish(process)
    assert process.returncode == 0, said
    assert "Nothing to train" in said and "already there" in said

    expected = processes.weights(whole / "model.ckpt-9")
    actual = processes.weights(killed / "model.ckpt-9")
    assert sorted(actual) == sorted(expected)
    assert [name for name in expected if actual[name] != expected[name]] == []
    assert results(killed) == results(whole)
