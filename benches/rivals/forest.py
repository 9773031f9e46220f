"""emlearn's random forests: its "loadable" layout, which takes fewer bytes than its "inline" one.

emlearn.convert(…, method="loadable", dtype="int16_t") writes a C file. Of it count as the
model what its arrays and its struct take on a 32-bit device: 8 bytes a split, a byte for
each class of each leaf (equal leaves once; one byte where trees vote, four in regressions), 4
for each root, 28 for the struct. Predictions are computed from these arrays, as
eml_trees.h does it.
"""

import struct
from dataclasses import dataclass, replace
from functools import cache

import numpy as np
from emlearn.trees import encode_child, quantize_probabilities_into_byte
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

from found import Found

NAME = "emlearn forest"
TREES = [1, 2, 3, 5, 8, 12, 20]
# Shares of the inputs that a split chooses from (0 is their square root), least rows of a leaf.
WAYS = [(0, 1), (0.5, 1), (1.0, 1), (0, 5), (0.5, 5), (1.0, 5)]
# The index of an input is a signed byte.
MOST_INPUTS = 127
STRUCT = 28


@dataclass(frozen=True)
class Options:
    trees: int
    leaves: int
    share: float = 0
    least: int = 1
    bits: int = 4  # of a class's share in a leaf; 0 if trees vote, 32 in regressions

    def fit(self):
        return replace(self, bits=0)


def columns(model, inputs):
    """The columns of the inputs that count most, if there are too many for a signed byte."""
    if inputs <= MOST_INPUTS:
        return np.arange(inputs)
    return np.sort(np.argsort(-model.feature_importances_, kind="stable")[:MOST_INPUTS])


def grow(options, inputs, truth, classes, seed=1):
    kind = RandomForestClassifier if classes else RandomForestRegressor
    model = kind(
        options.trees,
        max_leaf_nodes=max(options.leaves, 2),
        min_samples_leaf=options.least,
        max_features=options.share or "sqrt",
        random_state=seed,
        n_jobs=1,
    ).fit(inputs, truth)
    for tree in model.estimators_:
        # sklearn asks x <= threshold, emlearn x < the threshold cut to an integer.
        threshold = tree.tree_.threshold
        threshold[:] = np.where(tree.tree_.children_left < 0, threshold, np.floor(threshold) + 1)
    return model


@dataclass
class Packed:
    """The arrays of the C file; children below 0 are ~leaf."""

    nodes: np.ndarray  # input, threshold, left, right
    roots: np.ndarray
    leaves: np.ndarray  # distinct leaves x numbers
    bits: int

    def __len__(self):
        each = 4 if self.bits == 32 else self.leaves.shape[1]
        return 8 * len(self.nodes) + len(self.leaves) * each + 4 * len(self.roots) + STRUCT

    def bytes(self):
        """As they lie in memory, children relative to their node; without the struct."""
        parts = []
        for number, (feature, limit, left, right) in enumerate(self.nodes.tolist()):
            parts.append(struct.pack("<bxhhh", feature, limit, encode_child(number, left), encode_child(number, right)))
        kind = "<f4" if self.bits == 32 else "u1"
        return b"".join(parts) + self.roots.astype("<i4").tobytes() + self.leaves.astype(kind).tobytes()


def pack(model, bits):
    """As emlearn.trees.flatten_forest and remove_duplicate_leaves do it, in less time."""
    nodes, roots, leaves, numbers = [], [], [], {}
    for tree in (each.tree_ for each in model.estimators_):
        split = tree.children_left >= 0
        place = np.cumsum(split) - 1 + len(nodes)
        values = tree.value[:, 0]

        def child(node):
            if split[node]:
                return place[node]
            if bits == 0:
                leaf = np.array([np.argmax(values[node])])
            elif bits == 32:
                leaf = values[node]
            else:
                leaf = quantize_probabilities_into_byte(values[node], bits)
            key = leaf.tobytes() if bits != 32 else np.float32(leaf).tobytes()
            if key not in numbers:
                numbers[key] = len(leaves)
                leaves.append(leaf)
            return ~numbers[key]

        roots.append(len(nodes))
        if not split[0]:
            nodes.append((0, 0, child(0), child(0)))
            continue
        for node in np.flatnonzero(split):
            left, right = child(tree.children_left[node]), child(tree.children_right[node])
            nodes.append((tree.feature[node], int(tree.threshold[node]), left, right))
    return Packed(np.array(nodes, int), np.array(roots), np.array(leaves), bits)


