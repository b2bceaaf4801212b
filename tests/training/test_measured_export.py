# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Models as files for ONNX Runtime and TensorFlow Lite: the same answers, small, or refused."""

import functools
import itertools
import json
import os
import pathlib
import shutil
import subprocess
import sys

import numpy as np
import onnx
import onnxruntime
import pytest
import tensorflow.compat.v1 as tf

import albert
from albert.commands import export_model
from albert.data.packing import SEQUENCES
from albert.runtimes import compat
from albert.tasks.classification.task import ClassifierTask
from albert.training import measured_export
from albert.util import UserError
from albert.util import flags as flags_lib
from tests.support import (
    cases,
    conversions,
    fine_tuned_models,
    huggingface_models,
    pages,
    pretrained_models,
    race_data,
    read_json,
    squad_data,
    squad_models,
    write_json,
)

slow = pytest.mark.slow

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
LIMITS = {"n_best_size": 4, "max_answer_length": 3, "start_n_top": 6, "end_n_top": 5}
ASKED = {
    **dict.fromkeys(("classifier", "regressor"), TEXTS),
    "encoder": [*TEXTS, ("a bird sang", "it rains")],
    **dict.fromkeys(("reader", "reader2"), [("who ?", CONTEXT)]),
    "race": [(CONTEXT, "who ?", ["king", "bird", "dog", "man"])],
    "tagger": TEXTS,
}


def write_classifier(folder, labels, *, right=None, metric=None, **options):
    """A classifier or regressor as run_classifier leaves it, with a dev set beside it."""
    description = {"is_pair": False, "task": "custom"}
    fine_tuned_models.write_classifier(folder, labels=labels, description=description, **options)
    flags = {"task_name": "custom", "text_a_column": "text_a", "label_column": "label"}
    flags.update(labels=",".join(labels) or "regression", **({"metric": metric} if metric else {}))
    lines = [f"{name} = {json.dumps(value)}\n" for name, value in flags.items()]
    (folder / "run.toml").write_text("".join(lines))
    data = pathlib.Path(f"{folder}.data")
    data.mkdir()
    rows = [f"{text}\t{label}\n" for text, label in zip(TEXTS, right or labels * 2 or range(6))]
    (data / "dev.tsv").write_text("text_a\tlabel\n" + "".join(rows))


def write_race(folder):
    fine_tuned_models.write_classifier(folder, labels=("score",))
    description = read_json(folder / "classifier.json")
    (folder / "classifier.json").unlink()
    description.update(task="race", max_qa_length=12)
    write_json(folder / "race.json", description)
    race_data.write_race(f"{folder}.data", splits=("dev",), passages=2)


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A folder with a model of each kind, and data for each."""
    folder = tmp_path_factory.mktemp("models")
    write_classifier(folder / "classifier", LABELS, layers=2)
    write_classifier(folder / "regressor", (), metric="MSE")
    squad_models.write_reader(folder / "reader", is_v2=False)
    about = {"null_score_diff_threshold": -2.5, **LIMITS}
    squad_models.write_reader(folder / "reader2", is_v2=True, **about)
    questions = [squad_data.answered(text, CONTEXT, text) for text in ("king", "bird")]
    for name in ("reader", "reader2"):
        squad_data.write_squad(folder, [squad_data.paragraph(CONTEXT, *questions)], f"{name}.data")
    pretrained_models.write_archive(folder / "encoder")
    (folder / "encoder.data").write_text("\n".join(TEXTS))
    write_race(folder / "race")
    fine_tuned_models.write_tagger(folder / "tagger")
    (folder / "tagger.data").mkdir()
    words = "".join(f"{word}\tB-PER\n" for word in TEXTS[1].split())
    (folder / "tagger.data" / "dev.conll").write_text(words)
    return folder


@pytest.fixture(scope="module")
def exported(place, tmp_path_factory):
    """A classifier's export, which has moved since."""
    folder = tmp_path_factory.mktemp("exported")
    export(place, "classifier", folder / "new", "--eval_examples=4")
    (folder / "new").rename(folder / "moved")
    return folder / "moved"


