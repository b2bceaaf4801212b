# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Estimators of scikit-learn: what its tools expect of them, and answers that equal the model's."""

import pickle

import numpy as np
import pytest
from sklearn import metrics, model_selection, pipeline, preprocessing
from sklearn.utils import estimator_checks

import albert
from albert import sklearn as albert_sklearn
from tests.support import classification_data
from tests.test_fine_tune import rows

slow = pytest.mark.slow
TEXTS, WORDS = zip(*rows(16))
FRACTIONS = [{"king": "0.5", "bird": "1.5"}[word] for word in WORDS]
NUMBERS = [{"king": 10.0, "bird": 2.0}[word] for word in WORDS]
# Checks of scikit-learn that need no X of numbers.
CHECKS = [
    "check_do_not_raise_errors_in_init_or_set_params",
    "check_estimator_cloneable",
    "check_estimator_get_tags_default_keys",
    "check_estimator_repr",
    "check_estimator_tags_renamed",
    "check_estimators_unfitted",
    "check_get_params_invariance",
    "check_mixin_order",
    "check_no_attributes_set_in_init",
    "check_parameters_default_constructible",
    "check_set_params",
    "check_valid_tag_types",
]
KINDS = [albert_sklearn.AlbertClassifier, albert_sklearn.AlbertRegressor]


@pytest.fixture(scope="module")
def options(tmp_path_factory):
    """Arguments of an estimator that trains in a second."""
    folder = tmp_path_factory.mktemp("estimators")
    config = classification_data.write_config(folder)
    flags = {"albert_config_file": config, "use_xla": False}
    flags["spm_model_file"] = str(classification_data.VOCABULARY)
    sizes = {"num_train_epochs": 2, "train_batch_size": 4, "max_seq_length": 24}
    return {"model": None, "output_dir": str(folder / "fits"), "flags": flags, **sizes}


@slow
@pytest.mark.parametrize("labels", [WORDS, FRACTIONS, NUMBERS])
def test_classifier_answers_as_its_folder_and_pickles_by_it(labels, options):
    classifier = albert_sklearn.AlbertClassifier(**options, learning_rate=0.01)
    assert classifier.fit(TEXTS, labels) is classifier
    with pytest.raises(ValueError):  # and keeps the model
        classifier.fit(TEXTS, ["x"] * 16)
    assert classifier.classes_.tolist() == sorted(set(labels))
    with albert.load(classifier.output_dir_) as model:
        found = model.predict(TEXTS)
    chances = classifier.predict_proba(TEXTS)
    names = [str(name).replace(".0", "") for name in classifier.classes_]
    expected = [[one.probabilities[name] for name in names] for one in found]
    np.testing.assert_allclose(chances, expected, atol=1e-6)
    np.testing.assert_allclose(chances.sum(axis=1), 1, atol=1e-14)
    predicted = classifier.predict(TEXTS)
    assert [str(label).replace(".0", "") for label in predicted] == [one.label for one in found]
    assert classifier.score(TEXTS, labels) == metrics.accuracy_score(labels, predicted)
    content = pickle.dumps(classifier)
    assert len(content) < 2000
    assert np.array_equal(pickle.loads(content).predict(TEXTS), predicted)


@slow
def test_regressor_reads_pairs_of_a_frame(options):
    frame = pytest.importorskip("pandas").DataFrame({"a": TEXTS, "b": TEXTS[::-1], "y": NUMBERS})
    regressor = albert_sklearn.AlbertRegressor(**options).fit(frame[["a", "b"]], frame["y"])
    predicted = regressor.predict(frame[["a", "b"]])
    assert regressor.score(frame[["a", "b"]], NUMBERS) == metrics.r2_score(NUMBERS, predicted)


@slow
def test_search_and_validation_of_a_pipeline(options):
    lower = preprocessing.FunctionTransformer(lambda texts: [text.lower() for text in texts])
    steps = pipeline.make_pipeline(lower, albert_sklearn.AlbertClassifier(**options))
    rates = {"albertclassifier__learning_rate": [0.0, 0.01]}
    search = model_selection.GridSearchCV(steps, rates, cv=2).fit(TEXTS, WORDS)
    assert search.predict(list(TEXTS)).shape == (16,)
    scores = model_selection.cross_val_score(search.best_estimator_, TEXTS, WORDS, cv=2)
    assert scores.mean() == pytest.approx(search.best_score_)  # the same seed


@pytest.mark.parametrize("check", CHECKS)
@pytest.mark.parametrize("kind", KINDS)
def test_scikit_learns_checks(check, kind):
    function = getattr(estimator_checks, check, None)
    if function is None:
        pytest.skip("another scikit-learn has this check")
    function(kind.__name__, kind())


@pytest.mark.parametrize(
    "texts, labels",
    [
        (["a", "b"], ["x"]),
        ("ab", ["x", "y"]),
        ([["a", "b", "c"], ["d", "e", "f"]], ["x", "y"]),
        (["a", "b"], [0.5, 0.7]),
        (np.zeros([2, 2]), ["x", "y"]),
    ],
)
def test_texts_and_labels_that_do_not_fit_are_refused(texts, labels, options):
    with pytest.raises(ValueError):
        albert_sklearn.AlbertClassifier(**options).fit(texts, labels)
