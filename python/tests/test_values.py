"""Values of the types that tables come with."""

import datetime

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse

import koan
import koan.local

X = np.random.default_rng(0).normal(size=(80, 3))
Y = (X[:, 0] > 0).astype(int)
TABLE = pd.DataFrame(X, columns=list("abc"))


def quick(**given):
    return koan.KoanClassifier(**{"n_features": 16, **given})


def test_labels_that_64_bits_do_not_hold_are_errors():
    labels = np.where(Y, 2**63 + 5, 2**63 + 6).astype(np.uint64)
    said = r"^y: row 1: 9223372036854775813 is beyond whole numbers of 64 bits"
    for y in (labels, pl.Series(labels), labels.astype(object)):
        with pytest.raises(ValueError, match=said):
            quick().fit(X, y)
    table = pl.DataFrame({"a": X[:, 0], "y": labels})
    with pytest.raises(ValueError, match=said):
        quick().fit(table, "y")
    with pytest.raises(ValueError, match="^target: the column `y` has whole numbers of 2.63 or more"):
        koan.local.fit(table, "y", n_features=16)
    # Those that it holds are exact.
    near = table.with_columns(y=pl.Series(np.where(Y, 2**62 + 1, 2**62).astype(np.uint64)))
    for fitted in (quick().fit(near, "y").model_, koan.local.fit(near, "y", n_features=16)):
        assert fitted.classes == [2**62, 2**62 + 1]


@pytest.mark.filterwarnings("ignore:y. row .* is read as")
@pytest.mark.parametrize("unit", ["ns", "us", "ms", "s"])
def test_scores_are_of_the_units_that_are_learned(unit):
    took = pd.Series(pd.to_timedelta(np.abs(X[:, 0]) * 3600, unit="s")).astype(f"timedelta64[{unit}]")
    regressor = koan.KoanRegressor(n_features=64).fit(X, took)
    assert regressor.score(X, took) > 0.9
    assert "<title>" in regressor.report(X, took).html
    search = koan.KoanSearch(flash=500, minutes=0.05, task="regression").fit(X, took)
    assert search.score(X, took) > 0.5
    when = pd.Timestamp("2026-01-01") + took
    assert koan.KoanRegressor(n_features=64).fit(X, when).score(X, when) > 0.9


@pytest.mark.parametrize("kind", [scipy.sparse.csc_array, scipy.sparse.csc_matrix])
def test_sparse_columns_are_read_by_models(kind):
    model = quick().fit(X.astype(np.float32), Y).model_
    expected = model.scores(X.astype(np.float32))
    assert (model.scores(kind(X)) == expected).all()
    assert (model.scores(scipy.sparse.csr_array(X.T).T) == expected).all()


def test_targets_of_arrow_are_taken():
    names = np.where(Y, "on", "off")
    for y in (names, Y.astype(bool), Y):
        expected = quick().fit(X, y).to_bytes()
        assert quick().fit(X, pa.array(y)).to_bytes() == expected
        assert quick().fit(X, pa.chunked_array([y[:30], y[30:]])).to_bytes() == expected
    with pytest.raises(ValueError, match="^y: row 1: the class is missing"):
        quick().fit(X, pa.array([None, *names[1:]]))
    numbers = koan.KoanRegressor(n_features=16)
    expected = numbers.fit(X, X[:, 0]).to_bytes()
    assert numbers.fit(X, pa.array(X[:, 0])).to_bytes() == expected


def test_missing_classes_are_told():
    texts = pd.Series(np.where(Y, "a", "b"))
    gap = np.arange(80) == 4
    for y in (
        texts.mask(gap, None).astype("string"),
        texts.astype(object).mask(gap, pd.NA),
        pd.Series(Y).mask(gap).astype("Int64"),
        pd.Series(Y == 1).astype("boolean").mask(gap),
        np.where(gap, np.nan, Y),
    ):
        with pytest.raises(ValueError, match=r"^y: row 5: the class is missing( \(NaN\))?$"):
            quick().fit(X, y)
    with pytest.raises(ValueError, match="^y: row 5: nan "):
        koan.KoanRegressor(n_features=8).fit(X, pd.Series(X[:, 0]).astype(object).mask(gap, pd.NA))


def test_truth_values_of_pandas_own_type():
    y = pd.Series(Y == 1, name="y")
    expected = quick().fit(TABLE, y)
    nullable = y.astype("boolean")
    for fitted in (quick().fit(TABLE, nullable), quick().fit(TABLE.assign(y=nullable), "y")):
        assert fitted.to_bytes() == expected.to_bytes()
        assert fitted.predict(TABLE).dtype == bool
        assert fitted.score(TABLE, nullable) == expected.score(TABLE, y)


