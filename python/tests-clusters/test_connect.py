"""Spark Connect, its server in a process of its own: the bytes of one process, its answers and
its errors."""

import pathlib
import secrets
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from data import KINDS, OPTIONS, in_one_process, spread, table
from pages import CLUSTERS, blocks_of, run
from pyspark.errors import PythonException
from pyspark.sql import SparkSession
from pyspark.sql import functions as F
from pyspark.sql.connect.dataframe import DataFrame

import koan
import koan.local
import koan.spark

SERVER = pathlib.Path(__file__).with_name("connect_server.py")


@pytest.fixture(scope="module")
def address():
    """Of a server, for as long as this process may have no session but those of Connect."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYSPARK_PYTHON", sys.executable)
        patch.setenv("SPARK_LOCAL_IP", "127.0.0.1")
        patch.setenv("SPARK_CONNECT_AUTHENTICATE_TOKEN", secrets.token_hex())
        pipe = subprocess.PIPE
        with subprocess.Popen([sys.executable, SERVER], stdin=pipe, stdout=pipe, text=True) as server:
            port = server.stdout.readline()
            assert port, "the server of Connect did not start"
            # The first session sets it, and nothing takes it away.
            patch.setenv("SPARK_CONNECT_MODE_ENABLED", "1")
            # With a token, any other name would need TLS.
            yield f"sc://localhost:{int(port)}"
            server.stdin.close()


@pytest.fixture(scope="module")
def spark(address):
    session = SparkSession.builder.remote(address).getOrCreate()
    yield session
    session.stop()


@pytest.mark.parametrize("kind", ["weights", "numbers", "logistic"])
def test_seven_partitions_are_one_process(spark, kind):
    rows = table(kind)
    expected = in_one_process(kind, rows)
    df = spread(spark, kind, rows, 7, 7)
    assert isinstance(df, DataFrame)
    model = koan.spark.fit(df, target="y", **OPTIONS, **KINDS[kind])
    assert model.to_bytes() == expected


def test_predictions_are_the_models(spark):
    for kind in ("logistic", "numbers", "weights"):
        rows = table(kind)
        model = koan.Model(in_one_process(kind, rows))
        inputs = ["a", "job", "b"]
        predict = koan.spark.predict_udf(model)
        df = spread(spark, kind, rows, 3, 1).select(*inputs, predict(F.struct(*inputs)).alias("p"))
        found = df.toPandas()
        assert len(found) == len(rows)
        assert list(found["p"]) == list(model.predict(found[inputs]))


def test_errors_name_the_partition(spark):
    df = spread(spark, "classes", table("classes"), 3, 1)
    with pytest.raises(PythonException, match=r"partition \d: rows: row \d+, column 1 \(`a`\).*missing"):
        koan.spark.fit(df, target="y", **OPTIONS)
    with pytest.raises(PythonException, match=r"partition \d: target: the rows have no column `z`"):
        koan.spark.fit(df, target="z", **OPTIONS)


def test_the_page_is_run(spark, address):
    random = np.random.default_rng(7)
    rows = pd.DataFrame(random.integers(-40, 40, size=(300, 3)) / 16, columns=["a", "b", "c"])
    rows["y"] = rows.a * rows.b + rows.c
    spark.createDataFrame(rows).createOrReplaceTempView("rows")
    block = blocks_of(CLUSTERS)[3]
    assert block.count("sc://localhost:15002") == 1
    names = {"koan": koan}
    # The session that there is already.
    run(block.replace("sc://localhost:15002", address), names)
    model = names["model"]
    assert model.to_bytes() == koan.local.fit(rows, "y", n_features=256).to_bytes()
    inputs = ["a", "b", "c"]
    found = spark.table("rows").select(*inputs, names["predict"](F.struct(*inputs)).alias("p")).toPandas()
    assert list(found["p"]) == list(model.predict(found[inputs]))
