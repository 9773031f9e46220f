"""Anomalies."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import OutlierMixin

from ._base import Koan, Rows
from ._report import Judged, Report


class KoanDetector(OutlierMixin, Judged):
    """A detector of anomalies, used as scikit-learn's ``IsolationForest``.

    It learns from normal rows what is normal: ``koan train --task anomaly``.

    Parameters
    ----------
    n_features : number of features; 1,024 if not given
    bits : bits of a weight: 2, 3, 4, 8 or 16
    false_alarm : share of normal rows that may be called anomalies
    projection, frequency, input_map : as of ``KoanClassifier``; chosen if not given
    missing, unknown, column_names, random_state, n_jobs, verbose : as of ``KoanClassifier``
    """

    offset_: float

    def __init__(
        self,
        *,
        n_features: int | None = None,
        bits: int | None = None,
        false_alarm: float = 0.01,
        projection: str | None = None,
        frequency: float | None = None,
        input_map: str | None = None,
        missing: str = "refuse",
        unknown: str = "error",
        column_names: bool = True,
        random_state: Any = 1,
        n_jobs: int | None = None,
        verbose: bool | None = None,
    ) -> None:
        self.n_features = n_features
        self.bits = bits
        self.false_alarm = false_alarm
        self.projection = projection
        self.frequency = frequency
        self.input_map = input_map
        self.missing = missing
        self.unknown = unknown
        self.column_names = column_names
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def fit(self, X: Any, y: Any = None) -> KoanDetector:
        """Learns from all rows of ``X``, which are normal, or nearly all of them.

        Labels are not learned from: ``y`` is ignored, but where it names a column of ``X``, that
        is no input. Rows that it calls anomalies are to be left out before.
        """
        with self._fitting():
            self._train(unlabelled(self, X, y), goal="detect")
            # Exact scores are whole numbers: normal from 1 on.
            self.offset_ = 0.5 * self.model_.scale
        return self

    def fit_predict(self, X: Any, y: Any = None) -> npt.NDArray[np.int64]:
        """What ``predict`` says of the rows that were learned from."""
        return self.fit(X, y).predict(X)

    def score_samples(self, X: Any) -> npt.NDArray[np.float64]:
        """How like the normal rows each row is: larger is more normal."""
        return self._run(X, "scores")[:, 0] * np.float64(self.model_.scale)

    def decision_function(self, X: Any) -> npt.NDArray[np.float64]:
        """The same, above 0 where a row is normal."""
        return self.score_samples(X) - self.offset_

    def predict(self, X: Any) -> npt.NDArray[np.int64]:
        """1 for normal rows, -1 for anomalies. ``koan.load`` has the texts ``normal`` and
        ``anomaly`` for them."""
        return 2 * self._run(X, "classes")[:, 0] - 1

    def report(self, X: Any, y: Any) -> Report:
        """A page on how good the detector is on rows of which it is known what they are: ``y`` is
        1 for normal rows and -1 for anomalies, or names a column of ``X``."""
        return self._evaluation(X, y)

    def _places_of_classes(self) -> dict[Any, int]:
        return {-1: 0, 1: 1}


def unlabelled(estimator: Koan, X: Any, y: Any) -> Rows:
    """Rows to learn from where there is no target; a column that ``y`` names is no input."""
    X, _, roles = estimator._rows(X, y if isinstance(y, str) else None, None, None)
    return Rows(X, roles, None, None, None)
