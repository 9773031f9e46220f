"""What is to be predicted, as the core takes it."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.utils import column_or_1d
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_consistent_length

from ._columns import check_unmasked, in_order, numbers


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
    y = column_or_1d(y, warn=True)
    check_consistent_length(X, y)
    return y, name if isinstance(name, str) else ""


def class_labels(estimator: Any, X: Any, y: Any) -> tuple[Any, npt.NDArray[Any], str]:
    """Labels as the core takes them, the classes in order, and the name of the target."""
    y, name = _given(estimator, X, y)
    if y.dtype.kind == "O" and any(value is None or value != value for value in y):
        row = next(row for row, value in enumerate(y) if value is None or value != value)
        raise ValueError(f"y: row {row + 1}: the class is missing (NaN)")
    check_classification_targets(y)
    try:
        classes = np.unique(y)
    except TypeError as error:
        kinds = sorted({type(value).__name__ for value in y})
        raise ValueError(f"y: classes of several types: {', '.join(kinds)}") from error
    if y.dtype.kind in "iu":
        return in_order(y, np.int64), classes, name
    if y.dtype.kind == "f":
        return in_order(y, np.float64), classes, name
    texts = [str(value) for value in y]
    if "" in texts:
        raise ValueError(f"y: row {texts.index('') + 1}: the class is missing (an empty text)")
    if len(set(texts)) != len(classes) or sorted(set(texts)) != [str(c) for c in classes]:
        if all(isinstance(value, (int, np.integer)) for value in y):
            return np.array([int(value) for value in y], dtype=np.int64), classes, name
        raise ValueError("y: classes that are different, but not as texts")
    return texts, classes, name


def number_targets(estimator: Any, X: Any, y: Any) -> tuple[Any, str]:
    """Numbers to learn, and the name of the target."""
    y, name = _given(estimator, X, y)
    try:
        if y.dtype.kind in "mM":  # microseconds, as of inputs
            y = numbers(y, "y")
        values = in_order(y, np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"y: {error}") from error
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
