"""What users do wrong is told with what and where."""

import os
import signal
import subprocess
import sys
import time
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.exceptions import NotFittedError

import koan

X = np.random.default_rng(0).normal(size=(60, 3))
Y = (X[:, 0] > 0).astype(int)
TABLE = pd.DataFrame({"x": X[:, 0], "job": np.where(X[:, 1] > 0, "a", "b"), "y": Y})


def quick(**given):
    return koan.KoanClassifier(**{"n_features": 16, **given})


def with_value(row, column, value):
    table = TABLE.astype({column: object}) if isinstance(value, (str, tuple)) else TABLE.copy()
    if column == "job":
        table = table.astype({column: object})
    table.loc[row, column] = value
    return table


@pytest.mark.parametrize(
    "work, message",
    [
        (lambda: quick().fit(X, Y[:50]), r"inconsistent numbers of samples: \[60, 50\]"),
        (lambda: quick().fit(X[0], Y[:3]), "Expected 2D array, got 1D array"),
        (
            lambda: quick().fit(TABLE.x, Y),
            r"^X: expected 2D, got a Series: X.to_frame\(\) is a table of one column$",
        ),
        (lambda: quick().fit(pl.Series(X[:, 0]), Y), "^X: expected 2D, got a Series"),
        (lambda: quick().fit(X, Y).predict(TABLE.x), "^X: expected 2D, got a Series"),
        (
            lambda: quick().fit(pa.chunked_array([X[:, 0]]), Y),
            r'^X: expected 2D, got a ChunkedArray: pyarrow.table\({"x": X}\) is a table of one column$',
        ),
        (lambda: quick().fit(X, Y).model_.predict(TABLE.x), "^X: expected 2D, got a Series"),
        (lambda: koan.KoanDetector().fit(TABLE.x), "^X: expected 2D, got a Series"),
        (lambda: koan.plan(TABLE.x, "y"), "^rows: a table with named .* is needed, not Series$"),
        (
            lambda: quick().fit(X.reshape(10, 9, 2), Y[:10]),
            r"^X: .* \(10, 9, 2\): if these are windows × samples × channels, give "
            r"X.reshape\(len\(X\), -1\), with shape='9x2'$",
        ),
        (
            lambda: koan.KoanDetector().fit(X.reshape(5, 3, 4, 3)),
            r"^X: .* images × height × width × channels, give X.reshape\(len\(X\), -1\)$",
        ),
        (lambda: quick().fit(X, Y).model_.scores(X.reshape(10, 9, 2)), r"^X: expected 2D"),
        (lambda: quick().fit(X, Y).predict(X[:, :2]), "X has 2 features, but KoanClassifier"),
        (lambda: quick().fit(np.where(X > 2, np.nan, X), Y), "X contains NaN"),
        (
            lambda: quick().fit(with_value(4, "x", np.nan), "y"),
            r'^X: row 5, column 1 \(`x`\): the value is missing, and is allowed by missing="impute"$',
        ),
        (
            lambda: quick().fit(with_value(4, "job", None), "y"),
            r'^X: row 5, column 2 \(`job`\): the value is missing, and is allowed by missing="impute"$',
        ),
        (lambda: quick().fit(X, np.ones(60)), '^y: every row has the same class, "1"'),
        (
            lambda: quick().fit(TABLE, "y").predict(with_value(2, "job", "c")),
            r'^X: row 3, column 2 \(`job`\): "c" is none of the values: a, b$',
        ),
        (
            lambda: quick().fit(with_value(7, "job", 5), "y"),
            r"^X: row 8, column 2 \(`job`\): 5 \(int\) among texts: make .* by astype\(str\)$",
        ),
        (
            lambda: quick().fit(with_value(7, "job", (1, 2)), "y"),
            r"^X: row 8, column 2 \(`job`\): \(1, 2\) \(tuple\) among texts|Must have equal len",
        ),
        (
            lambda: quick().fit(TABLE, "y").predict(with_value(9, "x", "warm")),
            r"^X: row 10, column 1 \(`x`\): 'warm' \(str\) among numbers: correct it or leave the row "
            r'out, or make it a missing value by pandas.to_numeric\(..., errors="coerce"\), which '
            'missing="impute" allows$',
        ),
        (
            lambda: quick().fit(np.array([[b"a"]] * 59 + [[b"\xff"]]), Y),
            r"^X: row 60, column 1: b'\\xff' is no text of UTF-8$",
        ),
        (
            lambda: quick().fit(TABLE, "y").predict(TABLE.astype({"x": str})),
            r'^X: row 1, column 1 \(`x`\): "0\.[0-9]*" is a text, in a column that has numbers$',
        ),
        (lambda: quick().fit(TABLE, "z"), "^y: X has no column `z`; there are `x`, `job`, `y`$"),
        (lambda: quick().fit(X, "y"), "^y: 'y' names a column, which X does not have$"),
        (lambda: koan.KoanDetector().fit(TABLE, "z"), "^y: X has no column `z`; there are `x`"),
        (lambda: koan.KoanDetector().fit(X, "y"), "^y: 'y' names a column, which X does not have$"),
        (lambda: koan.KoanTransformer().fit(TABLE, "z"), "^y: X has no column `z`"),
        (lambda: quick().fit(TABLE, "y").predict(TABLE[["x"]]), "Feature names|job"),
        (lambda: quick().fit(X, [1, "a"] * 30), "^y: classes|Unknown label type|y: "),
        (lambda: koan.KoanRegressor(n_features=8).fit(X, ["a"] * 60), "^y: could not convert"),
        (
            lambda: koan.KoanRegressor(n_features=8).fit(X, np.where(Y, 1e39, 1.0)),
            r"^y: row \d+: 1e\+39 is beyond the range of numbers",
        ),
        (
            lambda: koan.KoanClassifier(flash=300, family="linear").fit(X, Y, groups=np.ones(60)),
            "^groups: cannot split 60 rows: all are of one group, and at least two are needed",
        ),
        (
            lambda: quick().fit(TABLE.assign(x=[f"0.{row}" for row in range(100, 160)]), "y"),
            r"^X: column 1 \(`x`\) has 60 different numbers, such as \"0.100\", as texts, which "
            "are no categories: make them numbers, as pandas.to_numeric does$",
        ),
        (lambda: quick(family="series").fit(X, Y), "^shape: .* shape of a row, LENGTHx"),
        (lambda: quick(family="conv").fit(X, Y), "^shape: .* shape of a row: HEIGHTx"),
        (
            lambda: koan.KoanTransformer(family=["stump", "conv"]).fit(X),
            "^family: 'conv' needs the shape of a row, which KoanTransformer does not know; there are "
            "fourier, stump, bin, maxout, sigmoid, fern and linear$",
        ),
        (lambda: koan.KoanTransformer(family="series").fit(X), "^family: 'series' needs the shape"),
        (lambda: koan.KoanSearch(flash=10, minutes=1e-4).fit(X, Y), "^flash: .* small: flash 10, "),
        (lambda: quick().fit(X, Y, sample_weight=-np.ones(60)), "Negative values|sample_weight"),
        (lambda: quick().fit(X, Y, sample_weight=np.zeros(60)), "sample_weight|all.zero|zero"),
        (
            lambda: quick(loss="logistic").fit(X, Y, sample_weight=1.0 * Y),
            "^sample_weight: all rows of weight above 0 are of one class",
        ),
        (lambda: quick(class_weight="heavy").fit(X, Y), "^class_weight: "),
        (lambda: quick(bits=5).fit(X, Y), "^bits: 5 is not one of 2, 3, 4, 8 and 16$"),
        (lambda: quick(bits="4").fit(X, Y), "^bits: '4' is not a whole number$"),
        (lambda: quick(n_features=0).fit(X, Y), "^n_features: "),
        (lambda: quick(n_features=70_000).fit(X, Y), "^n_features: .* is not a whole number from 1"),
        (lambda: quick(n_features=60_000).fit(X, Y), "^n_features: 60000 features are too many: at most 16384"),
        (lambda: quick(family="forest").fit(X, Y), '^family: no "forest"; there are fourier, stump'),
        (lambda: quick(loss="huber").fit(X, Y), '^loss: no "huber"; there are squared, logistic'),
        (lambda: quick(penalty=-1).fit(X, Y), "^penalty: a lambda of -1 is not in"),
        (lambda: quick(frequency=0).fit(X, Y), "^frequency: a frequency of 0"),
        (lambda: quick(input_map="log").fit(X, Y), '^input_map: no "log"; there are shared'),
        (lambda: quick(projection="hadamard", family="stump").fit(X, Y), "^projection: "),
        (lambda: quick(flash="2 pounds").fit(X, Y), "^flash: '2 pounds' is no number of bytes"),
        (lambda: koan.KoanSearch(ram="x").fit(X, Y), "^ram: 'x' is no number of bytes"),
        (lambda: quick(flash=900.5).fit(X, Y), "^flash: 900.5 is not a number of bytes$"),
        (lambda: quick(flash=900).fit(X, Y), "^n_features: a search chooses it"),
        (lambda: koan.KoanClassifier(flash=900, depth=2).fit(X, Y), "^depth: a search chooses it"),
        (lambda: koan.KoanSearch(loss="huber").fit(X, Y), '^loss: no "huber"; there are squared'),
        (lambda: quick(missing="drop").fit(X, Y), '^missing: no "drop"; there are refuse, impute'),
        (lambda: quick(n_jobs=0).fit(X, Y), "^n_jobs: 0 threads"),
        (lambda: quick(n_jobs="a").fit(X, Y), "^n_jobs: 'a' is no number of threads"),
        (lambda: quick(shape=(2, 2), family="conv").fit(X, Y), "^(shape|X): "),
        (lambda: quick(random_state=-1).fit(X, Y), "^random_state: -1 is not a whole number"),
        (lambda: quick(unknown="guess").fit(X, Y).predict(X), "^unknown: no 'guess'"),
        (
            lambda: quick(family=["stump"] * 256, n_features=1).fit(X, Y),
            "^family: 256 families are too many: at most 255$",
        ),
        (
            lambda: koan.KoanRegressor(n_features=8).fit(X, 1e-42 * X[:, 0]),
            "^y: the values are too close to each other: multiply them",
        ),
        (lambda: quick().fit(X, ["a", ""] * 30), r"^y: row 2: the class is missing \(an empty text\)$"),
        (lambda: quick().fit(X, ["a", " "] * 30), r"^y: row 2: the class is missing \(an empty text\)$"),
        (
            lambda: quick().fit(X, ["hot", "hot ", "b"] * 20),
            r"^y: without the blanks around them classes are the same, .*: strip them",
        ),
        (lambda: quick().fit(X, [" b", "a"] * 30), "^y: .* in another order: strip them"),
        (lambda: quick().fit(X, Y, groups=[1, None] * 30), "^groups: row 2: the group is missing$"),
        (
            lambda: quick().fit(X, Y, groups=pd.array([1, None] * 30)),
            "^groups: row 2: the group is missing$",
        ),
        (lambda: quick().fit(X, Y, groups=[np.nan] * 60), "^groups: row 1: the group is missing$"),
        (
            lambda: quick().fit(X, Y, groups=np.array([1, "a"] * 30, dtype=object)),
            "^groups: values of several types: int, str$",
        ),
        (
            lambda: quick().fit(TABLE.assign(x=1j * X[:, 0]), "y"),
            r"^X: column 1 \(`x`\): values of type complex128 are no numbers$",
        ),
        (
            lambda: koan.KoanDetector(false_alarm=0.3).fit(X).model_.predict_proba(X),
            "^model: a detector of anomalies has no probabilities$",
        ),
        (lambda: quick().fit(X, Y).score(X, "y"), "^y: 'y' names a column, which X does not have"),
        (lambda: koan.KoanDetector().fit(X), "^false_alarm: .* are too few for a false-alarm rate"),
        (lambda: koan.KoanSearch(minutes=0).fit(X, Y), "^minutes: "),
        (
            lambda: koan.KoanSearch(class_weight={0: 1, 1: 2}, metric="balanced-error").fit(X, Y),
            "^class_weight: a weight for each class does not go with metric='balanced-error'",
        ),
        (lambda: koan.KoanSearch(core="z80").fit(X, Y), "^core: no core z80; there are cortex-m0"),
        (lambda: koan.KoanSearch(metric="rmse").fit(X, Y), "^metric: the metric rmse does not suit"),
        (lambda: koan.KoanSearch(task="rank").fit(X, Y), "^task: no 'rank'"),
    ],
)
def test_wrong_values_are_told(work, message):
    with pytest.raises(ValueError, match=message):
        work()


