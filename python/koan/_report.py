"""Pages for people: what a model is and how good."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from html import escape
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils import column_or_1d
from sklearn.utils.validation import check_is_fitted

from . import _koan
from ._base import Koan, Rows, length, row_weights, values_of
from ._columns import check_unmasked, frame
from ._koan import write_whole
from ._model import threads
from ._progress import Told
from ._targets import number_targets

# Lines of a page that a notebook shows at once; a corner of the frame can be drawn.
_FRAME = "width:100%; height:42em; border:1px solid #8886; resize:vertical"


class Report:
    """A page of HTML that needs no network and no script: plots, tables, a verdict.

    A notebook shows it in a frame of its own.
    """

    def __init__(self, html: str) -> None:
        self.html = html
        """The page."""

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the page to a file, whole or not at all."""
        write_whole(path, self.html.encode())

    def __repr__(self) -> str:
        title = re.search("<title>(.*?)</title>", self.html)
        return f"<koan.Report: {title[1] if title else ''}, {len(self.html.encode())} bytes>"

    def _repr_html_(self) -> str:
        # Without a base of its own, a link of the contents would load the notebook into the frame.
        page = self.html.replace("<head>", '<head><base href="about:srcdoc">', 1)
        return f'<iframe sandbox srcdoc="{escape(page)}" style="{_FRAME}"></iframe>'


class Judged(Koan):
    """Estimators whose models can be judged by rows with a target."""

    def _evaluation(self, X: Any, y: Any, sample_weight: Any = None) -> Report:
        """The page of ``koan eval --report``."""
        check_is_fitted(self)
        judged = self._to_judge(X, y, sample_weight)
        made = "estimator.fit(X_train, y_train)\nestimator.report(X, y)"
        with Told(getattr(self, "verbose", None)) as told:
            return Report(
                _koan.evaluation(
                    self.model_._blob, judged, _called(self._fixed(), made),
                    threads(getattr(self, "n_jobs", None)), told.listener,
                )
            )

    def _fixed(self) -> Any:
        """The estimator before the fit, with the seed that it drew."""
        return clone(self).set_params(random_state=self.report_["seed"])

    def _to_judge(
        self, X: Any, y: Any, sample_weight: Any = None
    ) -> tuple[_koan.Frame, Any, bool, list[float | None] | None, list[float] | None]:
        """Rows to judge by, as the core takes them."""
        if y is None:
            raise ValueError("y: what the rows are is needed to judge the model by")
        y, sample_weight = values_of(X, y=y, sample_weight=sample_weight)
        X = self._known(X)
        check_unmasked("y", y)
        y = column_or_1d(y)
        if len(y) != length(X):
            raise ValueError(f"y: {len(y)} values for the {length(X)} rows of X")
        places = self._places_of_classes()
        if places is None:
            target, _ = number_targets(self, X, y)
        else:
            found = [places.get(value) for value in y.tolist()]
            if None in found:
                row = found.index(None)
                known = ", ".join(str(value) for value in list(places)[:10])
                raise ValueError(f"y: row {row + 1}: {y[row]} is none of the classes: {known}")
            target = np.array(found, dtype=np.int64)
        weights = None if sample_weight is None else row_weights(sample_weight, X).tolist()
        zeros = getattr(self, "unknown", "error") == "zeros"
        return frame(X), target, zeros, self._stand_ins, weights

    def _places_of_classes(self) -> dict[Any, int] | None:
        """The place of each class among the model's; None where numbers are predicted."""
        classes = getattr(self, "classes_", None)
        return None if classes is None else {c: i for i, c in enumerate(classes.tolist())}


class Reporting(Judged):
    """Estimators that learn a target."""

    def _to_learn(self, X: Any, y: Any, sample_weight: Any, groups: Any) -> Rows:
        raise NotImplementedError

    def report(
        self,
        X: Any,
        y: Any,
        *,
        sample_weight: Any = None,
        X_train: Any = None,
        y_train: Any = None,
        sample_weight_train: Any = None,
        groups_train: Any = None,
    ) -> Report:
        """A page on how good the model is on rows that it has not seen: ``koan eval --report``.

        With the rows that it was trained on, exactly as ``fit`` was given them, the page is that
        of ``koan train --report``: with other sizes, learning curves, and training rows against
        ``X``, too. An estimator keeps no rows: the model is trained again for it, without a
        search, and has to be the same.

        Parameters
        ----------
        X, y : rows to judge by; y may name a column of X
        sample_weight : how much each of them counts, as an array or the name of a column of X
        X_train, y_train : the rows of ``fit``; where y names a column, y_train need not be given
        sample_weight_train, groups_train : what ``fit`` was given for them
        """
        kept = {"sample_weight": sample_weight_train, "groups": groups_train}
        if X_train is None:
            given = {"y_train": y_train, **{f"{name}_train": kept[name] for name in kept}}
            for name, value in given.items():
                if value is not None:
                    raise ValueError(f"{name}: goes with X_train")
            return self._evaluation(X, y, sample_weight)
        check_is_fitted(self)
        judged = self._to_judge(X, y, sample_weight)
        if y_train is None and isinstance(y, str):
            y_train = y
        if y_train is None:
            raise ValueError("y_train: goes with X_train")
        fixed = self._fixed()
        called = _called(fixed, _lines([name for name in kept if kept[name] is not None]))
        with _of_training_rows():
            rows = fixed._to_learn(X_train, y_train, sample_weight_train, groups_train)
            found, wanted = fixed.n_features_in_, self.n_features_in_
            if found != wanted:
                raise ValueError(f"X: {found} columns, where fit had {wanted}")
            learned = (*rows.as_taken(), fixed._params(rows.X), self.params_)
        with Told(getattr(self, "verbose", None)) as told:
            return Report(
                _koan.training(
                    self.model_._blob, judged, learned, called, self.report_["seconds"],
                    threads(getattr(self, "n_jobs", None)), told.listener,
                )
            )


def _called(fixed: Any, made: str) -> tuple[str, str]:
    """What the model is called on its page, and what is typed to have that again."""
    return type(fixed).__name__, f"estimator = {fixed!r}\n{made}"


def _lines(names: list[str]) -> str:
    """The fit with weights or groups, and its page."""
    fit = "".join(f", {name}={name}_train" for name in names)
    page = "".join(f", {name}_train={name}_train" for name in names)
    return (
        f"estimator.fit(X_train, y_train{fit})\n"
        f"estimator.report(X, y, X_train=X_train, y_train=y_train{page})"
    )


@contextmanager
def _of_training_rows() -> Iterator[None]:
    """Errors name the rows of the fit as they are called here."""
    try:
        yield
    except ValueError as error:
        text = re.sub(r"^(X|y|sample_weight|groups)\b", r"\1_train", str(error))
        lengths = text.startswith("Found input variables")
        raise ValueError(f"X_train: {text}" if lengths else text) from error
