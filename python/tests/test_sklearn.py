"""scikit-learn's own checks, and what it does with estimators."""

import pickle
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.datasets import load_digits, make_classification, make_regression
from sklearn.kernel_approximation import RBFSampler
from sklearn.linear_model import RidgeClassifier
from sklearn.model_selection import GridSearchCV, GroupKFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

import koan

# Splits and input maps are made of rows, whatever these weigh; a row of weight 2 counts as two
# rows in the loss alone.
ROWS = {
    "check_sample_weight_equivalence_on_dense_data": "splits and input maps count rows, not weights",
    "check_sample_weight_equivalence_on_sparse_data": "splits and input maps count rows, not weights",
}

ESTIMATORS = [
    koan.KoanClassifier(n_features=32),
    koan.KoanRegressor(n_features=32),
    # Ten rows leave a few to take the threshold from.
    koan.KoanDetector(n_features=64, false_alarm=0.4),
    koan.KoanTransformer(n_features=32),
]
SHORT = {"flash": 200, "minutes": 1e-4, "clock": False, "family": "stump", "bits": 4}
# A search of few candidates: the checks fit some hundred times.
FEW = {"flash": 400, "family": "linear", "bits": 8, "input_map": "per-input"}
SEARCHES = [
    koan.KoanSearch(task="classification", minutes=1e-4, clock=False, relevance=False, **FEW),
    koan.KoanSearch(task="regression", minutes=1e-4, clock=False, relevance=False, **FEW),
]


def expected(estimator):
    kind = type(estimator).__name__
    return {} if kind in ("KoanDetector", "KoanTransformer") else ROWS


@parametrize_with_checks(ESTIMATORS, expected_failed_checks=expected)
def test_checks(estimator, check):
    check(estimator)


@parametrize_with_checks(SEARCHES, expected_failed_checks=expected)
def test_checks_of_searches(estimator, check):
    check(estimator)


@pytest.mark.thorough
@parametrize_with_checks([koan.KoanClassifier(relevance=False, **FEW)], expected_failed_checks=expected)
def test_checks_of_a_classifier_that_searches(estimator, check):
    check(estimator)


@pytest.fixture(scope="module")
def digits():
    return load_digits(return_X_y=True)


def test_clones_pickles_and_pipelines(digits):
    X, y = digits
    fitted = koan.KoanClassifier(n_features=48, random_state=3).fit(X[:300], y[:300])
    again = clone(fitted).fit(X[:300], y[:300])
    assert again.to_bytes() == fitted.to_bytes()
    assert (pickle.loads(pickle.dumps(fitted)).predict(X) == fitted.predict(X)).all()
    line = make_pipeline(StandardScaler(), koan.KoanClassifier(n_features=48))
    assert line.fit(X[:900], y[:900]).score(X[900:], y[900:]) > 0.85


@pytest.mark.thorough
def test_cross_validation_and_grids_on_several_processes(digits):
    X, y = digits[0][:400], digits[1][:400]
    estimator = koan.KoanClassifier(n_features=64, frequency=0.7, input_map="shared")
    one = cross_val_score(estimator, X, y, cv=3)
    two = cross_val_score(estimator, X, y, cv=3, n_jobs=2)
    assert (one == two).all() and one.mean() > 0.8
    grid = GridSearchCV(estimator, {"bits": [2, 8]}, cv=2).fit(X, y)
    assert grid.best_params_["bits"] in (2, 8)
    groups = np.arange(len(y)) // 5
    assert cross_val_score(estimator, X, y, groups=groups, cv=GroupKFold(2)).mean() > 0.7


def test_processes_that_are_forked_can_train(digits):
    import multiprocessing

    X, y = digits[0][:200], digits[1][:200]
    fitted = koan.KoanClassifier(n_features=32, n_jobs=2).fit(X, y)
    context = multiprocessing.get_context("fork")
    with context.Pool(1) as pool:
        assert pool.apply_async(train, (X, y)).get(60) == fitted.to_bytes()


def train(X, y):
    return koan.KoanClassifier(n_features=32, n_jobs=2).fit(X, y).to_bytes()


def test_features_are_as_good_as_those_of_scikit_learn(digits):
    X, y = digits
    X = X / 16
    def error(features):
        line = make_pipeline(features, RidgeClassifier(alpha=1e-3))
        return 1 - line.fit(X[:1200], y[:1200]).score(X[1200:], y[1200:])

    ours = error(koan.KoanTransformer(n_features=512, frequency=0.5, input_map="shared"))
    theirs = error(RBFSampler(gamma=0.1, n_components=512, random_state=1))
    assert ours <= theirs + 0.01, (ours, theirs)
    features = koan.KoanTransformer(n_features=8).fit(X).set_output(transform="pandas")
    named = features.transform(X[:3])
    assert list(named.columns[:2]) == ["koantransformer0", "koantransformer1"]
    assert named.shape == (3, 8) and np.abs(named.to_numpy()).max() <= np.sqrt(2 / 8) * 1.01


def test_detectors_find_what_is_not_normal():
    random = np.random.default_rng(0)
    normal = random.normal(size=(600, 4))
    detector = koan.KoanDetector(false_alarm=0.02).fit(normal)
    assert (detector.predict(random.normal(size=(500, 4))) == 1).mean() > 0.9
    strange = random.normal(size=(100, 4)) * 0.3 + 8
    assert (detector.predict(strange) == -1).all()
    decision = detector.decision_function(normal)
    assert ((decision > 0) == (detector.predict(normal) == 1)).all()


