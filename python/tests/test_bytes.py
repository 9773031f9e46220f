"""The same table and options give the bytes of the command `koan train`."""

import subprocess

import numpy as np
import pandas as pd
import pytest
from numpy.lib.stride_tricks import sliding_window_view
from sklearn.base import clone
from sklearn.datasets import load_digits

import koan

ROWS = 240


def columns():
    random = np.random.default_rng(7)
    x = random.normal(size=(ROWS, 3)).round(3)
    job = random.choice(["clerk", "pilot", "baker"], ROWS)
    return random, x, job, x[:, 0] + (job == "pilot") - x[:, 1] ** 2 > 0


def classes():
    _, x, _, label = columns()
    table = pd.DataFrame(x, columns=["a", "b", "c"])
    table["label"] = np.where(label, "warm", np.where(x[:, 2] > 1, "hot", "cold"))
    return table, koan.KoanClassifier, "label", {}, []


def numbers():
    _, x, _, _ = columns()
    table = pd.DataFrame(x, columns=["a", "b", "c"])
    table.insert(1, "y", (np.sin(2 * x[:, 0]) + x[:, 1]).round(4))
    return table, koan.KoanRegressor, "y", {}, ["--target", "y"]


def texts():
    _, x, job, label = columns()
    table = pd.DataFrame({"a": x[:, 0], "job": job, "n": np.arange(ROWS) % 7, "ok": label * 1})
    table["b"] = x[:, 1]
    return table, koan.KoanClassifier, "ok", {}, ["--target", "ok"]


def missing():
    random, x, job, label = columns()
    table = pd.DataFrame({"a": x[:, 0], "job": job, "b": x[:, 1], "label": label.astype(int)})
    table.loc[random.random(ROWS) < 0.1, "a"] = np.nan
    table.loc[random.random(ROWS) < 0.1, "job"] = None
    return table, koan.KoanClassifier, "label", {"missing": "impute"}, ["--missing", "impute"]


def weights():
    random, x, _, label = columns()
    table = pd.DataFrame({"a": x[:, 0], "w": random.integers(0, 4, ROWS), "b": x[:, 1]})
    table["label"] = np.where(label, "on", "off")
    return table, koan.KoanClassifier, "label", {}, ["--weights", "w"]


def categories():
    random = np.random.default_rng(9)
    a, b = random.integers(0, 6, ROWS), random.integers(1, 5, ROWS)
    table = pd.DataFrame({"a": a, "b": b, "c": random.normal(size=ROWS).round(3)})
    table["label"] = np.where((a * 5 + b * 7) % 4 > 1, "on", "off")
    return table, koan.KoanClassifier, "label", {}, []


def groups():
    _, x, _, label = columns()
    table = pd.DataFrame({"who": [f"p{i % 9}" for i in range(ROWS)], "a": x[:, 0], "b": x[:, 1]})
    table["label"] = np.where(label, "on", "off")
    return table, koan.KoanClassifier, "label", {}, ["--group", "who"]


TABLES = [categories, classes, numbers, texts, missing, weights, groups]