def export(place, name, out, *arguments):
    given = [f"--model_dir={place / name}", f"--output_dir={out}"]
    if name == "encoder":
        given.append("--max_seq_length=32")
    given += [f"--eval_file={place / name}.data", *arguments]
    return measured_export.export(flags_lib.parse(export_model.Flags, given), albert.load)


def scores(record):
    """Those of the model and of its export."""
    return [next(iter(record[side].values())) for side in ("model", "export")]


def answers(folder, name, **options):
    """What a model says of ASKED: an array, or the tags."""
    with albert.load(str(folder), **options) as model:
        if name in ("classifier", "regressor"):
            return model.predict_array(TEXTS)
        found = model.predict(ASKED[name])
    if name in ("encoder", "tagger"):
        return found
    return [getattr(item, "probabilities" if name == "race" else "probability") for item in found]


def open_onnx(folder):
    path = f"{folder}/onnx/model.onnx"
    return onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])


def test_exported_folder_has_what_predicts(exported):
    ours = "albert_config.json classifier.json example.json export.json tiny.model"
    theirs = "config.json onnx spiece.model tokenizer.json tokenizer_config.json"
    assert {*os.listdir(exported)} == {*f"{ours} {theirs}".split()}
    assert os.listdir(exported / "onnx") == ["model.onnx"]


def test_onnx_inputs_are_those_of_hugging_face(exported):
    inputs = [(item.name, item.type, item.shape) for item in open_onnx(exported).get_inputs()]
    names = ("input_ids", "attention_mask", "token_type_ids")
    assert inputs == [(name, "tensor(int64)", ["batch", "length"]) for name in names]


def test_settings_of_an_export_are_those_of_the_conversion(place, exported, tmp_path):
    conversions.convert("to_huggingface", place / "tagger", tmp_path / "theirs")
    export(place, "tagger", tmp_path / "new")
    changes = {
        "config.json": {"transformers.js_config": {"dtype": "fp32"}},
        "tokenizer_config.json": {"tokenizer_class": "ConvBertTokenizer"},
        "tokenizer.json": {},
    }
    for name, changed in changes.items():
        theirs, ours = (read_json(tmp_path / folder / name) for folder in ("theirs", "new"))
        assert ours == {**theirs, **changed}


def test_export_of_older_versions_is_read(exported, tmp_path):
    """It has our names, int32 inputs, and the file in the folder itself."""
    shutil.copytree(exported, tmp_path / "old")
    shutil.rmtree(tmp_path / "old" / "onnx")
    model = onnx.load(f"{exported}/onnx/model.onnx")
    casts = reversed(model.graph.node[: len(SEQUENCES)])
    for item, cast, name in zip(model.graph.input, casts, SEQUENCES):
        cast.input[0] = item.name = name
        item.type.tensor_type.elem_type = onnx.TensorProto.INT32
    onnx.save(model, f"{tmp_path}/old/model.onnx")
    folders = (exported, tmp_path / "old")
    np.testing.assert_allclose(*(answers(one, "classifier") for one in folders), atol=1e-6)


def test_exported_folder_answers_as_its_model(place, exported):
    folders = (place / "classifier", exported)
    np.testing.assert_allclose(*(answers(one, "classifier") for one in folders), atol=1e-4)


def test_export_is_measured(exported):
    record = read_json(exported / "export.json")
    assert record["examples"] == 4 and record["quantize"] == "none"
    assert record["export"]["bytes"] == (exported / "onnx" / "model.onnx").stat().st_size
    assert 0 < record["export"]["p50_ms"] <= record["export"]["p95_ms"]


def test_export_has_no_early_exit(exported):
    with pytest.raises(ValueError, match="exit_patience"):  # the heads of other layers stay behind
        albert.load(str(exported), exit_patience=1)


def is_convertible(name, format_name):
    """TensorFlow 1.15 cannot convert the beams of SQuAD 2.0 to TensorFlow Lite."""
    return compat.is_tf2() or (name, format_name) != ("reader2", "tflite")


