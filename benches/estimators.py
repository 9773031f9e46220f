#!/usr/bin/env python3
"""Seconds of `koan.KoanClassifier` and `koan.KoanRegressor` beside scikit-learn's RBFSampler with
Ridge(Classifier), in one process: kernel, features, ridge and data of benches/sklearn.py.

    cargo xtask python          # builds the wheel, and installs it into target/python
    target/python/bin/python benches/estimators.py $DATA

Everything is given, nothing searched. What Koan's `fit` does more: rounds the weights to 8 bits,
fits probabilities, and writes and tests a blob. `predict` is of the test rows. The two take turns,
seed by seed, with a pause between them. Prints a Markdown table of means over the seeds.
"""

import argparse
import importlib.util
import sys
import time
import warnings
from pathlib import Path

FOLDER = Path(__file__).resolve().parent
# This folder must not hide packages of the names of its files.
sys.path = [entry for entry in sys.path if Path(entry or ".").resolve() != FOLDER]

import numpy as np
from sklearn.kernel_approximation import RBFSampler
from sklearn.linear_model import Ridge, RidgeClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler

import koan

# The sets, and how they are read.
named = importlib.util.spec_from_file_location("with_example", FOLDER / "sklearn.py")
with_example = importlib.util.module_from_spec(named)
named.loader.exec_module(with_example)


def scaler(name):
    if name == "cpu_act":
        return StandardScaler()
    return FunctionTransformer(lambda inputs: inputs / 255.0 if name == "mnist" else inputs)


def estimators(name, tables, features, gamma, alpha, seed):
    """Koan's, and scikit-learn's."""
    inputs = tables[0]
    spread = scaler(name).fit_transform(inputs).var(axis=0).sum()
    kind = koan.KoanRegressor if name == "cpu_act" else koan.KoanClassifier
    ours = kind(
        n_features=features,
        family="fourier",
        projection="gaussian" if name == "cpu_act" else "hadamard",
        # At 1 the kernel is exp(-|x - y|^2 / (2 * spread)).
        frequency=np.sqrt(2 * gamma * spread),
        # Relative to the variance of a feature, sqrt(2 / K) * cos, times the rows.
        penalty=alpha * features / len(inputs),
        bits=8,
        input_map="per-input" if name == "cpu_act" else "shared",
        relevance=False,
        loss="squared",
        random_state=seed,
        verbose=False,
    )
    ridge = Ridge if name == "cpu_act" else RidgeClassifier
    sampler = RBFSampler(gamma=gamma, n_components=features, random_state=seed)
    return ours, make_pipeline(scaler(name), sampler, ridge(alpha=alpha))


def timed(estimator, tables, numbers):
    """Seconds of fit and predict, and the error."""
    inputs, targets, test, wanted = tables
    # BLAS's threads wait busily for a while after the other's work.
    time.sleep(0.3)
    start = time.perf_counter()
    estimator.fit(inputs, targets)
    fitted = time.perf_counter()
    predicted = estimator.predict(test)
    end = time.perf_counter()
    if numbers:
        error = np.sqrt(np.mean((predicted - wanted) ** 2) / np.mean(wanted**2))
    else:
        error = np.mean(predicted != wanted)
    return fitted - start, end - fitted, 100 * error


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data", type=Path, help="folder of the data sets")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    columns = ["fit s", "scikit-learn s", "times faster", "predict s", "scikit-learn s", "times faster"]
    print(f"| set | K | {' | '.join(columns)} | Koan error | scikit-learn error |")
    print("| --- |" + " ---: |" * 9)
    for name, features, gamma, alpha, fits in with_example.RUNS:
        tables = [np.ascontiguousarray(table) for table in with_example.read(arguments.data, name)]
        found = [[], []]
        for seed in (0, 1, 2, 3):
            for _ in range(fits):
                both = estimators(name, tables, features, gamma, alpha, seed)
                results = [timed(each, tables, name == "cpu_act") for each in both]
                # The first is made before the clock counts.
                for side, result in zip(found, results):
                    side += [result] * (seed > 0)
        (fit, predict, error), (their_fit, their_predict, their_error) = [np.mean(side, 0) for side in found]
        print(
            f"| {name} | {features} | {fit:.3f} | {their_fit:.3f} | {their_fit / fit:.1f} | {predict:.4f} "
            f"| {their_predict:.4f} | {their_predict / predict:.1f} | {error:.2f} % | {their_error:.2f} % |",
            flush=True,
        )


if __name__ == "__main__":
    main()
