"""Classes and numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import ClassifierMixin, RegressorMixin
from sklearn.utils.validation import check_is_fitted

from ._base import Rows, values_of
from ._report import Reporting
from ._targets import class_labels, number_targets, plain, real

Names = str | list[str] | tuple[str, ...]


class _Predictor(Reporting):
    """What classifiers and regressors have in common.

    With nothing given, the model is chosen by a short search, as ``koan train`` does, within 2,048
    bytes; the same table and options give the same bytes. ``params_`` has what makes it again.

    With ``flash``, ``ram`` or ``instructions`` there always is a search, within these limits. It keeps
    what is given, but chooses ``n_features``, ``box``, ``pool``, ``shared_pool``, ``slot_bits`` and
    ``depth``, which are errors then.

    Without limits one of ``n_features``, ``family``, ``bits``, ``loss``, ``projection``,
    ``frequency``, ``penalty``, ``box``, ``input_map``, ``relevance`` and ``linear`` ends the
    search: features are then fourier, 512, unless told. With any other parameter, such as
    ``candidates``, ``shape``, ``kernel`` and those of pooling, there is a search, which keeps it;
    ``pool``, ``shared_pool``, ``slot_bits`` and ``depth`` go with a ``family`` that has them.

    Parameters
    ----------
    n_features : number of features, or one for each family
    family : ``fourier``, ``stump``, ``bin``, ``maxout``, ``sigmoid``, ``conv``, ``fern``,
        ``series``, ``linear``, or several of them side by side
    bits : bits of a weight: 2, 3, 4, 8 or 16
    flash : bytes of the model at most, such as ``2000`` or ``"2k"``; the code comes on top
    with_code : ``fast``, which is what True says, or ``small``: the code that the model needs counts
        as ``flash``, too, about and as on a Cortex-M0, in this form
    ram : bytes of the predictor's buffers at most
    instructions : of a prediction at most, such as ``50_000`` or ``"50k"``, as predicted for ``core``
    core : ``cortex-m0``, ``cortex-m3``, ``cortex-m4f``, ``cortex-m33``, ``rv32imc``, ``rv32imac``
    loss : ``auto``, ``squared``, ``logistic`` or ``hinge``; ``auto`` is searched, or squared where
        there is no search: of classes by ``family="linear"`` logistic
    projection : ``gaussian``, ``cauchy``, ``sign``, ``hadamard``, ``uniform`` or ``gamma2``
    frequency : frequency of the features, relative to the spread of the data
    penalty : λ, relative to a feature's variance
    box : no weight is beyond ±box / n_features
    input_map : ``shared``, ``per-channel``, ``per-input``, ``per-input-log`` or
        ``gain-per-input``
    relevance : whether a frequency is learned for every input
    candidates : features of which the best ``n_features`` are kept
    linear : adds the inputs themselves
    pool, shared_pool : projections of a maxout unit, and of the pool that all units share
    slot_bits : slots of a bin's grid are 2 to this power
    depth : comparisons of a fern, 1 to 4
    shape : what a row is, for the families conv and series: ``(28, 28, 1)`` or ``"28x28x1"`` for
        images, ``(128, 3)`` for windows of 128 samples of 3 channels, those of a sample together
    kernel : taps of a filter of the families conv and series
    filter_stride, pooling, pooling_grid, dilated : filters of the family conv
    categorical_features : list of number columns that are categories, by place or name, besides
        those of pandas' type ``category``; if none is given, a search finds out whether columns of few
        whole numbers do better so
    missing : ``refuse`` or ``impute``: a column's median stands in. The bytes of the model have
        medians only of columns that had missing values in training, the estimator of all
    unknown : texts that were not seen in training: ``error`` or ``zeros``
    golden_rows : rows that the model carries with their exact scores
    column_names : whether the model carries the names of columns
    random_state : seed of the model and of every split; None for another one each time
    n_jobs : threads; None for as many as there are cores. The result is the same
    verbose : whether to tell what is being done; None for where somebody looks
    """

    def __init__(
        self,
        *,
        n_features: int | list[int] | None = None,
        family: Names | None = None,
        bits: int | None = None,
        flash: int | str | None = None,
        with_code: bool | str | None = None,
        ram: int | str | None = None,
        instructions: int | str | None = None,
        core: str = "cortex-m0",
        loss: str = "auto",
        projection: str | None = None,
        frequency: float | list[float] | None = None,
        penalty: float | None = None,
        box: float | None = None,
        input_map: str | None = None,
        relevance: bool | None = None,
        candidates: int | None = None,
        linear: bool = False,
        pool: int = 4,
        shared_pool: int = 0,
        slot_bits: int = 8,
        depth: int = 3,
        shape: str | tuple[int, ...] | None = None,
        kernel: int | None = None,
        filter_stride: int | None = None,
        pooling: str = "average",
        pooling_grid: int | None = None,
        dilated: bool = False,
        categorical_features: list[int] | list[str] | None = None,
        missing: str = "refuse",
        unknown: str = "error",
        golden_rows: int = 0,
        column_names: bool = True,
        random_state: Any = 1,
        n_jobs: int | None = None,
        verbose: bool | None = None,
    ) -> None:
        self.n_features = n_features
        self.family = family
        self.bits = bits
        self.flash = flash
        self.with_code = with_code
        self.ram = ram
        self.instructions = instructions
        self.core = core
        self.loss = loss
        self.projection = projection
        self.frequency = frequency
        self.penalty = penalty
        self.box = box
        self.input_map = input_map
        self.relevance = relevance
        self.candidates = candidates
        self.linear = linear
        self.pool = pool
        self.shared_pool = shared_pool
        self.slot_bits = slot_bits
        self.depth = depth
        self.shape = shape
        self.kernel = kernel
        self.filter_stride = filter_stride
        self.pooling = pooling
        self.pooling_grid = pooling_grid
        self.dilated = dilated
        self.categorical_features = categorical_features
        self.missing = missing
        self.unknown = unknown
        self.golden_rows = golden_rows
        self.column_names = column_names
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose


class KoanClassifier(ClassifierMixin, _Predictor):
    __doc__ = (
        "A classifier of a seed and a few weights.\n"
        + (_Predictor.__doc__ or "").partition("\n")[2].rstrip()
        + "\n    class_weight : None, ``balanced``, or a weight for each class\n    "
    )

    classes_: npt.NDArray[Any]

    def __init__(
        self,
        *,
        n_features: int | list[int] | None = None,
        family: Names | None = None,
        bits: int | None = None,
        flash: int | str | None = None,
        with_code: bool | str | None = None,
        ram: int | str | None = None,
        instructions: int | str | None = None,
        core: str = "cortex-m0",
        loss: str = "auto",
        class_weight: str | dict[Any, float] | None = None,
        projection: str | None = None,
        frequency: float | list[float] | None = None,
        penalty: float | None = None,
        box: float | None = None,
        input_map: str | None = None,
        relevance: bool | None = None,
        candidates: int | None = None,
        linear: bool = False,
        pool: int = 4,
        shared_pool: int = 0,
        slot_bits: int = 8,
        depth: int = 3,
        shape: str | tuple[int, ...] | None = None,
        kernel: int | None = None,
        filter_stride: int | None = None,
        pooling: str = "average",
        pooling_grid: int | None = None,
        dilated: bool = False,
        categorical_features: list[int] | list[str] | None = None,
        missing: str = "refuse",
        unknown: str = "error",
        golden_rows: int = 0,
        column_names: bool = True,
        random_state: Any = 1,
        n_jobs: int | None = None,
        verbose: bool | None = None,
    ) -> None:
        super().__init__(
            n_features=n_features,
            family=family,
            bits=bits,
            flash=flash,
            with_code=with_code,
            ram=ram,
            instructions=instructions,
            core=core,
            loss=loss,
            projection=projection,
            frequency=frequency,
            penalty=penalty,
            box=box,
            input_map=input_map,
            relevance=relevance,
            candidates=candidates,
            linear=linear,
            pool=pool,
            shared_pool=shared_pool,
            slot_bits=slot_bits,
            depth=depth,
            shape=shape,
            kernel=kernel,
            filter_stride=filter_stride,
            pooling=pooling,
            pooling_grid=pooling_grid,
            dilated=dilated,
            categorical_features=categorical_features,
            missing=missing,
            unknown=unknown,
            golden_rows=golden_rows,
            column_names=column_names,
            random_state=random_state,
            n_jobs=n_jobs,
            verbose=verbose,
        )
        self.class_weight = class_weight

    def fit(self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None) -> KoanClassifier:
        """Learns the classes ``y`` of the rows of ``X``.

        ``y``, ``sample_weight`` and ``groups`` are arrays, or names of columns of ``X``: then
        the table is the file that ``koan train`` reads, and the bytes are its bytes. Rows of
        one group are on the same side of every split.
        """
        with self._fitting():
            self._train(self._to_learn(X, y, sample_weight, groups))
        return self

    def _to_learn(self, X: Any, y: Any, sample_weight: Any, groups: Any) -> Rows:
        X, known, roles = self._rows(X, y, sample_weight, groups)
        labels, self.classes_, name = class_labels(self, X, known["y"])
        weights = self._weights(known["sample_weight"], X, known["y"])
        return Rows(X, roles, (name, labels, True), weights, known["groups"])

    def predict(self, X: Any) -> npt.NDArray[Any]:
        """The class of each row."""
        check_is_fitted(self)
        return np.asarray(self.classes_[self._run(X, "classes")[:, 0]])

    def predict_proba(self, X: Any) -> npt.NDArray[np.float64]:
        """The probability of each class: a convenience in floats upon the exact scores."""
        found = self._run(X, "probabilities").astype(np.float64)
        return np.asarray(found / found.sum(axis=1, keepdims=True))

    def predict_log_proba(self, X: Any) -> npt.NDArray[np.float64]:
        """The logarithms of the probabilities."""
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))

    def decision_function(self, X: Any) -> npt.NDArray[np.float64]:
        """Scores in real units: of two classes the second one's, above 0 where it is chosen."""
        scores = self._run(X, "scores") * np.float64(self.model_.scale)
        if len(self.classes_) > 2:
            return scores
        return scores[:, 0] if scores.shape[1] == 1 else scores[:, 1] - scores[:, 0]

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """The share of right classes; ``y`` and ``sample_weight`` may name columns of ``X``."""
        y, sample_weight = values_of(X, y=y, sample_weight=sample_weight)
        return float(super().score(X, plain(y), sample_weight))


class KoanRegressor(RegressorMixin, _Predictor):
    __doc__ = "A regressor of a seed and a few weights.\n" + (
        (_Predictor.__doc__ or "").partition("\n")[2]
    )

    def fit(self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None) -> KoanRegressor:
        """Learns the numbers ``y`` of the rows of ``X``; see ``KoanClassifier.fit``."""
        with self._fitting():
            self._train(self._to_learn(X, y, sample_weight, groups))
        return self

    def _to_learn(self, X: Any, y: Any, sample_weight: Any, groups: Any) -> Rows:
        X, known, roles = self._rows(X, y, sample_weight, groups)
        values, name = number_targets(self, X, known["y"])
        weights = self._weights(known["sample_weight"], X)
        return Rows(X, roles, (name, values, False), weights, known["groups"])

    def predict(self, X: Any) -> npt.NDArray[np.float64]:
        """The value of each row."""
        return self._run(X, "values")[:, 0].astype(np.float64)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """R²; ``y`` and ``sample_weight`` may name columns of ``X``."""
        y, sample_weight = values_of(X, y=y, sample_weight=sample_weight)
        return float(super().score(X, real(y), sample_weight))
