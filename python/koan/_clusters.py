"""Training on rows in parts: the same bytes, whatever the parts and their order."""

from __future__ import annotations

from typing import Any

import numpy as np

from . import _koan
from ._columns import frame, is_pandas, is_table, names_of
from ._model import threads
from ._trained import report_of_parts, warn_of

# Options of `plan`, and of what trains on clusters.
OPTIONS = (
    "bits",
    "class_weight",
    "column_names",
    "dilated",
    "family",
    "filter_stride",
    "frequency",
    "golden_rows",
    "input_map",
    "kernel",
    "linear",
    "loss",
    "n_features",
    "penalty",
    "pool",
    "pooling",
    "pooling_grid",
    "projection",
    "random_state",
    "relevance",
    "shape",
    "shared_pool",
    "slot_bits",
)
# Rows that everything is chosen on.
SAMPLE_ROWS = 60_000


def plainly(given: dict[str, Any]) -> None:
    """Puts parameters of several forms into the one that the core takes."""
    if given.get("loss") == "auto":
        given["loss"] = None
    for name in ("family", "n_features", "frequency"):
        value = given.get(name)
        if value is not None and (isinstance(value, str) or np.ndim(value) == 0):
            given[name] = [value]
    shape = given.get("shape")
    if shape is not None and not isinstance(shape, str):
        given["shape"] = "x".join(str(int(size)) for size in shape)


def parameters(options: dict[str, Any]) -> dict[str, Any]:
    """The options as the core takes them."""
    for name in options:
        if name not in OPTIONS:
            raise ValueError(f"{name}: no such option; there are {', '.join(OPTIONS)}")
    given = {"random_state": 1, **options}
    weight = given.get("class_weight")
    if weight is not None and not (isinstance(weight, str) and weight == "balanced"):
        raise ValueError(f"class_weight: {weight!r} is neither None nor 'balanced'")
    plainly(given)
    seed = given["random_state"]
    if not isinstance(seed, (int, np.integer)) or seed < 0:
        raise ValueError(f"random_state: {seed!r} is not a whole number from 0 on")
    given["random_state"] = int(seed)
    return given


def impute(missing: str) -> bool:
    """Whether missing values are imputed."""
    if missing not in ("refuse", "impute"):
        raise ValueError(f"missing: no {missing!r}; there are 'refuse' and 'impute'")
    return missing == "impute"


def rows(batch: Any) -> _koan.Frame:
    """Rows as the core reads them."""
    if not is_table(batch):
        kind = type(batch).__name__
        raise ValueError(f"rows: a table with named columns is needed, not {kind}")
    names = names_of(batch)
    if len(set(names)) < len(names):
        raise ValueError("rows: two columns have one name")
    if is_pandas(batch) and list(batch.columns) != names:
        # As of estimators: names need not be texts.
        batch = batch.set_axis(names, axis=1)
    return frame(batch)


def check_names(**given: Any) -> None:
    """An error where a parameter that names a column does not."""
    for parameter, name in given.items():
        if not isinstance(name, str) and (name is not None or parameter == "target"):
            kind = type(name).__name__
            raise ValueError(f"{parameter}: the name of a column is needed, a text, not {kind}")


def size_of_sample(rows: Any) -> int:
    """The rows of a sample, also as ``1e4``."""
    if rows is None:
        return SAMPLE_ROWS
    is_number = isinstance(rows, (int, float, np.number)) and not isinstance(rows, bool)
    if not is_number or not 0 < rows < 2**63 or int(rows) != rows:
        raise ValueError(f"sample_rows: {rows!r} is not a whole number from 1 on")
    return int(rows)


