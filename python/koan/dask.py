"""Training and predicting on Dask: the bytes of one machine, whatever the partitions."""

from __future__ import annotations

from functools import partial
from typing import Any

from . import _koan, _parts
from ._model import Model, zeros

# Partial results that are merged at once.
_ARITY = 4


def fit(
    ddf: Any,
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
    """Trains a model on a DataFrame of Dask's: parameters as those of :func:`koan.plan`.

    The partitions are read three times: for the columns, for the sample, and for the sums; with
    ``loss="logistic"`` and more rows than in the sample up to 10 times more, for gradients; with
    ``test_fraction`` once more, for the error that the model's ``report_`` has. If making them is
    work, ``ddf.persist()`` first. Workers need the package koan.
    """
    from dask import compute, delayed

    _check(ddf)
    job = _parts.Job(
        target, sample_weight, groups, task, missing, test_fraction, sample_rows, options
    )
    partitions = list(enumerate(ddf.to_delayed()))

    def reduced(work: Any, merge: Any, *given: bytes) -> bytes:
        shared = [delayed(value) for value in given]
        parts = [delayed(work)(f"partition {i}", [part], *shared) for i, part in partitions]
        while len(parts) > 1:
            groups_of = range(0, len(parts), _ARITY)
            parts = [delayed(merge)(parts[first : first + _ARITY]) for first in groups_of]
        (result,) = compute(parts[0])
        return bytes(result)

    columns = reduced(_parts.found, _parts.merged_columns, job.no_columns())
    sample = reduced(_parts.sampled, _parts.merged_samples, job.no_sample(columns))
    plan = job.plan(sample, n_jobs)
    worker_plan = plan.to_bytes(for_workers=True)
    merge = partial(_parts.merged_sums, worker_plan)
    sums = _koan.Sums.from_bytes(plan._own, reduced(_summed, merge, worker_plan))

    def gradients(step: bytes) -> bytes:
        merge = partial(_parts.merged_gradients, worker_plan, step)
        return reduced(_parts.graded, merge, worker_plan, step)

    def verdict(blob: bytes) -> bytes:
        return reduced(_parts.judged, _koan.merge_verdicts, worker_plan, blob)

    return _parts.finished(plan, sums, gradients, verdict if job.test_fraction else None, n_jobs)


def predict(model: Model, ddf: Any, *, unknown: str = "error") -> Any:
    """A Series of Dask's: the class of each row, or its value, as ``model.predict`` gives them."""
    _check(ddf)
    zeros(unknown)
    meta = ("prediction", _parts.kind_of(model))
    return ddf.map_partitions(_predicted, model.to_bytes(), unknown, meta=meta)


def _check(ddf: Any) -> None:
    if not hasattr(ddf, "to_delayed"):
        kind = type(ddf).__name__
        raise TypeError(
            f"ddf: expected a DataFrame of Dask's, got a {kind}: dask.dataframe.from_pandas makes "
            "one of pandas' own, and for a table in memory there are the estimators"
        )


def _summed(part: str, batches: Any, plan: bytes) -> bytes:
    return _parts.summed(part, batches, plan).to_bytes()


def _predicted(table: Any, data: bytes, unknown: str) -> Any:
    import pandas as pd

    values = _parts.predicted(Model(data), table, unknown)
    return pd.Series(values, index=table.index, name="prediction")
