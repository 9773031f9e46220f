"""Models that run: no training, no scikit-learn."""

from __future__ import annotations

import io
import os
from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np
import numpy.typing as npt

from ._columns import frame
from ._files import read_model
from ._koan import Blob, write_whole

if TYPE_CHECKING:
    from pathlib import Path


def zeros(unknown: str) -> bool:
    """Whether texts that the model does not know are none of its values."""
    if unknown not in ("error", "zeros"):
        raise ValueError(f"unknown: no {unknown!r}; there are 'error' and 'zeros'")
    return unknown == "zeros"


def threads(n_jobs: int | None) -> int | None:
    """How many threads: None for as many as there are cores, or as OMP_NUM_THREADS says."""
    if n_jobs is None:
        given = os.environ.get("OMP_NUM_THREADS", "")
        return int(given) if given.isdecimal() and int(given) > 0 else None
    try:
        n_jobs = int(n_jobs)
    except (TypeError, ValueError):
        raise ValueError(f"n_jobs: {n_jobs!r} is no number of threads") from None
    if n_jobs == 0:
        raise ValueError("n_jobs: 0 threads: from 1 on, or -1 for all cores")
    return n_jobs if n_jobs > 0 else max(1, (os.cpu_count() or 1) + 1 + n_jobs)


def _of_names(names: list[str]) -> npt.NDArray[Any]:
    """Classes by their names: numbers where every name is that of a number."""
    for kind, name in ((np.int64, str), (np.float64, _shortest)):
        try:
            values = np.array([kind(text) for text in names])
        except (ValueError, OverflowError):
            continue
        if np.isfinite(values).all() and [name(value) for value in values] == names:
            return values
    return np.array(names)


def _shortest(number: np.float64) -> str:
    """A number as the trainer names a class by it."""
    return np.format_float_positional(number, trim="-")


