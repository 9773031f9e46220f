"""Tables of pandas, polars and pyarrow, sparse matrices, and arrays of every type."""

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse

import koan

ROWS = 120


@pytest.fixture(scope="module")
def columns():
    random = np.random.default_rng(3)
    x = random.normal(size=ROWS).round(3)
    return {
        "x": np.where(np.arange(ROWS) % 11 == 0, np.nan, x),
        "job": [None if i % 13 == 0 else "abc"[i % 3] for i in range(ROWS)],
        "count": random.integers(0, 50, ROWS),
        "on": random.random(ROWS) < 0.5,
        "y": np.where(x + (np.arange(ROWS) % 3 == 1) > 0.3, "high", "low"),
    }


def fitted(table):
    return koan.KoanClassifier(n_features=24, missing="impute").fit(table, "y")


def test_every_kind_of_table_is_the_same_table(columns):
    frame = pd.DataFrame(columns)
    expected = fitted(frame)
    assert list(expected.feature_names_in_) == ["x", "job", "count", "on"]
    assert expected.n_features_in_ == 4
    arrow = pa.table({name: list(v) for name, v in columns.items()})
    arrow = arrow.set_column(0, "x", pa.array(columns["x"], from_pandas=True))
    polars = pl.DataFrame({name: list(v) for name, v in columns.items()}).with_columns(
        pl.col("x").fill_nan(None)
    )
    shuffled = frame.set_index(pd.Index(np.arange(ROWS)[::-1], name="key"))
    kinds = [
        arrow,
        polars,
        polars.with_columns(pl.col("job").cast(pl.Categorical)),
        frame.astype({"job": "category"}),
        frame.astype({"job": object, "count": np.int16, "on": np.uint8}),
        frame.astype({"count": "Int64", "x": "Float64"}),
        shuffled,
    ]
    for table in kinds:
        again = fitted(table)
        assert again.to_bytes() == expected.to_bytes(), type(table)
        assert (again.predict(table) == expected.predict(frame)).all()
    model = koan.load(expected.to_bytes())
    assert model.columns == ["x", "job", "count", "on"]
    # By name, in another order, without the target.
    turned = frame[["on", "count", "job", "x"]]
    assert (model.predict(turned) == expected.predict(frame)).all()
    assert (model.predict(arrow.select(["x", "job", "count", "on"])) == expected.predict(frame)).all()


def test_pandas_without_pyarrow(columns, monkeypatch):
    frame = pd.DataFrame(columns)
    expected = fitted(frame).to_bytes()
    plain = frame.astype({"job": object, "y": object})
    monkeypatch.setattr("koan._columns._has_arrow", lambda: False)
    assert fitted(plain).to_bytes() == expected
    assert fitted(plain.astype({"job": "category"})).to_bytes() == expected
    assert fitted(plain.astype({"count": "Int64", "x": "Float64"})).to_bytes() == expected


def test_notes_of_a_table_are_no_matter():
    rows = pd.DataFrame(np.random.default_rng(0).normal(size=(60, 2)), columns=["a", "b"])
    model = koan.load(koan.KoanRegressor(n_features=8).fit(rows, rows["a"]).to_bytes())
    noted = rows.copy()
    notes = [object()]
    noted.attrs["notes"] = notes
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert (model.predict(noted) == model.predict(rows)).all()
    assert noted.attrs["notes"] is notes


def test_a_target_beside_the_table_has_its_name(columns):
    frame = pd.DataFrame(columns)
    beside = koan.KoanClassifier(n_features=24, missing="impute").fit(
        frame.drop(columns="y"), frame["y"]
    )
    assert beside.to_bytes() == fitted(frame).to_bytes()


def test_a_column_of_labels_is_no_input_of_what_learns_without():
    rows = pd.DataFrame(np.random.default_rng(0).normal(size=(400, 3)), columns=["a", "b", "c"])
    labelled = rows.assign(fault=np.where(np.arange(400) % 40 == 7, -1, 1))
    for table in (labelled, pl.from_pandas(labelled)):
        detector = koan.KoanDetector(n_features=64, false_alarm=0.1).fit(table, "fault")
        assert detector.model_.columns == ["a", "b", "c"] == list(detector.feature_names_in_)
        expected = koan.KoanDetector(n_features=64, false_alarm=0.1).fit(rows, labelled["fault"])
        assert (detector.predict(table) == expected.predict(rows)).all()
        assert (detector.fit_predict(table, "fault") == expected.predict(rows)).all()
        assert "<title>" in detector.report(table, "fault").html
        features = koan.KoanTransformer(n_features=8)
        assert (features.fit_transform(table, "fault") == features.fit_transform(rows)).all()