def test_dates_are_days():
    days = (20 * X[:, 1]).astype(int)
    dates = [datetime.date(2026, 1, 1) + datetime.timedelta(days=int(day)) for day in days]
    table = TABLE.assign(d=pd.Series(dates, dtype=object), y=Y)
    expected = quick().fit(pl.from_pandas(table), "y")
    assert quick().fit(table, "y").to_bytes() == expected.to_bytes()
    assert (expected.predict(table) == expected.predict(pa.Table.from_pandas(table))).all()
    numbers = table.assign(d=[day.toordinal() - 719163 for day in dates])
    assert (expected.predict(numbers) == expected.predict(table)).all()
    gap = table.assign(d=table["d"].mask(np.arange(80) == 2, None))
    assert quick(missing="impute").fit(gap, "y").predict(gap).shape == (80,)
    with pytest.raises(ValueError, match=r"^X: row 3, column 4 \(`d`\): the value is missing"):
        expected.predict(gap)
    # Times are no dates.
    mixed = table.assign(d=table["d"].mask(np.arange(80) == 2, datetime.datetime(2026, 1, 1)))
    with pytest.raises(ValueError, match=r"^X: row \d, column 4 .* is neither number nor text$"):
        expected.predict(mixed)
    regressor = koan.KoanRegressor(n_features=64).fit(X, dates)
    assert regressor.score(X, dates) > 0.9 and 20_000 < regressor.predict(X).mean() < 21_000


def test_columns_without_a_type_are_missing_numbers():
    columns = pl.from_pandas(TABLE).with_columns(b=pl.lit(None))
    assert columns.schema["b"] == pl.Null
    fitted = quick(missing="impute").fit(TABLE, Y)
    assert (fitted.predict(columns) == fitted.predict(TABLE.assign(b=np.nan))).all()
    with pytest.raises(ValueError, match=r"^X: row 1, column 2 \(`b`\): the value is missing"):
        fitted.model_.predict(columns)
    with pytest.raises(ValueError, match=r"^X: column 2 \(`b`\) has no values$"):
        quick(missing="impute").fit(columns, Y)


@pytest.mark.parametrize("other", [[], [None] * 80])
def test_types_that_arrow_cannot_carry_are_told(other):
    table = pl.DataFrame({"a": X[:, 0]}).with_columns(pl.Series("n", range(80), dtype=pl.Int128))
    if other:
        table = table.with_columns(z=pl.lit(None))
    model = quick().fit(X[:, :2], Y).model_
    for work in (lambda: quick().fit(table, Y), lambda: model.predict(table)):
        with pytest.raises(
            ValueError, match=r"^X: column 2 \(`n`\): values of the type Int128 are not"
        ):
            work()


@pytest.mark.parametrize(
    "kind",
    [
        pa.timestamp("s"),
        pa.timestamp("ns"),
        pa.timestamp("us", tz="Europe/Berlin"),
        pa.duration("ms"),
        pa.time32("s"),
        pa.time64("ns"),
    ],
)
def test_times_of_arrow_beside_objects(kind):
    whole = 3600 + (600 * X[:, 1]).astype(int)
    times = pa.array([None, *whole[1:]], pa.int32() if kind == pa.time32("s") else pa.int64())
    table = TABLE.assign(b=pd.Series(times.cast(kind), dtype=pd.ArrowDtype(kind)))
    other = table.astype({"c": object})
    fitted = quick(missing="impute").fit(table, Y)
    assert quick(missing="impute").fit(other, Y).to_bytes() == fitted.to_bytes()
    assert (fitted.model_.scores(other) == fitted.model_.scores(table)).all()


def test_periods_are_refused():
    days = pd.period_range("2026-01-01", periods=80, freq="D")
    said = r"^X: column 2 \(`b`\): periods are not read: make them times, as .dt.to_timestamp\(\) does$"
    fitted = quick().fit(TABLE, Y)
    for table in (TABLE.assign(b=days), TABLE.assign(b=days.astype("category"))):
        for work in (lambda: quick().fit(table, Y), lambda: fitted.predict(table)):
            with pytest.raises(ValueError, match=said):
                work()
    # Of groups only which are alike matters.
    months = TABLE.assign(g=days.asfreq("M")), TABLE.assign(g=days.month)
    grouped, expected = (quick().fit(table, Y, groups="g").to_bytes() for table in months)
    assert grouped == expected