class Model:
    """The bytes of a model, checked, and what they compute: the same bits as on a device.

    Rows are arrays, sparse matrices, or tables of pandas, polars and pyarrow, whose columns
    are found by name. Arrays of numbers may also have the inputs that texts become, ``n_inputs``
    numbers in a row, as on a device. Missing numbers are an error in columns that had none missing in
    training. Texts that the model does not know are an error, and missing ones where it has no
    stand-in for missing numbers; with ``unknown="zeros"`` they are none of its values, as in ``koan
    predict``.
    """

    def __init__(self, data: bytes) -> None:
        self._blob = Blob(bytes(data))
        # What the file was called that it was loaded from.
        self._file: str | None = None
        # The names that its training data had, where the bytes have no room for them.
        self._names: str | None = None
        self.report_: dict[str, Any] | None = None
        """How it came about, by ``koan.local.fit``, ``koan.dask.fit`` and ``koan.spark.fit``, with
        warnings and, of test rows, the error; None otherwise."""

    @staticmethod
    def _trained(data: bytes, names: str | None) -> Model:
        model = Model(data)
        model._names = names
        return model

    def to_bytes(self) -> bytes:
        """The bytes: what ``m.koan`` holds, and a device runs."""
        return self._blob.bytes()

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the bytes to a file, whole or not at all."""
        write_whole(path, self.to_bytes())

    def export(
        self,
        folder: str | os.PathLike[str],
        language: str = "c",
        *,
        name: str | None = None,
        names: Sequence[str] | Any = None,
    ) -> list[Path]:
        """Writes the model as source of a program, to the bytes of ``koan export``; see docs/c.md.

        Files are written whole or not at all. Those that are there are replaced if an export wrote
        them, but for an example that was changed: it stays. Others are an error, and nothing is
        written then; so is another model in the place of the one that a module of Rust would include,
        unless the module that is there includes it. What is worth knowing of the files, such as
        columns whose usual values rows of ``int16_t`` do not carry, is a ``UserWarning``.

        Parameters
        ----------
        folder : where the files go; it is made if it is not there
        language : ``c``: the runtime, the model and ``main.c``, which predicts rows of standard
            input. ``arduino``: the same with a sketch, which has the name of the folder. ``rust``:
            the model's bytes and a module that includes them; ``folder`` may also be a file whose
            name ends in ``.rs``
        name : what the model is called: its files, its variable and, in capitals, its constants;
            as the file that it was loaded from, or else as the file of Rust that ``folder`` names,
            or else ``model``
        names : the columns of the training data, where the model has codes in place of their names,
            or none: a list of names, or a table, which also has the values of columns of texts; all
            columns or only the inputs, in their order. What was trained in this process or
            unpickled knows them

        Returns
        -------
        list of pathlib.Path : the files that were written
        """
        from ._export import write

        return write(self, folder, language, name, names, stacklevel=2)

    def __reduce__(self) -> tuple[Any, ...]:
        kept = {"_file": self._file, "_names": self._names, "report_": self.report_}
        kept = {key: value for key, value in kept.items() if value is not None}
        return Model, (self.to_bytes(),), kept or None

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Model) and self.to_bytes() == other.to_bytes()

    def __hash__(self) -> int:
        return hash(self.to_bytes())

    @property
    def nbytes(self) -> int:
        """Bytes of the model: flash of a device."""
        return self._blob.nbytes

    @property
    def code(self) -> int:
        """Bytes of code on a device for this model: about, as on a Cortex-M0, in the fast form."""
        return self._blob.code

    @property
    def ram(self) -> int:
        """Bytes of the buffers that a prediction needs; the stack comes on top."""
        return self._blob.ram

    def instructions(self, core: str = "cortex-m0") -> int:
        """Instructions of a prediction from a row of integers, as predicted for ``core``.

        ``core`` is one that ``KoanSearch`` knows. It tells orders of magnitude and what is cheaper
        than what.
        """
        return self._blob.instructions(core)

    @property
    def task(self) -> str:
        """``classification``, ``regression`` or ``features``."""
        return self._blob.task

    @property
    def n_inputs(self) -> int:
        """Numbers of a row, after texts have become indicators."""
        return self._blob.inputs

    @property
    def n_outputs(self) -> int:
        """Scores of a row."""
        return self._blob.outputs

    @property
    def n_features(self) -> int:
        """Random features of a row."""
        return self._blob.features

    @property
    def families(self) -> list[str]:
        """Families of the features."""
        return self._blob.families

    @property
    def classes(self) -> list[Any]:
        """The classes in order, as ``predict`` gives them."""
        return list(_of_names(self._blob.classes).tolist())

    @property
    def columns(self) -> list[str] | None:
        """Names of the columns that a row needs, empty ones if the model does not have them;
        None if it takes numbers only."""
        return self._blob.columns

    @property
    def seed(self) -> int:
        """What all random draws come from."""
        return self._blob.seed

    @property
    def scale(self) -> float:
        """The real value of a score of 1."""
        return self._blob.scale

    @property
    def notes(self) -> str:
        """How raw columns become inputs, as JSON; see docs/data.md."""
        return self._blob.notes

    def self_test(self) -> None:
        """Computes the golden digest and rows; an error if they are not as when trained."""
        self._blob.self_test()

    def scores(
        self, X: Any, *, unknown: str = "error", n_jobs: int | None = None
    ) -> npt.NDArray[np.int32]:
        """The exact integer scores, rows × outputs."""
        return self._run(X, "scores", unknown, n_jobs)

    def values(
        self, X: Any, *, unknown: str = "error", n_jobs: int | None = None
    ) -> npt.NDArray[np.float32]:
        """Scores in real units, rows × outputs."""
        return self._run(X, "values", unknown, n_jobs)

    def classify(
        self, X: Any, *, unknown: str = "error", n_jobs: int | None = None
    ) -> npt.NDArray[np.int64]:
        """The number of each row's class."""
        return self._run(X, "classes", unknown, n_jobs)[:, 0]

    def predict(
        self, X: Any, *, unknown: str = "error", n_jobs: int | None = None
    ) -> npt.NDArray[Any]:
        """The class of each row, or its value (coordinates, where there are several).

        A model has names of classes. They are numbers here, ``int64`` or else ``float64``, where
        all are numbers as they are written shortest: also of classes that were texts, such as
        ``"1"``. ``"007"`` and ``"True"`` are texts.
        """
        if self.task == "classification":
            classes = _of_names(self._blob.classes)
            return classes[self.classify(X, unknown=unknown, n_jobs=n_jobs)]
        values = self.values(X, unknown=unknown, n_jobs=n_jobs)
        return values[:, 0] if self.n_outputs == 1 else values

    def predict_proba(
        self, X: Any, *, unknown: str = "error", n_jobs: int | None = None
    ) -> npt.NDArray[np.float32]:
        """The probability of each class, rows × classes; an error of detectors, which have none."""
        return self._run(X, "probabilities", unknown, n_jobs)

    def features(
        self, X: Any, *, unknown: str = "error", n_jobs: int | None = None
    ) -> npt.NDArray[np.int16]:
        """The random features, rows × features: 127 stands for 1."""
        return self._run(X, "features", unknown, n_jobs)

    def codes(
        self, X: Any, *, unknown: str = "error", n_jobs: int | None = None
    ) -> npt.NDArray[np.uint16]:
        """The locality-sensitive codes of maxout and bin models."""
        return self._run(X, "codes", unknown, n_jobs)

    def _run(
        self,
        X: Any,
        asked: str,
        unknown: str,
        n_jobs: int | None,
        impute: bool = False,
        stand_ins: list[float | None] | None = None,
    ) -> npt.NDArray[Any]:
        rows = frame(X)
        return self._blob.run(rows, asked, zeros(unknown), impute, threads(n_jobs), stand_ins)

    def __repr__(self) -> str:
        families = " + ".join(self.families)
        return f"<koan.Model: {self.task}, {self.n_features} {families} features, {self.nbytes} bytes>"

    def _repr_html_(self) -> str:
        return table(
            [
                ("task", self.task),
                ("features", f"{self.n_features} {' + '.join(self.families)}"),
                ("bytes", str(self.nbytes)),
                ("RAM of the buffers", str(self.ram)),
            ]
        )


def load(file: str | os.PathLike[str] | bytes | BinaryIO) -> Model:
    """The model in a file, or in bytes."""
    if isinstance(file, (bytes, bytearray, memoryview)):
        return Model(bytes(file))
    if hasattr(file, "read"):
        if isinstance(file, io.TextIOBase):
            raise TypeError("file: it is opened as text: open it with 'rb'")
        return Model(file.read())
    path = os.fspath(file)
    try:
        model = Model(read_model(path))
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None
    model._file = os.path.basename(os.fsdecode(path))
    return model


def table(rows: Sequence[tuple[str, ...]], head: tuple[str, ...] = ()) -> str:
    """A table in HTML."""
    def line(cells: tuple[str, ...], tag: str) -> str:
        inside = "".join(f"<{tag} style='text-align:left'>{escape(cell)}</{tag}>" for cell in cells)
        return f"<tr>{inside}</tr>"

    first = line(head, "th") if head else ""
    return f"<table>{first}{''.join(line(row, 'td') for row in rows)}</table>"
