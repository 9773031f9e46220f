"""docs/clusters.md and docs/models.md say what happens."""

import os
import pathlib
import sys

import dask.dataframe as dd
import numpy as np
import pandas as pd
from dask.distributed import Client
from pages import CLUSTERS, MODELS, blocks_of, run
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

import koan


def test_the_page_of_clusters_is_run(tmp_path, monkeypatch):
    blocks = blocks_of(CLUSTERS)
    assert len(blocks) == 4, "the last one is run in test_connect.py"
    random = np.random.default_rng(7)
    rows = pd.DataFrame(random.integers(-40, 40, size=(300, 3)) / 16, columns=["a", "b", "c"])
    rows["y"] = rows.a * rows.b + rows.c
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYSPARK_PYTHON", sys.executable)
    monkeypatch.setenv("SPARK_LOCAL_IP", "127.0.0.1")
    builder = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
    spark = builder.config("spark.driver.host", "127.0.0.1").getOrCreate()
    try:
        with Client(n_workers=1, threads_per_worker=2, processes=False, dashboard_address=None):
            ddf = dd.from_pandas(rows, npartitions=3)
            df = spark.createDataFrame(rows).repartition(2)
            names = {"ddf": ddf, "df": df, "table": rows, "F": F}
            by_dask, by_spark = run(blocks[0], names)
    finally:
        spark.stop()
    model = koan.load(os.fspath(tmp_path / "m.koan"))
    assert model.to_bytes() == names["model"].to_bytes()
    # The order of Spark's rows is its own.
    assert len(by_dask) == len(rows)
    np.testing.assert_array_equal(np.sort(by_dask), np.sort(by_spark.p))

    plan = koan.plan(rows, "y", n_features=2048)
    other = koan.Sums(plan).add(rows[200:])
    names = {"koan": koan, "sample": rows, "batch": rows[:200], "other": other}
    run(blocks[1], names)
    assert names["blob"] == model.to_bytes()

    classes = rows.assign(y=np.where(rows.y > 0, "up", "down"))
    names = {"koan": koan, "sample": classes, "batch": classes[:200], "rest": classes[200:]}
    run(blocks[2], names)
    assert koan.Model(names["blob"]).classes == ["down", "up"]


def test_the_page_of_models_is_run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    # Where `cargo xtask python` has put the wheel.
    (tmp_path / "target").symlink_to(pathlib.Path(__file__).resolve().parents[2] / "target")
    blocks = blocks_of(MODELS)
    assert len(blocks) == 5
    names: dict = {}
    for block in blocks:
        exec(compile(block, MODELS, "exec"), names)
    sizes = [(tmp_path / name).stat().st_size for name in ("wine.koan", "wine.joblib")]
    assert 1500 < sizes[1] - sizes[0] < 2500
    served = [path.suffix for path in (tmp_path / "wine-served").rglob("*")]
    assert ".koan" in served and ".pkl" not in served
