"""Rows of every kind, their model in one process, and a worker's death."""

import contextlib
import os
import signal
import threading
import time

import numpy as np
import pandas as pd

import koan
import koan.local

OPTIONS = {"n_features": 24, "family": "fourier", "random_state": 3}
PARTITIONS = (1, 3, 7, 64)
KINDS = {
    "classes": {"missing": "impute"},
    "numbers": {},
    "weights": {"sample_weight": "w"},
    "logistic": {"loss": "logistic", "sample_rows": 500},
}

# What Spark calls the columns.
TYPES = {
    "classes": "a double, job string, b double, y string",
    "logistic": "a double, job string, b double, y string",
    "numbers": "a double, job string, b double, y double",
    "weights": "a double, job string, b double, y bigint, w double",
}


def table(kind, rows=1200):
    """Rows, some of them more than once."""
    random = np.random.default_rng(4)
    x = random.integers(-40, 40, size=(rows, 2)) / 16
    job = random.choice(["clerk", "pilot", "baker"], rows)
    table = pd.DataFrame({"a": x[:, 0], "job": job, "b": x[:, 1]})
    score = x[:, 0] + (job == "pilot") - x[:, 1] ** 2
    table["y"] = score * 10 + 0.5 if kind == "numbers" else np.where(score > 0, "warm", "cold")
    if kind == "weights":
        # Classes that are numbers.
        table["y"] = np.where(score > 0, 7, -1)
        table["w"] = random.integers(0, 9, rows) / 8
    if kind == "classes":
        table.loc[random.random(rows) < 0.1, "a"] = np.nan
    return pd.concat([table, table.iloc[:70]], ignore_index=True)


def spread(spark, kind, rows, partitions, seed):
    """The rows, shuffled, in so many partitions of Spark's."""
    shuffled = rows.sample(frac=1, random_state=seed).astype(object)
    shuffled = shuffled.where(shuffled.notna(), None)
    df = spark.createDataFrame(list(shuffled.itertuples(index=False, name=None)), TYPES[kind])
    return df.repartition(partitions)


def in_one_process(kind, rows):
    """The bytes of the model of all rows at once, which are those of a table in memory."""
    plan = koan.plan(rows, "y", **OPTIONS, **KINDS[kind])
    made = koan.Sums(plan).add(rows)
    if plan.loss == "logistic":
        made = koan.Descent(plan, made)
        while not made.done:
            made.advance(koan.Gradients(plan, made.step()).add(rows))
        assert made.n_passes > 1
    blob = koan.finish(plan, made)
    assert koan.local.fit(rows, "y", **OPTIONS, **KINDS[kind]).to_bytes() == blob
    return blob


def of_the_command(kind, rows, command, folder):
    """The bytes of the model of the command that streams a file."""
    import subprocess

    for name in ("a.csv", "test.csv"):
        rows.to_csv(folder / name, index=False)
    more = {
        "classes": "--missing impute",
        "numbers": "",
        "weights": "--weights w",
        "logistic": "--loss logistic --sample-rows 500",
    }[kind]
    line = (
        "train a.csv --test test.csv --target y -o m.koan --stream yes --features 24 "
        f"--family fourier --seed 3 {more}"
    )
    done = subprocess.run([command, *line.split()], cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return (folder / "m.koan").read_bytes()


@contextlib.contextmanager
def one_killed(path):
    """Kills the process whose number comes to stand in the file, while the block runs."""
    killed = []

    def kill():
        for _ in range(1200):
            if path.exists() and path.read_text():
                os.kill(int(path.read_text()), signal.SIGKILL)
                killed.append(path.read_text())
                return
            time.sleep(0.1)

    thread = threading.Thread(target=kill)
    thread.start()
    yield
    thread.join()
    assert killed, "no worker was killed"
