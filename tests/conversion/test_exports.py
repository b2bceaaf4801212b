# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Models as files for ONNX Runtime and TensorFlow Lite: the same answers, small, or refused."""

import json
import os
import pathlib
import shutil

import numpy as np
import pytest

import albert
from albert import export_model, predict, predictor
from albert.conversion import exports
from albert.pretrained import exported as exported_files
from albert.pretrained import inference
from albert.runtimes import compat
from albert.util import flags as flags_lib
from tests.support import fine_tuned_models, pretrained_models, squad_data, squad_models

TEXTS = [
    "the king left",
    "he saw the old man and the dog that he had found in the town",
    "a bird sang",
    "so he went home again",
    "it rains",
    "the river",
]
CONTEXT = "once there was a king . the old king had a daughter and a bird in the town"
LABELS = ("no", "maybe", "yes")
FORMATS = ("onnx", "tflite")
LIMITS = {"n_best_size": 4, "max_answer_length": 3, "start_n_top": 6, "end_n_top": 5}


def write_table(path, labels):
    rows = [f"{text}\t{label}" for text, label in zip(TEXTS, labels)]
    path.write_text("\n".join(["text_a\tlabel", *rows, ""]), encoding="utf-8")


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A folder with a model of each kind, and data for each."""
    folder = tmp_path_factory.mktemp("models")
    single = {"is_pair": False, "task": "custom"}
    fine_tuned_models.write_classifier(folder / "classifier", description=single)
    fine_tuned_models.write_classifier(folder / "regressor", labels=(), description=single)
    squad_models.write_reader(folder / "reader", is_v2=False)
    about = {"null_score_diff_threshold": -2.5, **LIMITS}
    squad_models.write_reader(folder / "reader2", is_v2=True, **about)
    pretrained_models.write_archive(folder / "encoder")
    write_table(folder / "classifier.data", LABELS * 2)
    write_table(folder / "regressor.data", range(6))
    (folder / "encoder.data").write_text("\n".join(TEXTS), encoding="utf-8")
    questions = [squad_data.answered(text, CONTEXT, text) for text in ("king", "bird")]
    paragraph = squad_data.paragraph(CONTEXT, *questions)
    for name in ("reader", "reader2"):
        squad_data.write_squad(folder, [paragraph], f"{name}.data")
    return folder


def export(place, name, out, *arguments):
    given = [f"--model_dir={place / name}", f"--output_dir={out}"]
    given += [f"--eval_file={place / name}.data", *arguments]
    if name == "encoder":
        given.append("--max_seq_length=32")
    return exports.export(flags_lib.parse(export_model.Flags, given))


def rows(count=3):
    """Sequences of several lengths, the longest first."""
    generator = np.random.RandomState(3)
    found = []
    for length in (32, 21, 9)[:count]:
        ids = generator.randint(5, 390, length).tolist()
        found.append({"input_ids": ids, "segment_ids": [0] * 5 + [1] * (length - 5)})
    return found


def outputs_of(model):
    """What a model in memory computes."""
    if isinstance(model, inference.Embedder):
        return model.network.run(inference.stack(rows()))
    texts = [("who ?", CONTEXT)] if isinstance(model, predictor.Reader) else TEXTS
    return model.outputs([model.task.parse(text) for text in texts])


def difference(folder, other):
    """The largest between the outputs of two models in memory, where both are possible."""
    with albert.load(str(folder)) as model, albert.load(str(other)) as exported:
        ours, theirs = outputs_of(model), outputs_of(exported)
    gaps = [0.0]
    # Beyond the possible answers, which index comes next is chance.
    for name in {name for name in set(ours) & set(theirs) if not name.endswith("index")}:
        is_possible = np.abs(ours[name]) < 1e20
        assert np.array_equal(is_possible, np.abs(theirs[name]) < 1e20)
        assert ours[name].shape == theirs[name].shape
        gaps.append(np.abs(ours[name] - theirs[name])[is_possible].max(initial=0.0))
    assert len(gaps) > 1
    return max(gaps)


def test_the_heads_after_each_layer_stay_behind(tmp_path):
    about = {"is_pair": False, "task": "custom", "early_exit": True}
    fine_tuned_models.write_classifier(tmp_path / "classifier", description=about)
    write_table(tmp_path / "classifier.data", LABELS * 2)
    export(tmp_path, "classifier", tmp_path / "new")
    with pytest.raises(ValueError, match="exit_patience"):
        albert.load(str(tmp_path / "new"), exit_patience=1)


NAMES = ("classifier", "regressor", "reader", "reader2", "encoder")
QUICK = (("classifier", "onnx"), ("encoder", "onnx"))
CASES = [
    pytest.param(
        name,
        format_name,
        # The converters take their time.
        marks=[pytest.mark.slow] * ((name, format_name) not in QUICK),
    )
    for name in NAMES
    for format_name in FORMATS
]


@pytest.mark.parametrize("name, format_name", CASES)
def test_a_float_export_gives_the_models_outputs(place, tmp_path, name, format_name):
    if (name, format_name) == ("reader2", "tflite") and not compat.is_tf2():
        with pytest.raises(ValueError, match="onnx"):
            export(place, name, tmp_path / "new", "--format=tflite")
        assert os.listdir(str(tmp_path)) == []
        return
    measured = export(place, name, tmp_path / "new", f"--format={format_name}")
    assert (tmp_path / "new" / f"model.{format_name}").exists()
    assert difference(place / name, tmp_path / "new") < 1e-4
    if name == "encoder":
        texts = [*TEXTS, ("a bird sang", "it rains")]
        folders = (place / name, tmp_path / "new")
        vectors = [albert.load(str(folder), pooling="mean").embed(texts) for folder in folders]
        np.testing.assert_allclose(*vectors, atol=1e-4)
    before, after = measured.scores
    assert after == pytest.approx(before, abs=0.01)


@pytest.mark.parametrize("name, format_name", CASES)
def test_an_int8_export_gives_nearly_the_models_outputs(place, tmp_path, name, format_name):
    if (name, format_name) == ("reader2", "tflite") and not compat.is_tf2():
        pytest.skip("TensorFlow 1.15 does not convert it")
    arguments = [f"--format={format_name}", "--quantize=int8", "--max_loss=100"]
    export(place, name, tmp_path / "new", *arguments)
    with albert.load(str(place / name)) as model, albert.load(str(tmp_path / "new")) as exported:
        if name.startswith("reader"):
            wanted, found = (
                [item.probability for item in one.predict([("who ?", CONTEXT)])]
                for one in (model, exported)
            )
        else:
            answer = "embed" if name == "encoder" else "predict_array"
            wanted, found = (getattr(one, answer)(TEXTS) for one in (model, exported))
    # Bytes are coarse in models of 16 numbers, and never exact.
    assert 0 < np.abs(np.subtract(wanted, found)).max() < 0.3


@pytest.mark.parametrize(
    "changes",
    [
        {"share_type": "none", "ln_type": "preln", "hidden_act": "relu"},
        {
            **{"embedding_layout": "albert_zh", "num_hidden_groups": 2, "inner_group_num": 2},
            "hidden_act": "gelu_new",
        },
    ],
)
@pytest.mark.slow
def test_variants_of_the_model_have_the_same_graph_in_onnx(place, tmp_path, changes):
    pretrained_models.write_archive(tmp_path / "encoder", **changes)
    shutil.copy(str(place / "encoder.data"), str(tmp_path))
    export(tmp_path, "encoder", tmp_path / "new")
    assert difference(tmp_path / "encoder", tmp_path / "new") < 1e-4


def size_with_layers(folder, count, *arguments):
    sizes = {"hidden_size": 64, "intermediate_size": 256, "num_hidden_layers": count}
    pretrained_models.write_archive(folder / "encoder", **sizes)
    (folder / "encoder.data").write_text("\n".join(TEXTS), encoding="utf-8")
    return export(folder, "encoder", folder / "new", *arguments).sizes[1]


@pytest.mark.parametrize("format_name", ["onnx", pytest.param("tflite", marks=pytest.mark.slow)])
def test_weights_that_layers_share_are_in_the_file_once(tmp_path, format_name):
    arguments = [f"--format={format_name}", "--quantize=int8", "--max_loss=100"]
    folders = [tmp_path / "few", tmp_path / "many"]
    few, many = (
        size_with_layers(folder, count, *arguments) for folder, count in zip(folders, (2, 6))
    )
    of_a_layer = 4 * 64 * 64 + 2 * 64 * 256  # kernels, in bytes
    assert few > of_a_layer
    assert many - few < 4 * 0.5 * of_a_layer


def test_an_export_that_loses_too_much_is_refused_and_nothing_is_left(place, tmp_path):
    arguments = ["--format=onnx", "--quantize=int8"]
    with pytest.raises(ValueError, match="max_loss"):
        export(place, "encoder", tmp_path / "a" / "b" / "new", *arguments, "--max_loss=0.0001")
    assert not [path for path in tmp_path.rglob("*") if path.is_file()]


def test_a_folder_that_is_there_stays(place, tmp_path):
    (tmp_path / "new").mkdir()
    with pytest.raises(ValueError, match="output_dir"):
        export(place, "classifier", tmp_path / "new")
    assert os.listdir(str(tmp_path / "new")) == []


@pytest.fixture(scope="module")
def exported(place, tmp_path_factory):
    """A classifier's export, which has moved since."""
    folder = tmp_path_factory.mktemp("exported")
    export(place, "classifier", folder / "new", "--eval_examples=4")
    (folder / "new").rename(folder / "moved")
    return folder / "moved"


