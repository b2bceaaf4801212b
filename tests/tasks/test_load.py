# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""A fine-tuned model in memory: its answers, its batches, and models it must refuse."""

import concurrent.futures
import functools
import pickle

import numpy as np
import pytest
from scipy import special

import albert
from albert import tokenization
from albert.models import inference
from albert.tasks.classification import features as classification_features
from albert.tasks.classification.examples import InputExample
from albert.tasks.classification.task import ClassifierTask, Predictor
from albert.tasks.race.task import RaceTask
from albert.tasks.squad.task import SquadV1
from albert.tasks.tagging.task import TaggingTask
from albert.util import UserError
from tests.support import fine_tuned_models as models
from tests.support import pretrained_models, squad_models, write_json

slow = pytest.mark.slow

LABELS = ("no", "maybe", "yes")
TEXTS = [
    "the king went to the river",
    ("the old man", "went home with his friend and the dog that he had found"),
    "a",
    ("once there was a king", "he had a daughter"),
    "the " * 60,
    ("", "nothing before this"),
]


@pytest.fixture(scope="module")
def model_dir(tmp_path_factory):
    return models.write_classifier(tmp_path_factory.mktemp("model"))


@pytest.fixture(scope="module")
def loaded(model_dir):
    with Predictor(model_dir, batch_size=2) as model:
        yield model


def expected(model_dir, texts):
    """Probabilities of the trained graph with every text padded to the full length."""
    tokenizer = tokenization.FullTokenizer(None, True, str(models.VOCABULARY))
    pairs = [(text, None) if isinstance(text, str) else text for text in texts]
    examples = [InputExample(str(number), *pair) for number, pair in enumerate(pairs)]
    features = classification_features.convert_examples_to_features(
        examples, LABELS, models.LENGTH, tokenizer, "", is_raw=True
    )
    arrays = [
        np.array([getattr(item, name) for item in features], np.int32)
        for name in ("input_ids", "input_mask", "segment_ids")
    ]
    return models.expected(model_dir, arrays)[0]


@slow
def test_predict_equals_the_padded_graph(model_dir, loaded):
    probabilities = expected(model_dir, TEXTS)
    np.testing.assert_allclose(loaded.predict_array(TEXTS), probabilities, atol=1e-5)
    for prediction, row in zip(loaded.predict(TEXTS), probabilities):
        assert prediction.probabilities == pytest.approx(dict(zip(LABELS, row)), abs=1e-5)
        assert prediction.label == LABELS[int(np.argmax(row))] and prediction.score is None
    for name, tolerance in (("bfloat16", 0.1), ("float16", 0.01)):
        with Predictor(model_dir, precision_name=name) as half:
            np.testing.assert_allclose(half.predict_array(TEXTS), probabilities, atol=tolerance)
    with albert.load(model_dir) as model:
        np.testing.assert_allclose(model.predict_array(TEXTS), probabilities, atol=1e-5)


def test_loaded_model_cannot_be_pickled(loaded):
    with pytest.raises(UserError):
        pickle.dumps(loaded)


def test_predict_from_several_threads(loaded):
    alone = loaded.predict_array(TEXTS)
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        for result in pool.map(loaded.predict_array, [TEXTS] * 4):
            np.testing.assert_allclose(result, alone, atol=1e-6)


@slow
def test_predictor_takes_a_checkpoint(model_dir, loaded, tmp_path):
    other = models.write_classifier(tmp_path, name="model.ckpt-7", seed=7)
    with Predictor(model_dir, f"{tmp_path}/model.ckpt-7.index") as model:
        answers = model.predict_array(TEXTS)
        assert model.checkpoint == f"{tmp_path}/model.ckpt-7"
    np.testing.assert_allclose(answers, expected(other, TEXTS), atol=1e-5)
    assert abs(answers - loaded.predict_array(TEXTS)).max() > 0.1


@pytest.fixture(scope="module")
def places(model_dir, tmp_path_factory):
    """Name -> path or name of a model: of two that can be loaded, and of others."""
    folder = tmp_path_factory.mktemp("places")
    contents = {
        "squad": ("squad.json", {}),
        "newer": ("classifier.json", {"format_version": 2}),
        "part": ("classifier.json", {"format_version": 1, "task": "x"}),
    }
    for name, (file, content) in contents.items():
        (folder / name).mkdir()
        write_json(folder / name / file, content)
    (folder / "empty").mkdir()
    pretrained_models.write_archive(folder / "encoder")
    names = ("absent", "empty", "encoder", *contents)
    return {
        "model": model_dir,
        "model\0": f"{model_dir}\0",
        "bass_v2": "bass_v2",
        **{n: f"{folder}/{n}" for n in names},
    }


@pytest.mark.parametrize(
    "place, options, named",
    [
        ("absent", {}, "/absent"),
        ("model\0", {}, "model"),
        ("model", {"checkpoint": 5}, "'5'"),
        ("bass_v2", {}, "base_v2"),
        ("empty", {}, "^(?!.*--albert_dir)"),
        ("model", {"batch_size": 0}, "batch_size"),
        ("model", {"labels": "a,b", "early_exit": True}, "early_exit, labels"),
        ("model", {"exit_patienc": 3}, "exit_patience"),
        ("model", {"precision_name": "float8"}, "float8"),
        ("model", {"pooling": "mean"}, "pooling"),
        ("model", {"exit_patience": 2}, "early_exit"),
    ],
)
def test_load_names_what_it_cannot_use(places, place, options, named):
    with pytest.raises(UserError, match=named):
        albert.load(places[place], **options)