def test_texts_in_arrays(columns):
    rows = np.array([columns["job"], columns["count"]], dtype=object).T
    estimator = koan.KoanClassifier(n_features=24, missing="impute").fit(rows, columns["y"])
    assert estimator.n_features_in_ == 2
    assert estimator.model_.n_inputs == 4
    assert estimator.predict(rows).shape == (ROWS,)


@pytest.mark.parametrize("kind", ["f2", "f4", ">f8", "i1", "u2", "u4", "u8", "i8", "?"])
def test_every_type_of_number(kind):
    values = np.random.default_rng(0).integers(0, 2, (60, 5))
    y = values[:, 0] ^ values[:, 3]
    expected = koan.KoanClassifier(n_features=16).fit(values, y)
    typed = values.astype(kind)
    assert koan.KoanClassifier(n_features=16).fit(typed, y).to_bytes() == expected.to_bytes()
    assert (expected.predict(typed) == expected.predict(values)).all()


def test_masked_values_are_missing_values():
    random = np.random.default_rng(4)
    for rows, kind in ((random.normal(size=(60, 3)), "f4"), (random.integers(0, 9, (60, 3)), "i8")):
        rows = rows.astype(kind)
        mask = random.random(rows.shape) < 0.1
        masked, holes = np.ma.array(rows, mask=mask), np.where(mask, np.nan, rows)
        y = rows[:, 0] > rows[:, 1]
        loose = koan.KoanClassifier(n_features=16, missing="impute")
        expected = loose.fit(holes, y).to_bytes()
        assert loose.fit(masked, y).to_bytes() == expected
        assert (loose.predict(masked) == loose.predict(holes)).all()
        assert (loose.model_.scores(masked) == loose.model_.scores(holes)).all()
        strict = koan.KoanClassifier(n_features=16).fit(np.ma.array(rows), y)
        for work in (strict.fit, lambda X, _: strict.predict(X)):
            with pytest.raises(ValueError, match="Input X contains NaN"):
                work(masked, y)
        with pytest.raises(ValueError, match="the value is missing"):
            strict.model_.predict(masked)
        with pytest.raises(ValueError, match="Input X contains NaN"):
            koan.KoanDetector(n_features=16, false_alarm=0.2).fit(masked)
    jobs = np.ma.array([["a"], ["b"], ["c"]] * 20, mask=[[False], [False], [True]] * 20)
    texts = koan.KoanClassifier(n_features=16, missing="impute").fit(jobs, [0, 1, 1] * 20)
    assert texts.model_.n_inputs == 2
    hours = np.array([[1], [2]] * 30, dtype="M8[h]")
    model = koan.KoanClassifier(n_features=16).fit(pd.DataFrame(hours), [0, 1] * 30).model_
    with pytest.raises(ValueError, match="row 1, column 1: the value is missing"):
        model.predict(np.ma.array(hours, mask=hours == hours[0]))


def test_arrays_may_begin_anywhere():
    rows = np.random.default_rng(6).normal(size=(60, 3))
    odd = np.ndarray(rows.shape, "f8", bytearray(rows.nbytes + 1), 1)
    odd[:] = rows
    column = np.ndarray(60, "f8", bytearray(8 * 60 + 1), 1)
    column[:] = np.abs(rows[:, 0])
    assert not odd.flags.aligned and not column.flags.aligned
    expected = koan.KoanRegressor(n_features=16).fit(rows, column + 0, column + 0)
    assert koan.KoanRegressor(n_features=16).fit(odd, column, column).to_bytes() == expected.to_bytes()
    assert (expected.predict(odd) == expected.predict(rows)).all()
    assert (expected.model_.scores(odd) == expected.model_.scores(rows)).all()


