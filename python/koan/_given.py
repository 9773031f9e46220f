"""Parameters in the forms in which they are given."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.utils import check_random_state
from sklearn.utils.class_weight import compute_sample_weight

from ._columns import is_table, names_of, place_of

# Amounts that may be texts, and what their k is.
AMOUNTS = {"flash": 1024, "ram": 1024, "instructions": 1000}


def amount(name: str, value: Any) -> Any:
    """A whole number, also as ``"2k"`` or ``2048.0``."""
    if not isinstance(value, str):
        is_whole = isinstance(value, (float, np.floating)) and float(value).is_integer()
        return int(value) if is_whole else value
    kilo = AMOUNTS[name]
    text = value.strip().lower()
    factor = {"k": kilo, "m": kilo * kilo}.get(text[-1:], 1)
    try:
        number = float(text if factor == 1 else text[:-1])
    except ValueError:
        number = 0.0
    if not 0 < number < 2**32:
        what = "instructions" if name == "instructions" else "bytes"
        raise ValueError(f"{name}: {value!r} is no number of {what}, such as 2000 or '2k'")
    return int(number * factor)


def whole(name: str, value: Any) -> int:
    """A whole number."""
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, (int, np.integer)):
        raise ValueError(f"{name}: {value!r} is not a whole number")
    return int(value)


def places(name: str, columns: Any, X: Any) -> list[int]:
    """The places of columns of X that are given by place or name."""
    if isinstance(columns, str) or not hasattr(columns, "__iter__"):
        raise ValueError(
            f"{name}: {columns!r} is no list of columns, such as [{columns!r}]; columns of a "
            "DataFrame that are of type category need not be listed"
        )
    width = len(names_of(X)) if is_table(X) else np.shape(X)[-1]
    found = []
    for column in columns:
        if not isinstance(column, str):
            place = whole(name, column)
            if place >= width:
                raise ValueError(f"{name}: no column {place}: X has {width}, from 0")
            found.append(place)
        elif is_table(X):
            found.append(place_of(X, name, column))
        else:
            raise ValueError(f"{name}: X has no column `{column}`")
    return found


def seed(name: str, state: Any) -> int:
    """The seed that is given, or one that is drawn."""
    if not isinstance(state, (int, np.integer)):
        try:
            state = check_random_state(state).randint(2**31)
        except ValueError as error:
            raise ValueError(
                f"{name}: {state!r} is neither a whole number from 0 on, a "
                "numpy.random.RandomState nor None"
            ) from error
    return int(state)


def weights_of_classes(name: str, given: Any, y: Any) -> npt.NDArray[np.float64] | None:
    """Weights of rows by their classes; None where the core knows them."""
    if given is None or (isinstance(given, str) and given == "balanced"):
        return None
    if isinstance(given, str) or not hasattr(given, "items"):
        raise ValueError(f"{name}: {given!r} is neither None, 'balanced' nor a dict")
    for label, weight in given.items():
        if not (isinstance(weight, (int, float, np.number)) and 0 <= weight < math.inf):
            raise ValueError(
                f"{name}: {weight!r} of the class {label!r}: a weight is a finite number, at least 0"
            )
    try:
        weights = np.asarray(compute_sample_weight(given, y), np.float64)
    except (ValueError, TypeError) as error:
        raise ValueError(f"{name}: {error}") from error
    if not weights.any():
        raise ValueError(f"{name}: the weights of all rows are 0")
    return weights