def test_the_folder_has_all_that_predictions_need(place, exported, capsys):
    names = ["albert_config.json", "classifier.json", "export.json", "model.onnx", "tiny.model"]
    assert sorted(os.listdir(str(exported))) == names
    description = json.loads((exported / "classifier.json").read_text("utf-8"))
    assert description["labels"] == list(LABELS)
    assert description["spm_model_file"]["path"] == "tiny.model"
    found = []
    for folder in (place / "classifier", exported):
        arguments = [f"--model_dir={folder}", "--text_a=the king left"]
        settings = flags_lib.parse(predict.Flags, arguments)
        assert predict.predict(settings) == 1
        found.append(json.loads(capsys.readouterr().out))
    ours, theirs = found
    assert ours["label"] == theirs["label"]
    assert ours["probabilities"] == pytest.approx(theirs["probabilities"], abs=1e-5)


def test_other_weights_can_be_named(place, tmp_path):
    fine_tuned_models.write_classifier(tmp_path / "other", seed=7)
    weights = str(tmp_path / "other" / "model.ckpt-best")
    export(place, "classifier", tmp_path / "new", f"--checkpoint={weights}")
    with albert.load(str(place / "classifier"), weights) as model:
        wanted = model.predict_array(TEXTS)
    with albert.load(str(tmp_path / "new")) as model:
        np.testing.assert_allclose(model.predict_array(TEXTS), wanted, atol=1e-4)


