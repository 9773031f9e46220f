"""What learned directions would gain beside a learned frequency for each input.

    python3 -m venv target/benches && target/benches/bin/pip install -r benches/requirements.txt
    target/benches/bin/python benches/directions.py DATA/tabular

Cosines of Gaussian projections with real weights, ridge regression: of the inputs alike, of inputs
with a scale each (which Koan learns and stores in its input map), and of a few directions, mixed
from all inputs by weights of 4 bits that the model would have to store. Scales and directions come
from the average outer product of gradients (Radhakrishnan et al. 2024, "Mechanism for feature
learning in neural networks and backpropagation-free machine learning models", recursive feature
machines). Of equal bytes: a model with directions has so many features less. Number of directions,
frequency, λ and the best round of learning are chosen by held-out training rows.
"""

import argparse
import os
import sys
from pathlib import Path

# One thread, before numpy counts the cores.
os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = "1"

# This folder's sklearn.py must not hide the package of the same name.
sys.path[0] = str(Path(__file__).resolve().parent / "rivals")

import numpy as np
from tables import Table, decide

TABLES = ["churn", "mfeat_zernike", "segmentation", "vehicle", "vowel"]
BUDGETS = [1024, 4096]
# Of a weight of the head, and of a direction.
BITS = 4
# Header, sections and check sums; an input's map; an output's bias.
BYTES, BYTES_OF_INPUT, BYTES_OF_OUTPUT = 60, 4, 2
# Features that scales and directions are learned with, and those of a model at most.
LEARNING, MOST = 400, 800
ROUNDS = 4
FREQUENCIES = [0.35, 0.7, 1.4]
LAMBDAS = [1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1]
# Rows to fit on and to judge by, at most, and for the gradients.
FIT, HELD, GRADIENTS = 6000, 3000, 2000


class Rows:
    """Standardised inputs and centred targets of a table, one column for each class."""

    def __init__(self, table):
        inputs = table.train.astype(float)
        mean, spread = inputs.mean(0), inputs.std(0) + 1e-9
        of = lambda rows: np.clip((rows.astype(float) - mean) / spread, -4, 4)
        self.train, self.test = of(table.train), of(table.test)
        self.fit, self.held = table.fit[:FIT], table.held[:HELD]
        if table.classes == 2:
            self.targets = (2 * table.train_truth - 1)[:, None]
        else:
            self.targets = 2 * np.eye(table.classes)[table.train_truth.astype(int)] - 1


def ridge(features, targets, held, held_targets):
    """The least error on held-out rows, with its weights, the features' means and the bias."""
    means, bias = features.mean(0), targets.mean(0)
    centred = features - means
    values, vectors = np.linalg.eigh(centred.T @ centred)
    right = vectors.T @ (centred.T @ (targets - bias))
    turned = (held - means) @ vectors
    best = None
    for value in LAMBDAS:
        turned_weights = right / (values + value * len(features) / 2)[:, None]
        error = np.mean((turned @ turned_weights + bias - held_targets) ** 2)
        if best is None or error < best[0]:
            best = (error, vectors @ turned_weights, means, bias)
    return best


def model(rows, inputs, count, seed):
    """The best frequency's model of so many features, and its projections and phases."""
    draws = np.random.default_rng(seed)
    # Of as many inputs as the table has, so that frequencies mean the same for directions.
    normal = draws.normal(size=(inputs.shape[1], count)) / np.sqrt(rows.train.shape[1])
    phases = draws.uniform(0, 2 * np.pi, count)
    best = None
    for frequency in FREQUENCIES:
        features = np.cos(inputs @ (frequency * normal) + phases)
        fitted = ridge(features[rows.fit], rows.targets[rows.fit], features[rows.held], rows.targets[rows.held])
        if best is None or fitted[0] < best[0][0]:
            best = (fitted, frequency * normal, phases)
    return best


def gradients(inputs, weights, projections, phases):
    """Σ over rows and outputs of the outer product of the gradient by the inputs."""
    sines = -np.sin(inputs[:GRADIENTS] @ projections + phases)
    of_outputs = ((sines * weights[:, t]) @ projections.T for t in range(weights.shape[1]))
    return sum(gradient.T @ gradient for gradient in of_outputs)


def learned(rows, diagonal):
    """The matrix that inputs are to be mixed by, squared."""
    count = rows.train.shape[1]
    matrix, best = np.eye(count), None
    for seed in range(ROUNDS):
        values, vectors = np.linalg.eigh(matrix)
        root = vectors * np.sqrt(np.maximum(values, 0)) @ vectors.T
        (error, weights, _, _), projections, phases = model(rows, rows.train @ root, LEARNING, seed)
        if best is None or error < best[0]:
            best = (error, matrix)
        outer = root @ gradients((rows.train @ root)[rows.fit], weights, projections, phases) @ root
        outer = np.diag(np.diag(outer)) if diagonal else outer
        matrix = outer / np.trace(outer) * count + 1e-3 * np.eye(count)
    return best[1]


def directions(matrix, count):
    """The strongest directions, rounded."""
    values, vectors = np.linalg.eigh(matrix)
    order = np.argsort(-values)[:count]
    mixed = vectors[:, order] * np.sqrt(np.maximum(values[order], 0))
    steps = np.abs(mixed).max(0) / (2 ** (BITS - 1) - 1)
    return np.round(mixed / steps) * steps


def judged(rows, table, mixing, spent, budget):
    """Held-out error and test error in percent of a model with the bytes that are left."""
    inputs, outputs = rows.train.shape[1], rows.targets.shape[1]
    left = budget - BYTES - BYTES_OF_INPUT * inputs - BYTES_OF_OUTPUT * outputs - spent
    count = int(min(MOST, left * 8 / BITS / outputs))
    if count < 4:
        return None
    (error, weights, means, bias), projections, phases = model(rows, rows.train @ mixing, count, 0)
    features = np.cos(rows.test @ mixing @ projections + phases)
    predicted = decide((features - means) @ weights + bias)
    return error, table.error(predicted, table.test_truth)


def compare(path, seed):
    """Test errors of inputs alike, with scales, and of directions, for each number of bytes."""
    table = Table(path, seed)
    rows = Rows(table)
    count = rows.train.shape[1]
    scales, full = learned(rows, True), learned(rows, False)
    found = []
    for budget in BUDGETS:
        few = [r for r in sorted({2, 4, 8, 16, count}) if r <= min(count, 40) and r * count * BITS / 8 < 0.7 * budget]
        of = [judged(rows, table, directions(full, r), r * count * BITS / 8 + r, budget) for r in few]
        best = min(each for each in of if each)
        alike = judged(rows, table, np.eye(count), 0, budget)
        scaled = judged(rows, table, np.diag(np.sqrt(np.diag(scales))), 0, budget)
        found.append([alike[1], scaled[1], best[1]])
    return np.array(found)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data", type=Path, help="the folder of tables")
    parser.add_argument("--tables", nargs="+", default=TABLES, help="names of tables of classes")
    parser.add_argument("--seeds", type=int, default=3, help="splits, from seed 1")
    arguments = parser.parse_args()
    print("| table | bytes | inputs alike | a scale each | directions |")
    print("| --- | ---: | ---: | ---: | ---: |")
    for name in arguments.tables:
        seeds = range(1, arguments.seeds + 1)
        found = np.mean([compare(arguments.data / f"{name}.tsv.gz", seed) for seed in seeds], axis=0)
        for budget, errors in zip(BUDGETS, found):
            print(f"| {name} | {budget} | " + " | ".join(f"{error:.2f}" for error in errors) + " |", flush=True)


main()
