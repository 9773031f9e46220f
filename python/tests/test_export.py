"""Models as source of programs: the files of the command `koan export`."""

import copy
import pickle
import shutil
import subprocess
import sys
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest

import koan

ROWS = 240
CC = shutil.which("cc")
# Too long for a model's bytes.
LONG = ["the temperature of the water behind the pump", "how much the pump trembles, in g"] * 4


def table():
    random = np.random.default_rng(7)
    x = random.normal(size=(ROWS, 2)).round(3)
    job = random.choice(["clerk", "pilot", "baker"], ROWS)
    found = pd.DataFrame({"a": x[:, 0], "job": job, "b": x[:, 1]})
    found["label"] = np.where(x[:, 0] + (job == "pilot") > 0, "warm", "cold")
    return found


def long_names():
    """Columns and values of which the model has codes only, and classes of rows."""
    random = np.random.default_rng(8)
    rows = {f"{name} {i}": random.normal(size=ROWS) for i, name in enumerate(LONG)}
    rows["firmware"] = [f"version number {i * 7 % 40}.rc" for i in range(ROWS)]
    rows["level"] = random.integers(0, 5, ROWS)
    return pd.DataFrame(rows), np.where(rows[f"{LONG[0]} 0"] > 0, "on", "off")


@pytest.fixture(scope="module")
def clf():
    return koan.KoanClassifier(n_features=32, family="stump").fit(table(), "label")


@pytest.fixture(scope="module")
def coded():
    rows, y = long_names()
    return koan.KoanClassifier(n_features=16, categorical_features=["level"]).fit(rows, y)


