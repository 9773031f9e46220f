"""Rows in parts: plan, sums, merge, finish."""

import json
import pickle
import subprocess

import numpy as np
import pandas as pd
import pytest

import koan
import koan.local

ROWS = 900
OPTIONS = {"n_features": 24, "family": "fourier", "random_state": 3}


def table(kind):
    """Rows, some of them twice; numbers that are the same as texts of a file."""
    random = np.random.default_rng(4)
    x = random.integers(-40, 40, size=(ROWS, 2)) / 16
    job = random.choice(["clerk", "pilot", "baker"], ROWS)
    rows = pd.DataFrame({"a": x[:, 0], "job": job, "b": x[:, 1]})
    score = x[:, 0] + (job == "pilot") - x[:, 1] ** 2
    rows["y"] = np.where(score > 0, "warm", "cold") if kind != "numbers" else score * 10 + 0.5
    if kind == "weights":
        rows["w"] = random.integers(0, 9, ROWS) / 8
    if kind == "missing":
        rows.loc[random.random(ROWS) < 0.1, "a"] = np.nan
        rows.loc[random.random(ROWS) < 0.1, "job"] = None
    return pd.concat([rows, rows.iloc[:70]], ignore_index=True)


KINDS = {
    "classes": ({}, ""),
    "balanced": ({"class_weight": "balanced"}, "--class-weights balanced"),
    "numbers": ({}, ""),
    "weights": ({"sample_weight": "w"}, "--weights w"),
    "missing": ({"missing": "impute"}, "--missing impute"),
    "tested": ({"test_fraction": 0.25}, "--test-fraction 0.25"),
    "logistic": (
        {"loss": "logistic", "sample_rows": 400},
        "--loss logistic --sample-rows 400",
    ),
}


# What one of the kinds leaves open: choosing it takes most of the time.
CHOSEN = {"frequency": 1.0, "input_map": "per-input", "relevance": False}


