"""What all estimators do: parameters, tables, fits, and how they are shown."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator
from sklearn.utils import estimator_html_repr
from sklearn.utils.validation import (
    _check_sample_weight,
    check_consistent_length,
    check_is_fitted,
    validate_data,
)

from . import _koan
from ._clusters import plainly
from ._columns import (
    check_dimensions,
    check_kept,
    check_unmasked,
    frame,
    in_order,
    is_missing,
    is_pandas,
    is_table,
    names_of,
    place_of,
    unmasked,
)
from ._given import AMOUNTS, amount, places, seed, weights_of_classes, whole
from ._model import Model, table, threads, zeros
from ._progress import Told
from ._trained import read_report, warn_of

if TYPE_CHECKING:
    from pathlib import Path

# Parameters that say how the package works, not what is trained.
_OWN = ("n_jobs", "unknown", "verbose")

Target = tuple[str, Any, bool] | None


class Rows(NamedTuple):
    """Rows to learn from, checked."""

    X: Any
    roles: dict[int, str]
    """Columns that are no inputs."""
    target: Target
    """Its name, its values, and whether these are classes."""
    weights: Any
    groups: Any

    def as_taken(self) -> tuple[_koan.Frame, dict[int, str], Target, Any, Any]:
        """As the core takes them."""
        X = frame(self.X, self.roles)
        return X, self.roles, self.target, self.weights, _groups(self.groups, self.X)

    def read_report(self, text: str) -> dict[str, Any]:
        """The report of what was learned from them."""
        places = [place for place, role in self.roles.items() if role == "target"]
        # A target apart is taken for one more column.
        columns = len(names_of(self.X)) if is_table(self.X) else self.X.shape[1]
        return read_report(text, (places or [columns])[0] + 1, apart=not places)


class Koan(BaseEstimator):
    """What all estimators have in common."""

    model_: Model
    # For each column what stands in for missing values, where these are imputed: the model has
    # stand-ins only of columns that had missing values in training.
    _stand_ins: list[float | None] | None = None

    @contextmanager
    def _fitting(self) -> Iterator[None]:
        """A fit begins without what an earlier one found; one that fails or is interrupted leaves
        the estimator as it was, so that names are never those of another model."""
        before = dict(self.__dict__)
        for name in before:
            if name.endswith("_") and not name.startswith("_"):
                delattr(self, name)
        try:
            yield
        except BaseException:
            self.__dict__.clear()
            self.__dict__.update(before)
            raise

    def _params(self, X: Any) -> dict[str, Any]:
        """The parameters as the core takes them, for a fit to X."""
        zeros(getattr(self, "unknown", "error"))
        given = {key: value for key, value in self.get_params(deep=False).items() if key not in _OWN}
        plainly(given)
        features = given.get("n_features")
        if features is not None:
            given["n_features"] = [whole("n_features", value) for value in features]
        for name in ("bits", "candidates", "kernel", "pool", "slot_bits", "depth"):
            if given.get(name) is not None:
                given[name] = whole(name, given[name])
        if isinstance(given.get("with_code"), bool):
            given["with_code"] = "fast" if given["with_code"] else None
        for name in AMOUNTS:
            if name in given:
                given[name] = amount(name, given[name])
        categories = given.get("categorical_features")
        if categories is not None:
            given["categorical_features"] = places("categorical_features", categories, X)
        given["random_state"] = seed("random_state", given.get("random_state"))
        return given

    def _again(self, params: dict[str, Any]) -> dict[str, Any]:
        """Parameters that a search found, with those that are not of the core: with them a fit to
        the same rows makes the model again."""
        kept = {name: getattr(self, name, None) for name in ("class_weight", "missing", "unknown")}
        usual = (None, "refuse", "error")
        return {name: value for name, value in kept.items() if value not in usual} | params

    def _rows(
        self, X: Any, y: Any, sample_weight: Any, groups: Any
    ) -> tuple[Any, dict[str, Any], dict[int, str]]:
        """X checked, with the values of what names columns of it, and the columns' roles."""
        self._check_dimensions(X)
        X = unmasked(X)
        values = {"y": y, "sample_weight": sample_weight, "groups": groups}
        named = list(values.items())
        if not is_table(X):
            for name, value in named:
                if isinstance(value, str):
                    named_column(X, name, value)
            return self._checked(X, True), values, {}
        names = names_of(X)
        roles: dict[int, str] = {}
        kinds = {"y": "target", "sample_weight": "weights", "groups": "groups"}
        for name, value in named:
            if isinstance(value, str):
                values[name] = named_column(X, name, value)
                other = roles.get(names.index(value))
                if other is not None:
                    first = next(key for key in kinds if kinds[key] == other)
                    raise ValueError(f"{name}: the column `{value}` is given as {first}, too")
                roles[names.index(value)] = kinds[name]
        if roles:
            inputs = [name for place, name in enumerate(names) if place not in roles]
            self.n_features_in_ = len(inputs)
            self.feature_names_in_ = np.array(inputs, dtype=object)
        else:
            validate_data(self, X, skip_check_array=True)
        return X, values, roles

    def _check_dimensions(self, X: Any) -> None:
        check_kept(X)
        check_dimensions(X, shaped=hasattr(self, "shape"))

    def _checked(self, X: Any, reset: bool) -> Any:
        """An array or a sparse matrix, checked."""
        if isinstance(X, np.ndarray) and X.dtype.kind in "OUS" and X.ndim == 2 and _has_texts(X):
            validate_data(self, X, reset=reset, skip_check_array=True)
            return X
        finite = "allow-nan" if getattr(self, "missing", None) == "impute" else True
        return validate_data(
            self,
            X,
            reset=reset,
            accept_sparse="csr",
            accept_large_sparse=True,
            dtype="numeric",
            order="C",
            ensure_all_finite=finite,
            ensure_min_samples=2 if reset else 1,
        )

    def _weights(self, sample_weight: Any, X: Any, y: Any = None) -> Any:
        weights = None
        if sample_weight is not None:
            weights = row_weights(sample_weight, X)
        scaled = weights_of_classes("class_weight", getattr(self, "class_weight", None), y)
        if scaled is not None:
            weights = scaled if weights is None else weights * scaled
        return None if weights is None else in_order(weights)

    def _train(self, rows: Rows, **more: Any) -> None:
        given = {**self._params(rows.X), **more}
        with Told(getattr(self, "verbose", None)) as told:
            blob, report, held_out, params, names, self._stand_ins = _koan.train(
                *rows.as_taken(), given, threads(getattr(self, "n_jobs", None)), told.listener
            )
        self.model_ = Model._trained(blob, names)
        self.report_ = rows.read_report(report)
        warn_of(self.report_, stacklevel=3)
        self.held_out_error_ = held_out
        self.params_ = None if params is None else self._again(params)

    def _run(self, X: Any, asked: str) -> npt.NDArray[Any]:
        check_is_fitted(self)
        return self.model_._run(
            self._known(X),
            asked,
            getattr(self, "unknown", "error"),
            getattr(self, "n_jobs", None),
            getattr(self, "missing", None) == "impute",
            self._stand_ins,
        )

    def _known(self, X: Any) -> Any:
        """X to predict with, checked."""
        self._check_dimensions(X)
        if not is_table(X):
            return self._checked(unmasked(X), False)
        fitted = getattr(self, "feature_names_in_", None)
        if fitted is not None:
            names = names_of(X)
            wanted = [str(name) for name in fitted]
            # The table that was learned from has more columns: those of y, weights and groups.
            fewer = names != wanted and set(wanted) < set(names)
            if fewer:
                chosen = [place_of(X, "X", name) for name in wanted]
                # By place, since names need not be texts.
                X = X.iloc[:, chosen].set_axis(wanted, axis=1) if is_pandas(X) else X.select(wanted)
            elif is_pandas(X) and names == wanted and list(X.columns) != wanted:
                X = X.set_axis(wanted, axis=1)
        validate_data(self, X, reset=False, skip_check_array=True)
        return X

    def to_bytes(self) -> bytes:
        """The bytes of the model: what a device runs."""
        check_is_fitted(self)
        return self.model_.to_bytes()

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the model to a file; ``koan.load`` reads it, and a device runs it."""
        check_is_fitted(self)
        self.model_.save(path)

    def export(
        self,
        folder: str | os.PathLike[str],
        language: str = "c",
        *,
        name: str | None = None,
        names: Sequence[str] | Any = None,
    ) -> list[Path]:
        """Writes the model as source of a program in ``c``, ``arduino`` or ``rust``: as
        ``koan.Model.export``, with the names of the columns that were trained on."""
        check_is_fitted(self)
        from ._export import write

        return write(self.model_, folder, language, name, names, stacklevel=2)

    def _facts(self) -> list[tuple[str, str]]:
        """What a notebook shows of a fitted estimator."""
        report = self.report_
        facts = [
            ("features", f"{report['features']} {report['family']} ({report['projection']})"),
            ("bits of a weight", str(report["bits"])),
            ("bytes", str(self.model_.nbytes)),
            ("RAM of the buffers", str(self.model_.ram)),
        ]
        if self.held_out_error_ is not None:
            facts.insert(0, ("error on held-out rows", f"{100 * self.held_out_error_:.2f} %"))
        return facts + [("warning", warning) for warning in report.get("warnings", [])]

    def _repr_html_(self) -> str:
        shown: str = estimator_html_repr(self)
        return (table(self._facts()) + shown) if hasattr(self, "model_") else shown

    def _repr_mimebundle_(self, **_: Any) -> dict[str, str]:
        return {"text/plain": repr(self), "text/html": self._repr_html_()}

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = getattr(self, "missing", None) == "impute"
        tags.input_tags.string = True
        tags.input_tags.categorical = True
        return tags


def _has_texts(X: np.ndarray) -> bool:
    return X.dtype.kind in "US" or any(isinstance(value, str) for value in X.flat)


def length(X: Any) -> int:
    """Rows of an array or a table."""
    shape = getattr(X, "shape", None)
    return len(X) if shape is None else shape[0]


def values_of(X: Any, **given: Any) -> list[Any]:
    """Parameters that may name columns of X, as values."""
    return [named_column(X, k, v) if isinstance(v, str) else v for k, v in given.items()]


def row_weights(sample_weight: Any, X: Any) -> Any:
    """How much each row of X counts: finite numbers, at least 0."""
    check_unmasked("sample_weight", sample_weight)
    rows = np.empty((length(X), 1))
    return _check_sample_weight(sample_weight, rows, dtype=np.float64, ensure_non_negative=True)


def named_column(X: Any, parameter: str, name: str) -> Any:
    """The column of X that a parameter names."""
    if not is_table(X):
        raise ValueError(f"{parameter}: {name!r} names a column, which X does not have")
    check_kept(X)
    place = place_of(X, parameter, name)
    # By place, since names need not be texts. Arrow's own `to_numpy` refuses texts.
    return np.asarray(X.iloc[:, place].to_numpy() if is_pandas(X) else X[name])


def _groups(groups: Any, X: Any) -> Any:
    """Groups as numbers: only which rows are alike matters."""
    if groups is None:
        return None
    check_consistent_length(X, groups)
    check_unmasked("groups", groups)
    values = np.asarray(groups).reshape(-1)
    unlike = values.dtype == object
    missing = [is_missing(value) for value in values] if unlike else values != values
    if np.any(missing):
        raise ValueError(f"groups: row {np.argmax(missing) + 1}: the group is missing")
    # In the order in which they come, as in files.
    try:
        _, first, inverse = np.unique(values, return_index=True, return_inverse=True)
    except TypeError as error:
        kinds = ", ".join(sorted({type(value).__name__ for value in values}))
        raise ValueError(f"groups: values of several types: {kinds}") from error
    order = np.empty(len(first), dtype=np.int64)
    order[np.argsort(first)] = np.arange(len(first))
    return np.ascontiguousarray(order[inverse.reshape(-1)])
