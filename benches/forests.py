#!/usr/bin/env python3
"""Errors and bytes of forests and trees exported by emlearn, for docs/size.md.

    python3 -m venv venv && venv/bin/pip install -r benches/requirements.txt
    sudo apt-get install gcc-arm-none-eabi
    venv/bin/python benches/forests.py $DATA

Bytes are those of code and constants of one prediction on a Cortex-M0, compiled
with -Os and linked without what is not used, less those of an empty program.
Windows of the accelerometer sets are those of koan's commands (128 samples every
32 or 64), and so are the five parts of whole recordings: the example `folds` of
koan-papers prints them. A forest sees 24 statistics of a window, eight of each axis.
One more forest of these sets is trained like that of the project that published them,
emlearn-micropython's har_trees: ten trees, three tenths of the statistics at a split,
classes balanced, the rows that a leaf needs chosen by recordings held out.
Errors are means over three seeds of the parts and the forest, of the accelerometer
sets over ten. Prints JSON, one line for each model.
"""

import argparse
import csv
import gzip
import json
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path

# This file's own folder must not hide packages of the same name.
sys.path = [entry for entry in sys.path if Path(entry or ".").resolve() != Path(__file__).resolve().parent]

import emlearn
import numpy as np
from scipy.io import arff
from sklearn.datasets import load_digits
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import GridSearchCV, GroupShuffleSplit, train_test_split

SEEDS = {"gestures": range(1, 11), "exercises": range(1, 11)}
FEW_SEEDS = range(1, 4)
# Trees, most leaves of one.
FORESTS = [(1, 32), (3, 32), (10, 32), (10, 128), (30, 128), (100, None)]
# Of har_trees.
LEAST_ROWS = {"min_samples_leaf": [1, 4, 16, 64, 256]}
SERIES = {"gestures": ("cgestures", 64), "exercises": ("har_exercise_1", 32)}


def statistics(window):
    """Eight statistics of each axis of a window, samples x axes."""
    low, middle, high = np.percentile(window, [25, 50, 75], axis=0)
    steps = np.diff(window, axis=0)
    parts = [window.mean(0), window.std(0), window.min(0), window.max(0)]
    parts += [middle, high - low, np.abs(steps).mean(0), (window**2).mean(0)]
    return np.concatenate(parts)


def windows(file, stride):
    """Statistics, activities and recordings of all windows of a file."""
    rows = list(csv.DictReader(gzip.open(file, "rt")))
    inputs, targets, recordings = [], [], []
    names = [row["file"] for row in rows]
    for name in dict.fromkeys(names):
        part = [row for row in rows if row["file"] == name]
        series = np.array([[float(row[axis]) for axis in "xyz"] for row in part])
        for start in range(0, len(series) - 127, stride):
            inputs.append(statistics(series[start : start + 128]))
            targets.append(part[start + 127]["activity"])
            recordings.append(name)
    return np.array(inputs), np.array(targets), np.array(recordings)


@cache
def koan_parts(file, stride, seeds):
    """Classes of windows, and their parts for each seed as koan has them."""
    command = ["cargo", "run", "--quiet", "--release", "-p", "koan-papers", "--example", "folds", "--"]
    command += [file.resolve(), "file", "time,subject", "128", str(stride), "5", *map(str, seeds)]
    root = Path(__file__).resolve().parent.parent
    lines = subprocess.run(command, check=True, capture_output=True, text=True, cwd=root).stdout.split()
    table = np.array([line.split(",") for line in lines])
    return table[:, 0], table[:, 1:].astype(int)


def folds(data, name, seed):
    """Pairs of training and test parts: inputs and targets, and the training part's recordings."""
    if name in SERIES:
        file, stride = SERIES[name]
        file = data / f"har_emlearn/{file}.csv.gz"
        inputs, targets, recordings = windows(file, stride)
        classes, parts = koan_parts(file, stride, SEEDS[name])
        if not np.array_equal(classes, targets):
            sys.exit(f"{file}: not the windows that koan has")
        mine = parts[:, SEEDS[name].index(seed)]
        targets = np.unique(targets, return_inverse=True)[1]
        parts = [(np.flatnonzero(mine != part), np.flatnonzero(mine == part)) for part in range(5)]
    else:
        if name == "digits":
            inputs, targets = load_digits(return_X_y=True)
        else:
            file = gzip.open(data / "har_wisdm/WISDM_ar_v1.1_transformed.arff.gz", "rt")
            table, _ = arff.loadarff(file)
            fields = list(table.dtype.names)
            inputs = np.array([[row[field] for field in fields[:-1]] for row in table], float)
            inputs = np.where(np.isnan(inputs), np.nanmean(inputs, axis=0), inputs)
            targets = np.unique(table[fields[-1]], return_inverse=True)[1]
        rows = recordings = np.arange(len(inputs))
        size = 597 if name == "digits" else 0.2
        parts = [train_test_split(rows, test_size=size, stratify=targets, random_state=seed)]
    return [(inputs[a], targets[a], inputs[b], targets[b], recordings[a]) for a, b in parts]


