"""Missing values: what stands in for them."""

import pickle
import subprocess

import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import cross_val_score

import koan

X = np.random.default_rng(0).normal(size=(120, 3))
Y = (X[:, 0] > 0).astype(int)
TABLE = pd.DataFrame(X, columns=list("abc")).assign(t=np.where(X[:, 2] > 0, "u", "v"))
MEDIAN = float(np.median(X[:, 1].astype(np.float32)))


def impute(**given):
    return koan.KoanClassifier(**{"n_features": 16, "missing": "impute", **given})


def with_gap(rows, value):
    if isinstance(rows, pd.DataFrame):
        return rows.assign(b=value)
    rows = rows.copy()
    rows[:, 1] = value
    return rows


@pytest.mark.parametrize("kind", ["f4", "f8", "table"])
@pytest.mark.parametrize(
    "estimator",
    [
        impute(),
        impute(column_names=False),
        impute(n_features=None, flash=400, family="linear"),
        koan.KoanSearch(flash=400, minutes=0.01, family="linear", missing="impute"),
    ],
)
def test_medians_stand_in_where_nothing_was_missing(estimator, kind):
    rows = TABLE if kind == "table" else X.astype(kind)
    fitted = estimator.fit(rows, Y)
    gap, filled = with_gap(rows, np.nan), with_gap(rows, MEDIAN)
    expected = fitted.decision_function(filled)
    assert (fitted.decision_function(gap) == expected).all()
    assert (pickle.loads(pickle.dumps(fitted)).decision_function(gap) == expected).all()
    assert "<title>" in fitted.report(gap, Y).html
    # The bytes, which devices run, have no room for them.
    place = r"row 1, column 2( \(`b`\))?"
    with pytest.raises(
        ValueError,
        match=f"^X: {place}: the value is missing, and was never missing in the training rows$",
    ):
        fitted.model_.predict(gap)


def test_pages_have_stand_ins_too():
    fitted = impute().fit(TABLE, Y)
    gap = with_gap(TABLE, np.nan)
    assert "Learning curve" in fitted.report(gap, Y, X_train=TABLE, y_train=Y).html
    search = koan.KoanSearch(flash=400, minutes=0.01, family="linear", missing="impute")
    assert "<title>" in search.fit(TABLE, Y).front_report(gap, Y).html


def test_what_learns_without_a_target_has_stand_ins():
    gap, filled = with_gap(X, np.nan), with_gap(X, MEDIAN)
    detector = koan.KoanDetector(n_features=32, false_alarm=0.1, missing="impute").fit(X)
    assert (detector.score_samples(gap) == detector.score_samples(filled)).all()
    features = koan.KoanTransformer(n_features=8, missing="impute").fit(X)
    assert (features.transform(gap) == features.transform(filled)).all()


def test_rare_gaps_are_cross_validated():
    rows = X.copy()
    rows[3, 0] = rows[50, 2] = np.nan
    assert (cross_val_score(impute(), rows, Y, cv=4, error_score="raise") > 0.8).all()


def test_a_fit_that_refuses_has_no_stand_ins():
    fitted = impute().fit(X, Y)
    fitted.set_params(missing="refuse").fit(X, Y)
    with pytest.raises(ValueError, match="Input X contains NaN"):
        fitted.predict(with_gap(X, np.nan))
    with pytest.raises(ValueError, match="was never missing in the training rows"):
        fitted.fit(TABLE, Y).predict(with_gap(TABLE, np.nan))


def test_a_loaded_model_says_what_a_missing_text_needs(command, tmp_path):
    table = pd.DataFrame({"x": X[:, 0], "t": TABLE["t"].where(X[:, 1] < 1), "y": Y})
    fitted = impute().fit(table, "y")
    model = koan.load(fitted.to_bytes())
    row = int(np.argmax(X[:, 1] >= 1)) + 1
    with pytest.raises(
        ValueError,
        match=rf"^X: row {row}, column 2 \(`t`\): the value is missing, which is none of the "
        'values, and is allowed by unknown="zeros"$',
    ):
        model.predict(table)
    found = model.predict(table, unknown="zeros")
    assert (found == fitted.predict(table)).all()
    # As the command predicts, which says how many there were.
    fitted.save(tmp_path / "m.koan")
    table.to_csv(tmp_path / "t.csv", index=False)
    line = [command, "predict", "m.koan", "t.csv"]
    done = subprocess.run(line, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0 and "`t`" in done.stderr, done.stderr
    assert [int(line.split(",")[0]) for line in done.stdout.splitlines()[1:]] == found.tolist()


def test_pages_take_gaps_as_predictions_do():
    codes = np.random.default_rng(1).integers(0, 5, 120)
    table = pd.DataFrame({"a": X[:, 0], "k": codes})
    y = np.where(0.3 * X[:, 0] + codes % 2 > 0.5, "p", "q")
    gaps = table.assign(k=np.where(np.arange(120) % 3 == 0, np.nan, codes))
    # A missing number is none of the values, or the median.
    for given in ({"categorical_features": ["k"]}, {}):
        fitted = impute(**given).fit(table, y)
        error = f"{100 * (1 - fitted.score(gaps, y)):.2f} %"
        assert error in fitted.report(gaps, y).html
        assert error in fitted.report(gaps, y, X_train=table, y_train=y).html
