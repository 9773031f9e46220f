"""Features."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin

from ._base import Koan
from ._detector import unlabelled

# What stands for a feature of 1 in the core.
_ONE = 127.0
# Families of filters, which slide along images or series.
_SHAPED = ("conv", "series")


class KoanTransformer(ClassNamePrefixFeaturesOutMixin, TransformerMixin, Koan):
    """The random features themselves, used as scikit-learn's ``RBFSampler``.

    Nothing is learned but the input map: scales of the inputs and the spread of the rows.
    The features are those that a device computes, bit by bit, times √(2/n_features).

    Parameters
    ----------
    n_features : number of features; 512 if not given; of ``linear`` alone none is given
    family : ``fourier``, ``stump``, ``bin``, ``maxout``, ``sigmoid``, ``fern``, ``linear``, which has
        the inputs themselves, or several
    projection : law of the draws; by family and number of inputs if not given
    frequency : relative to the spread of the rows: 1 if not given
    input_map : ``shared``, ``per-channel``, ``per-input``, ``per-input-log`` or
        ``gain-per-input``
    missing, unknown, column_names, random_state, n_jobs, verbose : as of ``KoanClassifier``
    """

    def __init__(
        self,
        *,
        n_features: int | list[int] | None = None,
        family: str | list[str] = "fourier",
        projection: str | None = None,
        frequency: float | list[float] | None = None,
        input_map: str | None = None,
        missing: str = "refuse",
        unknown: str = "error",
        column_names: bool = True,
        random_state: Any = 1,
        n_jobs: int | None = None,
        verbose: bool | None = None,
    ) -> None:
        self.n_features = n_features
        self.family = family
        self.projection = projection
        self.frequency = frequency
        self.input_map = input_map
        self.missing = missing
        self.unknown = unknown
        self.column_names = column_names
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def fit(self, X: Any, y: Any = None) -> KoanTransformer:
        """Learns the scales of the inputs; ``y`` is as that of ``KoanDetector.fit``."""
        given = [self.family] if isinstance(self.family, str) else self.family or []
        for family in given:
            if family in _SHAPED:
                raise ValueError(
                    f"family: {family!r} needs the shape of a row, which {type(self).__name__} does not "
                    "know; there are fourier, stump, bin, maxout, sigmoid, fern and linear"
                )
        with self._fitting():
            self._train(unlabelled(self, X, y), goal="features")
            self._n_features_out = self.model_.n_features
        return self

    def transform(self, X: Any) -> npt.NDArray[np.float32]:
        """The features of each row."""
        found = self._run(X, "features")
        scale = np.sqrt(2.0 / max(1, found.shape[1])) / _ONE
        return found * np.float32(scale)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = []
        return tags