@pytest.fixture(scope="module")
def export_once(place, tmp_path_factory):
    """(model, format) -> (its folder, the record of its export), each exported once."""

    @functools.lru_cache(maxsize=None)
    def export_to(name, format_name):
        folder = tmp_path_factory.mktemp(f"{name}-{format_name}") / "float32"
        return folder, export(place, name, folder, f"--format={format_name}")

    return export_to


every_export = pytest.mark.parametrize(
    "name, format_name",
    [case for case in itertools.product(ASKED, ("onnx", "tflite")) if is_convertible(*case)],
)


@slow
@pytest.mark.skipif(compat.is_tf2(), reason="TensorFlow 2 converts it")
def test_export_that_tensorflow_cannot_convert_is_refused(place, tmp_path):
    with pytest.raises(UserError):
        export(place, "reader2", tmp_path / "new", "--format=tflite")
    assert os.listdir(tmp_path) == []


@slow
@pytest.mark.parametrize("name", ASKED)
def test_onnx_file_gives_its_example(export_once, name):
    folder, _ = export_once(name, "onnx")
    example = read_json(folder / "example.json")
    session = open_onnx(folder)
    inputs = {item.name: np.array(example[item.name]) for item in session.get_inputs()}
    for item in session.get_outputs():
        (output,) = session.run([item.name], inputs)
        np.testing.assert_allclose(output, example[item.name], atol=1e-5)
        sizes = {size for size in item.shape if isinstance(size, str)}
        assert sizes <= {*session.get_inputs()[0].shape}


_TRANSFORMERS_JS = """
const transformers = require("@huggingface/transformers");
const { readFileSync } = require("fs");

Object.assign(transformers.env, { allowRemoteModels: false, localModelPath: "/" });
async function difference(name, folder) {
  const example = JSON.parse(readFileSync(`${folder}/example.json`));
  const [text, text_pair] = example.texts;
  const tokenizer = await transformers.AutoTokenizer.from_pretrained(folder);
  const inputs = tokenizer(text, { text_pair });
  if (Array.isArray(example.input_ids[0][0])) // equal options
    for (const key in inputs) {
      const options = example.input_ids[0].map(() => inputs[key].squeeze(0));
      inputs[key] = transformers.stack(options).unsqueeze(0);
    }
  const model = await transformers[name].from_pretrained(folder);
  const rows = Object.entries(await model(inputs)).filter(([key]) => key in example);
  const differences = rows.flatMap(([key, tensor]) => {
    const expected = example[key].flat(Infinity);
    return [...tensor.data].map((value, n) => Math.abs(Number(value) - expected[n]));
  });
  return Math.max(...differences);
}
async function main() {
  const differences = {};
  for (const [model, [name, folder]] of Object.entries(JSON.parse(process.argv[1])))
    differences[model] = await difference(name, folder);
  console.log(JSON.stringify(differences));
}
main();
"""


_BROWSER_JS = """
const puppeteer = require("puppeteer-core");
const { existsSync, readFileSync } = require("fs");

const [executablePath, html, folder, sentence] = JSON.parse(process.argv[1]);
const modules = require.resolve("@huggingface/transformers").split("@huggingface")[0];
const types = { js: "text/javascript", mjs: "text/javascript", wasm: "application/wasm" };
function respond(request) {
  const { pathname } = new URL(request.url());
  if (pathname === "/") return request.respond({ contentType: "text/html", body: html });
  const [, name, rest] = pathname.match(/^\\/npm\\/(.+?)@[^/]+(.*)/) ?? []; // of jsdelivr.net
  const path = name ? modules + name + (rest || "/dist/transformers.min.js") : folder + pathname;
  if (!existsSync(path)) return request.respond({ status: 404 });
  const headers = { "access-control-allow-origin": "*" };
  const contentType = types[path.split(".").pop()];
  request.respond({ headers, contentType, body: readFileSync(path) });
}
async function main() {
  const browser = await puppeteer.launch({ executablePath, args: ["--no-sandbox"] });
  const page = await browser.newPage();
  await page.setRequestInterception(true);
  page.on("request", respond);
  await page.goto("http://localhost/");
  await page.waitForSelector("progress");
  await page.$eval("#text", (box, text) => {
    document.getElementById("answer").replaceChildren();
    box.value = text;
    box.dispatchEvent(new Event("input"));
  }, sentence);
  await page.waitForSelector("progress");
  const rows = await page.$$eval("progress", (bars) =>
    bars.map((bar) => [bar.previousSibling.previousSibling.textContent, bar.value]));
  console.log(JSON.stringify(Object.fromEntries(rows)));
  await browser.close();
}
main();
"""