@pytest.mark.parametrize("place", ["squad", "newer", "part"])
def test_predictor_refuses_a_folder_without_classifier(places, place):
    with pytest.raises(UserError, match="classifier.json"):
        Predictor(places[place])


@slow
@pytest.mark.parametrize("is_pair, text", [(True, "the king"), (False, ("the king", "a dog"))])
def test_predict_refuses_texts_of_another_kind(tmp_path, is_pair, text):
    folder = models.write_classifier(tmp_path, description={"is_pair": is_pair})
    right = ("a", "b") if is_pair else "a"
    with Predictor(folder) as model:
        assert len(model.predict([right])) == 1
        with pytest.raises(ValueError, match="Text number 2"):
            model.predict([right, text])


WRONG = [None, float("nan"), 7, b"a", {"text_a": "a", "text_b": "b"}, {"a"}, ["a", None]]


class Frame(dict):
    """Has what tells a table of pandas from a list."""

    columns = ()

    def __iter__(self):
        return iter(["a", "b"])


@pytest.mark.parametrize("kind", [ClassifierTask, SquadV1, RaceTask, TaggingTask])
def test_wrong_text_is_named_by_its_number(kind):
    task = kind.__new__(kind)
    task.is_pair = None
    triples = [("a", "b", options) for options in (None, [], ["a", None], {"a": 1})]
    others = [] if kind is TaggingTask else [[], ("a", "b", "c"), ("a", "b", "c", "d")]
    for wrong in [*WRONG, *triples, *others]:
        with pytest.raises(UserError, match="Text number 1"):
            inference.parse_texts([wrong], task.parse)
    for texts in ("a", b"a", None, 7, {"a": "b"}, {"a"}, Frame()):
        with pytest.raises(UserError):
            inference.parse_texts(texts, task.parse)


def test_load_gives_an_encoder_for_a_pretrained_model(places):
    folder = places["encoder"]
    with albert.load(folder, pooling="mean") as mean, albert.load(folder) as first:
        vectors = [encoder.embed(["a", "the " * 60]) for encoder in (mean, first)]
        assert np.array_equal(mean.predict(["a", "the " * 60]), vectors[0])
        assert vectors[0].shape == (2, 16) and np.abs(vectors[0] - vectors[1]).max() > 0.1


LONG = "the " * 60
write_reader = functools.partial(squad_models.write_reader, is_v2=False)
ODD_TEXTS = {
    "classifier": (models.write_classifier, ["a", "", ("a", "\n"), LONG], [1, 2]),
    "reader": (write_reader, [("", "a b"), (LONG, "a " * 60)], [1, 1]),
    "tagger": (models.write_tagger, ["a", [], " ", LONG], [2]),
    "encoder": (pretrained_models.write_archive, ["a", "", ("a", LONG)], [1, 1]),
}


@pytest.mark.parametrize("name", ODD_TEXTS)
def test_empty_and_cut_texts_are_counted(name, tmp_path, caplog):
    write, texts, counts = ODD_TEXTS[name]
    write(tmp_path / "model")
    with albert.load(tmp_path / "model") as model:
        for text in texts:
            model.predict([text])
    assert sorted(filter(None, model.notes.values())) == counts
    (message,) = [record.getMessage() for record in caplog.records if record.name == "albert"]
    assert all(str(count) in message for count in counts)


# ---- early exit ----


@pytest.mark.parametrize("labels", [LABELS, pytest.param((), marks=slow)])
def test_exit_patience_leaves_before_the_last_layer(tmp_path, labels):
    folder = models.write_classifier(tmp_path, labels=labels, layers=3, seed=1)
    texts = TEXTS[:3]
    with Predictor(folder) as model:
        full, probabilities = model.predict(texts), model.predict_array(texts)
    with Predictor(folder, exit_patience=3) as model:
        patient = model.predict(texts)
        np.testing.assert_allclose(model.predict_array(texts), probabilities, atol=1e-6)
    assert {one.layers for one in patient} == {3} and full[0].layers is None
    with albert.load(folder, batch_size=2, exit_patience=1, exit_threshold=1e9) as model:
        found, together = model.predict(TEXTS), model.predict_array(TEXTS)
        assert min(one.layers for one in found) == 2
        for text, one, row in zip(TEXTS, found, together):  # alone it takes the same way
            assert model.predict([text])[0].layers == one.layers
            np.testing.assert_allclose(model.predict_array([text])[0], row, atol=1e-4)


def test_windows_are_recorded_and_their_logits_averaged(model_dir, tmp_path):
    folder = models.write_classifier(tmp_path, description={"truncation": "windows"})
    texts = ["a", ("once there was a king " * 9, "he had a daughter"), "the old man " * 40]
    with Predictor(folder) as model:
        assert model.task.flags.truncation == "windows"
        probabilities = model.predict_array(texts)
        assert model.notes["read in windows"] == 2
        records = model.task.encode([model.task.parse(text) for text in texts], False).records
    _, logits = models.expected(folder, [records[name] for name in models.INPUTS])
    counts = np.array(records["num_windows"])
    assert counts[0] == 1 < counts[1] < counts[-1]
    starts = np.cumsum([0, 1, counts[1]])
    means = np.add.reduceat(logits, starts) / counts[starts, np.newaxis]
    np.testing.assert_allclose(probabilities, special.softmax(means, -1), atol=1e-5)
    with Predictor(folder, truncation="end") as cut, Predictor(model_dir) as usual:
        np.testing.assert_array_equal(cut.predict_array(texts), usual.predict_array(texts))