def test_the_record_says_what_was_measured(exported):
    record = json.loads((exported / "export.json").read_text("utf-8"))
    assert record["examples"] == 4 and record["quantize"] == "none"
    assert record["max_seq_length"] == fine_tuned_models.LENGTH
    for side in ("model", "export"):
        assert 0 < record[side]["p50_ms"] <= record[side]["p95_ms"]
    assert record["model"]["eval_accuracy"] == record["export"]["eval_accuracy"]
    assert record["export"]["bytes"] == (exported / "model.onnx").stat().st_size


def test_scores_are_the_shares_of_right_answers(place, tmp_path):
    with albert.load(str(place / "classifier")) as model:
        right = [item.label for item in model.predict(TEXTS)]
    wrong = [LABELS[(LABELS.index(label) + 1) % 3] for label in right]
    shutil.copytree(str(place / "classifier"), str(tmp_path / "classifier"))
    write_table(tmp_path / "classifier.data", right[:3] + wrong[3:])
    measured = export(tmp_path, "classifier", tmp_path / "new")
    assert measured.scores == (50.0, 50.0) and measured.examples == len(TEXTS)


@pytest.mark.parametrize("name, metric", [("classifier", "eval_loss"), ("regressor", "MSE")])
def test_a_custom_tasks_own_metric_decides(place, tmp_path, name, metric):
    for path in (place / name, place / f"{name}.data"):
        (shutil.copytree if path.is_dir() else shutil.copy)(str(path), str(tmp_path / path.name))
    (tmp_path / name / "run_summary.json").write_text(json.dumps({"metric": metric}), "utf-8")
    measured = export(tmp_path, name, tmp_path / "new")
    with albert.load(str(place / name)) as model:
        found = model.predict_array(TEXTS)
    right = np.arange(6)
    losses = (
        -np.log(found[right, right % 3]) if metric == "eval_loss" else (found[:, 0] - right) ** 2
    )
    assert measured.metric == metric
    assert measured.scores == pytest.approx([100 * losses.mean()] * 2, rel=1e-4)
    assert measured._replace(scores=(30.0, 32.0)).lost() == 2
    assert measured._replace(scores=(30.0, 32.0), metric="f1").lost() == -2