def run_node(program, argument, *libraries):
    """What a program prints, as JSON. NODE_PATH names the folder of the libraries."""
    needs = "".join(map("require('{}');".format, libraries))
    if subprocess.call(f'node -e "{needs}"', shell=True):
        pytest.skip(f"npm install {' '.join(libraries)} installs what this needs")
    printed = subprocess.check_output(["node", "-e", program, json.dumps(argument)])
    return json.loads(printed.splitlines()[-1].decode())


@slow
def test_transformers_js_answers_as_ours(export_once):
    classes = {
        **dict.fromkeys(ASKED, "AutoModel"),
        **dict.fromkeys(("classifier", "regressor"), "AutoModelForSequenceClassification"),
        "reader": "AutoModelForQuestionAnswering",
    }
    models = {model: [name, str(export_once(model, "onnx")[0])] for model, name in classes.items()}
    differences = run_node(_TRANSFORMERS_JS, models, "@huggingface/transformers")
    assert differences == pytest.approx(dict.fromkeys(classes, 0), abs=1e-4)


@slow
@pytest.mark.skipif(not shutil.which("chromium"), reason="no browser")
def test_web_page_answers_as_ours(exported):
    html = pages.read("serving").split("```html\n")[1].split("```")[0]
    argument = [shutil.which("chromium"), html, str(exported), TEXTS[1]]
    shown = run_node(_BROWSER_JS, argument, "@huggingface/transformers", "puppeteer-core")
    with albert.load(str(exported)) as model:
        assert shown == pytest.approx(model.predict(TEXTS[1:2])[0].probabilities, abs=1e-4)


_OPTIMUM = """
import json, sys
import torch
from optimum import onnxruntime
from transformers import AutoTokenizer
differences = {}
for name, folder in json.loads(sys.argv[1]).items():
    with open(f"{folder}/example.json") as stream:
        example = json.load(stream)
    inputs = AutoTokenizer.from_pretrained(folder)(*example["texts"], return_tensors="pt")
    shape = torch.tensor(example["input_ids"]).shape
    inputs = {key: value.expand(shape) for key, value in inputs.items()}
    model = getattr(onnxruntime, name).from_pretrained(folder)
    outputs = model(**inputs).items()
    differences[name] = max(
        float((value - torch.tensor(example[key])).abs().max()) for key, value in outputs
    )
print(json.dumps(differences))
"""


@slow
@huggingface_models.needs("huggingface4")
def test_optimum_answers_as_ours(export_once):
    models = {
        "ORTModelForSequenceClassification": "classifier",
        "ORTModelForFeatureExtraction": "encoder",
        "ORTModelForQuestionAnswering": "reader",
        "ORTModelForTokenClassification": "tagger",
        "ORTModelForMultipleChoice": "race",
        "ORTModelForCustomTasks": "reader2",
    }
    folders = {name: str(export_once(model, "onnx")[0]) for name, model in models.items()}
    printed = huggingface_models.run(_OPTIMUM, json.dumps(folders), environment="huggingface4")
    assert json.loads(printed.splitlines()[-1]) == pytest.approx(dict.fromkeys(models, 0), abs=1e-4)


@slow
@pytest.mark.skipif(not compat.is_tf2(), reason="TensorFlow 1.15 has no signature runner")
@pytest.mark.parametrize("name", ASKED)
def test_lite_signature_takes_ids(export_once, name):
    path = f"{export_once(name, 'tflite')[0]}/model.tflite"
    ids = np.ones([2, 4, 7] if name == "race" else [2, 7], np.int32)
    runner = tf.lite.Interpreter(path).get_signature_runner("ids")
    outputs = runner(input_ids=ids, input_mask=ids, segment_ids=ids)
    assert {len(value) for value in outputs.values()} == {len(ids)}