class Plan:
    """Everything that is chosen before rows are summed up: columns, input map, features, the
    scales of targets and weights. Made by :func:`plan`."""

    def __init__(self, own: _koan.Plan) -> None:
        self._own = own

    @property
    def n_features(self) -> int:
        """Random features, K: the sums are about K²/2 integers."""
        return self._own.features

    @property
    def loss(self) -> str:
        """What the weights are fitted to minimise: ``squared`` or ``logistic``, which needs a
        :class:`Descent`."""
        return self._own.loss

    def to_bytes(self, for_workers: bool = False) -> bytes:
        """The plan as bytes; for workers without its sample, which :func:`finish` needs."""
        return self._own.to_bytes(for_workers)

    @staticmethod
    def from_bytes(data: bytes) -> Plan:
        """The plan of these bytes."""
        return Plan(_koan.Plan.from_bytes(data))

    def __reduce__(self) -> tuple[Any, ...]:
        return Plan.from_bytes, (self.to_bytes(),)


class Sums:
    """Sums over rows: integers, so that they are the same in any order. Those of parts are
    merged, on any machine."""

    def __init__(self, plan: Plan, n_jobs: int | None = None) -> None:
        self._plan = plan
        self._threads = threads(n_jobs)
        self._own = _koan.Sums(plan._own)

    @property
    def n_rows(self) -> int:
        """Rows to train on so far."""
        return self._own.rows

    def add(self, batch: Any) -> Sums:
        """Adds rows: a table of pandas, polars or pyarrow with the plan's columns. If a row is
        wrong, none is added."""
        self._own.add(rows(batch), self._threads)
        return self

    def merge(self, other: Sums) -> Sums:
        """Adds the sums of other rows."""
        if other is self:
            raise ValueError("merge: these sums are merged with themselves")
        self._own.merge(other._own)
        return self

    def to_bytes(self) -> bytes:
        """The sums as bytes: the same for the same rows."""
        return self._own.to_bytes()

    def __reduce__(self) -> tuple[Any, ...]:
        return Sums.from_bytes, (self._plan, self.to_bytes()), {"_threads": self._threads}

    @staticmethod
    def from_bytes(plan: Plan, data: bytes) -> Sums:
        """The sums of these bytes, which are of that plan."""
        sums = Sums(plan)
        sums._own = _koan.Sums.from_bytes(plan._own, data)
        return sums


class Gradients:
    """The logistic loss of rows at a step, and its gradient: sums of integers, so that they are
    the same in any order. Those of parts are merged, on any machine.

    Parameters
    ----------
    plan : the plan, or that for workers.
    step : what :meth:`Descent.step` gave.
    """

    def __init__(self, plan: Plan, step: bytes, n_jobs: int | None = None) -> None:
        self._plan, self._step = plan, step
        self._threads = threads(n_jobs)
        self._own = _koan.Gradients(plan._own, step)

    @property
    def n_rows(self) -> int:
        """Rows to train on so far."""
        return self._own.rows

    def add(self, batch: Any) -> Gradients:
        """Adds rows, as :meth:`Sums.add`."""
        self._own.add(rows(batch), self._threads)
        return self

    def merge(self, other: Gradients) -> Gradients:
        """Adds the gradients of other rows at the same step."""
        if other is self:
            raise ValueError("merge: these gradients are merged with themselves")
        self._own.merge(other._own)
        return self

    def to_bytes(self) -> bytes:
        """The gradients as bytes: the same for the same rows."""
        return self._own.to_bytes()

    def __reduce__(self) -> tuple[Any, ...]:
        made = (self._plan, self._step, self.to_bytes())
        return Gradients.from_bytes, made, {"_threads": self._threads}

    @staticmethod
    def from_bytes(plan: Plan, step: bytes, data: bytes) -> Gradients:
        """The gradients of these bytes, which are of that plan and step."""
        gradients = Gradients(plan, step)
        gradients._own = _koan.Gradients.from_bytes(plan._own, step, data)
        return gradients


