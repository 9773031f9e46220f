"""Dask with two processes: the bytes of one process and of the command."""

import os
import pathlib
import time

import dask
import dask.dataframe as dd
import numpy as np
import pytest
from data import KINDS, OPTIONS, PARTITIONS, in_one_process, of_the_command, one_killed, table
from dask.distributed import Client, LocalCluster

import koan
import koan.dask
import koan.local


@pytest.fixture(scope="module")
def client():
    with dask.config.set({"distributed.scheduler.allowed-failures": 5}):
        with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster:
            with Client(cluster) as client:
                yield client


@pytest.mark.parametrize("kind", KINDS)
def test_any_partitions_are_one_process(client, kind, command, tmp_path):
    rows = table(kind)
    expected = in_one_process(kind, rows)
    assert of_the_command(kind, rows, command, tmp_path) == expected
    for partitions in PARTITIONS:
        shuffled = rows.sample(frac=1, random_state=partitions)
        ddf = dd.from_pandas(shuffled, npartitions=partitions, sort=False)
        model = koan.dask.fit(ddf, target="y", **OPTIONS, **KINDS[kind])
        assert model.to_bytes() == expected, partitions


def _slowly(part, folder):
    """The part; the first process that is here for long says so, and waits to be killed."""
    path = pathlib.Path(folder)
    try:
        (path / "victim").touch(exist_ok=False)
    except FileExistsError:
        return part
    (path / "pid").write_text(str(os.getpid()))
    time.sleep(600)
    return part


def test_a_killed_worker_changes_nothing(client, tmp_path):
    rows = table("numbers")
    ddf = dd.from_pandas(rows, npartitions=7, sort=False)
    ddf = ddf.map_partitions(_slowly, str(tmp_path), meta=rows.iloc[:0])
    with one_killed(tmp_path / "pid"):
        model = koan.dask.fit(ddf, target="y", **OPTIONS)
    assert model.to_bytes() == in_one_process("numbers", rows)


def test_predictions_are_the_models(client):
    for kind in ("classes", "numbers", "weights"):
        rows = table(kind)
        model = koan.Model(in_one_process(kind, rows))
        ddf = dd.from_pandas(rows.drop(columns="y"), npartitions=5, sort=False)
        found = koan.dask.predict(model, ddf).compute()
        assert list(found) == list(model.predict(rows.drop(columns="y")))
        assert found.name == "prediction"


def test_texts_that_were_not_seen_may_be_zeros(client):
    rows = table("classes")
    model = koan.Model(in_one_process("classes", rows))
    other = rows.drop(columns="y").assign(job="smith")
    ddf = dd.from_pandas(other, npartitions=3, sort=False)
    found = koan.dask.predict(model, ddf, unknown="zeros").compute()
    assert list(found) == list(model.predict(other, unknown="zeros"))
    with pytest.raises(ValueError, match='"smith" is none of the values'):
        koan.dask.predict(model, ddf).compute()
    with pytest.raises(ValueError, match="^unknown: no 'guess'"):
        koan.dask.predict(model, ddf, unknown="guess")


def test_the_report_has_the_error_on_test_rows(client):
    rows = table("numbers")
    ddf = dd.from_pandas(rows, npartitions=6, sort=False)
    model = koan.dask.fit(ddf, target="y", test_fraction=0.25, **OPTIONS)
    expected = koan.local.fit(rows, "y", test_fraction=0.25, **OPTIONS).report_
    assert model.report_["rows"] == expected["rows"] > 200
    assert model.report_["error"] == pytest.approx(expected["error"])


def test_errors_name_the_partition(client):
    rows = table("numbers").sort_index()
    broken = rows.copy()
    broken.loc[len(rows) - 1, "b"] = np.nan
    ddf = dd.from_pandas(broken, npartitions=4, sort=False)
    with pytest.raises(ValueError, match="partition 3: rows: row .*`b`.*missing"):
        koan.dask.fit(ddf, target="y", **OPTIONS)
    # Empty partitions are fine; one class in one partition too.
    classes = table("classes").sort_values("y", ignore_index=True)
    ddf = dd.from_pandas(classes, npartitions=6, sort=False)
    empty = ddf.map_partitions(lambda part: part[part["y"] == "warm"], meta=classes.iloc[:0])
    both = dd.concat([empty, ddf])
    model = koan.dask.fit(both, target="y", **OPTIONS, missing="impute")
    assert model.classes == ["cold", "warm"]
    with pytest.raises(ValueError, match="class"):
        koan.dask.fit(empty, target="y", **OPTIONS, missing="impute")
    parts = [rows.iloc[:600], rows.iloc[600:].drop(columns="y")]
    delayed = [dask.delayed(part) for part in parts]
    ddf = dd.from_delayed(delayed, meta=rows.iloc[:0], verify_meta=False)
    with pytest.raises(ValueError, match="partition 1: target: the rows have no column `y`"):
        koan.dask.fit(ddf, target="y", **OPTIONS)
