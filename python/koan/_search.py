"""The search for models within limits: ``koan tune``."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from numbers import Real
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.metrics import accuracy_score, r2_score
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import type_of_target
from sklearn.utils.validation import check_is_fitted

from . import _koan
from ._base import Rows, values_of
from ._columns import days_of, is_missing, times_of
from ._estimators import KoanClassifier
from ._model import Model, table, threads
from ._progress import Told
from ._report import Report, Reporting
from ._targets import class_labels, number_targets, plain, real
from ._trained import warn_of

# Whole numbers are classes where they are at most so many, as in files.
_CLASSES = 20


@dataclass(frozen=True)
class FrontModel:
    """A model that no other of the front beats in bytes, error and instructions."""

    model: Model
    held_out: float
    """By the metric, on held-out rows of those that were searched."""
    instructions: int
    """Of a prediction, as predicted for the core."""
    params: dict[str, Any]
    """Of ``KoanClassifier`` or ``KoanRegressor``: a fit to the same rows makes this model."""
    report: dict[str, Any]

    @property
    def nbytes(self) -> int:
        """Bytes of the model."""
        return self.model.nbytes

    @property
    def ram(self) -> int:
        """Bytes of its buffers."""
        return self.model.ram


def _classifies(search: KoanSearch) -> bool:
    return search._task() == "classification"


class KoanSearch(Reporting):
    """Searches for the best models within limits; predicts with the best of them.

    Parameters
    ----------
    flash : bytes of the model at most, such as ``4096`` or ``"4k"``; the code comes on top
    with_code : ``fast``, which is what True says, or ``small``: the code counts as ``flash``, too; as
        of ``KoanClassifier``
    ram : bytes of the predictor's buffers at most
    instructions : of a prediction at most, as predicted for ``core``
    core : ``cortex-m0``, ``cortex-m3``, ``cortex-m4f``, ``cortex-m33``, ``rv32imc``, ``rv32imac``
    metric : ``error``, ``balanced-error``, ``macro-f1``, ``auc`` or ``rmse``
    minutes : that the search plans for, and at which it ends
    clock : whether the clock ends it; without, the result is the same on every machine
    task : ``classification`` or ``regression``; by the target if not given. Without it scikit-learn
        takes a search that is not fitted for neither: for ``cross_val_score`` and grids of classes
        give ``classification``, so that folds are stratified
    family, loss, bits, projection, input_map, relevance, shape, categorical_features : kept where
        they are given
    class_weight : None or ``balanced``, or a weight for each class
    missing, unknown, golden_rows, column_names, random_state, n_jobs, verbose : as of
        ``KoanClassifier``
    """

    front_: list[FrontModel]

    def __init__(
        self,
        *,
        flash: int | str | None = None,
        with_code: bool | str | None = None,
        ram: int | str | None = None,
        instructions: int | str | None = None,
        core: str = "cortex-m0",
        metric: str = "error",
        minutes: float = 5.0,
        clock: bool = True,
        task: str | None = None,
        family: str | list[str] | None = None,
        loss: str = "auto",
        bits: int | None = None,
        projection: str | None = None,
        input_map: str | None = None,
        relevance: bool | None = None,
        shape: str | tuple[int, ...] | None = None,
        categorical_features: list[int] | list[str] | None = None,
        class_weight: str | dict[Any, float] | None = None,
        missing: str = "refuse",
        unknown: str = "error",
        golden_rows: int = 0,
        column_names: bool = True,
        random_state: Any = 1,
        n_jobs: int | None = None,
        verbose: bool | None = None,
    ) -> None:
        self.flash = flash
        self.with_code = with_code
        self.ram = ram
        self.instructions = instructions
        self.core = core
        self.metric = metric
        self.minutes = minutes
        self.clock = clock
        self.task = task
        self.family = family
        self.loss = loss
        self.bits = bits
        self.projection = projection
        self.input_map = input_map
        self.relevance = relevance
        self.shape = shape
        self.categorical_features = categorical_features
        self.class_weight = class_weight
        self.missing = missing
        self.unknown = unknown
        self.golden_rows = golden_rows
        self.column_names = column_names
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _task(self) -> str | None:
        return getattr(self, "task_", self.task)

    def fit(self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None) -> KoanSearch:
        """Searches; see ``KoanClassifier.fit`` for what is given."""
        with self._fitting():
            rows = self._to_learn(X, y, sample_weight, groups)
            given = self._params(rows.X)
            with Told(self.verbose) as told:
                front, self.cut_, self._search, self._stand_ins = _koan.tune(
                    *rows.as_taken(), given, threads(self.n_jobs), told.listener
                )
            self.front_ = [
                FrontModel(
                    Model._trained(found["blob"], found["names"]),
                    found["held_out"],
                    found["instructions"],
                    self._again(found["params"]),
                    rows.read_report(found["report"]),
                )
                for found in front
            ]
            best = self.front_[-1]
            warn_of(best.report, stacklevel=2)
            self.model_, self.report_, self.params_ = best.model, best.report, best.params
            self.held_out_error_ = best.held_out
        return self

    def _to_learn(self, X: Any, y: Any, sample_weight: Any, groups: Any) -> Rows:
        X, known, roles = self._rows(X, y, sample_weight, groups)
        y = known["y"]
        if self.task not in (None, "classification", "regression"):
            raise ValueError(f"task: no {self.task!r}; there are classification and regression")
        self.task_ = self.task or _guess(y)
        classes = self.task_ == "classification"
        plain = self.class_weight is None or isinstance(self.class_weight, str)
        if self.metric == "balanced-error" and not plain:
            raise ValueError(
                "class_weight: a weight for each class does not go with metric='balanced-error', "
                "in which all classes count the same"
            )
        if classes:
            values, self.classes_, name = class_labels(self, X, y)
        else:
            values, name = number_targets(self, X, y)
        weights = self._weights(known["sample_weight"], X, y)
        return Rows(X, roles, (name, values, classes), weights, known["groups"])

    def predict(self, X: Any) -> npt.NDArray[Any]:
        """What the best model predicts."""
        if self._task() == "classification":
            return KoanClassifier.predict(self, X)
        return self._run(X, "values")[:, 0].astype(np.float64)

    @available_if(_classifies)
    def predict_proba(self, X: Any) -> npt.NDArray[np.float64]:
        """The probability of each class by the best model."""
        return KoanClassifier.predict_proba(self, X)

    @available_if(_classifies)
    def decision_function(self, X: Any) -> npt.NDArray[np.float64]:
        """Scores of the best model; see ``KoanClassifier``."""
        return KoanClassifier.decision_function(self, X)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """The share of right classes, or R²; ``y`` and ``sample_weight`` may name columns of ``X``."""
        y, sample_weight = values_of(X, y=y, sample_weight=sample_weight)
        if self._task() == "classification":
            return float(accuracy_score(plain(y), self.predict(X), sample_weight=sample_weight))
        return float(r2_score(real(y), self.predict(X), sample_weight=sample_weight))

    def front_report(self, X: Any = None, y: Any = None) -> Report:
        """The page of the search, that of ``koan tune --report``: bytes against error of all models
        that were judged, the front, and the rounds of the search.

        Parameters
        ----------
        X, y : rows that the search has not seen, to judge the models of the front by; y may name a
            column of X
        """
        check_is_fitted(self)
        if X is None and y is not None:
            raise ValueError("y: goes with X")
        judged = None if X is None else self._to_judge(X, y)
        rows = "" if X is None else "X_test, y_test"
        made = f"search = {self._fixed()!r}\nsearch.fit(X, y)\nsearch.front_report({rows})"
        blobs = [found.model._blob for found in self.front_]
        with Told(self.verbose) as told:
            return Report(
                _koan.search(self._search, blobs, judged, made, threads(self.n_jobs), told.listener)
            )

    def _facts(self) -> list[tuple[str, str]]:
        facts = [(key, text) for key, text in super()._facts() if key != "error on held-out rows"]
        return [(f"{self.metric} on held-out rows", f"{self.held_out_error_:.4g}"), *facts]

    def _repr_html_(self) -> str:
        shown = super()._repr_html_()
        if not hasattr(self, "front_"):
            return shown
        head = ("bytes", self.metric, "RAM", "instructions", "family", "features", "bits")
        rows = [
            (
                str(found.nbytes),
                f"{found.held_out:.4g}",
                str(found.ram),
                str(found.instructions),
                found.report["family"],
                str(found.report["features"]),
                str(found.report["bits"]),
            )
            for found in self.front_
        ]
        return table(rows, head) + shown

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        from sklearn.utils import ClassifierTags, RegressorTags

        tags.target_tags.required = True
        if self._task() == "classification":
            tags.estimator_type = "classifier"
            tags.classifier_tags = ClassifierTags()
        elif self._task() == "regression":
            tags.estimator_type = "regressor"
            tags.regressor_tags = RegressorTags()
        return tags


def _guess(y: Any) -> str:
    """The task by the target, as files are read."""
    values = np.asarray(y).reshape(-1)
    if values.dtype.kind == "O":
        values = values[[not is_missing(value) for value in values]]
        if days_of(values) is not None or times_of(values) is not None:
            return "regression"
        if len(values) and all(isinstance(value, Decimal) for value in values):
            return "regression"
        if all(isinstance(value, (Real, np.bool_)) for value in values):
            values = np.array(values.tolist())
    if values.dtype.kind == "f":
        # What is wrong with others is told later, with the row.
        values = values[np.isfinite(values)]
    if values.dtype.kind in "mM":
        return "regression"
    if values.dtype.kind not in "iuf" or not len(values):
        return "classification"
    if type_of_target(values) in ("continuous", "unknown"):
        return "regression"
    distinct = len(np.unique(values))
    few = distinct <= _CLASSES and len(values) >= 2 * distinct
    return "classification" if few else "regression"
