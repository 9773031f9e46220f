"""Tables of any kind as what the core reads."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any

import numpy as np

from ._koan import Frame

# Types that are read where they lie.
_READ = {np.dtype(name) for name in ("f4", "f8", "i8", "i4", "i2", "u1")}

# What arrays of more dimensions than two mostly are.
_AXES = {3: "windows × samples × channels", 4: "images × height × width × channels"}


def is_table(X: Any) -> bool:
    """Whether X has columns of types of their own: a DataFrame, or a table of Arrow's."""
    return (hasattr(X, "__arrow_c_stream__") and not _is_column(X)) or is_pandas(X)


def _is_column(X: Any) -> bool:
    """Whether X is a Series: a column without a table."""
    return hasattr(X, "to_frame")


def is_pandas(X: Any) -> bool:
    """Whether X is a DataFrame of pandas'."""
    return hasattr(X, "iloc") and hasattr(X, "columns")


def names_of(X: Any) -> list[str]:
    """The names of a table's columns."""
    names = getattr(X, "column_names", None)
    return [str(name) for name in (X.columns if names is None else names)]


def check_dimensions(X: Any, shaped: bool = False) -> None:
    """An error that helps where X is a column or has more than two dimensions; `shaped`: there
    is a parameter `shape`."""
    if _is_column(X):
        kind = type(X).__name__
        raise ValueError(f"X: expected 2D, got a {kind}: X.to_frame() is a table of one column")
    if type(X).__name__ == "LazyFrame":
        raise ValueError("X: expected a table, got a LazyFrame: X.collect() is one")
    if isinstance(X, (list, tuple)) and len(X) > 0 and isinstance(X[0], dict):
        raise ValueError("X: expected 2D, got dicts: pandas.DataFrame(X) is a table of them")
    sizes = tuple(getattr(X, "shape", ()))
    if len(sizes) in _AXES:
        said = f", with shape={'x'.join(str(size) for size in sizes[1:])!r}" if shaped else ""
        raise ValueError(
            f"X: expected 2D, got an array of shape {sizes}: if these are {_AXES[len(sizes)]}, "
            f"give X.reshape(len(X), -1){said}"
        )


def unmasked(X: Any) -> Any:
    """X, with missing values in place of those that an array of numpy's masks."""
    if not isinstance(X, np.ma.MaskedArray):
        return X
    if not np.ma.is_masked(X):
        return X.data
    kind = X.dtype.kind
    # Of a type that has missing values.
    values = np.array(X.data, np.float64 if kind in "biu" else object if kind in "US" else X.dtype)
    values[np.ma.getmaskarray(X)] = np.nan if kind in "biufc" else None
    return values


def check_unmasked(what: str, values: Any) -> None:
    """An error where one of the values is masked."""
    if isinstance(values, np.ma.MaskedArray) and np.ma.is_masked(values):
        row = int(np.argmax(np.ma.getmaskarray(values)))
        raise ValueError(f"{what}: row {row + 1}: the value is masked, which is missing")


def in_order(values: Any, dtype: Any = None) -> np.ndarray:
    """An array that the core can read where it lies: a copy where the values lie otherwise."""
    return np.require(values, dtype, ["C", "ALIGNED"])


def frame(X: Any) -> Frame:
    """X as the core reads it: without a copy where it is a matrix of a type that is read."""
    check_dimensions(X)
    X = unmasked(X)
    if is_pandas(X):
        return _pandas(X)
    if hasattr(X, "__arrow_c_stream__"):
        return Frame.of_arrow(X)
    if hasattr(X, "toarray"):
        return Frame.of_matrix(X.astype(np.float32).toarray())
    X = np.asarray(X)
    if X.ndim != 2:
        raise ValueError(f"X: rows of columns are needed, not an array of shape {X.shape}")
    if X.dtype.kind in "OUS":
        columns = [("", column(X[:, i], f"column {i + 1}")) for i in range(X.shape[1])]
        return Frame.of_columns(columns, len(X))
    return Frame.of_matrix(numbers(X, "X"))