def test_weights_of_classes_and_rows():
    X, y = make_classification(400, weights=[0.9], random_state=0, flip_y=0.1)
    given = {"n_features": 32, "random_state": 2}
    plain = koan.KoanClassifier(**given).fit(X, y)
    with warnings.catch_warnings():
        # Nothing is known of how good it is.
        warnings.simplefilter("error")
        balanced = koan.KoanClassifier(class_weight="balanced", **given).fit(X, y)
    heavy = koan.KoanClassifier(class_weight={0: 1, 1: 9}, **given).fit(X, y)
    weighed = koan.KoanClassifier(**given).fit(X, y, sample_weight=np.where(y == 1, 9.0, 1.0))
    assert heavy.to_bytes() == weighed.to_bytes()
    assert plain.predict(X).sum() < balanced.predict(X).sum()
    assert plain.predict(X).sum() < heavy.predict(X).sum()


def test_scores_take_names_of_columns_as_fits_do():
    random = np.random.default_rng(5)
    table = pd.DataFrame({"x": random.normal(size=90), "w": random.integers(0, 4, 90)})
    table["y"] = np.where(table["x"] + random.normal(size=90) > 0, "on", "off")
    table["z"] = table["x"] ** 2 + table["w"]
    for y, kind in [
        ("y", koan.KoanClassifier(n_features=16)),
        ("z", koan.KoanRegressor(n_features=16)),
        ("y", koan.KoanSearch(**SHORT)),
    ]:
        other = table.drop(columns="z" if y == "y" else "y")
        for rows in (other, pl.from_pandas(other)):
            fitted = clone(kind).fit(rows, y, sample_weight="w")
            named = fitted.score(rows, y, sample_weight="w")
            assert named == fitted.score(other[["x"]], other[y], other["w"])
            assert named != fitted.score(rows, y)


def test_what_a_notebook_shows():
    X, y = make_regression(200, 3, random_state=0)
    estimator = koan.KoanRegressor(n_features=16)
    assert "bytes" not in estimator._repr_html_()
    shown = estimator.fit(X, y)._repr_mimebundle_()["text/html"]
    assert f">{estimator.model_.nbytes}<" in shown and "RAM of the buffers" in shown
    search = koan.KoanSearch(**SHORT).fit(X, y)
    assert search.task_ == "regression"
    shown = search._repr_html_()
    assert all(f">{found.nbytes}<" in shown for found in search.front_)
    assert "<koan.Model: regression" in repr(estimator.model_)
    assert search.score(X, y) > 0.3


def test_instructions_and_buffers_keep_their_limits(digits):
    X, y = digits[0][:100], digits[1][:100]
    given = {"family": "stump", "bits": 4, "input_map": "shared"}
    free = koan.KoanClassifier(**given, flash="2k").fit(X, y)
    bound = koan.KoanClassifier(**given, instructions="20k", core="cortex-m3").fit(X, y)
    assert bound.model_.instructions("cortex-m3") <= 20_000 < free.model_.instructions("cortex-m3")
    small = koan.KoanClassifier(**given, ram=free.model_.ram).fit(X, y)
    assert small.model_.nbytes <= 2048 and small.params_ is not None
    with pytest.raises(ValueError, match="^n_features: .*leave out n_features or instructions$"):
        koan.KoanClassifier(n_features=9, instructions=20_000).fit(X, y)
    with pytest.raises(ValueError, match="^core: no core m7; there are cortex-m0, "):
        koan.KoanClassifier(core="m7").fit(X, y)


def test_the_code_counts_where_it_is_to(digits):
    X, y = digits[0][:100], digits[1][:100]
    given = {"family": "stump", "bits": 4, "input_map": "shared", "flash": "3.5k"}
    model = koan.KoanClassifier(**given, with_code="fast").fit(X, y).model_
    assert 3000 < model.nbytes + model.code <= 3584
    small = koan.KoanClassifier(**given, with_code="small").fit(X, y).model_
    assert model.nbytes < small.nbytes < 3584 - 2000
    found = koan.KoanSearch(**{**SHORT, "flash": "3.5k"}, with_code="fast").fit(X, y)
    assert all(each.nbytes + each.model.code <= 3584 for each in found.front_)
    again = koan.KoanClassifier(**{**given, "flash": 3584.0}, with_code=True).fit(X, y)
    assert again.to_bytes() == model.to_bytes()
    # With its code no model is so small.
    without = koan.KoanClassifier(**{**given, "flash": np.int64(900)}, with_code=False).fit(X, y)
    assert without.model_.nbytes <= 900
    with pytest.raises(ValueError, match="^with_code: no form tiny; there are fast, small$"):
        koan.KoanClassifier(**given, with_code="tiny").fit(X, y)
    with pytest.raises(ValueError, match="^with_code: goes with flash$"):
        koan.KoanClassifier(with_code="fast").fit(X, y)


@pytest.mark.thorough
def test_the_search_knows_classes_and_the_best_predicts(digits):
    X, y = digits[0][:300], digits[1][:300]
    search = koan.KoanSearch(**{**SHORT, "flash": "0.5k"}).fit(X, y)
    assert search.task_ == "classification" and not search.cut_
    assert [found.nbytes for found in search.front_] == sorted(f.nbytes for f in search.front_)
    assert search.front_[-1].nbytes <= 512
    assert search.predict_proba(X).shape == (300, 10)
    assert (search.classes_ == np.arange(10)).all()
    frame = pd.DataFrame(X).rename(columns=str)
    assert search.score(X, y) == koan.KoanSearch(**{**SHORT, "flash": "0.5k"}).fit(frame, y).score(frame, y)