def test_unknown_texts_can_be_none_of_the_values():
    table = with_value(2, "job", "c")
    loose = quick(unknown="zeros").fit(TABLE, "y")
    assert loose.predict(table).shape == (60,)
    assert (loose.model_.predict(table, unknown="zeros").astype(int) == loose.predict(table)).all()


def test_one_row_and_no_rows():
    with pytest.raises(ValueError, match="1 sample"):
        quick().fit(X[:1], Y[:1])
    assert quick().fit(X, Y).predict(X[:1]).shape == (1,)
    assert quick().fit(X, Y).model_.scores(X[:0]).shape[0] == 0


@pytest.mark.skipif(os.name != "posix", reason="signals")
def test_ctrl_c_ends_within_a_second():
    code = (
        "import numpy as np, koan\n"
        "X = np.random.default_rng(0).normal(size=(20000, 40)); y = X[:, 0] * X[:, 1] > 0\n"
        "print('ready', flush=True)\n"
        "try: koan.KoanClassifier(n_features=3000).fit(X, y)\n"
        "except KeyboardInterrupt: print('stopped', flush=True)\n"
        "import os; os._exit(0)\n"
    )
    run = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    assert run.stdout.readline() == "ready\n"
    time.sleep(1.5)
    start = time.monotonic()
    run.send_signal(signal.SIGINT)
    assert run.stdout.readline() == "stopped\n"
    assert time.monotonic() - start < 1
    run.wait(20)


