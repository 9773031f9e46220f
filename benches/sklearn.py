#!/usr/bin/env python3
"""Seconds and test errors of Koan and of scikit-learn's RBFSampler with
Ridge(Classifier), at the same kernel, number of features and ridge.

    python3 -m venv venv && venv/bin/pip install -r benches/requirements.txt
    cargo build --release -p koan-papers --example speed
    venv/bin/python benches/sklearn.py $DATA

In the time: normalisation, drawing and computing features of the training rows,
and the fit, in double precision, on all cores. Not in the time: reading files,
and the test rows. The two take turns, seed by seed, and each makes a fit before the
clock starts, so that threads and memory are there. Prints a Markdown table of
means over the seeds.
"""

import argparse
import gzip
import json
import os
import subprocess
import sys
import time
from pathlib import Path

# This file's own folder must not hide the package of the same name.
sys.path = [entry for entry in sys.path if Path(entry or ".").resolve() != Path(__file__).resolve().parent]

import numpy as np
from sklearn.datasets import load_svmlight_file
from sklearn.kernel_approximation import RBFSampler
from sklearn.linear_model import Ridge, RidgeClassifier
from sklearn.preprocessing import StandardScaler

# Set, features, gamma of the kernel exp(-gamma |x - y|^2), alpha of the ridge, and fits
# with each seed: fits of hundredths of a second scatter.
RUNS = [
    ("adult", 1000, 0.02, 1.0, 1),
    ("mnist", 2000, 0.02, 1.0, 1),
    ("cpu_act", 300, 0.005, 0.01, 20),
]
SPEED = Path(__file__).resolve().parent.parent / "target/release/examples/speed"


def idx(path):
    data = gzip.open(path).read()
    sides = [int.from_bytes(data[4 + 4 * i : 8 + 4 * i], "big") for i in range(data[3])]
    values = np.frombuffer(data, np.uint8, offset=4 + 4 * data[3])
    return values.reshape(sides[0], -1).astype(np.float64)


def read(data, name):
    """Training and test inputs and targets."""
    if name == "adult":
        pair = []
        for file in ("adult/a9a.gz", "adult/a9a.t.gz"):
            rows, labels = load_svmlight_file(gzip.open(data / file), n_features=123)
            pair += [rows.toarray(), labels]
        return pair
    if name == "mnist":
        pair = []
        for part in ("train", "t10k"):
            pair.append(idx(data / f"mnist/{part}-images-idx3-ubyte.gz"))
            pair.append(idx(data / f"mnist/{part}-labels-idx1-ubyte.gz")[:, 0])
        return pair
    rows = np.loadtxt(gzip.open(data / "cpu_act/cpu_act.tsv.gz", "rt"), skiprows=1)
    i = np.arange(len(rows))
    # 6,500 of the rows, evenly spread, as the other side has them.
    kept = (i + 1) * 6500 // len(rows) > i * 6500 // len(rows)
    return [rows[kept, :-1], rows[kept, -1], rows[~kept, :-1], rows[~kept, -1]]


def scikit_learn(name, tables, features, gamma, alpha, seed):
    inputs, targets, test, wanted = tables
    start = time.perf_counter()
    if name == "cpu_act":
        scaler = StandardScaler().fit(inputs)
        scaled = scaler.transform(inputs)
    elif name == "mnist":
        scaled = inputs / 255.0
    else:
        scaled = inputs
    sampler = RBFSampler(gamma=gamma, n_components=features, random_state=seed)
    made = sampler.fit_transform(scaled)
    kind = Ridge if name == "cpu_act" else RidgeClassifier
    model = kind(alpha=alpha).fit(made, targets)
    seconds = time.perf_counter() - start
    test = scaler.transform(test) if name == "cpu_act" else test / 255.0 if name == "mnist" else test
    predicted = model.predict(sampler.transform(test))
    if name == "cpu_act":
        error = np.sqrt(np.mean((predicted - wanted) ** 2) / np.mean(wanted**2))
    else:
        error = np.mean(predicted != wanted)
    return seconds, error


def koan(speed, data, name, features, gamma, alpha, seeds, avx2):
    command = [speed, data, name, features, gamma, alpha, *["avx2"] * avx2, *seeds]
    done = subprocess.run(list(map(str, command)), check=True, capture_output=True)
    lines = map(json.loads, done.stdout.splitlines())
    return [(line["seconds"], line["error"]) for line in lines]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data", type=Path, help="folder of the data sets")
    parser.add_argument("--koan", type=Path, default=SPEED, help="the built example `speed`")
    parser.add_argument("--only", nargs="*", help="sets to run")
    parser.add_argument("--avx2", action="store_true", help="sum Koan's products as without AVX-512")
    arguments = parser.parse_args()
    print("| set | K | gamma | ridge | Koan s | scikit-learn s | times faster | Koan error | scikit-learn error |")
    print("| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |")
    for name, features, gamma, alpha, fits in RUNS:
        if arguments.only and name not in arguments.only:
            continue
        tables = read(arguments.data, name)
        ours, theirs = [], []
        scikit_learn(name, tables, features, gamma, alpha, 0)
        for seed in (1, 2, 3):
            seeds = [seed] * fits
            theirs += [scikit_learn(name, tables, features, gamma, alpha, seed) for seed in seeds]
            ours += koan(arguments.koan, arguments.data, name, features, gamma, alpha, seeds, arguments.avx2)
        (our_seconds, our_error), (their_seconds, their_error) = np.mean(ours, 0), np.mean(theirs, 0)
        print(
            f"| {name} | {features} | {gamma} | {alpha} | {our_seconds:.2f} | {their_seconds:.2f} "
            f"| {their_seconds / our_seconds:.1f} | {100 * our_error:.2f} % | {100 * their_error:.2f} % |",
            flush=True,
        )


if __name__ == "__main__":
    main()