def options_of(name):
    return [{}, {"pooling": "mean"}] if name == "encoder" else [{}]


@slow
@every_export
def test_export_gives_the_models_outputs(place, export_once, name, format_name):
    for options in options_of(name):
        folders = (place / name, export_once(name, format_name)[0])
        expected, exported = (answers(folder, name, **options) for folder in folders)
        if name == "tagger":  # whose only output of training is an index
            assert exported == expected
        else:
            np.testing.assert_allclose(exported, expected, atol=1e-4, rtol=0)


@slow
@every_export
def test_bytes_give_about_the_models_outputs(place, tmp_path, name, format_name):
    flags = f"--format={format_name}", "--quantize=int8", "--max_loss=100"
    export(place, name, tmp_path / "int8", *flags)
    for options in options_of(name) if name != "tagger" else ():
        folders = (place / name, tmp_path / "int8")
        expected, rough = (answers(folder, name, **options) for folder in folders)
        # Bytes are coarse in models of 16 numbers, and never exact; another span may win.
        assert 0 < np.abs(np.subtract(expected, rough)).max() < 0.5


@slow
@pytest.mark.parametrize("format_name", ["onnx", "tflite"])
def test_shared_weights_are_exported_once(tmp_path, format_name):
    arguments = [f"--format={format_name}", "--quantize=int8", "--max_loss=100"]
    (tmp_path / "encoder.data").write_text("\n".join(TEXTS))
    sizes = []
    for count in (2, 6):
        options = {"hidden_size": 64, "intermediate_size": 256, "num_hidden_layers": count}
        pretrained_models.write_archive(tmp_path / "encoder", **options)
        record = export(tmp_path, "encoder", tmp_path / f"{count}", *arguments)
        sizes.append(record["export"]["bytes"])
    of_a_layer = 4 * 64 * 64 + 2 * 64 * 256  # kernels, in bytes
    assert sizes[0] > of_a_layer
    assert sizes[1] - sizes[0] < 4 * 0.5 * of_a_layer


@slow
def test_scores_are_the_tasks_metric(place, tmp_path):
    with albert.load(f"{place}/classifier") as model:
        right = [item.label for item in model.predict(TEXTS)]
    wrong = [LABELS[(LABELS.index(label) + 1) % 3] for label in right]
    write_classifier(tmp_path / "classifier", LABELS, layers=2, right=right[:3] + wrong[3:])
    record = export(tmp_path, "classifier", tmp_path / "new")
    assert scores(record) == [50.0, 50.0] and record["examples"] == len(TEXTS)
    with albert.load(f"{place}/regressor") as model:
        loss = 100 * ((model.predict_array(TEXTS)[:, 0] - np.arange(6)) ** 2).mean()
    assert scores(export(place, "regressor", tmp_path / "mse")) == pytest.approx([loss] * 2)
    write_classifier(tmp_path / "regressor", (), metric="eval_loss")
    before, after = scores(export(tmp_path, "regressor", tmp_path / "loss"))
    assert after == pytest.approx(before, rel=1e-4)


@slow
@pytest.mark.parametrize("is_recorded", [True, False])
def test_data_of_a_model_without_flags_are_read(tmp_path, is_recorded):
    """A task has its own name in a task file, or the model comes from another library."""
    name, labels = ("mine", LABELS) if is_recorded else ("custom", ("L0", "L1", "L2"))
    folder = tmp_path / "classifier"
    fine_tuned_models.write_classifier(folder, labels=labels, description={"task": name})
    if is_recorded:
        task = {"name": name, "text_a": "body", "label": "what", "labels": labels}
        write_json(tmp_path / "task.json", task)
        flags = f'task_name = "custom"\ntask_file = "{tmp_path}/task.json"\n'
        (folder / "run.toml").write_text(flags)
    with albert.load(str(folder)) as model:
        found = [labels.index(item.label) for item in model.predict(TEXTS)]
    right = [labels[number] if is_recorded else number for number in found]
    rows = ["body\twhat" if is_recorded else "sentence\tlabel", *map("{}\t{}".format, TEXTS, right)]
    (tmp_path / "classifier.data").write_text("\n".join(rows))
    assert scores(export(tmp_path, "classifier", tmp_path / "new")) == [100, 100]


