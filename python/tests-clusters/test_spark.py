"""Spark with two executors: the bytes of one process and of the command."""

import os
import sys

import numpy as np
import pandas as pd
import pytest
from data import (
    KINDS,
    OPTIONS,
    PARTITIONS,
    TYPES,
    in_one_process,
    of_the_command,
    one_killed,
    spread,
    table,
)
from pyspark.errors import PythonException
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

import koan
import koan.local
import koan.spark


@pytest.fixture(scope="module")
def spark():
    os.environ["PYSPARK_PYTHON"] = sys.executable
    os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
    builder = SparkSession.builder.master("local-cluster[2,1,1024]").appName("koan")
    for key, value in {
        "spark.ui.enabled": "false",
        "spark.sql.shuffle.partitions": "2",
        "spark.sql.execution.arrow.pyspark.enabled": "true",
        "spark.sql.adaptive.enabled": "false",
        "spark.driver.host": "127.0.0.1",
    }.items():
        builder = builder.config(key, value)
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("ERROR")
    yield session
    session.stop()


@pytest.mark.parametrize("kind", KINDS)
def test_any_partitions_are_one_process(spark, kind, command, tmp_path):
    rows = table(kind)
    expected = in_one_process(kind, rows)
    assert of_the_command(kind, rows, command, tmp_path) == expected
    # Spark takes seconds for each; Dask has them all for rows of every kind.
    for partitions in PARTITIONS if kind == "weights" else [3]:
        df = spread(spark, kind, rows, partitions, partitions)
        model = koan.spark.fit(df, target="y", **OPTIONS, **KINDS[kind])
        assert model.to_bytes() == expected, partitions


def test_many_slabs_are_one_process(spark, monkeypatch):
    monkeypatch.setattr(koan.spark, "_SLAB", 100)
    df = spread(spark, "weights", table("weights"), 5, 1)
    model = koan.spark.fit(df, target="y", **OPTIONS, **KINDS["weights"])
    assert model.to_bytes() == in_one_process("weights", table("weights"))


def test_a_killed_worker_changes_nothing(spark, tmp_path):
    folder = str(tmp_path)

    # Inside, so that workers need not have this file.
    def slowly(batches):
        """The batches; the first process that is here says so, and waits to be killed."""
        import os
        import pathlib
        import time

        path = pathlib.Path(folder)
        try:
            (path / "victim").touch(exist_ok=False)
        except FileExistsError:
            yield from batches
            return
        (path / "pid").write_text(f"{os.getpid()}")
        time.sleep(600)

    rows = table("numbers")
    df = spread(spark, "numbers", rows, 7, 2)
    slow = df.mapInArrow(slowly, TYPES["numbers"])
    with one_killed(tmp_path / "pid"):
        model = koan.spark.fit(slow, target="y", **OPTIONS)
    assert model.to_bytes() == in_one_process("numbers", rows)


def test_predictions_are_the_models(spark):
    for kind in ("logistic", "numbers", "weights"):
        rows = table(kind)
        model = koan.Model(in_one_process(kind, rows))
        inputs = ["a", "job", "b"]
        predict = koan.spark.predict_udf(model)
        df = spread(spark, kind, rows, 3, 1).select(*inputs, predict(F.struct(*inputs)).alias("p"))
        found = df.toPandas()
        assert list(found["p"]) == list(model.predict(found[inputs]))


def test_texts_that_were_not_seen_may_be_zeros(spark):
    model = koan.Model(in_one_process("numbers", table("numbers")))
    other = table("numbers", 60).assign(job="smith")
    df = spread(spark, "numbers", other, 2, 1)
    row = F.struct("a", "job", "b")
    predict = koan.spark.predict_udf(model, unknown="zeros")
    found = df.select("a", "job", "b", predict(row).alias("p")).toPandas()
    assert list(found["p"]) == list(model.predict(found[["a", "job", "b"]], unknown="zeros"))
    with pytest.raises(PythonException, match='"smith" is none of the values'):
        df.select(koan.spark.predict_udf(model)(row)).collect()
    with pytest.raises(ValueError, match="^unknown: no 'guess'"):
        koan.spark.predict_udf(model, unknown="guess")


def test_the_report_has_the_error_on_test_rows(spark):
    rows = table("weights")
    given = {**OPTIONS, **KINDS["weights"], "test_fraction": 0.25}
    model = koan.spark.fit(spread(spark, "weights", rows, 5, 1), target="y", **given)
    expected = koan.local.fit(rows, "y", **given).report_
    assert model.report_["rows"] == expected["rows"] > 200
    assert model.report_["confusion"] == expected["confusion"]
    assert model.report_["weighted_error"] == pytest.approx(expected["weighted_error"])


def test_a_table_of_pandas_is_told():
    with pytest.raises(TypeError, match="^df: expected a DataFrame of Spark's, got a DataFrame: spark"):
        koan.spark.fit(table("numbers"), target="y")


def test_errors_name_the_partition(spark):
    df = spread(spark, "classes", table("classes"), 3, 1)
    with pytest.raises(PythonException, match=r"partition \d: rows: row \d+, column 1 \(`a`\)"):
        koan.spark.fit(df, target="y", **OPTIONS)
    with pytest.raises(PythonException, match="target: the rows have no column `z`"):
        koan.spark.fit(df, target="z", **OPTIONS)
    # Empty partitions are fine.
    warm = table("classes")
    warm = warm[warm["a"].notna()].head(40)
    df = spread(spark, "classes", warm, 64, 1)
    model = koan.spark.fit(df, target="y", **OPTIONS)
    assert model.task == "classification"


def test_times_are_those_that_were_learned(spark):
    """The session's zone is not that of the rows."""
    when = pd.date_range("2024-03-08", periods=120, freq="h", tz="UTC")
    rows = pd.DataFrame({"when": when, "y": np.sin(np.arange(120) / 9)})
    zone = spark.conf.get("spark.sql.session.timeZone")
    spark.conf.set("spark.sql.session.timeZone", "America/Los_Angeles")
    try:
        df = spark.createDataFrame(rows).repartition(2)
        model = koan.spark.fit(df, target="y", **OPTIONS)
        assert model.to_bytes() == koan.local.fit(rows, "y", **OPTIONS).to_bytes()
        predict = koan.spark.predict_udf(model)
        found = df.select("y", predict(F.struct("when")).alias("p")).toPandas()
    finally:
        spark.conf.set("spark.sql.session.timeZone", zone)
    found = found.sort_values("y", kind="stable")["p"]
    assert list(found) == list(model.predict(rows.sort_values("y")[["when"]]))


def test_a_frame_without_partitions_has_no_rows(spark):
    with pytest.raises(ValueError, match="rows: there are none"):
        koan.spark.fit(spark.createDataFrame([], "x double, y string").where("false"), target="y")
