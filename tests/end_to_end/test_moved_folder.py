# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""A fine-tuned model is its folder: it works elsewhere, with everything else deleted."""

import shutil

import pytest

import albert
from albert import export_to_tfhub, run_classifier, run_race, run_squad_v2
from albert.util import flags as flags_lib
from tests.support import classification_data, pretrained_models, race_data, squad_data
from tests.support.squad_runs import CONTEXT

TRAINED = {  # script, flags of its data, those of its training alone, what it predicts
    "classifier": (
        *(run_classifier, ["--task_name=mrpc", "--data_dir={data}"]),
        *(["--do_eval", "--train_step=2"], "test_results.tsv"),
    ),
    "squad": (
        *(run_squad_v2, ["--predict_file={data}/squad.json"]),
        ["--train_file={data}/squad.json", "--doc_stride=8", "--max_query_length=8"]
        + ["--num_train_epochs=1", "--max_answer_length=2", "--start_n_top=2"],
        "nbest_predictions.json",
    ),
    "race": (
        *(run_race, ["--data_dir={data}", "--nodo_eval"]),
        *(["--train_step=2", "--max_qa_length=20"], "test_results.tsv"),
    ),
}
ASKED = {
    "classifier": ("the king", "a bird"),
    "squad": ("which king ?", CONTEXT),
    "race": (CONTEXT, "which ?", ["king", "bird"]),
}


def run(script, data, out, *arguments):
    given = [f"--output_dir={out}", *(item.format(data=data) for item in arguments)]
    script.main(flags_lib.parse(script.Flags, given))


def predictions(path):
    """The rows of a table, or the answers in nbest_predictions.json."""
    rows = path.read_text("utf-8").splitlines()
    return [row for row in rows if '"text"' in row] or rows


@pytest.mark.slow
@pytest.mark.parametrize(
    "task, is_hub", [("classifier", False), ("squad", False), ("squad", True), ("race", False)]
)
def test_a_moved_folder_predicts_and_loads_without_the_files_it_came_from(tmp_path, task, is_hub):
    script, data_flags, training_flags, predicted = TRAINED[task]
    data = tmp_path / "data"
    data.mkdir()
    classification_data.write_mrpc(data)
    race_data.write_race(data)
    asked = [squad_data.answered(text, CONTEXT, text) for text in ("king", "bird", "river")]
    squad_data.write_squad(data, [squad_data.paragraph(CONTEXT, *asked)])
    model = ["--albert_dir={data}/model"]
    archive = pretrained_models.write_archive(data / "model")
    if is_hub:
        model = ["--albert_hub_module_handle={data}/module"]
        arguments = [f"--albert_directory={archive}", f"--export_path={data / 'module'}"]
        export_to_tfhub.main(flags_lib.parse(export_to_tfhub.Flags, arguments))
    training_flags = [*training_flags, "--max_seq_length=40", "--train_batch_size=2"]
    training_flags = [*training_flags, *model, "--do_train", "--do_predict"]
    run(script, data, tmp_path / "out", *data_flags, *training_flags)
    expected = predictions(tmp_path / "out" / predicted)
    with albert.load(str(tmp_path / "out")) as loaded:
        answer = loaded.predict([ASKED[task]])[0][0]  # label, text or option
    (tmp_path / "out" / predicted).unlink()
    for path in tmp_path.glob("out/*.tf_record"):
        path.unlink()
    for path in (data / "model", data / "module"):
        shutil.rmtree(str(path), ignore_errors=True)
    (tmp_path / "out").rename(tmp_path / "moved")
    run(script, data, tmp_path / "moved", *data_flags, "--nodo_train", "--do_predict")
    assert predictions(tmp_path / "moved" / predicted) == expected
    with albert.load(str(tmp_path / "moved")) as loaded:
        assert loaded.predict([ASKED[task]])[0][0] == answer
