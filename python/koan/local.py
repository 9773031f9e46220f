"""Training on a table in memory as on a cluster: the bytes of :mod:`koan.dask`,
:mod:`koan.spark` and ``koan train --stream``."""

from __future__ import annotations

from typing import Any

from . import _parts
from ._clusters import Gradients, Sums, plan, size_of_sample
from ._model import Model


def fit(
    table: Any,
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
    """Trains a model on a table of pandas, polars or pyarrow: parameters as those of
    :func:`koan.plan`.

    The model is that which a cluster makes of the same rows. Nothing is searched for: of one
    table on one machine, ``KoanClassifier`` and ``KoanRegressor`` make better models. Its
    ``report_`` says how it came about, with ``test_fraction`` also its error on the test rows.
    """
    made = plan(
        table,
        target,
        sample_weight=sample_weight,
        groups=groups,
        task=task,
        missing=missing,
        test_fraction=test_fraction,
        sample_rows=size_of_sample(sample_rows),
        n_jobs=n_jobs,
        **options,
    )

    def gradients(step: bytes) -> bytes:
        return Gradients(made, step, n_jobs).add(table).to_bytes()

    def verdict(blob: bytes) -> bytes:
        return _parts.judged("rows", [table], made.to_bytes(for_workers=True), blob)

    sums = Sums(made, n_jobs).add(table)._own
    return _parts.finished(made, sums, gradients, verdict if test_fraction else None, n_jobs)
