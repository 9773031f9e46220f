"""Tables of any kind as what the core reads."""

from __future__ import annotations

import datetime
from collections.abc import Collection
from importlib.util import find_spec
from typing import Any

import numpy as np

from ._koan import Frame

# The day that dates are counted from.
_FIRST = datetime.date(1970, 1, 1).toordinal()
_UTC = datetime.timezone.utc
_MICROSECOND = datetime.timedelta(microseconds=1)

# Types that are read where they lie.
_READ = {np.dtype(name) for name in ("f4", "f8", "i8", "i4", "i2", "u1")}

# What arrays of more dimensions than two mostly are.
_AXES = {3: "windows × samples × channels", 4: "images × height × width × channels"}

# What helps where a text stands among numbers, and where a number stands among texts.
_NO_TEXT = (
    "correct it or leave the row out, or make it a missing value by pandas.to_numeric(..., "
    'errors="coerce"), which missing="impute" allows'
)
_ONE_TYPE = "make the column one type, for instance by astype(str)"


def is_table(X: Any) -> bool:
    """Whether X has columns of types of their own: a DataFrame, or a table of Arrow's."""
    return (hasattr(X, "__arrow_c_stream__") and not _is_column(X)) or is_pandas(X)


def _is_column(X: Any) -> bool:
    """Whether X is a Series, or that of Arrow's: a column without a table."""
    return hasattr(X, "to_frame") or _is_chunked(X)


def _is_chunked(X: Any) -> bool:
    return hasattr(X, "combine_chunks") and not hasattr(X, "column_names")


def is_pandas(X: Any) -> bool:
    """Whether X is a DataFrame of pandas'."""
    return hasattr(X, "iloc") and hasattr(X, "columns")


def names_of(X: Any) -> list[str]:
    """The names of a table's columns."""
    names = getattr(X, "column_names", None)
    return [str(name) for name in (X.columns if names is None else names)]


def place_of(X: Any, parameter: str, name: str) -> int:
    """The place of the column of X that a parameter names."""
    names = names_of(X)
    places = [place for place, known in enumerate(names) if known == name]
    if not places:
        known = ", ".join(f"`{name}`" for name in names[:10])
        raise ValueError(f"{parameter}: X has no column `{name}`; there are {known}")
    if len(places) > 1:
        first, second = places[0] + 1, places[1] + 1
        raise ValueError(f"{parameter}: columns {first} and {second} are both called `{name}`")
    return places[0]


def check_kept(X: Any) -> None:
    """An error where X is gone once it is read."""
    if hasattr(X, "read_all"):
        kind = type(X).__name__
        raise ValueError(f"X: a {kind} can be read only once: X.read_all() is a table")


def check_dimensions(X: Any, shaped: bool = False) -> None:
    """An error that helps where X is a column or has more than two dimensions; `shaped`: there
    is a parameter `shape`."""
    if _is_column(X):
        kind = type(X).__name__
        made = 'pyarrow.table({"x": X})' if _is_chunked(X) else "X.to_frame()"
        raise ValueError(f"X: expected 2D, got a {kind}: {made} is a table of one column")
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


def frame(X: Any, unread: Collection[int] = ()) -> Frame:
    """X as the core reads it: without a copy where it is a matrix of a type that is read. The values
    of columns that are `unread` are given apart."""
    check_dimensions(X)
    X = unmasked(X)
    if is_pandas(X):
        _check_no_periods(X, unread)
        return _pandas(X)
    if hasattr(X, "__arrow_c_stream__"):
        return _arrow(X)
    if hasattr(X, "toarray"):
        return Frame.of_matrix(numbers(X.toarray(), "X"))
    X = np.asarray(X)
    if X.ndim != 2:
        raise ValueError(f"X: rows of columns are needed, not an array of shape {X.shape}")
    if X.dtype.kind in "OUS":
        columns = [("", column(X[:, i], f"column {i + 1}")) for i in range(X.shape[1])]
        return Frame.of_columns(columns, len(X))
    return Frame.of_matrix(numbers(X, "X"))


