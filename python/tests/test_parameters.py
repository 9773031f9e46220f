"""Parameters that are wrong are named."""

from decimal import Decimal

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone, is_classifier, is_regressor

import koan
from koan._search import _guess

X = np.random.default_rng(0).normal(size=(60, 3))
Y = (X[:, 0] > 0).astype(int)
TABLE = pd.DataFrame(X, columns=["sepal", "petal", "s"])


def quick(**given):
    return koan.KoanClassifier(**{"n_features": 16, **given})


@pytest.mark.parametrize(
    "estimator, message",
    [
        (
            quick(loss="logistic", family="bin", n_features=64),
            r"^n_features: 16384 features for this loss are too many: at most 8192 \(of the family "
            r"bin, every slot is one, 2\^slot_bits for each of n_features\)$",
        ),
        (
            quick(class_weight={0: -1, 1: 1}),
            "^class_weight: -1 of the class 0: a weight is a finite number, at least 0$",
        ),
        (quick(class_weight={0: np.nan, 1: 1}), "^class_weight: nan of the class 0"),
        (quick(class_weight={0: "2", 1: 1}), "^class_weight: '2' of the class 0"),
        (quick(class_weight={0: 0, 1: 0}), "^class_weight: the weights of all rows are 0$"),
        (quick(class_weight="bal"), "^class_weight: 'bal' is neither None, 'balanced' nor a dict$"),
        (koan.KoanSearch(class_weight=2), "^class_weight: 2 is neither"),
        (
            quick(categorical_features="sepal"),
            r"^categorical_features: 'sepal' is no list of columns, such as \['sepal'\]; columns .* "
            "of type category need not be listed$",
        ),
        (quick(categorical_features="from_dtype"), "^categorical_features: .* is no list"),
        (quick(categorical_features=2), r"^categorical_features: 2 is no list .* as \[2\]"),
        (quick(family="maxout", pool=0), "^pool: 0 is not a whole number from 1 to 255$"),
        (koan.KoanSearch(minutes=-1), "^minutes: -1 is no time that a search could take$"),
        (koan.KoanSearch(minutes=float("nan")), "^minutes: NaN is no time"),
        (koan.KoanSearch(minutes=1e300), "^minutes: 1e300 is no time"),
        (quick(penalty=1e300), r"^penalty: a lambda of 1e300 is not in \[0, 1e6\]$"),
        (
            quick(random_state=np.random.default_rng(0)),
            "^random_state: Generator.* is neither a whole number from 0 on, a "
            "numpy.random.RandomState nor None$",
        ),
    ],
)
def test_parameters_are_named(estimator, message):
    with pytest.raises(ValueError, match=message):
        estimator.fit(TABLE, Y)


def test_numbers_of_hundreds_of_digits_are_short():
    for rows in (X * 1e300, TABLE * 1e300):
        with pytest.raises(ValueError, match=r"^X: row 1, column 1.*: 1\.257302\d+e299 is too large$"):
            quick().fit(rows, Y)
    search = koan.KoanSearch(minutes=1e-4, family="linear")
    for estimator in (quick(), search):
        with pytest.warns(UserWarning, match=r"^X: column 1.*: values from -2\.39\d+e-300 to 1\.8"):
            estimator.fit(TABLE * [1e-300, 1, 1], Y)


def test_codes_are_those_of_families_that_have_some():
    model = quick().fit(X, Y).model_
    with pytest.raises(ValueError, match="^model: no model with codes: .* maxout and bin have some$"):
        model.codes(X)
    assert quick(family="maxout").fit(X, Y).model_.codes(X).shape == (60, 16)


def test_a_search_is_what_its_target_makes_it():
    search = koan.KoanSearch(flash=300, minutes=1e-4, family="linear")
    assert not is_classifier(search) and not is_regressor(search)
    assert is_classifier(koan.KoanSearch(task="classification"))
    texts = np.where(Y, "a", "b")
    assert is_classifier(search.fit(X, texts)) and not is_classifier(clone(search))
    assert is_regressor(search.fit(X, X[:, 0]))
    # The values decide, however they are stored.
    numbers = np.round(10 * X[:, 0])
    for y in (numbers.astype(int), numbers, Y, Y == 1, X[:, 0]):
        assert _guess(y.astype(object)) == _guess(y)
    assert _guess(numbers.astype("timedelta64[s]")) == "regression"
    # What fit takes, score takes.
    for y in (Y.astype(object), (Y == 1).astype(object)):
        for estimator in (quick(), koan.KoanSearch(flash=300, minutes=1e-4, family="linear")):
            assert estimator.fit(X, y).score(X, y) > 0.8


def test_targets_of_numbers_are_searched_as_numbers():
    rows = np.random.default_rng(0).normal(size=(60, 2))
    search = koan.KoanSearch(minutes=1e-4, family="linear")
    times = pd.Series(pd.Timestamp("2026-01-01", tz="UTC") + pd.to_timedelta(rows[:, 0], unit="h"))
    for y in ([Decimal(str(value)) for value in rows[:, 0]], times):
        assert search.fit(rows, y).task_ == "regression"
    gap = np.arange(60) == 6
    few = np.where(gap, np.nan, rows[:, 0] > 0)
    for y in (few, pd.Series(few).astype("Int64"), pd.Series(few).astype(object)):
        with pytest.raises(ValueError, match=r"^y: row 7: the class is missing( \(NaN\))?$"):
            search.fit(rows, y)
    for y in (np.where(gap, np.nan, rows[:, 0]), times.mask(gap)):
        with pytest.raises(ValueError, match="^y: row 7: nan "):
            search.fit(rows, y)
    with pytest.raises(ValueError, match="^y: row 1: the class is missing"):
        search.fit(rows, [None] * 60)