def test_a_reader_keeps_its_threshold_and_limits(place, tmp_path):
    export(place, "reader2", tmp_path / "new", "--max_loss=100")
    with albert.load(str(tmp_path / "new")) as model:
        assert model.task.threshold() == -2.5 and model.task.limits()._asdict() == LIMITS
        assert outputs_of(model)["end_top_index"].shape[1:] == (30,)
        # Fewer positions than there are starts.
        program = exported_files.open_program(str(tmp_path / "new" / "model.onnx"))
    rows_of = {"input_ids": [2, 40, 50, 3], "input_mask": [1] * 4, "segment_ids": [0, 1, 1, 1]}
    short = {name: np.array([row], np.int32) for name, row in rows_of.items()}
    found, padded = (
        program.run({name: np.pad(value, [(0, 0), (0, more)]) for name, value in short.items()})
        for more in (0, 8)
    )
    assert found["end_top_index"].max() < 4
    np.testing.assert_allclose(found["cls_logits"], padded["cls_logits"], rtol=1e-4)
    # Three starts are possible; what follows them is chance.
    for name, count in (("start_top_log_probs", 3), ("end_top_log_probs", 15)):
        np.testing.assert_allclose(found[name][:, :count], padded[name][:, :count], rtol=1e-4)


def test_what_an_export_cannot_do_is_refused(exported, tmp_path):
    with pytest.raises(ValueError, match="precision"):
        albert.load(str(exported), precision_name="bfloat16")
    shutil.copytree(str(exported), str(tmp_path / "damaged"))
    path = pathlib.Path(tmp_path, "damaged", "model.onnx")
    path.write_bytes(path.read_bytes()[:100])
    with pytest.raises(ValueError, match=r"model\.onnx"):
        albert.load(str(tmp_path / "damaged"))


@pytest.mark.parametrize(
    "name, arguments, words",
    [
        ("classifier", ["--eval_file=/nowhere"], "eval_file"),
        ("classifier", ["--max_seq_length=16"], "max_seq_length"),
        ("classifier", ["--model_dir=/nowhere"], "nowhere"),
        ("encoder", ["--max_seq_length=512"], "max_seq_length"),
    ],
)
def test_mistakes_are_named(place, tmp_path, name, arguments, words):
    given = [f"--model_dir={place / name}", f"--output_dir={tmp_path / 'new'}"]
    given += [f"--eval_file={place / name}.data", *arguments]
    with pytest.raises(ValueError, match=words):
        export_model.main(flags_lib.parse(export_model.Flags, given))
    assert os.listdir(str(tmp_path)) == []


def test_exports_and_models_of_race_are_no_models_to_export(place, exported, tmp_path):
    shutil.copy(str(place / "classifier.data"), str(tmp_path / "moved.data"))
    shutil.copytree(str(exported), str(tmp_path / "moved"))
    with pytest.raises(ValueError, match="training"):
        export(tmp_path, "moved", tmp_path / "new")
    (tmp_path / "race").mkdir()
    (tmp_path / "race" / "race.json").write_text("{}", encoding="utf-8")
    with pytest.raises(ValueError, match=r"race\.json"):
        export(tmp_path, "race", tmp_path / "new")