def _arrow(X: Any) -> Frame:
    """A table by Arrow's interface."""
    try:
        return Frame.of_arrow(X)
    except ValueError as error:
        # What Arrow has no type for, such as some of polars.
        if "C Data interface" not in str(error) or not hasattr(X, "select"):
            raise
        if type(X).__module__.startswith("polars"):
            X = _typed(X)
        for place, name in enumerate(names_of(X)):
            try:
                Frame.of_arrow(X.select([name]))
            except ValueError:
                raise ValueError(
                    f"X: column {place + 1} (`{name}`): values of the type {X.schema[name]} are "
                    "not read: numbers and texts are"
                ) from error
        return Frame.of_arrow(X)


def _typed(X: Any) -> Any:
    """A table of polars', whose columns of no type, of missing values alone, are numbers."""
    import polars as pl

    return X.with_columns(pl.col(pl.Null).cast(pl.Float64))


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
    if values.dtype.kind == "U":
        return [stripped(text) for text in values]
    if values.dtype.kind == "S":
        return [stripped(_decoded(text, row, where, what)) for row, text in enumerate(values)]
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
                others, remedy = ("numbers", _NO_TEXT) if rarer else ("texts", _ONE_TYPE)
                raise ValueError(
                    f"{what}: row {row + 1}, {where}: {values[row]!r} ({kind}) among {others}: "
                    f"{remedy}"
                )
        return [stripped(value) if there else "" for value, there in zip(values, known)]
    days = days_of(values)
    if days is not None:
        return days
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


def _decoded(text: bytes, row: int, where: str, what: str) -> str:
    try:
        return text.decode()
    except UnicodeDecodeError as error:
        problem = f"{bytes(text)!r} is no text of UTF-8"
        raise ValueError(f"{what}: row {row + 1}, {where}: {problem}") from error


def stripped(value: Any) -> str:
    """A text without the blanks of ASCII around it, as files are read."""
    return str(value).strip(" \t\n\f\r")


def days_of(values: np.ndarray) -> np.ndarray | None:
    """Objects that are dates as days since 1970, as dates of Arrow are read; missing ones are NaN.
    None where they are no dates."""
    found = [None if is_missing(value) else value for value in values]
    # Times are dates, too, to Python.
    dated = [value is None or type(value) is datetime.date for value in found]
    if not all(dated) or all(value is None for value in found):
        return None
    days = [None if value is None else value.toordinal() - _FIRST for value in found]
    return np.array(days, np.float64 if None in days else np.int64)