def linked(source, folder):
    """Bytes of code and data of a program for a Cortex-M0."""
    (folder / "main.c").write_text(source)
    flags = ["-Os", "-mcpu=cortex-m0", "-mthumb", "-ffunction-sections", "-fdata-sections"]
    flags += ["-Wl,--gc-sections", "--specs=nano.specs", "--specs=nosys.specs"]
    include = ["-I", emlearn.includedir, "-I", str(folder)]
    program = folder / "program.elf"
    compile = ["arm-none-eabi-gcc", *flags, *include, str(folder / "main.c"), "-lm", "-o", program]
    subprocess.run(compile, check=True, capture_output=True)
    sizes = subprocess.run(["arm-none-eabi-size", program], check=True, capture_output=True, text=True)
    text, initialised = sizes.stdout.splitlines()[1].split()[:2]
    return int(text) + int(initialised)


def size(model, inputs):
    """Bytes of the exported model with what it needs to predict."""
    converted = emlearn.convert(model, method="inline", dtype="int16_t")
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        converted.save(file=str(folder / "model.h"), name="model")
        row = f"static volatile int16_t row[{inputs.shape[1]}];"
        empty = f"#include <stdint.h>\n{row}\nint main(void) {{ return row[0]; }}\n"
        copy = f"int16_t x[{inputs.shape[1]}]; for (int i = 0; i < {inputs.shape[1]}; i++) x[i] = row[i];"
        call = f"return model_predict(x, {inputs.shape[1]});"
        program = f'#include "model.h"\n{row}\nint main(void) {{ {copy} {call} }}\n'
        return linked(program, folder) - linked(empty, folder)


def quantised(parts):
    """Inputs as 16-bit integers, scaled by the training part, each column alone."""
    for inputs, targets, test, truth, recordings in parts:
        low, high = inputs.min(0), inputs.max(0)
        scale = 32000 / np.maximum(high - low, 1e-12)
        to = lambda x: np.clip(np.round((x - low) * scale) - 16000, -32768, 32767).astype(np.int16)
        yield to(inputs), targets, to(test), truth, recordings


def forest(trees, leaves, seed, inputs, targets, recordings):
    """A forest; like that of har_trees if `leaves` is "har_trees"."""
    if leaves != "har_trees":
        model = RandomForestClassifier(trees, max_leaf_nodes=leaves, random_state=seed, n_jobs=2)
        return model.fit(inputs, targets)
    model = RandomForestClassifier(trees, max_features=0.3, class_weight="balanced", random_state=seed)
    parts = GroupShuffleSplit(5, test_size=0.25, random_state=seed)
    search = GridSearchCV(model, LEAST_ROWS, scoring="f1_micro", cv=parts, n_jobs=2)
    return search.fit(inputs, targets, groups=recordings).best_estimator_


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data", type=Path, help="the folder of data sets")
    parser.add_argument("--sets", nargs="+", default=["digits", "har_wisdm", *SERIES])
    arguments = parser.parse_args()
    for name in arguments.sets:
        splits = {seed: list(quantised(folds(arguments.data, name, seed))) for seed in SEEDS.get(name, FEW_SEEDS)}
        for trees, leaves in FORESTS + ([(10, "har_trees")] if name in SERIES else []):
            wrong, bytes = [], []
            for seed, parts in splits.items():
                errors = []
                for inputs, targets, test, truth, recordings in parts:
                    model = forest(trees, leaves, seed, inputs, targets, recordings)
                    errors.append((model.predict(test) != truth).mean())
                wrong.append(np.mean(errors))
                model.n_jobs = None
                bytes.append(size(model, inputs))
            row = {"set": name, "trees": trees, "leaves": leaves, "error": float(np.mean(wrong)), "bytes": int(np.mean(bytes))}
            print(json.dumps(row), flush=True)


if __name__ == "__main__":
    main()
