"""What the workers of a cluster do with a part of the rows, and with what others made of
theirs: functions of bytes, so that any engine can carry them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from . import _koan
from ._clusters import Plan, check_names, impute, parameters, rows, size_of_sample
from ._model import Model, threads
from ._trained import report_of_parts, warn_of


class Job:
    """The parameters of a training, checked."""

    def __init__(
        self,
        target: str,
        sample_weight: str | None,
        groups: str | None,
        task: str | None,
        missing: str,
        test_fraction: float,
        sample_rows: int | None,
        options: dict[str, Any],
    ) -> None:
        check_names(target=target, sample_weight=sample_weight, groups=groups)
        self.given = parameters(options)
        self.reading = (target, sample_weight, groups, impute(missing))
        self.task = task
        self.test_fraction = float(test_fraction)
        self.sample_rows = size_of_sample(sample_rows)
        if not 0 <= self.test_fraction < 1:
            raise ValueError(f"test_fraction: {test_fraction} is not within 0 to 1")

    def no_columns(self) -> bytes:
        """Columns before any row."""
        return _koan.Columns(*self.reading).to_bytes()

    def no_sample(self, columns: bytes) -> bytes:
        """A sample before any row, of rows with these columns."""
        found = _koan.Columns.from_bytes(columns)
        seed = self.given["random_state"]
        return found.sample(self.task, seed, self.test_fraction, self.sample_rows).to_bytes()

    def plan(self, sample: bytes, n_jobs: int | None) -> Plan:
        """The plan of a sample."""
        return Plan(_koan.Sample.from_bytes(sample).plan(self.given, threads(n_jobs)))


def found(part: str, batches: Iterable[Any], start: bytes) -> bytes:
    """What the columns of a part are."""
    columns = _koan.Columns.from_bytes(start)
    _add(part, batches, columns.add)
    return columns.to_bytes()


def sampled(part: str, batches: Iterable[Any], start: bytes) -> bytes:
    """The sample of a part."""
    sample = _koan.Sample.from_bytes(start)
    _add(part, batches, sample.add)
    return sample.to_bytes()


def summed(part: str, batches: Iterable[Any], plan: bytes) -> _koan.Sums:
    """The sums of a part, on one thread: an engine runs a task on each core."""
    sums = _koan.Sums(_koan.Plan.from_bytes(plan))
    _add(part, batches, lambda table: sums.add(table, 1))
    return sums


def graded(part: str, batches: Iterable[Any], plan: bytes, step: bytes) -> bytes:
    """The gradients of a part at a step, on one thread."""
    gradients = _koan.Gradients(_koan.Plan.from_bytes(plan), step)
    _add(part, batches, lambda table: gradients.add(table, 1))
    return gradients.to_bytes()


def judged(part: str, batches: Iterable[Any], plan: bytes, blob: bytes) -> bytes:
    """How good a model is on the test rows of a part."""
    verdict = _koan.Verdict(_koan.Plan.from_bytes(plan), blob)
    _add(part, batches, verdict.add)
    return verdict.to_bytes()


def _add(part: str, batches: Iterable[Any], add: Callable[[_koan.Frame], None]) -> None:
    for batch in batches:
        try:
            add(rows(batch))
        except ValueError as error:
            raise ValueError(f"{part}: {error}") from error


def merged_columns(parts: Sequence[bytes]) -> bytes:
    """Columns of several parts."""
    columns = _koan.Columns.from_bytes(parts[0])
    for part in parts[1:]:
        columns.merge(_koan.Columns.from_bytes(part))
    return columns.to_bytes()


def merged_samples(parts: Sequence[bytes]) -> bytes:
    """The sample of several."""
    sample = _koan.Sample.from_bytes(parts[0])
    for part in parts[1:]:
        sample.merge(_koan.Sample.from_bytes(part))
    return sample.to_bytes()


def merged_sums(plan: bytes, parts: Sequence[bytes]) -> bytes:
    """The sums of several parts."""
    own = _koan.Plan.from_bytes(plan)
    sums = _koan.Sums.from_bytes(own, parts[0])
    for part in parts[1:]:
        sums.merge(_koan.Sums.from_bytes(own, part))
    return sums.to_bytes()


def merged_gradients(plan: bytes, step: bytes, parts: Sequence[bytes]) -> bytes:
    """The gradients of several parts."""
    own = _koan.Plan.from_bytes(plan)
    gradients = _koan.Gradients.from_bytes(own, step, parts[0])
    for part in parts[1:]:
        gradients.merge(_koan.Gradients.from_bytes(own, step, part))
    return gradients.to_bytes()


def finished(
    plan: Plan,
    sums: _koan.Sums,
    gradients: Callable[[bytes], bytes],
    verdict: Callable[[bytes], bytes] | None,
    n_jobs: int | None,
) -> Model:
    """The model; `gradients` gives those of all rows at a step, where the loss needs some, and
    `verdict` that of a model on the test rows, if there are any."""
    if plan.loss == "logistic":
        descent = _koan.Descent(plan._own, sums, threads(n_jobs))
        while not descent.done:
            step = descent.step()
            all_rows = _koan.Gradients.from_bytes(plan._own, step, gradients(step))
            descent.advance(all_rows, threads(n_jobs))
        blob, report = descent.finish(threads(n_jobs))
    else:
        blob, report = _koan.finish(plan._own, sums, threads(n_jobs))
    model = Model(blob)
    judged = None if verdict is None else _koan.judged(verdict(blob))
    model.report_ = report_of_parts(report, judged)
    warn_of(model.report_, stacklevel=3)
    return model


def kind_of(model: Model) -> np.dtype[Any]:
    """The type of a Series of what the model predicts."""
    if model.task != "classification":
        return np.dtype(np.float32)
    kind = np.asarray(model.classes).dtype
    return kind if kind.kind in "if" else np.dtype(object)


def predicted(model: Model, table: Any, unknown: str) -> Any:
    """What the model predicts of a table, maybe without rows."""
    kind = kind_of(model)
    if not len(table):
        return np.empty(0, kind)
    return np.asarray(model.predict(table, unknown=unknown), kind)