def numbers(values: np.ndarray, what: str) -> np.ndarray:
    """Numbers of a type that the core reads, row by row."""
    dtype = values.dtype
    if dtype.kind == "b":
        values = values.view(np.uint8)
    elif dtype.kind in "mM":
        return _microseconds(values)
    elif dtype.kind == "c" or dtype.kind not in "iuf":
        raise ValueError(f"{what}: values of type {dtype} are no numbers")
    elif dtype not in _READ:
        small = dtype.kind == "f" and dtype.itemsize < 8
        whole = dtype.kind in "iu" and not (dtype.kind == "u" and dtype.itemsize == 8)
        values = values.astype(np.float32 if small else np.int64 if whole else np.float64)
    return in_order(values)


def _microseconds(values: np.ndarray) -> np.ndarray:
    """Times since 1970, or durations, whatever unit they are stored in; missing ones are NaN."""
    whole = np.ascontiguousarray(values.astype(f"{values.dtype.kind}8[us]"))
    missing = np.isnat(whole)
    numbers = whole.view(np.int64)
    return np.where(missing, np.nan, numbers.astype(np.float64)) if missing.any() else numbers


def column(values: Any, where: str, what: str = "X") -> Any:
    """A column: an array of numbers, or a list of texts where a missing one is empty."""
    values = np.asarray(values)
    # Texts have no blanks around them, as files are read.
    if values.dtype.kind == "U":
        return [str(text).strip() for text in values]
    if values.dtype.kind == "S":
        return [text.decode().strip() for text in values]
    if values.dtype.kind != "O":
        return numbers(values, what)
    texts = [isinstance(value, str) for value in values]
    known = [not is_missing(value) for value in values]
    if any(texts):
        # The fewer ones are the slip.
        rarer = 2 * sum(texts) < sum(known)
        for row, (text, there) in enumerate(zip(texts, known)):
            if there and text == rarer:
                kind = type(values[row]).__name__
                others = "numbers" if rarer else "texts"
                raise ValueError(
                    f"{what}: row {row + 1}, {where}: {values[row]!r} ({kind}) among {others}: "
                    "make the column one type, for instance by astype(str)"
                )
        return [value.strip() if there else "" for value, there in zip(values, known)]
    try:
        return np.array(
            [float(value) if there else np.nan for value, there in zip(values, known)]
        )
    except (TypeError, ValueError) as error:
        for row, value in enumerate(values):
            if known[row] and not isinstance(value, (int, float, np.number)):
                kind = type(value).__name__
                raise ValueError(
                    f"{what}: row {row + 1}, {where}: {value!r} ({kind}) is neither number nor text"
                ) from error
        raise ValueError(f"{what}: {where}: {error}") from error


def is_missing(value: Any) -> bool:
    """Whether a value stands for none."""
    return value is None or type(value).__name__ in ("NAType", "NaTType") or value != value


def _has_arrow() -> bool:
    """Whether pandas can give its tables to others."""
    return find_spec("pyarrow") is not None


def _pandas(X: Any) -> Frame:
    named = all(isinstance(name, str) for name in X.columns)
    names = [name if named else "" for name in X.columns]
    places = range(len(names))
    # Whatever is not plainly one type is looked at here, where the row can be told.
    plain = all(dtype.kind != "c" and dtype != object for dtype in X.dtypes)
    if named and plain and _has_arrow():
        table = X.reset_index(drop=True)
        # Spark Connect leaves some in its tables that Arrow cannot write, and warns of.
        table.attrs = {}
        return Frame.of_arrow(table)
    columns = [(names[i], _series(X.iloc[:, i], f"column {i + 1} (`{names[i]}`)")) for i in places]
    return Frame.of_columns(columns, len(X))


def _series(series: Any, where: str) -> Any:
    """A column of pandas'."""
    dtype = series.dtype
    if hasattr(dtype, "categories"):
        return column(series.astype(object).to_numpy(), where)
    if getattr(dtype, "tz", None) is not None:
        # As by Arrow: times in UTC.
        series = series.dt.tz_convert(None)
        dtype = series.dtype
    if isinstance(dtype, np.dtype) and dtype.kind != "O":
        return numbers(series.to_numpy(), f"X: {where}")
    if dtype.kind in "iufb":
        return series.to_numpy(dtype=np.float64, na_value=np.nan)
    return column(series.to_numpy(dtype=object), where)