def test_progress_is_shown_where_it_is_asked_for(capsys):
    random = np.random.default_rng(0)
    rows = random.normal(size=(3000, 20))
    quick(n_features=900, verbose=True).fit(rows, rows[:, 0] * rows[:, 1] > 0)
    shown = capsys.readouterr().err
    assert "koan: " in shown and shown.endswith("\r")
    quick(verbose=False).fit(X, Y)
    quick().fit(X, Y)
    assert capsys.readouterr().err == ""


def test_what_is_odd_about_rows_is_a_warning():
    times = pd.DataFrame({"time": 1e9 + 0.5 * np.arange(60), "x": X[:, 0]})
    with pytest.warns(UserWarning) as told:
        fitted = quick().fit(times, Y)
    said = [str(warning.message) for warning in told]
    assert any(text.startswith("X: column 1 (`time`) never falls") for text in said)
    assert said == fitted.report_["warnings"]
    assert {warning.filename for warning in told} == {__file__}
    digits = pd.DataFrame({"x": 1e9 + X[:, 0], "z": X[:, 1]})
    with pytest.warns(UserWarning, match=r"X: row \d+: column 1 \(`x`\): .* is read as"):
        quick().fit(digits, Y)


def test_what_is_odd_about_a_target_names_it():
    high = 1e7 + np.round(X[:, 0] * 8) / 4
    said = "the 24 bits that numbers have"
    for y in (high, pd.Series(high, name="freq")):
        with pytest.warns(UserWarning, match=rf"^y: row \d+: [\d.]+ is read as \d+, with {said}"):
            koan.KoanRegressor(n_features=8).fit(X, y)
    table = TABLE.assign(y=high)
    with pytest.warns(UserWarning, match=rf"^y: row \d+: column 3 \(`y`\): .*{said}"):
        koan.KoanSearch(minutes=1e-4, family="stump", task="regression").fit(table, "y")
    unknown = np.where(np.arange(60) % 20 == 0, -1e6, X[:, 0])
    with pytest.warns(UserWarning, match="^y: 3 of 60 targets are -1000000, far from the others"):
        koan.KoanRegressor(n_features=8).fit(TABLE[["x", "job"]], unknown)


