"""What the package calls; written in Rust."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, final

import numpy as np
import numpy.typing as npt

__all__ = [
    "Blob",
    "Columns",
    "Descent",
    "Frame",
    "Gradients",
    "Plan",
    "Sample",
    "Sums",
    "Verdict",
    "__version__",
    "evaluation",
    "export",
    "finish",
    "judged",
    "merge_slabs",
    "merge_verdicts",
    "search",
    "train",
    "training",
    "tune",
    "write_whole",
]
__version__: str

@final
class Frame:
    @staticmethod
    def of_matrix(matrix: npt.NDArray[Any], names: list[str] | None = None) -> Frame: ...
    @staticmethod
    def of_columns(
        columns: list[tuple[str, Any]], rows: int, categories: set[int] = set()
    ) -> Frame: ...
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
    def code(self) -> int: ...
    def instructions(self, core: str) -> int: ...
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
        self,
        frame: Frame,
        asked: str,
        zeros: bool = False,
        impute: bool = False,
        threads: int | None = None,
        stand_ins: list[float | None] | None = None,
    ) -> npt.NDArray[Any]: ...

def write_whole(path: str | os.PathLike[str], data: bytes) -> None: ...
def export(
    blob: Blob,
    folder: str | os.PathLike[str],
    language: str,
    file: str,
    rows: Frame | None = None,
    kept: str | None = None,
) -> tuple[list[Path], list[str]]: ...
def train(
    frame: Frame,
    roles: dict[int, str],
    target: tuple[str, Any, bool] | None,
    weights: Any,
    groups: Any,
    given: dict[str, Any],
    threads: int | None = None,
    listener: Callable[[str], None] | None = None,
) -> tuple[
    bytes, str, float | None, dict[str, Any] | None, str | None, list[float | None] | None
]: ...
def tune(
    frame: Frame,
    roles: dict[int, str],
    target: tuple[str, Any, bool] | None,
    weights: Any,
    groups: Any,
    given: dict[str, Any],
    threads: int | None = None,
    listener: Callable[[str], None] | None = None,
) -> tuple[list[dict[str, Any]], bool, str, list[float | None] | None]: ...
def evaluation(
    blob: Blob,
    judged: tuple[Frame, Any, bool, list[float | None] | None, list[float] | None],
    called: tuple[str, str],
    threads: int | None = None,
    listener: Callable[[str], None] | None = None,
) -> str: ...
def search(
    search: str,
    blobs: list[Blob],
    judged: tuple[Frame, Any, bool, list[float | None] | None, list[float] | None] | None,
    made: str,
    threads: int | None = None,
    listener: Callable[[str], None] | None = None,
) -> str: ...
def training(
    blob: Blob,
    judged: tuple[Frame, Any, bool, list[float | None] | None, list[float] | None],
    learned: tuple[
        Frame,
        dict[int, str],
        tuple[str, Any, bool] | None,
        Any,
        Any,
        dict[str, Any],
        dict[str, Any] | None,
    ],
    called: tuple[str, str],
    seconds: float,
    threads: int | None = None,
    listener: Callable[[str], None] | None = None,
) -> str: ...

@final
class Columns:
    def __new__(
        cls,
        target: str,
        weights: str | None = None,
        groups: str | None = None,
        impute: bool = False,
        zeros: bool = False,
    ) -> Columns: ...
    def add(self, frame: Frame) -> None: ...
    def merge(self, other: Columns) -> None: ...
    def to_bytes(self) -> bytes: ...
    @staticmethod
    def from_bytes(bytes: bytes) -> Columns: ...
    def sample(
        self, task: str | None, seed: int, test_fraction: float, rows: int
    ) -> Sample: ...

@final
class Sample:
    def add(self, frame: Frame) -> None: ...
    def merge(self, other: Sample) -> None: ...
    def to_bytes(self) -> bytes: ...
    @staticmethod
    def from_bytes(bytes: bytes) -> Sample: ...
    def plan(
        self,
        given: dict[str, Any],
        threads: int | None = None,
        listener: Callable[[str], None] | None = None,
    ) -> Plan: ...

@final
class Plan:
    def to_bytes(self, for_workers: bool = False) -> bytes: ...
    @staticmethod
    def from_bytes(bytes: bytes) -> Plan: ...
    @property
    def features(self) -> int: ...
    @property
    def loss(self) -> str: ...

@final
class Sums:
    def __new__(cls, plan: Plan) -> Sums: ...
    def add(self, frame: Frame, threads: int | None = None) -> None: ...
    def merge(self, other: Sums) -> None: ...
    @property
    def rows(self) -> int: ...
    def to_bytes(self) -> bytes: ...
    @staticmethod
    def from_bytes(plan: Plan, bytes: bytes) -> Sums: ...
    def slabs(self, count: int) -> list[bytes]: ...
    @staticmethod
    def from_slabs(plan: Plan, slabs: list[bytes]) -> Sums: ...

@final
class Gradients:
    def __new__(cls, plan: Plan, step: bytes) -> Gradients: ...
    def add(self, frame: Frame, threads: int | None = None) -> None: ...
    def merge(self, other: Gradients) -> None: ...
    @property
    def rows(self) -> int: ...
    def to_bytes(self) -> bytes: ...
    @staticmethod
    def from_bytes(plan: Plan, step: bytes, bytes: bytes) -> Gradients: ...

@final
class Descent:
    def __new__(cls, plan: Plan, sums: Sums, threads: int | None = None) -> Descent: ...
    @property
    def done(self) -> bool: ...
    @property
    def passes(self) -> int: ...
    def step(self) -> bytes: ...
    def advance(self, gradients: Gradients, threads: int | None = None) -> None: ...
    def to_bytes(self) -> bytes: ...
    @staticmethod
    def from_bytes(
        plan: Plan, sums: Sums, bytes: bytes, threads: int | None = None
    ) -> Descent: ...
    def finish(self, threads: int | None = None) -> tuple[bytes, str]: ...

@final
class Verdict:
    def __new__(cls, plan: Plan, blob: bytes) -> Verdict: ...
    def add(self, frame: Frame) -> None: ...
    def to_bytes(self) -> bytes: ...

def merge_slabs(slabs: list[bytes]) -> bytes: ...
def merge_verdicts(parts: list[bytes]) -> bytes: ...
def judged(verdict: bytes) -> str | None: ...
def finish(
    plan: Plan,
    sums: Sums,
    threads: int | None = None,
    listener: Callable[[str], None] | None = None,
) -> tuple[bytes, str]: ...