def test_arrays_of_inputs_are_the_same_in_every_type(columns):
    table = pd.DataFrame({name: columns[name] for name in ("count", "on", "y")})
    table["job"] = np.array(["a", "b", "c"])[np.arange(ROWS) % 3]
    model = koan.KoanClassifier(n_features=16).fit(table, "y").model_
    assert (len(model.columns), model.n_inputs) == (3, 5)
    row = np.array([[7, 1, 0, 1, 0]])
    # The columns in their order: count, on, job.
    expected = model.scores(pd.DataFrame({"count": [7], "on": [True], "job": ["b"]}))
    for kind in ("f2", "f4", "f8", "i1", "i2", "i4", "i8", "u1", "u4"):
        assert (model.scores(row.astype(kind)) == expected).all(), kind
    for kind in ("f4", "f8"):
        with pytest.raises(ValueError, match="^X: row 1, column 1: the value is missing"):
            model.scores(np.full((1, 5), np.nan, kind))
    for kind in ("f4", "f8", "i8", "u1"):
        with pytest.raises(ValueError, match="4 columns, where the model was trained on 3"):
            model.scores(np.ones((1, 4), kind))


def test_sparse_matrices():
    dense = np.random.default_rng(0).random((80, 12)) * (np.random.default_rng(1).random((80, 12)) < 0.2)
    y = dense[:, 0] + dense[:, 1]
    expected = koan.KoanRegressor(n_features=16).fit(dense.astype(np.float32), y)
    for kind in (scipy.sparse.csr_matrix, scipy.sparse.coo_array, scipy.sparse.csc_array):
        estimator = koan.KoanRegressor(n_features=16).fit(kind(dense), y)
        assert estimator.to_bytes() == expected.to_bytes()
        assert (estimator.predict(kind(dense)) == expected.predict(dense)).all()


def test_sparse_matrices_are_told_of_as_dense_ones():
    def told(rows):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            koan.KoanClassifier(n_features=4).fit(rows, np.arange(60) % 2)
        return [str(warning.message) for warning in caught]

    times = np.c_[1.7e9 + 10 * np.arange(60), np.random.default_rng(0).normal(size=60)]
    for kind in (scipy.sparse.csr_matrix, scipy.sparse.csc_array):
        expected = told(times)
        assert any("is read as" in text for text in expected)
        assert told(kind(times)) == expected
        large = times.copy()
        large[3, 0] = 1e300
        with pytest.raises(ValueError, match="^X: row 4, column 1: 1e300 is too large$"):
            told(kind(large))


def test_times_are_the_same_numbers_in_any_unit(monkeypatch):
    when = pd.Series(pd.date_range("2026-01-01", periods=200, freq="h"))
    took = (when - when[0]) * 1.5
    x = np.random.default_rng(5).permutation(200)
    y = np.where(x > 120, "late", "early")
    frames = [
        pd.DataFrame({"when": when.astype(f"datetime64[{u}]")[x], "took": took.astype(f"timedelta64[{u}]")[x]})
        for u in ("s", "ms", "us", "ns")
    ]
    zoned = frames[2]["when"].dt.tz_localize("UTC").dt.tz_convert("Asia/Tokyo")
    frames.append(frames[2].assign(when=zoned))
    fitted = koan.KoanClassifier(n_features=24).fit(frames[0], y)
    expected = fitted.predict(frames[0])
    assert (expected == y).mean() > 0.9
    for table in frames[1:] + [pl.from_pandas(frame) for frame in frames]:
        assert (fitted.predict(table) == expected).all()
    # Without Arrow too, where a missing time is a missing number.
    monkeypatch.setattr(koan._columns, "_has_arrow", lambda: False)
    for table in frames:
        assert (fitted.predict(table) == expected).all()
    gap = frames[2].copy()
    gap.iloc[3, 0] = pd.NaT
    with pytest.raises(ValueError, match="row 4, column 1 .*missing"):
        fitted.predict(gap)


def test_dates_are_numbers_and_lists_are_refused():
    frame = pd.DataFrame({"when": pd.date_range("2026-01-01", periods=50), "y": np.arange(50) % 2})
    koan.KoanClassifier(n_features=8).fit(frame, "y")
    # Both types of dates are days.
    days = pa.array([0, 20_000, 20_001] * 20, pa.date32())
    models = [
        koan.KoanClassifier(n_features=8).fit(pa.table({"day": days.cast(kind), "y": [0, 1, 0] * 20}), "y")
        for kind in (pa.date32(), pa.date64())
    ]
    assert models[0].to_bytes() == models[1].to_bytes()
    # Times of day are microseconds, in every unit.
    times = pa.array([0, 3600, 3601] * 20, pa.time32("s"))
    models = [
        koan.KoanClassifier(n_features=8).fit(pa.table({"at": times.cast(kind), "y": [0, 1, 0] * 20}), "y")
        for kind in (pa.time32("s"), pa.time32("ms"), pa.time64("us"), pa.time64("ns"))
    ]
    assert len({model.to_bytes() for model in models}) == 1
    nested = pa.table({"v": [[1.0]] * 50, "y": np.arange(50) % 2})
    with pytest.raises(ValueError, match="X: column `v`: values of the type List"):
        koan.KoanClassifier(n_features=8).fit(nested, "y")


