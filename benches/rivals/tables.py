"""Tables, their rows as 16-bit integers, splits, and errors."""

import sys

import numpy as np
import pandas as pd
from sklearn.model_selection import train_test_split


class Table:
    """Rows of a table, split: a quarter is the test, a quarter of the others is held out.

    What is held out chooses options; the models that are tested are trained on all but the
    test. `fit` and `held` are numbers of rows within the training rows.
    """

    def __init__(self, path, seed):
        frame = pd.read_csv(path, sep="\t")
        self.name = path.name.removesuffix(".tsv.gz")
        inputs = frame.drop(columns="target").to_numpy(float)
        if frame.isna().to_numpy().any():
            sys.exit(f"{path}: a missing value")
        target = frame.target
        real = target.dtype.kind == "f" and target.nunique() > 10
        self.classes = 0 if real else target.nunique()
        truth = target.to_numpy(float)
        if self.classes:
            truth = np.unique(target, return_inverse=True)[1]
        part = lambda truth: train_test_split(
            np.arange(len(truth)), test_size=0.25, random_state=seed, stratify=truth if self.classes else None
        )
        train, test = part(truth)
        scale = scales(inputs[train])
        integers = np.clip(np.round(inputs * scale), -32768, 32767).astype(np.int32)
        self.train, self.test = integers[train], integers[test]
        self.train_truth, self.test_truth = truth[train], truth[test]
        self.fit, self.held = part(self.train_truth)

    def write(self, folder):
        """train.csv and test.csv, the very integers that the rivals see."""
        for name, rows, truth in (("train", self.train, self.train_truth), ("test", self.test, self.test_truth)):
            frame = pd.DataFrame(rows, columns=[f"x{i}" for i in range(rows.shape[1])])
            frame["target"] = [f"c{value}" for value in truth] if self.classes else truth
            frame.to_csv(folder / f"{name}.csv", index=False)

    def error(self, predicted, truth):
        """In percent: rows with the wrong class, or the root mean squared error over
        the root mean square of the truth, as `koan train` has it."""
        if self.classes:
            return 100 * float(np.mean(predicted != truth))
        return 100 * float(np.sqrt(np.mean((predicted - truth) ** 2) / np.mean(truth**2)))


def scales(inputs):
    """A power of two for each column, so that it fills 16 bits; 1 for whole numbers that fit.

    A device's readings are such integers, so nobody's bytes have these powers.
    """
    largest = np.maximum(np.abs(inputs).max(axis=0), 1e-30)
    whole = (inputs == np.round(inputs)).all(axis=0) & (largest < 32768)
    return np.where(whole, 1.0, 2.0 ** np.floor(np.log2(32767 / largest)))


def decide(scores):
    """Classes of rows of scores, the first of equals; one score is of the second class."""
    scores = scores.reshape(len(scores), -1)
    return (scores[:, 0] > 0).astype(int) if scores.shape[1] == 1 else scores.argmax(axis=1)
