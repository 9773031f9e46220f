"""What training says of a model."""

from __future__ import annotations

import json
import re
import warnings
from typing import Any

# What the library calls a table that no file holds.
_TABLE = "the table: "
# What it says of texts.
_NUMBERS = "make them numbers"


def read_report(text: str, target: int, apart: bool) -> dict[str, Any]:
    """The report of a training, its warnings in the words of Python. `target` is the number of the
    column that is learned, which may be `apart` from the table."""
    report: dict[str, Any] = json.loads(text)
    said = report.get("warnings", [])
    report["warnings"] = [_of_python(warning, target, apart) for warning in said]
    return report


def report_of_parts(text: str, verdict: str | None = None) -> dict[str, Any]:
    """The report of a training on rows in parts, with how good the model is on the test rows, if
    there are any."""
    report: dict[str, Any] = json.loads(text)
    # Errors that only test rows in memory tell, and the time of the last step alone.
    unknown = [key for key, value in report.items() if value is None]
    for key in ("baselines", "seconds", *unknown):
        report.pop(key, None)
    return report if verdict is None else report | json.loads(verdict)


def _of_python(warning: str, target: int, apart: bool) -> str:
    if not warning.startswith(_TABLE):
        return warning
    said = warning.removeprefix(_TABLE).replace(_NUMBERS, f"{_NUMBERS}, as pandas.to_numeric does,")
    place = re.match(r"(row \d+: )?column (\d+)( \(`.*?`\))?:? ", said)
    if place is None or int(place[2]) != target:
        return "X: " + said
    return "y: " + (said.replace(place[0], place[1] or "", 1) if apart else said)


def warn_of(report: dict[str, Any], stacklevel: int) -> None:
    """Warns of what is worth knowing of the rows or the model."""
    for warning in report["warnings"]:
        warnings.warn(warning, UserWarning, stacklevel=stacklevel + 1)
    if report.get("nameless"):
        told = (
            "the names of the columns, which would take too many of the bytes, are left out: a loaded "
            "model takes columns in their order"
        )
        warnings.warn(told, UserWarning, stacklevel=stacklevel + 1)