def test_texts_have_no_blanks_around_them(columns):
    table = pd.DataFrame({"job": columns["job"], "y": columns["y"]})
    table = table.dropna().reset_index(drop=True)
    expected = koan.KoanClassifier(n_features=16).fit(table, "y")
    padded = table.assign(job=table["job"] + "  ")
    for kind in (padded, pl.from_pandas(padded), pa.Table.from_pandas(padded)):
        assert koan.KoanClassifier(n_features=16).fit(kind, "y").to_bytes() == expected.to_bytes()
        assert (expected.model_.predict(kind) == expected.predict(table[["job"]])).all()
    # Nor have classes.
    spaced = koan.KoanClassifier(n_features=16).fit(table.assign(y=" " + table["y"]), "y")
    assert spaced.to_bytes() == expected.to_bytes()
    assert list(spaced.classes_) == [f" {name}" for name in expected.classes_]
    # Blanks are those of ASCII, as in files.
    other = table.assign(job=table["job"] + "\u00a0")
    for kind in (other, pl.from_pandas(other), other[["job"]].to_numpy(str)):
        with pytest.raises(ValueError, match="is none of the values"):
            koan.Model(expected.to_bytes()).predict(kind)


def test_a_number_among_texts_is_unknown(columns):
    table = pd.DataFrame({"job": ["a", "b"] * 30, "x": np.arange(60) % 7, "y": ["p", "q"] * 30})
    fitted = koan.KoanClassifier(n_features=16).fit(table, "y")
    rows = table[["job", "x"]]
    for value in (5, True, None, np.nan, "c"):
        wrong = rows.assign(job=value)
        for predict in (fitted.predict, fitted.model_.predict):
            with pytest.raises(ValueError, match="row 1, column 1 .`job`.: "):
                predict(wrong)
        assert len(fitted.model_.predict(wrong, unknown="zeros")) == 60
    # Where texts may be missing, they may be when predicting too.
    known = koan.KoanClassifier(n_features=16, missing="impute").fit(table, "y")
    assert len(known.predict(rows.assign(job=None))) == 60


def test_a_column_more_is_no_target():
    rows = np.random.default_rng(2).normal(size=(80, 4))
    model = koan.KoanClassifier(n_features=16).fit(rows, rows[:, 0] > 0).model_
    with pytest.raises(ValueError, match="5 columns, where the model was trained on 4"):
        model.predict(np.c_[np.arange(80), rows])


def test_decimals_and_durations_are_numbers():
    import decimal

    cents = np.random.default_rng(3).integers(-500, 500, 90)
    amounts = pa.array([decimal.Decimal(int(c)) / 100 for c in cents], pa.decimal128(10, 2))
    y = (np.abs(cents) > 200).tolist()
    decimals = koan.KoanClassifier(n_features=16).fit(pa.table({"a": amounts, "y": y}), "y")
    floats = koan.KoanClassifier(n_features=16).fit(pa.table({"a": cents / 100, "y": y}), "y")
    assert decimals.to_bytes() == floats.to_bytes()
    # A target is in microseconds, as an input is.
    took = pd.Series(pd.to_timedelta(np.abs(cents) * 60, unit="s"))
    for unit in ("ns", "us", "s"):
        table = pd.DataFrame({"x": cents, "took": took.astype(f"timedelta64[{unit}]")})
        fitted = koan.KoanRegressor(n_features=32).fit(table, "took")
        assert abs(fitted.predict(table[["x"]]).mean() / (60e6 * np.abs(cents).mean()) - 1) < 0.05


def test_what_is_no_table_is_told():
    rows = [{"a": 1.0, "b": 2.0}] * 20
    with pytest.raises(ValueError, match="pandas.DataFrame"):
        koan.KoanClassifier(n_features=8).fit(rows, [0, 1] * 10)
    lazy = pl.DataFrame(rows).lazy()
    with pytest.raises(ValueError, match="collect"):
        koan.KoanClassifier(n_features=8).fit(lazy, [0, 1] * 10)