def test_numbers_far_beyond_those_of_training_are_a_warning():
    t = np.random.default_rng(0).permutation(240).astype(float)
    rows = pd.DataFrame({"t": t, "u": t % 7})
    found = koan.KoanRegressor(family="stump", n_features=32, n_jobs=1).fit(rows, t / 2)
    far = pd.DataFrame({"t": [100.0, 9000.0, -9000.0], "u": [1.0, 2.0, 3.0]})
    said = r"X: column 1 \(`t`\): 2 of 3 rows have a number below -?\d.* the model takes for that end"
    for predict in (found.predict, found.model_.predict, koan.load(found.to_bytes()).values):
        with pytest.warns(UserWarning, match=said) as told:
            predict(far)
        assert len(told) == 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found.predict(rows)
        # What is far out is what a detector looks for.
        koan.KoanDetector(n_features=32, false_alarm=0.02, n_jobs=1).fit(rows).predict(far)
    # A line goes on beyond the training rows.
    line = koan.KoanRegressor(family="linear", bits=16, n_jobs=1).fit(rows, t / 2)
    assert np.allclose(line.predict(pd.DataFrame({"t": [299.0], "u": [3.0]})), 149.5, atol=0.1)


def test_numbers_as_texts_are_a_warning():
    texts = TABLE.assign(x=[f"0.{row % 25}" for row in range(60)])
    told = (
        r"^X: column 1 \(`x`\) has 25 different numbers, such as \"0.0\", as texts, and each of "
        "them is an input: make them numbers, as pandas.to_numeric does, if they are no categories$"
    )
    for table in (texts, texts.astype({"x": object}), pl.from_pandas(texts)):
        with pytest.warns(UserWarning, match=told):
            assert quick().fit(table, "y").model_.n_inputs == 27


