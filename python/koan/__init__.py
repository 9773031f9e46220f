"""Models that are a seed and a few weights: trained here, run on microcontrollers.

>>> import koan
>>> clf = koan.KoanClassifier().fit(X, y)   # needs scikit-learn  # doctest: +SKIP
>>> clf.save("m.koan")                                            # doctest: +SKIP
>>> koan.load("m.koan").predict(X)          # needs numpy alone   # doctest: +SKIP
"""

from typing import TYPE_CHECKING, Any

from ._clusters import Descent, Gradients, Plan, Sums, finish, plan
from ._koan import __version__
from ._model import Model, load

if TYPE_CHECKING:
    from ._detector import KoanDetector
    from ._estimators import KoanClassifier, KoanRegressor
    from ._report import Report
    from ._search import FrontModel, KoanSearch
    from ._transformer import KoanTransformer

__all__ = [
    "Descent",
    "FrontModel",
    "Gradients",
    "KoanClassifier",
    "KoanDetector",
    "KoanRegressor",
    "KoanSearch",
    "KoanTransformer",
    "Model",
    "Plan",
    "Report",
    "Sums",
    "__version__",
    "finish",
    "load",
    "plan",
]

# What needs scikit-learn is imported when it is asked for: a model runs without it.
_LAZY = {
    "FrontModel": "_search",
    "KoanClassifier": "_estimators",
    "KoanDetector": "_detector",
    "KoanRegressor": "_estimators",
    "KoanSearch": "_search",
    "KoanTransformer": "_transformer",
    "Report": "_report",
}


def __getattr__(name: str) -> Any:
    module = _LAZY.get(name)
    if module is None:
        raise AttributeError(f"module 'koan' has no attribute {name!r}")
    from importlib import import_module

    try:
        found = getattr(import_module(f"koan.{module}"), name)
    except ModuleNotFoundError as error:
        if error.name and error.name.split(".")[0] == "sklearn":
            raise ModuleNotFoundError(
                f'koan.{name} needs scikit-learn: pip install "scikit-learn>=1.6"', name="sklearn"
            ) from error
        raise
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted(__all__)
