# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""A fine-tuned model is its folder: it works elsewhere, with everything else deleted."""

import shutil

import pytest

import albert
from albert import run_classifier, run_squad_v2
from tests.support import hub_modules, pretrained_models, scripts
from tests.support.squad_data import CONTEXT

# Script, flags of its data, those of its training alone, and what it predicts.
TRAINED = {
    "classifier": (
        run_classifier,
        "--task_name=mrpc --data_dir={data}",
        "--do_eval --train_step=2",
        "test_results.tsv",
    ),
    "squad": (
        run_squad_v2,
        "--predict_file={data}/v1.json",
        """--train_file={data}/v1.json --doc_stride=8 --max_query_length=8 --num_train_epochs=1
        --max_answer_length=2 --start_n_top=2""",
        "nbest_predictions.json",
    ),
}
ASKED = {
    "classifier": ("the king", "a bird"),
    "squad": ("which king ?", CONTEXT),
}


def run_script(script, data, out, flags):
    scripts.run(script, f"--output_dir={out} {flags}".format(data=data))


def predictions(path):
    """The rows of a table, or the answers in nbest_predictions.json."""
    rows = path.read_text().splitlines()
    return [row for row in rows if '"text"' in row] or rows


@pytest.mark.slow
@pytest.mark.parametrize("task, is_hub", [("classifier", True), ("squad", False)])
def test_moved_folder_predicts_and_loads(training_data, tmp_path, task, is_hub):
    script, data_flags, training_flags, predicted = TRAINED[task]
    data, out = tmp_path / "data", tmp_path / "out"
    shutil.copytree(training_data, data)
    model = f"--albert_dir={pretrained_models.write_archive(data / 'model')}"
    if is_hub:
        module = hub_modules.export(data / "model", data / "module")
        model = f"--albert_hub_module_handle={module}"
    training_flags += f" --max_seq_length=40 --train_batch_size=2 {model} --do_train"
    run_script(script, data, out, f"{data_flags} --do_predict {training_flags}")
    expected = predictions(out / predicted)
    with albert.load(str(out)) as loaded:
        answer = loaded.predict([ASKED[task]])[0][0]  # label, text or option
    for path in [out / predicted, *out.glob("*.tf_record")]:
        path.unlink()
    for path in (data / "model", data / "module"):
        shutil.rmtree(path, ignore_errors=True)
    moved = tmp_path / "moved"
    out.rename(moved)
    run_script(script, data, moved, f"{data_flags} --nodo_train --do_predict")
    assert predictions(moved / predicted) == expected
    with albert.load(str(moved)) as loaded:
        assert loaded.predict([ASKED[task]])[0][0] == answer