def of_the_command(command, folder, table, options):
    """The model of a table by the command; all rows are to train on, and to test on."""
    for name in ("t.csv", "test.csv"):
        table.to_csv(folder / name, index=False)
    line = [command, "train", "t.csv", "--test", "test.csv", "-o", "m.koan", *options]
    done = subprocess.run(line, cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return (folder / "m.koan").read_bytes()


def check_parameters(found, kind, table, y, **named):
    """What a search found makes its model again."""
    again = kind(**found.params_)
    assert again.unknown == found.unknown
    assert again.fit(table, y, **named).to_bytes() == found.to_bytes()
    same = clone(found).set_params(flash=None, with_code=None, **found.params_).get_params()
    assert same == again.get_params()


def of_python(table, kind, y, **given):
    named = {"sample_weight": "w", "groups": "who"}
    named = {name: column for name, column in named.items() if column in table}
    return kind(**given).fit(table, y, **named).to_bytes()


@pytest.mark.parametrize("make", TABLES, ids=lambda make: make.__name__)
def test_the_bytes_of_a_model_that_is_given(make, command, tmp_path):
    table, kind, y, given, options = make()
    model = ["--family", "stump", "--features", "64", "--bits", "4", "--seed", "5"]
    expected = of_the_command(command, tmp_path, table, options + model)
    found = of_python(
        table, kind, y, family="stump", n_features=64, bits=4, random_state=5, **given
    )
    assert found == expected


ALONE = [
    classes,
    pytest.param(categories, marks=pytest.mark.thorough),
    pytest.param(groups, marks=pytest.mark.thorough),
    pytest.param(missing, marks=pytest.mark.thorough),
    pytest.param(weights, marks=pytest.mark.thorough),
]


@pytest.mark.parametrize("make", ALONE, ids=lambda make: make.__name__)
def test_the_bytes_of_a_search_of_one_family(make, command, tmp_path):
    table, kind, y, given, options = make()
    model = ["--family", "stump", "--flash", "150"]
    expected = of_the_command(command, tmp_path, table, options + model)
    assert of_python(table, kind, y, family="stump", flash=150, **given) == expected


@pytest.mark.thorough
@pytest.mark.parametrize("make", [classes, numbers, texts], ids=lambda make: make.__name__)
def test_the_bytes_of_a_search_of_all(make, command, tmp_path):
    table, kind, y, given, options = make()
    found = kind(**given).fit(table, y)
    assert found.to_bytes() == of_the_command(command, tmp_path, table, options)
    check_parameters(found, kind, table, y)


OTHERS = [
    (["--loss", "logistic", "-k", "48"], {"loss": "logistic", "n_features": 48}),
    (["--box", "30", "-k", "48"], {"box": 30, "n_features": 48}),
    (
        ["--family", "bin,linear", "-k", "9", "--slot-bits", "3", "--class-weights", "balanced"],
        {"family": ["bin", "linear"], "n_features": 9, "slot_bits": 3, "class_weight": "balanced"},
    ),
    (
        ["--family", "fern", "--depth", "2", "-k", "20", "--candidates", "200"],
        {"family": "fern", "depth": 2, "n_features": 20, "candidates": 200},
    ),
    (
        ["--family", "series", "--shape", "3x1", "-k", "24", "--kernel", "2"],
        {"family": "series", "shape": "3x1", "n_features": 24, "kernel": 2},
    ),
    (
        ["--frequency", "0.7", "--lambda", "0.01", "--map", "shared", "--relevance", "no"],
        {"frequency": 0.7, "penalty": 0.01, "input_map": "shared", "relevance": False},
    ),
    (
        ["--family", "maxout", "--pool", "3", "--candidates", "60", "-k", "20", "--golden-rows", "2"],
        {"family": "maxout", "pool": 3, "candidates": 60, "n_features": 20, "golden_rows": 2},
    ),
    (
        ["--projection", "gaussian", "--linear", "--no-column-names", "-k", "30"],
        {"projection": "gaussian", "linear": True, "column_names": False, "n_features": 30},
    ),
]


@pytest.mark.parametrize("options, given", OTHERS)
def test_every_parameter_is_the_option(options, given, command, tmp_path):
    table, kind, y, _, more = classes()
    expected = of_the_command(command, tmp_path, table, more + options)
    assert of_python(table, kind, y, **given) == expected


def test_categorical_features_are_number_columns_taken_as_text(command, tmp_path):
    table, kind, y, _, _ = categories()
    expected = of_the_command(command, tmp_path, table, ["--text", "a,b", "-k", "20"])
    for columns in (["a", "b"], [0, 1]):
        fitted = kind(n_features=20, categorical_features=columns).fit(table, y)
        assert fitted.to_bytes() == expected
    unseen = table.head(2).assign(a=[77, 3])
    assert len(fitted.predict(unseen)) == 2
    with pytest.raises(ValueError, match="categorical_features: X has no column `z`"):
        kind(n_features=20, categorical_features=["z"]).fit(table, y)


def test_a_matrix_is_a_file_without_a_header(command, tmp_path):
    _, x, _, label = columns()
    table = pd.DataFrame(x)
    table["y"] = label * 1
    for name in ("t.csv", "test.csv"):
        table.to_csv(tmp_path / name, index=False, header=False)
    line = [command, "train", "t.csv", "--test", "test.csv", "-o", "m.koan", "-k", "40"]
    subprocess.run([*line, "--header", "no"], cwd=tmp_path, check=True, capture_output=True)
    expected = (tmp_path / "m.koan").read_bytes()
    for rows in (x, x.tolist(), np.asfortranarray(x)):
        fitted = koan.KoanClassifier(n_features=40).fit(rows, label * 1)
        assert fitted.to_bytes() == expected


def test_predictions_are_those_of_the_command(command, tmp_path):
    table, kind, y, given, options = missing()
    expected = of_the_command(command, tmp_path, table, [*options, "-k", "40"])
    line = [command, "predict", "m.koan", "t.csv", "--scores"]
    done = subprocess.run(line, cwd=tmp_path, capture_output=True, text=True, check=True)
    (tmp_path / "p.csv").write_text(done.stdout)
    told = pd.read_csv(tmp_path / "p.csv")
    fitted = kind(n_features=40, **given).fit(table, y)
    assert fitted.to_bytes() == expected
    assert (fitted.predict(table) == told["class"]).all()
    assert (koan.load(expected).scores(table)[:, 0] == told["score 0"]).all()


@pytest.mark.parametrize("family", ["series", "conv"])
def test_windows_are_those_of_the_command(family, command, tmp_path):
    random = np.random.default_rng(2)
    rows, y, groups = [], [], []
    for recording in range(12):
        name, speed = [("slow", 0.2), ("fast", 0.7)][recording % 2]
        turn = speed * np.arange(60) + recording
        samples = np.stack([np.sin(turn), np.cos(turn)], axis=1) + random.normal(0, 0.3, (60, 2))
        samples = samples.round(3)
        (tmp_path / name).mkdir(exist_ok=True)
        file = tmp_path / name / f"{recording:02}.csv"
        pd.DataFrame(samples, columns=["a", "b"]).to_csv(file, index=False)
        windows = sliding_window_view(samples, 16, axis=0)[::8]
        rows.append(windows.transpose(0, 2, 1).reshape(len(windows), -1))
        y += [name] * len(windows)
        groups += [recording] * len(windows)
    rows, y = np.concatenate(rows), np.array(y)
    line = (
        "train fast slow --test slow --label-from folder --group file --window 16 --stride 8 "
        f"--family {family} --features 24 -o m.koan"
    )
    done = subprocess.run([command, *line.split()], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    of_command = koan.load(tmp_path / "m.koan")
    # The files come in the order of their folders.
    order = np.lexsort((groups, y))
    rows, y, groups = rows[order], y[order], np.array(groups)[order]
    fitted = koan.KoanClassifier(family=family, n_features=24, shape="16x2")
    fitted.fit(rows, y, groups=groups)
    assert (fitted.model_.scores(rows) == of_command.scores(rows)).all()
    assert of_command.columns == ["a", "b"] and '"window":[16,8]' in of_command.notes
    line = [command, "predict", "m.koan", "fast/01.csv"]
    told = subprocess.run(line, cwd=tmp_path, capture_output=True, text=True, check=True)
    answers = [line.split(",") for line in told.stdout.split()[1:]]
    assert [row for row, _ in answers] == [str(1 + 8 * i) for i in range(len(answers))]
    assert [answer for _, answer in answers] == list(of_command.predict(rows[groups == 1]))
    # Channel after channel is another model.
    turned = rows.reshape(-1, 16, 2).transpose(0, 2, 1).reshape(len(rows), -1)
    fitted.fit(turned, y, groups=groups)
    assert (fitted.model_.scores(turned) != of_command.scores(rows)).any()


def test_detectors_are_those_of_the_command(command, tmp_path):
    _, x, _, _ = columns()
    table = pd.DataFrame(x, columns=["a", "b", "c"])
    table["y"] = "ok"
    options = ["--task", "anomaly", "--normal", "ok", "--false-alarm", "0.1", "-k", "64"]
    expected = koan.load(of_the_command(command, tmp_path, table, options))
    found = koan.KoanDetector(false_alarm=0.1, n_features=64).fit(table[["a", "b", "c"]])
    assert (found.model_.scores(table) == expected.scores(table)).all()


def test_a_search_is_that_of_the_command(command, tmp_path):
    table, _, y, _, options = classes()
    for name in ("t.csv", "test.csv"):
        table.to_csv(tmp_path / name, index=False)
    limits = ["--flash", "300", "--minutes", "0.02", "--family", "stump,linear", "--no-clock"]
    line = [command, "tune", "t.csv", "--test", "test.csv", *options, *limits]
    subprocess.run(line, cwd=tmp_path, check=True, capture_output=True)
    expected = sorted(path.read_bytes() for path in (tmp_path / "tuned").iterdir())
    search = koan.KoanSearch(flash=300, minutes=0.02, family=["stump", "linear"], clock=False)
    search.fit(table, y)
    assert sorted(found.model.to_bytes() for found in search.front_) == expected
    best = search.front_[-1]
    again = koan.KoanClassifier(**best.params).fit(table, y)
    assert again.to_bytes() == best.model.to_bytes()


def images():
    rows, labels = load_digits(return_X_y=True)
    filters = {"family": "conv", "pooling": "proportion", "pooling_grid": 2, "shape": "8x8x1"}
    given = {**filters, "golden_rows": 2, "flash": 1200}
    return rows[:300], koan.KoanClassifier, labels[:300], given, []


def series():
    random = np.random.default_rng(6)
    fast = random.random(200) < 0.5
    turn = np.where(fast, 0.9, 0.3)[:, None] * np.arange(16) + random.uniform(0, 6, (200, 1))
    rows = np.stack([np.sin(turn), 20 * np.cos(turn)], axis=2) + random.normal(0, 1, (200, 16, 2))
    given = {"family": "series", "shape": "16x2"}
    return rows.reshape(200, 32), koan.KoanClassifier, fast, given, []


SEARCHED = {
    "plain": (classes, {"random_state": 3, "family": "stump", "flash": 150, "golden_rows": 1}),
    "balanced": (classes, {"family": "stump", "flash": 150, "class_weight": "balanced"}),
    "weights of classes": (classes, {"family": "linear", "class_weight": {"hot": 4, "warm": 1}}),
    "missing": (missing, {"family": "linear", "unknown": "zeros", "column_names": False}),
    "weights": (weights, {"family": "linear"}),
    "a seed that is drawn": (numbers, {"family": "linear", "random_state": None}),
}
SLOW = {
    "images": (images, {}),
    "series": (series, {"random_state": 7}),
    "sums": (numbers, {"family": ["maxout", "bin"], "linear": True}),
    "a pool": (classes, {"family": "stump", "candidates": 300}),
    "categories": (categories, {"family": "stump"}),
    "ferns": (classes, {"family": "fern"}),
    "all, of images": (images, {"family": None}),
    "all, of a shape that is guessed": (images, {"family": None, "shape": None}),
    "all, of series": (series, {"family": None}),
    "filters that are not taken": (images, {"family": ["linear", "conv"], "kernel": 8}),
}


@pytest.mark.parametrize(
    "make, given",
    [*SEARCHED.values(), *(pytest.param(*case, marks=pytest.mark.thorough) for case in SLOW.values())],
    ids=[*SEARCHED, *SLOW],
)
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_the_parameters_of_a_search_make_the_model_again(make, given):
    table, kind, y, usual, _ = make()
    named = {"sample_weight": "w"} if isinstance(y, str) and "w" in table else {}
    found = kind(**{"flash": 400, **usual, **given}).fit(table, y, **named)
    check_parameters(found, kind, table, y, **named)


FRONTS = [
    (classes, {"family": "stump"}),
    (classes, {"family": "stump", "metric": "balanced-error"}),
    (images, {"family": "conv", "shape": (8, 8, 1), "flash": 1200}),
    (series, {"family": "series", "shape": "16x2", "golden_rows": 1}),
]


@pytest.mark.parametrize("make, given", FRONTS)
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_the_parameters_of_a_front_make_its_models_again(make, given):
    table, kind, y, _, _ = make()
    given = {"flash": 300, "minutes": 0.002, "clock": False, "random_state": 4, **given}
    search = koan.KoanSearch(**given).fit(table, y)
    for found in search.front_:
        assert kind(**found.params).fit(table, y).to_bytes() == found.model.to_bytes()
    y_train = None if isinstance(y, str) else y
    assert "Learning curve" in search.report(table, y, X_train=table, y_train=y_train).html


def mixed(random, times):
    """Columns that files and tables in memory write in different ways."""
    when = pd.to_datetime("2026-01-01") + pd.to_timedelta(random.integers(0, 10**7, ROWS), unit="s")
    on = random.random(ROWS) < 0.5
    job = random.choice(["red  ", "green"], ROWS)
    late = times & (when > pd.Timestamp("2026-02-20"))
    table = pd.DataFrame(
        {
            "when": when,
            "took": (when - when.min()) * 1.5,
            "on": on,
            "job": job,
            "y": np.where((on ^ (job == "green")) | late, "p", "q"),
        }
    )
    # Times of CSV files are texts, which are no numbers.
    return table if times else table.drop(columns=["when", "took"])


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_a_model_of_the_command_runs_on_tables_and_the_other_way_round(command, tmp_path, kind):
    table = mixed(np.random.default_rng(11), times=kind == "parquet")
    path = tmp_path / f"rows.{kind}"
    getattr(table, f"to_{kind}")(path, index=False)
    rows = table.drop(columns="y")
    train = [command, "train", path, "--test", path, "--target", "y", "--features", "48", "-o"]
    subprocess.run([*train, tmp_path / "command.koan"], check=True, capture_output=True)
    model = koan.load(tmp_path / "command.koan")
    fitted = koan.KoanClassifier(n_features=48).fit(table, "y")
    if kind == "parquet":
        assert model.to_bytes() == fitted.to_bytes()
    for known in (model, fitted.model_):
        assert (known.predict(rows) == table["y"]).mean() > 0.85
    fitted.save(tmp_path / "python.koan")
    for name in ("command", "python") if kind == "parquet" else ("command",):
        predicted = subprocess.run(
            [command, "predict", tmp_path / f"{name}.koan", path],
            check=True,
            capture_output=True,
            text=True,
        ).stdout.split()
        assert predicted[-ROWS:] == model.predict(rows).tolist()
