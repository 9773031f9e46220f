"""What training says of a model."""

from __future__ import annotations

import json
import warnings
from typing import Any

# What the library calls a table that no file holds.
_TABLE = "the table: "


def read_report(text: str) -> dict[str, Any]:
    """The report of a training, its warnings in the words of Python."""
    report: dict[str, Any] = json.loads(text)
    said = report.get("warnings", [])
    report["warnings"] = [
        "X: " + warning.removeprefix(_TABLE) if warning.startswith(_TABLE) else warning
        for warning in said
    ]
    return report


def warn_of(report: dict[str, Any], stacklevel: int) -> None:
    """Warns of what is worth knowing of the rows or the model."""
    for warning in report["warnings"]:
        warnings.warn(warning, UserWarning, stacklevel=stacklevel + 1)
    if report.get("nameless"):
        told = (
            "the names of the columns, too long for the bytes, are left out: a loaded model takes "
            "columns in their order"
        )
        warnings.warn(told, UserWarning, stacklevel=stacklevel + 1)