def times_of(values: np.ndarray) -> np.ndarray | None:
    """Objects that are times, or durations, as microseconds, as times of Arrow are read: those of a
    zone in UTC; missing ones are NaN. None where they are others."""
    found = [None if is_missing(value) else value for value in values]
    known = [value for value in found if value is not None]
    if known and all(isinstance(value, datetime.datetime) for value in known):
        first = {zoned: datetime.datetime(1970, 1, 1, tzinfo=zoned) for zoned in (None, _UTC)}
        found = [
            None if value is None else value - first[None if value.tzinfo is None else _UTC]
            for value in found
        ]
    elif not known or not all(isinstance(value, datetime.timedelta) for value in known):
        return None
    whole = [None if value is None else value // _MICROSECOND for value in found]
    return np.array(whole, np.float64 if None in whole else np.int64)


def is_missing(value: Any) -> bool:
    """Whether a value stands for none."""
    return value is None or type(value).__name__ in ("NAType", "NaTType") or value != value


def _has_arrow() -> bool:
    """Whether pandas can give its tables to others."""
    return find_spec("pyarrow") is not None


def _check_no_periods(X: Any, unread: Collection[int]) -> None:
    """An error where a column has periods, whose numbers are other ones for each frequency."""
    for place, (name, dtype) in enumerate(zip(X.columns, X.dtypes)):
        kinds = [dtype, getattr(getattr(dtype, "categories", None), "dtype", None)]
        if place not in unread and any(type(kind).__name__ == "PeriodDtype" for kind in kinds):
            raise ValueError(
                f"X: column {place + 1} (`{name}`): periods are not read: make them times, as "
                ".dt.to_timestamp() does"
            )


def _pandas(X: Any) -> Frame:
    named = all(isinstance(name, str) for name in X.columns)
    names = [name if named else "" for name in X.columns]
    places = range(len(names))
    # Whatever is not plainly one type is looked at here, where the row can be told.
    plain = all(map(_is_plain, X.dtypes))
    if named and plain and _has_arrow():
        table = X.reset_index(drop=True)
        # Spark Connect leaves some in its tables that Arrow cannot write, and warns of.
        table.attrs = {}
        return Frame.of_arrow(table)
    columns = [(names[i], _series(X.iloc[:, i], f"column {i + 1} (`{names[i]}`)")) for i in places]
    listed = {i for i in places if hasattr(X.dtypes.iloc[i], "categories")}
    numbers = {i for i in listed if isinstance(columns[i][1], np.ndarray)}
    return Frame.of_columns(columns, len(X), numbers)


def _categories(series: Any, where: str) -> Any:
    """The values of categories: numbers, or texts."""
    listed = series.dtype.categories
    values = listed.to_numpy()
    codes = series.cat.codes.to_numpy()
    zoned = getattr(listed.dtype, "tz", None) is not None
    texts = values.dtype == object and days_of(values) is None and not zoned
    if values.dtype.kind == "b" or texts:
        named = np.array([str(value) for value in values] + [None], dtype=object)
        return column(named[codes], where)
    known = _series(listed.to_series(), where)
    if (codes < 0).any():
        known = np.append(known, np.nan)
    return known[codes]


def _is_plain(dtype: Any) -> bool:
    """Whether Arrow has values of a type of pandas'."""
    categories = getattr(dtype, "categories", None)
    if categories is not None:
        inner = categories.dtype
        return inner.kind != "O" or all(isinstance(category, str) for category in categories)
    longer = dtype.kind == "f" and getattr(dtype, "itemsize", 8) > 8
    swapped = isinstance(dtype, np.dtype) and not dtype.isnative
    odd = longer or swapped or hasattr(dtype, "fill_value")
    return dtype.kind != "c" and dtype != object and not odd


def _series(series: Any, where: str) -> Any:
    """A column of pandas'."""
    if hasattr(series.dtype, "fill_value"):
        series = series.sparse.to_dense()
    dtype = series.dtype
    if hasattr(dtype, "categories"):
        return _categories(series, where)
    if getattr(dtype, "tz", None) is not None:
        # As by Arrow: times in UTC.
        series = series.dt.tz_convert(None)
        dtype = series.dtype
    if isinstance(dtype, np.dtype) and dtype.kind != "O":
        return numbers(series.to_numpy(), f"X: {where}")
    times = _times_of_arrow(series) if hasattr(dtype, "pyarrow_dtype") else None
    if times is not None:
        return numbers(times, f"X: {where}")
    if dtype.kind in "iufb":
        return series.to_numpy(dtype=np.float64, na_value=np.nan)
    return column(series.to_numpy(dtype=object), where)


def _times_of_arrow(series: Any) -> np.ndarray | None:
    """Times, durations and times of day of a column of Arrow's; None where they are others."""
    import pyarrow as pa

    values = pa.array(series)
    if pa.types.is_time(values.type):
        # Since midnight; finer ones than microseconds are cut off.
        whole = values.cast(pa.time64("us"), safe=False).cast(pa.int64())
        values = whole.cast(pa.duration("us"))
    if not (pa.types.is_timestamp(values.type) or pa.types.is_duration(values.type)):
        return None
    return np.asarray(values.to_numpy(zero_copy_only=False))
