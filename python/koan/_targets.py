"""What is to be predicted, as the core takes it."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.utils import column_or_1d
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_consistent_length

from ._columns import (
    check_unmasked,
    days_of,
    in_order,
    is_missing,
    numbers,
    stripped,
    times_of,
)


def _given(estimator: Any, X: Any, y: Any) -> tuple[Any, str]:
    if y is None:
        raise ValueError(
            f"This {type(estimator).__name__} estimator requires y to be passed, but the target y "
            "is None."
        )
    name = getattr(y, "name", None)
    if isinstance(y, (list, tuple)) and len({isinstance(value, str) for value in y}) > 1:
        raise ValueError("y: classes of several types: texts and others")
    check_unmasked("y", y)
    if hasattr(y, "iloc"):
        # As a column of a table that is named: of pandas' own types, too.
        y = y.to_numpy()
    y = column_or_1d(y, warn=True)
    check_consistent_length(X, y)
    return y, name if isinstance(name, str) else ""


def class_labels(estimator: Any, X: Any, y: Any) -> tuple[Any, npt.NDArray[Any], str]:
    """Labels as the core takes them, the classes in order, and the name of the target."""
    y, name = _given(estimator, X, y)
    missing = [is_missing(value) for value in y] if y.dtype.kind == "O" else y != y
    if np.any(missing):
        row = int(np.argmax(missing))
        nan = " (NaN)" if isinstance(y[row], (float, np.floating)) else ""
        raise ValueError(f"y: row {row + 1}: the class is missing{nan}")
    y = plain(y)
    check_classification_targets(y)
    try:
        classes = np.unique(y)
    except TypeError as error:
        kinds = sorted({type(value).__name__ for value in y})
        raise ValueError(f"y: classes of several types: {', '.join(kinds)}") from error
    if y.dtype.kind in "iu":
        return _whole(y), classes, name
    if y.dtype.kind == "f":
        return in_order(y, np.float64), classes, name
    texts = [stripped(value) for value in y]
    if "" in texts:
        raise ValueError(f"y: row {texts.index('') + 1}: the class is missing (an empty text)")
    known = sorted(set(texts))
    if known != [stripped(value) for value in classes]:
        if known == sorted({str(value) for value in classes}):
            raise ValueError("y: classes that are different, but not as texts")
        raise ValueError(
            "y: without the blanks around them classes are the same, or in another order: strip "
            "them, as pandas' y.str.strip() does"
        )
    return texts, classes, name


def plain(y: Any) -> Any:
    """Objects that are all bools, or all whole numbers, as an array of these."""
    y = np.asarray(y)
    if y.dtype.kind != "O":
        return y
    if all(isinstance(value, (bool, np.bool_)) for value in y.flat):
        return y.astype(bool)
    if all(isinstance(value, (int, np.integer)) for value in y.flat):
        return _whole(y)
    return y


def _whole(y: npt.NDArray[Any]) -> npt.NDArray[np.int64]:
    """Classes that are whole numbers."""
    if y.dtype.kind == "O" or y.dtype == np.uint64:
        large = (y >= 2**63) | (y < -(2**63))
        if large.any():
            row = int(np.argmax(large))
            raise ValueError(
                f"y: row {row + 1}: {y[row]} is beyond whole numbers of 64 bits with a sign: give "
                "such classes as texts, for instance by astype(str)"
            )
    return in_order(y, np.int64)


def number_targets(estimator: Any, X: Any, y: Any) -> tuple[Any, str]:
    """Numbers to learn, and the name of the target."""
    y, name = _given(estimator, X, y)
    values = real(y)
    bad = ~np.isfinite(values)
    if bad.any():
        row = int(np.argmax(bad))
        raise ValueError(f"y: row {row + 1}: {values[row]} (input contains NaN or infinity)")
    large = np.abs(values) > np.finfo(np.float32).max
    if large.any():
        row = int(np.argmax(large))
        raise ValueError(
            f"y: row {row + 1}: {values[row]} is beyond the range of numbers, ±3.4e38"
        )
    return values, name


def real(y: Any) -> npt.NDArray[np.float64]:
    """Numbers of a target: times and durations are microseconds and dates days, as of inputs."""
    y = np.asarray(y)
    try:
        if y.dtype == "M8[D]":
            # The dates of Arrow and polars.
            y = np.where(np.isnat(y), np.nan, y.astype(np.int64))
        elif y.dtype.kind in "mM":
            y = numbers(y, "y")
        elif y.dtype.kind == "O":
            found = days_of(y) if y.ndim == 1 else None
            if found is None and y.ndim == 1:
                found = times_of(y)
            missing = [is_missing(value) for value in y.flat]
            y = np.where(np.reshape(missing, y.shape), np.nan, y) if found is None else found
        return in_order(y, np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"y: {error}") from error