def predict(packed, rows):
    """Sums over the trees in single precision, as eml_trees.h has them; the first of equals."""
    feature, limit, left, right = packed.nodes.T
    outputs = packed.leaves.max() + 1 if packed.bits == 0 else packed.leaves.shape[1]
    sums = np.zeros((len(rows), outputs), np.float32)
    number = np.arange(len(rows))
    for root in packed.roots:
        at = np.full(len(rows), root)
        while (at >= 0).any():
            inner = np.maximum(at, 0)
            below = rows[number, feature[inner]] < limit[inner]
            at = np.where(at < 0, at, np.where(below, left[inner], right[inner]))
        leaf = packed.leaves[~at]
        if packed.bits == 0:
            sums[number, leaf[:, 0]] += 1
        elif packed.bits == 32:
            sums += leaf.astype(np.float32)
        else:
            sums += leaf.astype(np.float32) / np.float32(255)
    sums /= np.float32(len(packed.roots))
    return sums[:, 0].astype(float) if packed.bits == 32 else sums.argmax(axis=1)


class Rival(Found):
    def __init__(self, table, budgets, more=()):
        self.table, self.budgets = table, sorted({*budgets, *more})
        inputs, self.truth = table.train[table.fit], table.train_truth[table.fit]
        first = None
        if inputs.shape[1] > MOST_INPUTS:
            first = grow(Options(30, 64), inputs, self.truth, table.classes)
        self.columns = columns(first, inputs.shape[1])
        self.inputs, self.held = inputs[:, self.columns], table.train[table.held][:, self.columns]
        self.held_truth = table.train_truth[table.held]
        self.found = []
        self.encodings = [0, 4] if table.classes else [32]
        self.grown = cache(lambda options: grow(options, self.inputs, self.truth, table.classes))
        whole = table.train[:, self.columns]
        self.whole = cache(lambda options: grow(options, whole, table.train_truth, table.classes))

    def search(self):
        tried = set()
        share = 0 if self.table.classes else 1.0
        for budget in self.budgets:
            for trees in TREES:
                for bits in self.encodings:
                    each = 8 if bits == 0 else 12 if bits == 32 else 8 + min(self.table.classes, 6)
                    leaves = (budget - STRUCT - 4 * trees) // (each * trees) + 1
                    for _ in range(3):
                        if leaves < 2:
                            break
                        options = Options(trees, leaves, share, 1, bits)
                        size = len(pack(self.grown(options.fit()), bits))
                        self.measure(options, tried)
                        if 0.93 * budget < size <= budget:
                            break
                        leaves = min(int(leaves * 0.97 * budget / size), 4 * leaves)
        for budget in self.budgets:
            # The best few once more, with other ways to grow them.
            fits = sorted((found for found in self.found if found[1] <= budget), key=lambda found: found[:2])
            for _, _, options in fits[:4]:
                for share, least in WAYS:
                    self.measure(replace(options, share=share, least=least), tried)

    def measure(self, options, tried):
        for bits in self.encodings:
            options = replace(options, bits=bits)
            if options in tried:
                continue
            tried.add(options)
            packed = pack(self.grown(options.fit()), bits)
            if len(packed) <= self.budgets[-1]:
                error = self.table.error(predict(packed, self.held), self.held_truth)
                self.found.append((error, len(packed), options))

    def at(self, budget):
        """The model of all training rows, with fewer leaves until it fits, and its options."""
        chosen = self.best(budget)
        if chosen is None:
            return None
        options = chosen[2]
        while True:
            packed = pack(self.whole(options.fit()), options.bits)
            if len(packed) <= budget:
                return (self.whole(options.fit()), packed), options
            if options.leaves <= 2:
                return None
            options = replace(options, leaves=min(options.leaves - 1, int(options.leaves * budget / len(packed))))
