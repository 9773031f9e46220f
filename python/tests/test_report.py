"""Pages: those of the command, from rows in memory."""

import html
import os
import pickle
import re
import subprocess
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.metrics import confusion_matrix, roc_auc_score
from test_bytes import categories, classes, missing, numbers, texts, weights

import koan

SPLIT = 180


def parts(table):
    return table[:SPLIT], table[SPLIT:].reset_index(drop=True)


def without_origin(page):
    """A page but for its title, its files, what is typed, and how long that took."""
    for apart in [
        "<title>.*?</title>",
        "<h1>.*?</h1>",
        '<div class="scroll" role="region" aria-label="Files".*?</table></div>',
        '<p class="next">.*?</ul>',
        "<p>The same .*?</pre>",
        r"seconds \(this page not counted\)</th><td>[0-9.]+<",
    ]:
        page = re.sub(apart, "", page, count=1, flags=re.DOTALL)
    return page


def of_the_command(command, folder, tables, options):
    """The pages of a training and of an evaluation."""
    for name, table in zip(("t.csv", "test.csv"), tables):
        table.to_csv(folder / name, index=False)
    train = ["train", "t.csv", "--test", "test.csv", "-o", "m.koan", "--report", "t.html", *options]
    judge = ["eval", "m.koan", "test.csv", "--report", "e.html"]
    for line in (train, judge):
        done = subprocess.run([command, *line], cwd=folder, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
    return [(folder / name).read_text() for name in ("t.html", "e.html")]


def same_pages(command, folder, table, estimator, y, options, **named):
    train, test = parts(table)
    training, evaluation = of_the_command(command, folder, (train, test), options)
    estimator.fit(train, y, **named)
    of_test = {name: column for name, column in named.items() if name == "sample_weight"}
    named = {f"{name}_train": column for name, column in named.items()}
    found = estimator.report(test, y, X_train=train, **of_test, **named).html
    assert without_origin(found) == without_origin(training)
    assert "Learning curve of this model" in found
    return estimator.report(test, y).html, evaluation


@pytest.mark.parametrize("make", [classes, numbers, texts, missing])
def test_pages_are_those_of_the_command(make, command, tmp_path):
    table, kind, y, given, options = make()
    # Some texts are in the rows to judge by alone.
    estimator = kind(n_features=40, bits=4, unknown="zeros", **given)
    more = ["-k", "40", "--bits", "4"]
    found, expected = same_pages(command, tmp_path, table, estimator, y, [*options, *more])
    assert without_origin(found) == without_origin(expected)


def test_rows_that_weigh_and_numbers_that_are_categories(command, tmp_path):
    table, kind, y, _, options = weights()
    estimator = kind(n_features=40, class_weight="balanced")
    more = ["-k", "40", "--class-weights", "balanced"]
    same_pages(command, tmp_path, table, estimator, y, options + more, sample_weight="w")
    _, test = parts(table)
    counted = "each counted by its weight"
    assert counted in estimator.report(test, y, sample_weight=test["w"].to_numpy()).html
    assert counted not in estimator.report(test, y).html
    for bad in ([1.0], [-1.0] * len(test)):
        with pytest.raises(ValueError, match="sample_weight|weights"):
            estimator.report(test, y, sample_weight=bad)
    table, kind, y, _, _ = categories()
    estimator = kind(n_features=40, categorical_features=["a", "b"])
    same_pages(command, tmp_path, table, estimator, y, ["--text", "a,b", "-k", "40"])


def test_the_page_of_a_search_of_one_family(command, tmp_path):
    table, kind, y, _, options = classes()
    estimator = kind(family="stump", flash=150)
    more = ["--family", "stump", "--flash", "150"]
    same_pages(command, tmp_path, table, estimator, y, options + more)
    # What the search took is told, not what the last fit did.
    assert estimator.report_["seconds"] > 0.2


def cells(page, caption):
    """The texts of the cells of a table, row by row."""
    start = page.index(f"<caption>{caption}")
    table = page[start : page.index("</table>", start)]
    return [html.unescape(text) for text in re.findall("<t[hd][^>]*>([^<]*)</t[hd]>", table)]


def test_a_classifier_has_a_verdict_an_error_and_a_confusion_matrix():
    table, kind, y, _, _ = classes()
    train, test = parts(table)
    clf = kind(n_features=40).fit(train, y)
    page = clf.report(test, y).html
    error = 1 - clf.score(test.drop(columns=y), test[y])
    assert '<div class="verdict ' in page
    assert f"{100 * error:.2f} % misclassified on 60 rows" in page
    counts = confusion_matrix(test[y], clf.predict(test))
    figure = page[page.index("Confusion matrix") :]
    figure = figure[: figure.index("</table>")]
    shown = re.findall(r'<td class="[^"]*(?:hit|miss)[^>]*>(\d+)', figure)
    assert [int(count) for count in shown] == counts.ravel().tolist()
    assert "Other sizes" not in page
    whole = clf.report(test, y, X_train=train).html
    for heading in ("Other sizes", "Training rows against test rows", "Rows of each class"):
        assert heading in whole, heading


def test_a_regressor_has_curves_and_figures_in_its_own_units():
    table, kind, y, _, _ = numbers()
    train, test = parts(table)
    reg = kind(n_features=40).fit(train, y)
    page = reg.report(test, y, X_train=train).html
    residuals = test[y] - reg.predict(test)
    facts = dict(re.findall('<th scope="row">([^<]*)</th><td>([^<]*)</td>', page))
    assert float(facts["RMSE"]) == pytest.approx(np.sqrt((residuals**2).mean()), rel=1e-3)
    assert float(facts["mean absolute error"]) == pytest.approx(residuals.abs().mean(), rel=1e-3)
    for figure in ("Predictions against targets", "Residuals against", "Learning curve of"):
        assert f"<figcaption>{figure}" in page, figure


def test_a_search_is_its_best_model():
    table, _, y, _, _ = classes()
    train, test = parts(table)
    limits = {"flash": 200, "minutes": 1e-3, "clock": False, "family": "stump"}
    search = koan.KoanSearch(**limits).fit(train, y)
    page = search.report(test, y, X_train=train).html
    error = 1 - search.score(test.drop(columns=y), test[y])
    assert f"{100 * error:.2f} % misclassified on 60 test rows" in page
    assert f"in {search.model_.nbytes} bytes" in page
    assert "KoanSearch(clock=False, family=" in html.unescape(page)


def test_a_search_has_a_page_of_its_own():
    table, _, y, _, _ = classes()
    train, test = parts(table)
    limits = {"flash": 200, "minutes": 1e-3, "clock": False, "family": "stump"}
    search = pickle.loads(pickle.dumps(koan.KoanSearch(**limits).fit(train, y)))
    page = search.front_report(test, y).html
    for found in search.front_:
        assert f"{found.nbytes}" in page and f"{100 * found.held_out:.2f} %" in page
    best = 1 - search.score(test.drop(columns=y), test[y])
    assert f"{100 * best:.2f} % on the test rows" in page
    without = search.front_report().html
    assert "front, held-out training rows" in without and "test rows" not in without
    with pytest.raises(ValueError, match="^y: goes with X"):
        search.front_report(y=test[y])
    with pytest.raises(ValueError, match="^y: what the rows are"):
        search.front_report(test.drop(columns=y))


def test_a_detector_is_judged_by_its_alarms():
    random = np.random.default_rng(0)
    X = np.vstack([random.normal(size=(160, 3)), random.normal(size=(40, 3)) + 3])
    y = np.where(np.arange(200) < 160, 1, -1)
    detector = koan.KoanDetector(false_alarm=0.05, n_features=64).fit(random.normal(size=(400, 3)))
    page = detector.report(X, y).html
    found = detector.predict(X)
    facts = dict(re.findall('<th scope="row">([^<]*)</th><td>([^<]*)</td>', page))
    shown = lambda share: f"{100 * share:.2f} %"
    assert facts["anomalies that are found"] == shown((found[y == -1] == -1).mean())
    assert facts["false alarms among normal rows"] == shown((found[y == 1] == -1).mean())
    area = roc_auc_score(y == 1, detector.score_samples(X))
    assert facts["area under the ROC curve"] == f"{area:.4f}"
    assert "linear" not in page[page.index("<body>") : page.index("The data</h2>")]


def test_rows_of_every_kind_and_labels_beside_them():
    table, kind, y, _, _ = classes()
    train, test = parts(table)
    clf = kind(n_features=40).fit(train, y)
    expected = clf.report(test, y).html
    X, labels = test.drop(columns=y), test[y]
    for rows, given in [
        (X, labels),
        (X, labels.tolist()),
        (pl.from_pandas(test), y),
        (pl.from_pandas(X), labels.to_numpy(dtype=object)),
        (test[[y, "c", "a", "b"]], y),
    ]:
        assert clf.report(rows, given).html == expected
    with_others = clf.report(X, labels, X_train=train, y_train=y).html
    assert with_others == clf.report(test, y, X_train=train).html
    arrays = kind(n_features=40).fit(X.to_numpy(), labels)
    assert "Confusion matrix" in arrays.report(X.to_numpy(), labels).html


@pytest.mark.parametrize("seed", [None, np.random.RandomState(3)])
def test_seeds_that_are_drawn_are_those_of_the_fit(seed):
    table, kind, y, _, _ = classes()
    train, test = parts(table)
    clf = kind(n_features=40, random_state=seed).fit(train, y)
    clf = pickle.loads(pickle.dumps(clf))
    before = {name: id(value) for name, value in vars(clf).items()}
    page = clf.report(test, y, X_train=train).html
    assert f"random_state={clf.report_['seed']}" in page
    assert {name: id(value) for name, value in vars(clf).items()} == before


X, Y = np.random.default_rng(0).normal(size=(2, 80, 3))
Y = (Y[:, 0] + X[:, 0] > 0).astype(int)
FITTED = koan.KoanClassifier(n_features=16).fit(X[:60], Y[:60])
TABLE = pd.DataFrame({"x": X[:, 0], "job": np.where(X[:, 1] > 0, "a", "b"), "y": Y})
OF_TABLE = koan.KoanClassifier(n_features=16).fit(TABLE[:60], "y")
NUMBERS = koan.KoanRegressor(n_features=16).fit(X[:60], X[:60, 0])
WITH = {"X_train": X[:60], "y_train": Y[:60]}


@pytest.mark.parametrize(
    "work, message",
    [
        (lambda: FITTED.report(X[60:], Y[61:]), "^y: 19 values for the 20 rows of X$"),
        (lambda: FITTED.report(X[60:, :2], Y[60:]), "^X has 2 features, but KoanClassifier"),
        (lambda: FITTED.report(X[60], Y[60:63]), "Expected 2D array, got 1D array"),
        (lambda: FITTED.report(X[60:], X[60:]), "^y should be a 1d array"),
        (lambda: FITTED.report(X[60:], None), "^y: what the rows are is needed"),
        (lambda: FITTED.report(X[60:], "y"), "^y: 'y' names a column, which X does not have"),
        (lambda: FITTED.report(X[:3], [0, 2, 1]), "^y: row 2: 2 is none of the classes: 0, 1$"),
        (lambda: OF_TABLE.report(TABLE, "z"), "^y: X has no column `z`; there are `x`, `job`"),
        (
            lambda: OF_TABLE.report(TABLE.assign(job=["c"] + ["a"] * 79), "y"),
            r'^X: row 1, column 2 \(`job`\): "c" is none of the values: a, b$',
        ),
        (lambda: NUMBERS.report(X[:3], ["a", "b", "c"]), "^y: could not convert"),
        (lambda: NUMBERS.report(X[:3], [1, np.nan, 2]), "^y: row 2: nan"),
        (lambda: FITTED.report(X, Y, y_train=Y), "^y_train: goes with X_train$"),
        (lambda: FITTED.report(X, Y, groups_train=Y), "^groups_train: goes with X_train$"),
        (lambda: FITTED.report(X, Y, X_train=X[:60]), "^y_train: goes with X_train$"),
        (
            lambda: FITTED.report(X, Y, X_train=X[:60, :2], y_train=Y[:60]),
            "^X_train: 2 columns, where fit had 3$",
        ),
        (
            lambda: FITTED.report(X, Y, X_train=X[:60], y_train=Y[:50]),
            r"^X_train: .*inconsistent numbers of samples: \[60, 50\]",
        ),
        (lambda: FITTED.report(X, Y, X_train=X[:60], y_train=np.ones(60)), "^y_train: every row"),
        (
            lambda: FITTED.report(X, Y, **WITH, sample_weight_train=np.ones(50)),
            r"^sample_weight_train.shape == \(50,\), expected \(60,\)",
        ),
        (lambda: FITTED.report(X, Y, X_train=X, y_train=Y), "^X_train: other rows"),
        (
            lambda: OF_TABLE.report(TABLE, "y", X_train=TABLE.drop(columns="y")),
            "^y_train: X has no column `y`",
        ),
        (lambda: koan.KoanDetector(n_features=64, false_alarm=0.1).fit(X).report(X, Y), "^y: row"),
    ],
)
def test_wrong_rows_are_told(work, message):
    with pytest.raises(ValueError, match=message):
        work()


def test_there_is_no_page_before_a_fit():
    for estimator in (koan.KoanClassifier(), koan.KoanDetector()):
        with pytest.raises(NotFittedError):
            estimator.report(X, Y)
    assert not hasattr(koan.KoanTransformer(), "report")


def test_a_page_is_saved_whole_or_not_at_all(tmp_path):
    page = FITTED.report(X[60:], Y[60:])
    path = tmp_path / "r.html"
    page.save(path)
    page.save(str(path))
    assert path.read_text(encoding="utf-8") == page.html
    if os.name == "posix":
        plain = tmp_path / "plain"
        plain.write_text("")
        assert path.stat().st_mode == plain.stat().st_mode
        plain.unlink()
    taken = tmp_path / "taken.html"
    taken.mkdir()
    with pytest.raises(OSError):
        page.save(taken)
    with pytest.raises(OSError):
        page.save(tmp_path / "nowhere" / "r.html")
    assert sorted(os.listdir(tmp_path)) == ["r.html", "taken.html"]


def test_a_notebook_shows_the_page_in_a_frame_of_its_own():
    page = FITTED.report(X[60:], Y[60:])
    tags = []

    class Tags(HTMLParser):
        def handle_starttag(self, tag, attrs):
            tags.append((tag, dict(attrs)))

    Tags().feed(page._repr_html_())
    [(tag, attributes)] = tags
    assert tag == "iframe" and "sandbox" in attributes
    framed = attributes["srcdoc"]
    base = '<base href="about:srcdoc">'
    assert framed.count(base) == 1 and framed.replace(base, "") == page.html
    assert framed.startswith("<!DOCTYPE html>") and "<script" not in framed
    size = len(page.html.encode())
    assert repr(page) == f"<koan.Report: KoanClassifier: an evaluation, {size} bytes>"