class Descent:
    """The fit of a plan with ``loss="logistic"``, on the client: begins with the fit to the plan's
    sample, and goes on by the gradients of all rows, in a few passes; in none where the sample
    has all rows.

    Parameters
    ----------
    plan : the plan with its sample.
    sums : those of all rows.
    """

    def __init__(self, plan: Plan, sums: Sums, n_jobs: int | None = None) -> None:
        self._plan, self._sums = plan, sums
        self._threads = threads(n_jobs)
        self._own = _koan.Descent(plan._own, sums._own, self._threads)

    @property
    def done(self) -> bool:
        """Whether no more passes are needed: then :func:`finish` makes the model."""
        return self._own.done

    @property
    def n_passes(self) -> int:
        """Passes over all rows so far; 10 at most."""
        return self._own.passes

    def step(self) -> bytes:
        """The weights at which :class:`Gradients` of all rows are wanted next."""
        return self._own.step()

    def advance(self, gradients: Gradients) -> Descent:
        """Takes the gradients of all rows at :meth:`step`; the same rows in each pass."""
        self._own.advance(gradients._own, self._threads)
        return self

    def to_bytes(self) -> bytes:
        """How far it has come, as bytes; without the plan and the sums."""
        return self._own.to_bytes()

    def __reduce__(self) -> tuple[Any, ...]:
        made = (self._plan, self._sums, self.to_bytes())
        return Descent.from_bytes, made, {"_threads": self._threads}

    @staticmethod
    def from_bytes(plan: Plan, sums: Sums, data: bytes, n_jobs: int | None = None) -> Descent:
        """The descent of these bytes, which is of that plan and these sums: it goes on to the same
        model."""
        descent = object.__new__(Descent)
        descent._plan, descent._sums = plan, sums
        descent._threads = threads(n_jobs)
        descent._own = _koan.Descent.from_bytes(plan._own, sums._own, data, descent._threads)
        return descent


def plan(
    sample: Any,
    target: str,
    *,
    sample_weight: str | None = None,
    groups: str | None = None,
    task: str | None = None,
    missing: str = "refuse",
    unknown: str = "error",
    test_fraction: float = 0.0,
    sample_rows: int = SAMPLE_ROWS,
    n_jobs: int | None = None,
    **options: Any,
) -> Plan:
    """Chooses everything on a sample, whose rows must be among those that are added later.

    Parameters
    ----------
    sample : a table of pandas, polars or pyarrow with all classes, and all texts that rows may
        have.
    target, sample_weight, groups : names of columns.
    task : ``classification`` or ``regression``; as in files if not given: a class is a text, or
        a whole number of at most 20 different ones that occur twice on average.
    missing : ``impute`` puts the sample's median in place of missing values.
    unknown : ``zeros`` takes a text that the sample does not have as none of its column's
        values; otherwise it is an error.
    test_fraction : share of the rows that are left out, by a hash of their content.
    sample_rows : of a larger sample those with the smallest hashes are taken.
    options : as those of the estimators: ``n_features``, ``family``, ``bits``,
        ``random_state`` (1), ``class_weight``, ``penalty``, ``loss`` (``squared`` or
        ``logistic``) and others.
    """
    given = parameters(options)
    if unknown not in ("error", "zeros"):
        raise ValueError(f"unknown: no {unknown!r}; there are 'error' and 'zeros'")
    check_names(target=target, sample_weight=sample_weight, groups=groups)
    size = size_of_sample(sample_rows)
    table = rows(sample)
    reading = (target, sample_weight, groups, impute(missing), unknown == "zeros")
    columns = _koan.Columns(*reading)
    columns.add(table)
    taken = columns.sample(task, given["random_state"], test_fraction, size)
    taken.add(table)
    return Plan(taken.plan(given, threads(n_jobs)))


def finish(plan: Plan, sums: Sums | Descent, n_jobs: int | None = None) -> bytes:
    """The bytes of the model: ``koan.Model(blob)`` runs it. What is worth knowing of the rows or the
    model is a ``UserWarning``.

    Parameters
    ----------
    plan : the plan with its sample.
    sums : those of all rows; with ``loss="logistic"`` the descent that is done.
    """
    if isinstance(sums, Descent):
        blob, report = sums._own.finish(threads(n_jobs))
    else:
        blob, report = _koan.finish(plan._own, sums._own, threads(n_jobs))
    warn_of(report_of_parts(report), stacklevel=2)
    return blob
