"""Columns that are declared as categories."""

import datetime

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import koan
import koan.local

random = np.random.default_rng(0)
X = random.normal(size=120)
K = random.integers(0, 5, 120) * 3
ROWS = pd.DataFrame({"a": X, "y": np.where(X + K / 3 > 1.5, "p", "q"), "k": K})
CATEGORIES = ROWS.assign(k=pd.Categorical(K))
DAYS = [datetime.date(2026, 1, 1) + datetime.timedelta(days=int(k)) for k in K]
TIMES = pd.to_datetime(pd.Series(DAYS))


def fitted(table, **given):
    return koan.KoanClassifier(n_features=16, **given).fit(table, "y")


def in_arrow(table):
    return pa.table({"a": X, "y": ROWS["y"].tolist(), "k": pa.array(table).dictionary_encode()})


def test_numbers_that_are_categories_are_an_input_each():
    expected = fitted(ROWS, categorical_features=["k"])
    assert expected.model_.n_inputs == 6
    for table in (CATEGORIES, in_arrow(K), in_arrow(K.astype(np.int16))):
        again = fitted(table)
        assert again.to_bytes() == expected.to_bytes()
        for rows in (CATEGORIES, ROWS, in_arrow(K), pl.from_pandas(ROWS)):
            rows = rows.select(["a", "k"]) if hasattr(rows, "select") else rows[["a", "k"]]
            assert (again.predict(rows) == expected.predict(ROWS)).all()
            assert (again.model_.predict(rows) == expected.predict(ROWS)).all()
    beside = koan.KoanClassifier(n_features=16).fit(CATEGORIES[["a", "k"]], CATEGORIES["y"])
    assert beside.model_.n_inputs == 6
    with pytest.raises(ValueError, match=r'column 2 \(`k`\): "7" is none of the values: 0, 12, 3'):
        beside.predict(pd.DataFrame({"a": [0.0], "k": pd.Categorical([7])}))


def test_parts_have_the_same_categories():
    models = [koan.local.fit(table, "y", n_features=16) for table in (CATEGORIES, in_arrow(K))]
    assert models[0] == models[1] and models[0].n_inputs == 6
    # Classes that are categories are in the order of their numbers.
    table = pd.DataFrame({"a": X, "y": CATEGORIES["k"]})
    assert koan.local.fit(table, "y", n_features=16).classes == [0, 3, 6, 9, 12]
    assert list(fitted(table).classes_) == [0, 3, 6, 9, 12]


@pytest.mark.parametrize(
    "values",
    [
        K,
        K / 2,
        (K / 2).astype(np.float32),
        K == 3,
        DAYS,
        TIMES,
        TIMES.dt.tz_localize("Asia/Tokyo"),
        np.where(K == 3, np.nan, K),
        np.where(K == 3, None, K.astype(str)),
    ],
    ids=["whole", "halves", "singles", "truth", "dates", "times", "zoned", "gaps", "texts"],
)
def test_categories_of_every_type(values, monkeypatch):
    table = ROWS.assign(k=pd.Categorical(values))
    expected = fitted(table, missing="impute")
    assert expected.model_.n_inputs == 1 + len(table["k"].dtype.categories)
    plain = ROWS.assign(k=values)
    assert (expected.predict(plain) == expected.predict(table)).all()
    monkeypatch.setattr("koan._columns._has_arrow", lambda: False)
    assert fitted(table, missing="impute").to_bytes() == expected.to_bytes()
    assert (expected.predict(plain) == expected.predict(table)).all()


def test_columns_are_given_by_any_collection():
    table = ROWS.assign(k=K)
    expected = fitted(table, categorical_features=["k"]).to_bytes()
    for columns in ({"k"}, {"k": 1}.keys(), ("k",), pd.Index(["k"])):
        assert fitted(table, categorical_features=columns).to_bytes() == expected


def test_intervals_are_texts():
    table = ROWS.assign(k=pd.cut(K, [-1, 4, 8, 20]))
    assert fitted(table).model_.n_inputs == 4
    assert '"(4, 8]"' in fitted(table).model_.notes
    mixed = ROWS.assign(k=pd.Categorical(np.where(K > 5, "many", K.astype(object))))
    assert fitted(mixed).model_.n_inputs == 4


def test_a_model_of_numbers_takes_categories_of_them():
    fit = fitted(ROWS.assign(k=K + X.round(1)))
    table = ROWS.assign(k=pd.Categorical(K))
    assert (fit.predict(table) == fit.predict(ROWS)).all()
    assert (fit.model_.predict(table) == fit.predict(ROWS)).all()
    assert "Confusion matrix" in fit.report(table, "y").html


def test_numbers_with_gaps_say_how_they_are_categories():
    gaps = ROWS.assign(k=np.where(K == 3, np.nan, K))
    with pytest.raises(
        ValueError,
        match=r"^X: column 3 \(`k`\) has missing values: it cannot be categories, unless its type "
        r'says so, by astype\("category"\) or astype\("string"\)$',
    ):
        fitted(gaps, categorical_features=["k"], missing="impute")
    for kind in ("category", "string"):
        assert fitted(gaps.astype({"k": kind}), missing="impute").model_.n_inputs == 5


def test_categories_of_any_type_of_number_are_found_again():
    doubles, longs = K / 10 + 0.1, K * 1_000_000 - 5_000_001
    for values in (doubles, doubles.astype(np.float32), longs, longs.astype(np.int32)):
        table = ROWS.assign(y=np.where(K == 6, "p", "q"), k=values)
        fit = fitted(table, categorical_features=["k"])
        assert fit.model_.n_inputs == 6
        for rows in (table, table.assign(k=pd.Categorical(values)), pl.from_pandas(table)):
            rows = rows[["a", "k"]]
            assert (fit.predict(rows) == table["y"]).all()
            assert (fit.model_.predict(rows) == table["y"]).all()
        # Categories of a type have the same names.
        again = fitted(table.assign(k=pd.Categorical(values)))
        assert again.to_bytes() == fit.to_bytes()


def test_whole_numbers_that_are_one_in_tables_are_no_categories():
    dates = ROWS.assign(k=20240103 + 2 * (K // 3))
    with pytest.raises(
        ValueError,
        match=r"^X: column 3 \(`k`\) has whole numbers beyond ±16777215, which are not told "
        r'apart as categories: make the column text, by astype\("category"\) or astype\("string"\)$',
    ):
        fitted(dates, categorical_features=["k"])
    assert fitted(dates.astype({"k": "category"})).model_.n_inputs == 6
