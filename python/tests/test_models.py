"""Models run here as on every other target."""

import json
import pickle
import subprocess
import sys
import threading
import time
from importlib.metadata import requires

import numpy as np
import pytest

import koan


def goldens(root):
    paths = sorted((root / "tests/golden").glob("*.koan"))
    assert len(paths) > 100
    return paths


def test_golden_models_give_their_scores_in_every_type(root):
    rows = 0
    for path in goldens(root):
        model = koan.load(path)
        model.self_test()
        for given in json.loads(path.with_suffix(".json").read_text())["rows"]:
            row = np.array([[float(x) for x in given["row"]]], dtype=np.float32)
            assert model.scores(row)[0].tolist() == given["scores"], path.name
            rows += 1
            if not np.isfinite(row).all() or (row % 1).any():
                continue
            for kind in (np.int16, np.uint8):
                limits = np.iinfo(kind)
                if row.min() >= limits.min and row.max() <= limits.max:
                    assert model.scores(row.astype(kind))[0].tolist() == given["scores"]
    assert rows > 500


def test_damaged_models_are_refused(root):
    blob = goldens(root)[0].read_bytes()
    for bad in (b"", blob[:-1], blob[:20], bytes([blob[0] ^ 1]) + blob[1:], blob + b"x"):
        with pytest.raises(ValueError, match="^model: "):
            koan.Model(bad)
    with pytest.raises(ValueError, match="nowhere.koan|No such file"):
        try:
            koan.load("nowhere.koan")
        except FileNotFoundError as error:
            raise ValueError(str(error)) from None


@pytest.mark.skipif(sys.platform == "win32", reason="limits of memory")
def test_files_that_cannot_be_models_are_not_read(tmp_path):
    for first, problem in ((b"", "not a koan blob"), (b"KOAN", "more than 67108864 bytes")):
        with open(tmp_path / "huge", "wb") as file:
            file.write(first)
            file.truncate(2 << 30)
        # Reading it would take more memory than there is.
        code = (
            "import resource, sys, koan\n"
            "resource.setrlimit(resource.RLIMIT_AS, (1 << 30, 1 << 30))\n"
            "try: koan.load(sys.argv[1])\n"
            "except ValueError as error: print(error)\n"
        )
        words = [sys.executable, "-c", code, str(tmp_path / "huge")]
        told = subprocess.run(words, capture_output=True, text=True, check=True).stdout
        assert "huge: model: " in told and problem in told
    with pytest.raises(TypeError, match="not int"):
        koan.load(5)


def test_a_model_is_its_bytes(root, tmp_path):
    path = goldens(root)[3]
    model = koan.load(path)
    assert pickle.loads(pickle.dumps(model)) == model
    model.save(tmp_path / "m.koan")
    assert (tmp_path / "m.koan").read_bytes() == path.read_bytes() == model.to_bytes()
    assert koan.load(path.read_bytes()) == model
    with open(path, "rb") as file:
        assert koan.load(file) == model
    with open(path) as file, pytest.raises(TypeError, match="^file: .* as text: open it with 'rb'$"):
        koan.load(file)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["m.koan"]


def test_models_run_without_scikit_learn(root):
    code = (
        "import sys; sys.modules['sklearn'] = None; import koan, numpy as np\n"
        f"m = koan.load({str(goldens(root)[0])!r})\n"
        "m.scores(np.zeros((2, m.n_inputs)))\n"
        "try: koan.KoanClassifier\n"
        "except ModuleNotFoundError as e: print(e)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    [needed] = [text for text in requires("koan") if "scikit-learn" in text]
    needed = needed.partition(";")[0].strip()
    told = f'koan.KoanClassifier needs scikit-learn: pip install "{needed}"'
    assert done.stdout.strip() == told


def test_wrong_rows_say_what_is_needed(root):
    model = koan.load(goldens(root)[0])
    with pytest.raises(ValueError, match=r"X: .*\d+ (columns|inputs), where the model takes"):
        model.scores(np.zeros((3, model.n_inputs + 1), dtype=np.float32))
    with pytest.raises(ValueError, match="X: rows of columns are needed"):
        model.scores(np.zeros(model.n_inputs))
    with pytest.raises(ValueError, match="X: values of type complex128 are no numbers"):
        model.scores(np.zeros((1, model.n_inputs), dtype=complex))
    with pytest.raises(ValueError, match="n_jobs: "):
        model.scores(np.zeros((1, model.n_inputs)), n_jobs=0)


def test_any_number_of_threads_and_any_layout_give_the_same(root):
    model = koan.load(root / "firmware-example/digits.koan")
    rows = np.random.default_rng(1).integers(0, 17, (20_000, model.n_inputs))
    expected = model.scores(rows.astype(np.uint8), n_jobs=1)
    for same in (rows, rows.astype(np.float32), np.asfortranarray(rows.astype(np.int16))):
        assert (model.scores(same, n_jobs=3) == expected).all()
    assert (model.scores(rows[::7]) == expected[::7]).all()
    chances = model.predict_proba(rows)
    assert (model.classify(rows) == chances.argmax(axis=1)).mean() > 0.999
    assert model.predict(rows)[0] == model.classes[model.classify(rows)[0]]


@pytest.mark.parametrize(
    "classes, expected",
    [
        ([12, -1, 3], np.array([-1, 3, 12])),
        ([2.0, 5.0], np.array([2, 5])),
        ([2**60, 2**60 + 1], np.array([2**60, 2**60 + 1])),
        (["1", "10"], np.array([1, 10])),
        (["1.5", "-2", "0.0000001"], np.array([-2, 1e-7, 1.5])),
        (["007", "1"], np.array(["007", "1"])),
        (["nan", "1"], np.array(["1", "nan"])),
        (["1.0", "2"], np.array(["1.0", "2"])),
        (["1e5", "2"], np.array(["1e5", "2"])),
        ([True, False], np.array(["False", "True"])),
    ],
)
def test_classes_that_are_numbers_are_numbers_again(classes, expected, tmp_path):
    y = np.array(classes)[np.arange(60) % len(classes)]
    places = np.unique(y, return_inverse=True)[1]
    x = np.random.default_rng(0).normal(size=(60, 2)) + places[:, None]
    fitted = koan.KoanClassifier(n_features=16).fit(x, y)
    fitted.save(tmp_path / "m.koan")
    model = koan.load(tmp_path / "m.koan")
    assert model.classes == expected.tolist()
    found = model.predict(x)
    assert found.dtype == expected.dtype
    assert (found == expected[model.classify(x)]).all()
    if y.dtype.kind in "if":
        assert (found == fitted.predict(x)).all()


def test_the_interpreter_goes_on_while_rows_are_run(root):
    model = koan.load(root / "firmware-example/digits.koan")
    rows = np.zeros((60_000, model.n_inputs), dtype=np.uint8)
    worker = threading.Thread(target=model.scores, args=(rows,), kwargs={"n_jobs": 1})
    worker.start()
    turns = 0
    while worker.is_alive():
        turns += 1
        time.sleep(0.001)
    assert turns > 20