def test_columns_of_batches_are_named():
    names = np.where(Y, "on", "off")
    batch = pa.RecordBatch.from_pandas(TABLE.assign(y=names, w=[True] * 80))
    expected = quick().fit(TABLE.assign(y=names, w=1), "y", sample_weight="w").to_bytes()
    assert quick().fit(batch, "y", sample_weight="w").to_bytes() == expected


def test_dates_and_times_with_a_zone_are_targets():
    whole = (20 * X[:, 1]).astype(int) + 20_000
    days = pd.Series(whole.astype("M8[D]").astype(object))
    expected = koan.KoanRegressor(n_features=16).fit(X, whole)
    for y in (
        pl.Series(days),
        whole.astype("M8[D]"),
        pa.array(days, pa.date32()),
        pd.Series(days, dtype=pd.ArrowDtype(pa.date32())),
    ):
        fitted = koan.KoanRegressor(n_features=16).fit(X, y)
        assert fitted.to_bytes() == expected.to_bytes()
        assert fitted.score(X, y) == expected.score(X, whole)
    times = pd.Series(whole.astype("M8[m]").astype("M8[us]"))
    expected = koan.KoanRegressor(n_features=16).fit(X, times).to_bytes()
    zoned = times.dt.tz_localize("UTC").dt.tz_convert("Asia/Tokyo")
    arrow = zoned.astype(pd.ArrowDtype(pa.timestamp("us", tz="Asia/Tokyo")))
    for y in (zoned, arrow, pl.from_pandas(zoned), list(zoned)):
        fitted = koan.KoanRegressor(n_features=16).fit(X, y)
        assert fitted.to_bytes() == expected
        assert fitted.score(X, y) > 0
    table = pd.DataFrame(X).assign(y=zoned)
    assert koan.KoanRegressor(n_features=16).fit(table, "y").score(table, "y") > 0
    with pytest.raises(ValueError, match="^y: row 4: nan "):
        koan.KoanRegressor(n_features=16).fit(X, zoned.mask(np.arange(80) == 3))


def test_bytes_in_the_other_order():
    table = TABLE.astype(">f8").assign(b=(50 * X[:, 1]).astype(">i4"))
    expected = quick().fit(table.astype({"a": "f8", "b": "i4", "c": "f8"}), Y)
    assert quick().fit(table, Y).to_bytes() == expected.to_bytes()
    assert (expected.predict(table) == expected.predict(table.astype(float))).all()


def test_a_stream_is_no_table():
    stream = pa.table(TABLE).to_reader()
    fitted = quick().fit(TABLE, Y)
    said = r"^X: a RecordBatchReader can be read only once: X.read_all\(\) is a table$"
    for work in (
        lambda: quick().fit(stream, Y),
        lambda: quick().fit(stream, "y"),
        lambda: fitted.predict(stream),
        lambda: fitted.score(stream, "a"),
    ):
        with pytest.raises(ValueError, match=said):
            work()
    assert (fitted.model_.predict(stream) == fitted.predict(TABLE)).all()


def test_longer_floats_and_sparse_columns_of_pandas():
    table = TABLE.assign(b=np.where(X[:, 1] > 1, 1.0, 0.0))
    expected = quick().fit(table, Y)
    for other in (
        table.astype({"a": np.longdouble}),
        table.assign(b=pd.arrays.SparseArray(table["b"])),
    ):
        assert quick().fit(other, Y).to_bytes() == expected.to_bytes()
        assert (expected.model_.predict(other) == expected.predict(table)).all()


def test_names_of_classes_have_no_line_breaks_in_the_bytes():
    fitted = quick().fit(X, np.where(Y, "c\nd", "e"))
    assert set(fitted.predict(X)) == {"c\nd", "e"}
    assert fitted.model_.classes == ["c d", "e"]


@pytest.mark.parametrize("labels", [[10**16 - 1, 10**16], [-(2**53) - 1, -(2**53)]])
def test_labels_that_are_one_as_floats_are_kept_apart(labels):
    x = np.linspace(-1, 1, 60).reshape(-1, 1)
    y = np.where(x[:, 0] > 0, labels[1], labels[0])
    fit = quick().fit(x, y)
    assert (fit.classes_ == labels).all() and (fit.predict(x) == y).mean() > 0.9
    assert ((fit.predict_proba(x)[:, 1] > 0.5) == (y == labels[1])).mean() > 0.9
    parts = koan.local.fit(pd.DataFrame({"x": x[:, 0], "y": y}), "y", n_features=16)
    assert parts.classes == labels