def test_a_searched_model_of_noise_is_a_warning():
    noise = np.random.default_rng(1).integers(0, 2, size=60)
    searched = koan.KoanClassifier(flash=100, family="linear")
    with pytest.warns(UserWarning, match="no better than always .*, on held-out rows"):
        searched.fit(X, noise)


def test_a_folder_that_is_not_there_is_named_as_it_was_given(tmp_path):
    fitted = quick().fit(X, Y)
    path = tmp_path / "none" / "m.koan"
    with pytest.raises(FileNotFoundError) as found:
        fitted.save(path)
    assert found.value.filename == str(path)


@pytest.mark.skipif(os.name != "posix", reason="pipes, links and modes")
def test_what_is_not_a_file_of_ours_is_kept(tmp_path):
    model = quick().fit(X, Y).model_
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "folder").mkdir()
    (tmp_path / "locked").write_bytes(b"old")
    (tmp_path / "locked").chmod(0o444)
    before = {path.name: path.lstat().st_ino for path in tmp_path.iterdir()}
    for save in (model.save, koan.Report("<html>").save):
        for name, problem in [
            ("pipe", "a device or a pipe is not replaced"),
            ("folder", "a folder is there"),
            ("locked", "the file is read-only"),
        ]:
            with pytest.raises(OSError, match=problem) as found:
                save(tmp_path / name)
            assert found.value.filename == str(tmp_path / name)
    assert (tmp_path / "locked").read_bytes() == b"old"
    assert {path.name: path.lstat().st_ino for path in tmp_path.iterdir()} == before


@pytest.mark.skipif(os.name != "posix", reason="links and modes")
def test_links_stay_and_modes_are_kept(tmp_path):
    fitted = quick().fit(X, Y)
    (tmp_path / "secret").write_bytes(b"old")
    (tmp_path / "secret").chmod(0o600)
    (tmp_path / "link").symlink_to("secret")
    fitted.save(tmp_path / "link")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "secret").read_bytes() == fitted.to_bytes()
    assert (tmp_path / "secret").stat().st_mode & 0o777 == 0o600
    before = os.umask(0o027)
    fitted.save(tmp_path / "new")
    os.umask(before)
    assert (tmp_path / "new").stat().st_mode & 0o777 == 0o640


def test_masked_values_of_y_weights_and_groups_are_errors():
    mask = np.arange(60) == 7
    fitted = quick().fit(X, Y)
    y, ones = np.ma.array(Y, mask=mask), np.ma.array(np.ones(60), mask=mask)
    for name, work in [
        ("y", lambda: quick().fit(X, y)),
        ("y", lambda: koan.KoanRegressor(n_features=8).fit(X, ones)),
        ("y", lambda: fitted.report(X, y)),
        ("y_train", lambda: fitted.report(X, Y, X_train=X, y_train=y)),
        ("sample_weight", lambda: quick().fit(X, Y, sample_weight=ones)),
        ("groups", lambda: quick().fit(X, Y, groups=ones)),
    ]:
        with pytest.raises(ValueError, match=f"^{name}: row 8: the value is masked"):
            work()


