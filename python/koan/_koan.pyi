"""What the package calls; written in Rust."""

from collections.abc import Callable
from typing import Any, final

import numpy as np
import numpy.typing as npt

__all__ = ["Blob", "Frame", "__version__", "train", "tune"]
__version__: str

@final
class Frame:
    @staticmethod
    def of_matrix(matrix: npt.NDArray[Any], names: list[str] | None = None) -> Frame: ...
    @staticmethod
    def of_columns(columns: list[tuple[str, Any]], rows: int) -> Frame: ...
    @staticmethod
    def of_arrow(table: Any) -> Frame: ...
    @property
    def rows(self) -> int: ...
    @property
    def names(self) -> list[str]: ...

@final
class Blob:
    def __new__(cls, bytes: bytes) -> Blob: ...
    def bytes(self) -> bytes: ...
    @property
    def nbytes(self) -> int: ...
    @property
    def inputs(self) -> int: ...
    @property
    def outputs(self) -> int: ...
    @property
    def features(self) -> int: ...
    @property
    def task(self) -> str: ...
    @property
    def seed(self) -> int: ...
    @property
    def ram(self) -> int: ...
    @property
    def scale(self) -> float: ...
    @property
    def notes(self) -> str: ...
    @property
    def families(self) -> list[str]: ...
    @property
    def classes(self) -> list[str]: ...
    @property
    def columns(self) -> list[str] | None: ...
    def self_test(self) -> None: ...
    def run(
        self, frame: Frame, asked: str, zeros: bool = False, threads: int | None = None
    ) -> npt.NDArray[Any]: ...

def train(
    frame: Frame,
    roles: dict[int, str],
    target: tuple[str, Any, bool] | None,
    weights: Any,
    groups: Any,
    given: dict[str, Any],
    threads: int | None = None,
    listener: Callable[[str], None] | None = None,
) -> tuple[bytes, str, float | None, dict[str, Any] | None]: ...
def tune(
    frame: Frame,
    roles: dict[int, str],
    target: tuple[str, Any, bool] | None,
    weights: Any,
    groups: Any,
    given: dict[str, Any],
    threads: int | None = None,
    listener: Callable[[str], None] | None = None,
) -> tuple[list[dict[str, Any]], bool]: ...