def in_parts(rows, sizes, seed, **options):
    """The blob of shuffled rows in parts, and of sums that were merged in turns."""
    plan = koan.plan(rows, "y", **OPTIONS, **options)
    shuffled = rows.sample(frac=1, random_state=seed)
    parts = np.array_split(np.arange(len(rows)), sizes)
    sums = [koan.Sums(plan, n_jobs=1).add(shuffled.iloc[part]) for part in parts]
    while len(sums) > 1:
        last = koan.Sums.from_bytes(plan, sums.pop().to_bytes())
        sums[len(sums) // 2].merge(last)
    assert sums[0].n_rows <= len(rows)
    if plan.loss == "squared":
        return koan.finish(plan, sums[0])
    descent = koan.Descent(plan, sums[0])
    while not descent.done:
        step = descent.step()
        made = [koan.Gradients(plan, step).add(shuffled.iloc[part]) for part in parts]
        while len(made) > 1:
            last = koan.Gradients.from_bytes(plan, step, made.pop().to_bytes())
            made[len(made) // 2].merge(last)
        descent.advance(made[0])
        # As after a client's death.
        descent = koan.Descent.from_bytes(plan, sums[0], descent.to_bytes())
    assert 1 < descent.n_passes <= 10
    return koan.finish(plan, descent)


@pytest.mark.parametrize("kind", KINDS)
def test_any_parts_are_the_command(kind, command, tmp_path):
    given, arguments = KINDS[kind]
    if kind != "classes":
        given = {**CHOSEN, **given}
        arguments += " --frequency 1 --map per-input --relevance no"
    rows = table(kind)
    whole = in_parts(rows, 1, 0, **given)
    assert koan.local.fit(rows, "y", **OPTIONS, **given).to_bytes() == whole
    # The trainer's own tests have more, and clusters of processes in the thorough tests.
    parts = 64 if kind == "classes" else 7
    assert in_parts(rows, parts, parts, **given) == whole
    for name in ("a.csv", "test.csv"):
        rows.to_csv(tmp_path / name, index=False)
    test = "" if kind == "tested" else "--test test.csv"
    line = (
        f"train a.csv --target y -o m.koan --stream yes --features 24 --family fourier --seed 3 "
        f"{test} {arguments}"
    )
    done = subprocess.run([command, *line.split()], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "m.koan").read_bytes() == whole


def test_models_are_as_good_as_those_in_memory():
    rows = table("classes")
    model = koan.Model(in_parts(rows, 5, 1))
    assert (model.predict(rows.drop(columns="y")) == rows["y"]).mean() > 0.93
    rows = table("numbers")
    model = koan.Model(in_parts(rows, 5, 1))
    errors = model.predict(rows.drop(columns="y")) - rows["y"]
    assert np.sqrt((errors**2).mean()) < 0.2 * rows["y"].std()


def test_plans_travel():
    rows = table("classes")
    plan = koan.plan(rows, "y", **OPTIONS)
    worker = koan.Plan.from_bytes(plan.to_bytes(for_workers=True))
    assert len(worker.to_bytes()) < len(plan.to_bytes())
    sums = koan.Sums.from_bytes(plan, koan.Sums(worker).add(rows).to_bytes())
    blob = koan.finish(pickle.loads(pickle.dumps(plan)), sums)
    assert blob == koan.finish(plan, koan.Sums(plan).add(rows))
    with pytest.raises(ValueError, match="plan for workers has no sample"):
        koan.finish(worker, sums)


def test_errors_say_what_and_where():
    rows = table("classes")
    plan = koan.plan(rows, "y", **OPTIONS)
    sums = koan.Sums(plan).add(rows.iloc[:100])
    before = sums.to_bytes()

    def refused(match, change):
        wrong = rows.iloc[100:200].reset_index(drop=True)
        wrong = change(wrong)
        with pytest.raises(ValueError, match=match):
            sums.add(wrong)
        assert sums.to_bytes() == before, "rows were added"

    def put(column, value):
        def change(wrong):
            wrong = wrong.astype({column: object})
            wrong.loc[7, column] = value
            return wrong

        return change

    refused("rows: row 8, column 1 .*`a`.*missing", put("a", np.nan))
    refused("rows: row 8.*too large", lambda wrong: wrong.assign(a=[0.0] * 7 + [1e300] + [0.0] * 92))
    refused('rows: row 8.*"smith" is none of the values: baker', put("job", "smith"))
    refused('rows: row 8.*"hot" is none of the classes: cold, warm', put("y", "hot"))
    refused("rows: row 8.*missing", put("y", None))
    refused("no column `y`; there are `a`", lambda wrong: wrong.drop(columns="y"))
    refused("rows: .*`b`", lambda wrong: wrong.drop(columns="b"))
    refused("table with named columns", lambda wrong: wrong.to_numpy())
    assert sums.add(rows.iloc[:0]).to_bytes() == before
    with pytest.raises(ValueError, match="lack rows of the plan's sample"):
        koan.finish(plan, sums)
    other = koan.Sums(koan.plan(rows, "y", **{**OPTIONS, "random_state": 4}))
    with pytest.raises(ValueError, match="another plan"):
        sums.merge(other)
    with pytest.raises(ValueError, match="not those of"):
        koan.Sums.from_bytes(plan, b"nothing")
    for match, changed in [
        ("y: .*one class|single|class", {"y": "cold"}),
        ("rows: .*`a`.*texts and .* numbers|a.*among", {"a": ["x", 1.0] * 485}),
    ]:
        with pytest.raises(ValueError, match=match):
            koan.plan(rows.assign(**changed), "y")
    for groups in (["a", None], [1.5, np.nan]):
        with pytest.raises(ValueError, match=r"rows: row 2, column \d \(`g`\): the group is missing"):
            koan.plan(rows.assign(g=groups * (len(rows) // 2)), "y", groups="g", **OPTIONS)
    for match, options in [
        ("box: no such option", {"box": 3}),
        ("loss: the loss hinge needs the rows in memory", {"loss": "hinge"}),
        ("target: .*no column `z`", {"target": "z"}),
        ('task: no "ranking"', {"task": "ranking"}),
        ("test_fraction: ", {"test_fraction": 1.0}),
        ("sample_rows: ", {"sample_rows": 1}),
        ("^target: the name of a column is needed, a text, not Series$", {"target": rows["y"]}),
        ("^groups: the name of a column is needed, a text, not list$", {"groups": ["y"]}),
        ("class_weight: ", {"class_weight": {"cold": 2}}),
        ("family: ", {"family": "fern"}),
        ("sample_weight: .*no column `w`", {"sample_weight": "w"}),
        ("target: one column cannot be", {"groups": "y"}),
    ]:
        with pytest.raises(ValueError, match=match):
            koan.plan(rows, **{"target": "y", **options})


def test_unknown_texts_may_be_zeros():
    rows = table("classes")
    seen = rows[rows["job"] != "pilot"]
    sums = koan.Sums(koan.plan(seen, "y", unknown="zeros", **OPTIONS)).add(rows)
    assert sums.n_rows == len(rows)


def test_the_logistic_loss_of_a_sample_of_all_rows_needs_no_pass():
    rows = table("classes")
    plan = koan.plan(rows, "y", loss="logistic", **OPTIONS)
    assert plan.loss == "logistic"
    sums = koan.Sums(plan).add(rows)
    descent = koan.Descent(plan, sums)
    assert descent.done and descent.n_passes == 0
    model = koan.Model(koan.finish(plan, descent))
    assert (model.predict(rows.drop(columns="y")) == rows["y"]).mean() > 0.93
    with pytest.raises(ValueError, match="by a descent, not by sums"):
        koan.finish(plan, sums)


def test_errors_of_gradients_say_what_is_wrong():
    rows = table("classes")
    plan = koan.plan(rows, "y", loss="logistic", sample_rows=400, **OPTIONS)
    sums = koan.Sums(plan).add(rows)
    descent = koan.Descent(plan, sums)
    with pytest.raises(ValueError, match="the descent is not done"):
        koan.finish(plan, descent)
    step = descent.step()
    first = koan.Gradients(plan, step).add(rows)
    assert first.n_rows == len(rows)
    with pytest.raises(ValueError, match="merged with themselves"):
        first.merge(first)
    with pytest.raises(ValueError, match="all passes must see the same rows"):
        descent.advance(koan.Gradients(plan, step).add(rows.iloc[1:]))
    wrong = rows.assign(a=np.nan)
    with pytest.raises(ValueError, match="rows: row 1, column 1 .*`a`.*missing"):
        koan.Gradients(plan, step).add(wrong)
    descent.advance(first)
    with pytest.raises(ValueError, match="another plan or step"):
        descent.advance(first)
    with pytest.raises(ValueError, match="another plan or step"):
        koan.Gradients.from_bytes(plan, descent.step(), first.to_bytes())
    with pytest.raises(ValueError, match="not those of a step"):
        koan.Gradients(plan, b"nothing")
    squared = koan.plan(rows, "y", **OPTIONS)
    with pytest.raises(ValueError, match="squared loss needs no descent"):
        koan.Descent(squared, koan.Sums(squared).add(rows))
    with pytest.raises(ValueError, match="not for numbers"):
        koan.plan(table("numbers"), "y", loss="logistic")


@pytest.mark.parametrize("loss", ["squared", "logistic"])
def test_sums_and_descents_are_pickled(loss):
    def again(made):
        copy = pickle.loads(pickle.dumps(made))
        assert copy.to_bytes() == made.to_bytes() and copy._threads == 1
        return copy

    rows = table("classes")
    plan = koan.plan(rows, "y", **OPTIONS, loss=loss, sample_rows=300)
    sums = again(koan.Sums(plan, n_jobs=1).add(rows[:500])).add(rows[500:])
    expected = koan.local.fit(rows, "y", **OPTIONS, loss=loss, sample_rows=300).to_bytes()
    if loss == "squared":
        assert koan.finish(plan, again(sums)) == expected
        return
    descent = koan.Descent(plan, sums, n_jobs=1)
    while not descent.done:
        step = descent.step()
        descent = again(descent).advance(again(koan.Gradients(plan, step, n_jobs=1).add(rows)))
    assert koan.finish(plan, descent) == expected


def test_reports_warn_and_have_the_error_on_test_rows(command, tmp_path):
    rows = table("weights")
    options = {**OPTIONS, **CHOSEN, "sample_weight": "w"}
    model = koan.local.fit(rows, "y", **options, test_fraction=0.25)
    assert pickle.loads(pickle.dumps(model)).report_ == model.report_
    rows.to_csv(tmp_path / "a.csv", index=False)
    line = (
        "train a.csv --target y --weights w -o m.koan --stream yes --features 24 --family fourier "
        "--seed 3 --test-fraction 0.25 --frequency 1 --map per-input --relevance no --json"
    )
    done = subprocess.run([command, *line.split()], cwd=tmp_path, capture_output=True, text=True)
    expected = json.loads(done.stdout)
    for key in ("error", "weighted_error", "rows", "train_rows"):
        assert model.report_[key] == pytest.approx(expected[key]), key
    # Without test rows there is no error.
    constant = rows.assign(a=1.0, b=2.0, job="clerk")
    with pytest.warns(UserWarning, match="^every input is constant") as told:
        model = koan.local.fit(constant, "y", **options)
        plan = koan.plan(constant, "y", **options)
        blob = koan.finish(plan, koan.Sums(plan).add(constant))
    assert [str(warning.message) for warning in told] == 2 * model.report_["warnings"]
    assert {warning.filename for warning in told} == {__file__}
    assert "error" not in model.report_ and koan.Model(blob).report_ is None


def test_verdicts_of_parts_are_that_of_all_rows():
    for kind in ("numbers", "weights"):
        rows = table(kind)
        plan = koan.plan(rows, "y", **OPTIONS, **KINDS[kind][0], **CHOSEN, test_fraction=0.25)
        blob = koan.finish(plan, koan.Sums(plan).add(rows))
        parts = [rows.iloc[:300], rows.iloc[:0], rows.iloc[300:]]
        made = [koan._parts.judged("rows", [part], plan.to_bytes(True), blob) for part in parts]
        merged = json.loads(koan._koan.judged(koan._koan.merge_verdicts(made)))
        whole = koan._parts.judged("rows", parts, plan.to_bytes(True), blob)
        whole = json.loads(koan._koan.judged(whole))
        assert merged.pop("confusion", None) == whole.pop("confusion", None)
        assert merged == pytest.approx(whole)
        assert 150 < merged["rows"] < 350
        assert koan._koan.judged(made[1]) is None


def test_names_of_columns_need_not_be_texts():
    rows = table("numbers").drop(columns="job")
    plain = koan.local.fit(rows.set_axis(["0", "1", "y"], axis=1), "y", **OPTIONS)
    assert koan.local.fit(rows.set_axis([0, 1, "y"], axis=1), "y", **OPTIONS) == plain
    with pytest.raises(ValueError, match="^rows: two columns have one name$"):
        koan.plan(rows.set_axis([1, "1", "y"], axis=1), "y")


@pytest.mark.parametrize("size", [-1, 1.5, "all", np.nan, 1e30])
def test_sizes_of_samples_are_whole_numbers(size):
    for work in (koan.plan, koan.local.fit):
        with pytest.raises(ValueError, match="^sample_rows: .* is not a whole number from 1 on$"):
            work(table("numbers"), "y", sample_rows=size)
