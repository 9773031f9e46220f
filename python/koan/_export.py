"""Models as source of programs."""

from __future__ import annotations

import os
import re
import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _koan
from ._columns import frame, is_table

if TYPE_CHECKING:
    from pathlib import Path

    from ._model import Model


def write(
    model: Model,
    folder: str | os.PathLike[str],
    language: str,
    name: str | None,
    names: Sequence[str] | Any,
    stacklevel: int,
) -> list[Path]:
    """Writes a model, and warns of what is worth knowing of the files; see ``Model.export``."""
    if name is not None and not isinstance(name, str):
        raise ValueError(f"name: {name!r} is no text")
    file = (model._file or _stem(folder, language) + ".koan") if name is None else name + ".koan"
    rows = None if names is None else _named(names)
    written, said = _koan.export(model._blob, folder, language, file, rows, model._names)
    for warning in said:
        warnings.warn(warning, UserWarning, stacklevel=stacklevel + 1)
    return written


def _stem(folder: str | os.PathLike[str], language: str) -> str:
    """What a model without a name is called: as the file of Rust that is named, so that several go
    into one folder."""
    path = os.fsdecode(folder) if language == "rust" else ""
    return os.path.basename(path)[:-3] if path.endswith(".rs") else "model"


def _named(names: Sequence[str] | Any) -> _koan.Frame:
    """A table of these columns, with rows or without."""
    if is_table(names):
        try:
            return frame(names)
        except ValueError as error:
            raise ValueError(re.sub(r"^X\b", "names", str(error))) from error
    listed = [] if isinstance(names, str) or not hasattr(names, "__iter__") else list(names)
    if not listed or not all(isinstance(name, str) for name in listed):
        raise ValueError("names: a list of texts, or a table, is needed")
    return _koan.Frame.of_columns([(name, np.empty(0)) for name in listed], 0)