@pytest.mark.parametrize(
    "name, metric, value, loss",
    [
        pytest.param("classifier", "eval_accuracy", 0.32, 0.3, marks=slow),
        ("regressor", "MSE", 0.3, 0.32),
    ],
)
def test_worse_export_is_refused(place, tmp_path, monkeypatch, caplog, name, metric, value, loss):
    results = [{metric: value}, {metric: loss}]
    monkeypatch.setattr(ClassifierTask, "measure", lambda *_: results.pop(0))
    with pytest.raises(ValueError, match="max_loss"):
        export(place, name, tmp_path / "worse", "--max_loss=1", "--quantize=int8")
    assert os.listdir(tmp_path) == []
    assert "root" not in {record.name for record in caplog.records}  # of quantisation


@slow
def test_reader_of_a_named_task_keeps_threshold_and_limits(place, tmp_path, monkeypatch):
    code = "from albert.tasks.squad.task import SquadV2\nclass Mine(SquadV2):\n    pass\n"
    (tmp_path / "mine.py").write_text(code)
    monkeypatch.syspath_prepend(str(tmp_path))
    export(place, "reader2", tmp_path / "new", "--max_loss=100", "--task=mine:Mine")
    assert sys.modules["mine"].Mine
    with albert.load(f"{tmp_path}/new") as model:
        assert model.task.threshold() == -2.5
        assert {name: getattr(model.task.flags, name) for name in LIMITS} == LIMITS
        outputs = model.outputs([model.task.parse(text) for text in ASKED["reader2"]])
        assert outputs["end_top_index"].shape[1:] == (30,)


@slow
def test_reader_is_measured_with_the_threshold_that_it_keeps(tmp_path):
    lowest, beams = -1e9, {"start_n_top": 20, "end_n_top": 20}  # no answer to any question
    folder = squad_models.write_reader(
        tmp_path / "reader2", is_v2=True, null_score_diff_threshold=lowest, **beams
    )
    with albert.load(folder, null_score_diff_threshold=-lowest) as model:
        right = model.answer("king", CONTEXT).text
    asked = squad_data.answered("q", CONTEXT, right, "king")
    squad_data.write_squad(tmp_path, [squad_data.paragraph(CONTEXT, asked)], "reader2.data")
    assert scores(export(tmp_path, "reader2", tmp_path / "new")) == [0, 0]


@pytest.mark.parametrize(
    "name, argument, named",
    cases.table("""
        classifier | --eval_file=/nowhere | /nowhere
        encoder    | --max_seq_length=512 | max_seq_length
        classifier | --output_dir={}      | exists
        moved      | --format=onnx        | model_dir
    """),
)
def test_export_mistake_is_named(place, exported, tmp_path, name, argument, named):
    if name == "moved":
        place, argument = exported.parent, f"--eval_file={place / 'classifier'}.data"
    with pytest.raises(ValueError, match=named):
        export(place, name, tmp_path / "a" / "new", argument.format(tmp_path))
    assert not [path for path in tmp_path.rglob("*") if path.is_file()]


def test_questions_without_answers_measure_nothing(place, tmp_path):
    asked = squad_data.paragraph(CONTEXT, squad_data.question("q", "who ?"))
    path = squad_data.write_squad(tmp_path, [asked])
    with pytest.raises(UserError, match=path):
        export(place, "reader", tmp_path / "new", f"--eval_file={path}")


def test_damaged_export_is_named(exported, tmp_path):
    shutil.copytree(exported, tmp_path / "damaged")
    path = tmp_path / "damaged" / "onnx" / "model.onnx"
    path.write_bytes(path.read_bytes()[:100])
    with pytest.raises(ValueError, match=r"model\.onnx"):
        albert.load(f"{tmp_path}/damaged")