def contents(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def lines(header):
    """Without the one that says whether every column, the target too, has a name."""
    text = header.read_text().splitlines()
    return [line for line in text if not line.startswith("/* A row: ")]


def said(work):
    """What is warned of."""
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        work()
    assert all(warning.category is UserWarning for warning in told)
    assert all(warning.filename == __file__ for warning in told)
    return [str(warning.message) for warning in told]


@pytest.mark.parametrize("language", ["c", "arduino", "rust"])
@pytest.mark.filterwarnings("ignore:usual values")
def test_the_files_are_those_of_the_command(language, clf, command, tmp_path):
    clf.save(tmp_path / "my pump.koan")
    line = [command, "export", "my pump.koan", f"--{language}", "command"]
    told = subprocess.run(line, cwd=tmp_path, capture_output=True, text=True, check=True)
    # A sketch has the name of its folder.
    (tmp_path / "python").mkdir()
    files = clf.export(tmp_path / "python/command", language, name="my pump")
    assert [str(path.relative_to(tmp_path / "python")) for path in files] == told.stdout.split("\n")[:-1]
    expected = contents(tmp_path / "command")
    assert contents(tmp_path / "python/command") == expected
    # A file gives its name; again, over what is there.
    again = koan.load(tmp_path / "my pump.koan").export(str(tmp_path / "python/command"), language)
    assert again == files and contents(tmp_path / "python/command") == expected
    warned = said(lambda: clf.export(tmp_path / "python/command", language, name="my pump"))
    expected = [line.removeprefix("warning: ") for line in told.stderr.splitlines()]
    assert " ".join(warned) == " ".join(expected)


def compiled(folder, name, rows):
    """What the exported program says of rows of numbers."""
    sources = [folder / file for file in ("main.c", f"{name}.c", "koan.c")]
    strict = ["-std=c99", "-Wall", "-Wextra", "-pedantic", "-Werror", "-O1"]
    subprocess.run([CC, *strict, *sources, "-lm", "-o", folder / "program"], check=True)
    numbers = "".join(",".join(repr(float(x)) for x in row) + "\n" for row in rows)
    done = subprocess.run(
        [folder / "program"], input=numbers, capture_output=True, text=True, check=True
    )
    return done.stdout.splitlines()


@pytest.mark.skipif(CC is None, reason="no compiler of C")
@pytest.mark.filterwarnings("ignore:usual values")
def test_the_program_predicts_what_the_model_predicts(clf, tmp_path):
    clf.export(tmp_path / "c")
    rows = table()
    jobs = [(rows["job"] == job).astype(float) for job in ("baker", "clerk", "pilot")]
    numbers = np.column_stack([rows["a"], *jobs, rows["b"]]).astype(np.float32)
    assert compiled(tmp_path / "c", "model", numbers) == clf.predict(rows).tolist()
    reg = koan.KoanRegressor(n_features=32).fit(numbers, numbers[:, 0] ** 2)
    with pytest.warns(UserWarning, match="no names of columns, .*: `names` takes those"):
        reg.export(tmp_path / "values", name="curve")
    values = [np.float32(value) for value in compiled(tmp_path / "values", "curve", numbers)]
    assert values == reg.predict(numbers).astype(np.float32).tolist()


@pytest.mark.filterwarnings("ignore:usual values")
def test_estimators_know_the_names_that_their_bytes_do_not_have(coded, tmp_path):
    rows, _ = long_names()
    assert "version" not in coded.model_.notes and "water" not in coded.model_.notes
    coded.export(tmp_path / "own")
    header = (tmp_path / "own/model.h").read_text()
    names = ["FIRMWARE_VERSION_NUMBER_39_RC", "LEVEL_4", "HOW_MUCH_THE_PUMP_TREMBLES_IN_G_1"]
    for name in names:
        assert f"#define MODEL_COLUMN_{name} " in header
    for known in (pickle.loads(pickle.dumps(coded)), copy.deepcopy(coded.model_)):
        known.export(tmp_path / "again")
        assert contents(tmp_path / "again") == contents(tmp_path / "own")
    loaded = koan.load(coded.to_bytes())
    what = r"columns and values of text columns are codes such as #a\+"
    with pytest.warns(UserWarning, match=f"^names of {what}, .*: `names` takes those of the training"):
        loaded.export(tmp_path / "codes")
    assert "VERSION" not in (tmp_path / "codes/model.h").read_text()
    # A table has the values, too; all columns, or those of the inputs.
    for given in (rows, rows.assign(y="on"), pl.from_pandas(rows)):
        with warnings.catch_warnings():
            warnings.filterwarnings("error", "names of")
            loaded.export(tmp_path / "named", names=given)
        assert lines(tmp_path / "named/model.h") == lines(tmp_path / "own/model.h")
    each = (name for name in rows.columns)
    for given in (list(rows.columns), rows.columns, np.array(rows.columns, dtype=str), each):
        with pytest.warns(UserWarning, match="^names of values of text columns are codes"):
            loaded.export(tmp_path / "named", names=given)
        assert names[2] in (tmp_path / "named/model.h").read_text()
    wrong = [
        (list(rows.columns[1:]), "columns: 9, where the model takes 10, .* had 11 in all"),
        (rows[rows.columns[::-1]], r"column 2 \(firmware\) has text, where the training data had"),
        (rows.set_axis(range(10), axis=1).iloc[:, :3], "columns: 3, where"),
        (5, "a list of texts, or a table, is needed"),
    ]
    for given, message in wrong:
        with pytest.raises(ValueError, match=f"^names: {message}"):
            loaded.export(tmp_path / "named", names=given)


@pytest.mark.filterwarnings("ignore:usual values")
def test_names_that_were_left_out_are_known(tmp_path):
    rows = table()
    given = {"n_features": 16, "column_names": False}
    clf = koan.KoanClassifier(**given).fit(rows, "label")
    assert clf.model_.columns == ["", "", ""]
    clf.export(tmp_path, "rust")
    text = (tmp_path / "model.rs").read_text()
    assert "pub const JOB_PILOT: usize = 3;" in text and "pub const B: usize = 4;" in text
    with pytest.warns(UserWarning, match="^the model has no names of columns"):
        koan.load(clf.to_bytes()).export(tmp_path, "rust")


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_all_kinds_of_models_are_exported(tmp_path):
    rows, y = long_names()
    given = {"family": "stump", "flash": 400, "minutes": 0.002, "clock": False}
    search = koan.KoanSearch(**given).fit(rows, y)
    for number, found in enumerate(search.front_):
        found.model.export(tmp_path / str(number))
        assert "TREMBLES" in (tmp_path / f"{number}/model.h").read_text()
    search.export(tmp_path / "best")
    assert contents(tmp_path / "best") == contents(tmp_path / str(len(search.front_) - 1))
    numbers = rows.iloc[:, :2]
    for kind in (koan.KoanDetector(n_features=16, false_alarm=0.1), koan.KoanTransformer()):
        name = type(kind).__name__
        kind.fit(numbers).export(tmp_path / name, "arduino", name="x")
        assert (tmp_path / name / f"{name}.ino").exists()
    said = "This KoanClassifier instance is not fitted yet"
    with pytest.raises(ValueError, match=said):
        koan.KoanClassifier().export(tmp_path / "none")


@pytest.mark.filterwarnings("ignore:usual values")
def test_models_of_rust_in_one_folder_stay_apart(clf, root, tmp_path):
    other = koan.Model((root / "core/tests/tiny.koan").read_bytes())
    assert [path.name for path in clf.export(tmp_path / "door.rs", "rust")] == ["door.koan", "door.rs"]
    other.export(str(tmp_path / "pump.rs"), "rust")
    for name, model in (("door", clf.model_), ("pump", other)):
        assert koan.load(tmp_path / f"{name}.koan") == model
        assert f'pub mod model = "{name}.koan"' in (tmp_path / f"{name}.rs").read_text()
    # Trained anew it takes the place of what the module included; another's stays.
    other.export(tmp_path / "door.rs", "rust")
    assert koan.load(tmp_path / "door.koan") == other
    clf.save(tmp_path / "model.koan")
    before = contents(tmp_path)
    for folder, name in ((tmp_path, None), (tmp_path / "new.rs", "model")):
        with pytest.raises(ValueError, match="^folder: .*model.koan is there and another model: rem"):
            other.export(folder, "rust", name=name)
    assert contents(tmp_path) == before
    clf.export(tmp_path, "rust")


def test_wrong_exports_say_what_is_wrong(root, tmp_path):
    model = koan.load(root / "core/tests/tiny.koan")
    (tmp_path / "file").write_text("mine")
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine/koan.c").write_text("mine")
    (tmp_path / "mine/tiny.rs").write_text("mine")
    said(lambda: model.export(tmp_path / "other", name="other"))
    cases = [
        ({"language": "cobol"}, "^language: no 'cobol'; there are 'c', 'arduino' and 'rust'$"),
        ({"name": "a/b"}, '^name: "a/b" cannot name files$'),
        ({"name": ""}, '^name: "" cannot name files$'),
        ({"name": "koan"}, "^name: a file of the runtime has it"),
        ({"names": "a"}, "^names: a list of texts, or a table, is needed$"),
        ({"names": ["a"]}, "^names: the model has no columns that could be named$"),
        ({"names": np.zeros((2, 2))}, "^names: a list of texts"),
        ({"folder": tmp_path / "a b", "language": "arduino"}, "^folder: .*a b: Arduino opens no"),
        ({"folder": tmp_path / "mine"}, "^folder: .*koan.c is there and not of `koan export`"),
        ({"folder": tmp_path / "mine", "language": "rust"}, "^folder: .*tiny.rs is there and not"),
        ({"folder": tmp_path / "other"}, "^folder: .*koan_config.h is of another model, other.koan"),
    ]
    before = contents(tmp_path / "mine"), contents(tmp_path / "other")
    for given, message in cases:
        with pytest.raises(ValueError, match=message):
            model.export(**{"folder": tmp_path / "new", **given})
    assert (contents(tmp_path / "mine"), contents(tmp_path / "other")) == before
    with pytest.raises(FileExistsError, match="'.*file'$"):
        model.export(tmp_path / "file")
    with pytest.raises(NotADirectoryError):
        model.export(tmp_path / "file/folder")
    with pytest.raises(TypeError):
        model.export(5)
    assert (tmp_path / "file").read_text() == "mine"
    assert not (tmp_path / "new").exists()


def test_an_example_that_was_changed_stays(root, tmp_path):
    model = koan.load(root / "core/tests/tiny.koan")
    assert len(said(lambda: model.export(tmp_path))) == 1
    (tmp_path / "main.c").write_text("mine")
    told = said(lambda: model.export(tmp_path))
    assert told[0].endswith("main.c is there already and stays as it is")
    assert (tmp_path / "main.c").read_text() == "mine"
    [renamed, *_] = said(lambda: model.export(tmp_path / "log", name="log"))
    assert renamed.startswith("the model is called log_model: log is a name of C")


def test_models_are_exported_without_scikit_learn(root, tmp_path):
    code = (
        "import sys; sys.modules['sklearn'] = None; import koan\n"
        f"print(len(koan.load({str(root / 'core/tests/tiny.koan')!r}).export('c')))\n"
    )
    line = [sys.executable, "-W", "ignore", "-c", code]
    done = subprocess.run(line, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout == "6\n"