@pytest.mark.parametrize(
    ("given", "family"),
    [
        ({"kernel": 3}, "conv"),
        ({"depth": 1}, "fern"),
        ({"pool": 8}, "maxout"),
        ({"dilated": True}, "conv"),
        ({"slot_bits": 4}, "bin"),
        ({"pooling_grid": 3}, "conv"),
        ({"filter_stride": 2}, "conv"),
        ({"shared_pool": 9}, "maxout"),
    ],
)
def test_parameters_that_would_do_nothing_are_errors(given, family):
    rows = np.random.default_rng(0).normal(size=(60, 4))
    (name,) = given
    with pytest.raises(ValueError, match=f"^{name}: goes with family=.{family}"):
        koan.KoanClassifier(n_features=32, **given).fit(rows, rows[:, 0] > 0)
    if name in ("depth", "pool", "slot_bits", "shared_pool"):
        # Nor does a search look at them.
        with pytest.raises(ValueError, match=f"^{name}: goes with family=.{family}"):
            koan.KoanClassifier(**given).fit(rows, rows[:, 0] > 0)
    with pytest.raises(ValueError, match="^n_features: 2 values"):
        koan.KoanClassifier(n_features=[32, 8]).fit(rows, rows[:, 0] > 0)


def test_a_fit_that_fails_leaves_the_model_as_it_was(monkeypatch):
    numbers = pd.DataFrame(X, columns=["a", "b", "c"])
    fitted = quick().fit(numbers, np.where(Y, "a", "b"))
    searched = koan.KoanSearch(flash=400, minutes=0.01).fit(numbers, np.where(Y, "a", "b"))
    expected = fitted.predict(numbers)
    other = pd.DataFrame({"d": X[:, 0], "e": X[:, 1]})

    def interrupted(*_):
        raise KeyboardInterrupt

    for estimator in (fitted, searched):
        before = estimator.predict(numbers)
        with monkeypatch.context() as patched:
            patched.setattr(koan._koan, "train", interrupted)
            patched.setattr(koan._koan, "tune", interrupted)
            with pytest.raises(KeyboardInterrupt):
                estimator.fit(other, np.where(Y, "up", "down"))
        assert list(estimator.classes_) == ["a", "b"] and estimator.n_features_in_ == 3
        assert list(estimator.feature_names_in_) == ["a", "b", "c"]
        assert (estimator.predict(numbers) == before).all()
    with pytest.raises(ValueError, match="^n_features"):
        fitted.set_params(n_features=0.5).fit(other, np.where(Y, "up", "down"))
    assert (fitted.predict(numbers) == expected).all()

    for estimator in (
        quick(n_features=0.5),
        koan.KoanRegressor(n_features=0.5),
        koan.KoanDetector(n_features=0.5),
        koan.KoanTransformer(n_features=0.5),
    ):
        with pytest.raises(ValueError, match="^n_features"):
            estimator.fit(X, Y)
        work = getattr(estimator, "predict", None) or estimator.transform
        with pytest.raises(NotFittedError):
            work(X)


def test_a_search_for_numbers_has_no_classes():
    search = koan.KoanSearch(flash=400, minutes=0.01).fit(X, Y)
    assert search.task_ == "classification" and len(search.classes_) == 2
    search.fit(X, X[:, 0])
    assert search.task_ == "regression" and not hasattr(search, "classes_")
    assert "<html" in search.report(X, X[:, 0]).html


def test_a_column_has_one_meaning():
    for given in ({"sample_weight": "y"}, {"groups": "y"}):
        name = next(iter(given))
        with pytest.raises(ValueError, match=f"^{name}: the column `y` is given as y, too$"):
            quick().fit(TABLE, "y", **given)


def test_columns_of_the_same_name_are_told():
    twice = pd.concat([TABLE, TABLE[["y"]]], axis=1)
    with pytest.raises(ValueError, match="^y: columns 3 and 4 are both called `y`$"):
        quick().fit(twice, "y")
    fitted = quick().fit(TABLE, "y")
    with pytest.raises(ValueError, match="^X: columns 1 and 4 are both called `x`$"):
        fitted.predict(pd.concat([TABLE, TABLE[["x"]]], axis=1))


def test_columns_whose_names_are_no_texts():
    table = pd.DataFrame(X)
    inputs = table.copy()
    table["y"] = Y
    fitted = quick().fit(table, "y")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        expected = fitted.predict(table)
        assert (fitted.predict(inputs) == expected).all()
    assert fitted.score(table, "y") == (expected == Y).mean() > 0.9
    assert (quick().fit(table[["y", 2, 1, 0]], "y").predict(table) == expected).mean() > 0.9
    assert (quick().fit(table.rename(columns={"y": 3}), "3").predict(inputs) == expected).all()
