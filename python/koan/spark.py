"""Training and predicting on Spark 4 and later, with Connect or without: the bytes of one
machine, whatever the partitions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial
from typing import Any

from . import _koan, _parts
from ._model import Model, zeros

# Bytes of a slab of the sums, about.
_SLAB = 2_000_000
# Groups of partitions whose columns and samples are merged apart.
_GROUPS = 8
_ROW = "part int, data binary"
# What Spark calls the types of predictions.
_TYPES = {"float32": "float", "float64": "double", "int64": "bigint", "object": "string"}


def fit(
    df: Any,
    target: str,
    *,
    sample_weight: str | None = None,
    groups: str | None = None,
    task: str | None = None,
    missing: str = "refuse",
    test_fraction: float = 0.0,
    sample_rows: int | None = None,
    n_jobs: int | None = None,
    **options: Any,
) -> Model:
    """Trains a model on a DataFrame of Spark's: parameters as those of :func:`koan.plan`.

    The rows are read three times: for the columns, for the sample, and for the sums; with
    ``loss="logistic"`` and more rows than in the sample up to 10 times more, for gradients; with
    ``test_fraction`` once more, for the error that the model's ``report_`` has. If making them is
    work, ``df.cache()`` first. Executors need the package koan, pandas and pyarrow.
    """
    if not hasattr(df, "mapInArrow"):
        kind = type(df).__name__
        raise TypeError(
            f"df: expected a DataFrame of Spark's, got a {kind}: spark.createDataFrame makes one of "
            "pandas' own, and for a table in memory there are the estimators"
        )
    job = _parts.Job(
        target, sample_weight, groups, task, missing, test_fraction, sample_rows, options
    )

    def reduced(work: Any, start: bytes, merge: Any) -> bytes:
        one = partial(_whole, work, start)
        # A frame that is known to be empty has no partitions.
        return bytes(merge(_collected(df, one, merge) or [work("rows", [], start)]))

    columns = reduced(_parts.found, job.no_columns(), _parts.merged_columns)
    sample = reduced(_parts.sampled, job.no_sample(columns), _parts.merged_samples)
    plan = job.plan(sample, n_jobs)
    worker_plan = plan.to_bytes(for_workers=True)
    cells = plan.n_features * (plan.n_features + 1) // 2
    count = max(1, 8 * cells // _SLAB)
    cut = partial(_cut, worker_plan, count)
    slabs = _collected(df, cut, _koan.merge_slabs)

    def gradients(step: bytes) -> bytes:
        merge = partial(_parts.merged_gradients, worker_plan, step)
        return reduced(partial(_graded, step), worker_plan, merge)

    def verdict(blob: bytes) -> bytes:
        return reduced(partial(_judged, blob), worker_plan, _koan.merge_verdicts)

    sums = _koan.Sums.from_slabs(plan._own, slabs)
    return _parts.finished(plan, sums, gradients, verdict if job.test_fraction else None, n_jobs)


def predict_udf(model: Model, *, unknown: str = "error") -> Any:
    """A function of a struct of the model's columns: ``df.select(udf(F.struct(*names)))``. It
    gives the class, or the value, as ``model.predict`` does with ``unknown``. Make Spark's session
    first. Times are what they were to :func:`fit`, whatever the session's time zone; that needs Spark
    4.1, before which they are refused."""
    from pyspark.sql import functions

    zeros(unknown)
    data = model.to_bytes()
    kind = _TYPES[_parts.kind_of(model).name]
    if not hasattr(functions, "arrow_udf"):
        return _pandas_udf(data, kind, unknown)

    def predicted(batches: Iterator[Any]) -> Iterator[Any]:
        import pyarrow as pa

        own = Model(data)
        types = {"float": pa.float32(), "double": pa.float64(), "bigint": pa.int64()}
        for structs in batches:
            table = _table(pa.RecordBatch.from_struct_array(structs))
            values = _parts.predicted(own, table, unknown)
            yield pa.array(values, types.get(kind, pa.string()))

    import pyarrow as pa

    # Spark knows by the types that batches of structs become batches of values.
    arrays = Iterator[pa.Array]  # type: ignore[type-arg, unused-ignore]
    predicted.__annotations__ = {"batches": arrays, "return": arrays}
    return functions.arrow_udf(predicted, kind)


def _pandas_udf(data: bytes, kind: str, unknown: str) -> Any:
    """The function for a Spark that has those of pandas alone: it would give them times without a
    zone, those of the session's zone and those of none alike."""
    import pandas as pd
    from pyspark.sql.functions import pandas_udf

    def predicted(batches: Iterator[Any]) -> Iterator[Any]:
        import pandas as pd

        own = Model(data)
        for table in batches:
            for name, dtype in table.dtypes.items():
                if dtype.kind == "M":
                    raise ValueError(f"X: column `{name}`: times need Spark 4.1 or later")
            yield pd.Series(_parts.predicted(own, table, unknown))

    predicted.__annotations__ = {
        "batches": Iterator[pd.DataFrame],
        "return": Iterator[pd.Series],
    }
    return pandas_udf(predicted, kind)


def _collected(df: Any, work: Any, merge: Any) -> list[bytes]:
    """What `work` makes of each partition, rows of a number and bytes, those of each number
    merged."""

    def group(table: Any) -> Any:
        return _group(merge, table)

    # Otherwise Spark looks among the annotations for types of tables.
    group.__annotations__ = {}
    merged = df.mapInArrow(work, _ROW).groupBy("part").applyInArrow(group, _ROW)
    return [bytes(row["data"]) for row in merged.collect()]


def _whole(work: Any, start: bytes, batches: Iterable[Any]) -> Iterator[Any]:
    """The bytes that `work` makes of a partition."""
    number = _partition()
    data = work(f"partition {number}", map(_table, batches), start)
    yield from _batches([(number % _GROUPS, data)])


def _graded(step: bytes, part: str, batches: Iterable[Any], plan: bytes) -> bytes:
    """The gradients of a partition at a step."""
    return _parts.graded(part, batches, plan, step)


def _judged(blob: bytes, part: str, batches: Iterable[Any], plan: bytes) -> bytes:
    """How good a model is on the test rows of a partition."""
    return _parts.judged(part, batches, plan, blob)


def _cut(plan: bytes, count: int, batches: Iterable[Any]) -> Iterator[Any]:
    """The slabs of a partition's sums."""
    sums = _parts.summed(f"partition {_partition()}", map(_table, batches), plan)
    yield from _batches(enumerate(sums.slabs(count)))


def _group(merge: Any, table: Any) -> Any:
    """The rows of one number as one."""
    import pyarrow as pa

    part = table.column("part")[0].as_py()
    data = merge(table.column("data").to_pylist())
    return pa.table({"part": pa.array([part], pa.int32()), "data": pa.array([data], pa.binary())})


def _batches(pairs: Iterable[tuple[int, bytes]]) -> Iterator[Any]:
    import pyarrow as pa

    for number, data in pairs:
        columns = [pa.array([number], pa.int32()), pa.array([data], pa.binary())]
        yield pa.RecordBatch.from_arrays(columns, ["part", "data"])


def _table(batch: Any) -> Any:
    import pyarrow as pa

    return pa.Table.from_batches([batch])


def _partition() -> int:
    from pyspark import TaskContext

    context = TaskContext.get()
    return context.partitionId() if context is not None else 0
