"""Gradient-boosted trees of LightGBM as a stream of bits, and predictions from that stream.

Header, then bases, a table of leaf values (if it has one), features that are used with the
number of their thresholds, thresholds, trees in preorder. A split is the index of a pair
of feature and threshold, each pair being stored once; a leaf is a number of 2 to 8 bits, or
an index into the table. One bit tells splits from leaves; it is left out at the root and at
the largest depth. Trees of the classes take turns.
"""

import re
from dataclasses import dataclass, replace
from functools import cache

import lightgbm
import numpy as np

from bits import Reader, Writer
from found import Found
from tables import decide

NAME = "packed trees"
LEAVES = [2, 3, 4, 6, 8, 12, 16, 32, 64, 128]
RATES = [0.15, 0.4, 0.8]
# Bits of a leaf, and whether they are an index into a table.
ENCODINGS = [(4, False), (6, False), (8, False), (2, True), (3, True), (4, True), (5, True)]
MOST_TREES = 600
# Bits of the header's numbers.
HEADER = 60


@dataclass(frozen=True)
class Options:
    leaves: int
    rate: float
    bins: int = 31
    least: int = 10
    ridge: float = 1.0
    eight: bool = False  # inputs of 8 bits: an offset and a shift for each feature
    bits: int = 4
    table: bool = False
    rounds: int = 0

    def fit(self):
        """What the training depends on, without the packing."""
        return replace(self, bits=4, table=False, rounds=0)


def narrowing(inputs, eight):
    """Offset and shift of each column."""
    low, high = inputs.min(axis=0), inputs.max(axis=0)
    if not eight:
        return np.zeros_like(low), np.zeros_like(low)
    bits = np.ceil(np.log2(np.maximum(high - low, 1) + 1)).astype(int)
    return low, np.maximum(bits - 8, 0)


class Boosted:
    """Trees as LightGBM made them."""

    def __init__(self, options, inputs, truth, classes, most_bytes):
        self.classes, self.inputs = classes, inputs.shape[1]
        self.outputs = classes if classes > 2 else 1
        self.offset, self.shift = narrowing(inputs, options.eight)
        self.eight = options.eight
        # A tree of l leaves has at least about this many bits.
        rounds = min(MOST_TREES, 8 * most_bytes // (9 * options.leaves - 5)) // self.outputs
        # Scores start from what the targets alone say.
        self.mean, self.spread = 0.0, 1.0
        if classes:
            share = np.bincount(truth, minlength=classes) / len(truth)
            start = np.log(share) if classes > 2 else np.log(share[1:] / share[:1])
        else:
            self.mean, self.spread = truth.mean(), truth.std()
            truth, start = (truth - self.mean) / self.spread, np.zeros(1)
        self.start = start
        parameters = {
            "objective": "multiclass" if classes > 2 else "binary" if classes else "regression",
            "num_leaves": options.leaves,
            "learning_rate": options.rate,
            "max_bin": options.bins,
            "min_data_in_leaf": options.least,
            "min_sum_hessian_in_leaf": 1e-3,
            "lambda_l2": options.ridge,
            "boost_from_average": False,
            "use_missing": False,
            "num_threads": 1,
            "verbose": -1,
            "deterministic": True,
            "force_col_wise": True,
            "seed": 1,
        }
        if classes > 2:
            parameters["num_class"] = classes
        first = np.repeat(start, len(truth))
        data = lightgbm.Dataset(self.narrow(inputs), truth, init_score=first, free_raw_data=True)
        self.booster = lightgbm.train(parameters, data, max(rounds, 1))
        self.read()

    def narrow(self, inputs):
        return ((inputs - self.offset) >> self.shift).astype(np.float32)

    def read(self):
        """Trees as arrays, a row each: pairs of feature and threshold, children, leaf values."""
        text = self.booster.model_to_string()
        self.trees = []
        for part in re.split(r"\nTree=\d+\n", text.split("\nend of trees")[0])[1:]:
            fields = dict(line.split("=", 1) for line in part.splitlines() if "=" in line)
            numbers = lambda key, kind: np.array(fields.get(key, "").split(), kind)
            self.trees.append(
                {
                    "feature": numbers("split_feature", int),
                    "threshold": np.floor(numbers("threshold", float)).astype(int),
                    "left": numbers("left_child", int),
                    "right": numbers("right_child", int),
                    "value": numbers("leaf_value", float),
                    "count": numbers("leaf_count", float) if int(fields["num_leaves"]) > 1 else np.ones(1),
                }
            )
        self.rounds = len(self.trees) // self.outputs
        self.plans = plans(self)

    def leaves_of(self, inputs):
        """Numbers of leaves, rows x trees."""
        return self.booster.predict(self.narrow(inputs), pred_leaf=True).reshape(len(inputs), -1)

    def most_rounds(self, bytes, bits, table):
        """As many rounds as there is room for."""
        sizes = [plan.size(bits, table) for plan in self.plans]
        return max((n for n, size in enumerate(sizes) if size <= bytes), default=0)


def width(most):
    """Bits of the numbers up to this one."""
    return int(most).bit_length()


@dataclass
class Plan:
    """Widths and sizes of a model of so many rounds."""

    fixed: int  # bits that do not depend on the leaves' encoding
    leaves: int
    threshold_bits: int
    signed: bool
    count_bits: int
    index_bits: int
    deepest: int
    bare_roots: bool  # a tree without a split

    def size(self, bits, table):
        """Bytes when packed; the packer checks that this is so."""
        return (self.fixed + self.leaves * bits + (8 << bits if table else 0) + 7) // 8


def plans(model):
    """A plan for each number of rounds."""
    seen, counts = set(), np.zeros(model.inputs, int)
    low = high = nodes = leaves = 0
    levels, bare_roots, found = np.zeros(64, int), False, []
    for number in range(model.rounds + 1):
        for tree in model.trees[max(number - 1, 0) * model.outputs : number * model.outputs]:
            for pair in zip(tree["feature"].tolist(), tree["threshold"].tolist()):
                if pair not in seen:
                    seen.add(pair)
                    counts[pair[0]] += 1
                    low, high = min(low, pair[1]), max(high, pair[1])
            nodes += len(tree["feature"])
            leaves += len(tree["value"])
            bare_roots |= len(tree["feature"]) == 0
            mine = at_levels(tree)
            levels[: len(mine)] += mine
        deepest = max(np.flatnonzero(levels), default=0)
        plan = Plan(0, leaves, max(width(high), width(~low)) + (low < 0), low < 0, 0, 0, int(deepest), bare_roots)
        plan.count_bits = width(max(counts.max() - 1, 0))
        plan.index_bits = width(max(len(seen) - 1, 0))
        flags = levels[:deepest].sum() - (0 if bare_roots else levels[0] if deepest else 0)
        used = (counts > 0).sum() * (width(model.inputs - 1) + plan.count_bits + (20 if model.eight else 0))
        bases = 16 * model.outputs if model.classes else 64
        plan.fixed = int(HEADER + bases + used + len(seen) * plan.threshold_bits + flags + nodes * plan.index_bits)
        found.append(plan)
    return found


def at_levels(tree):
    """Nodes and leaves at each depth."""
    levels, nodes = [], [0] if len(tree["left"]) else [-1]
    while nodes:
        levels.append(len(nodes))
        nodes = [child for node in nodes if node >= 0 for child in (tree["left"][node], tree["right"][node])]
    return levels


def quantise(trees, bits, table):
    """Whole numbers for all leaves, what they are indices of, and their unit."""
    values = np.concatenate([tree["value"] for tree in trees]) if trees else np.zeros(1)
    weights = np.concatenate([tree["count"] for tree in trees]) if trees else np.ones(1)
    largest = max(np.abs(values).max(), 1e-12)
    if table:
        entries = codebook(values, weights, 1 << bits)
        unit = max(np.abs(entries).max(), 1e-12) / 127
        entries = np.unique(np.round(entries / unit).astype(int))
        entries = np.append(entries, [entries[-1]] * ((1 << bits) - len(entries)))
        return nearest(values / unit, entries), entries, unit
    most = (1 << (bits - 1)) - 1
    best = None
    for share in (1.0, 0.8, 0.6, 0.45, 0.3):
        unit = share * largest / most
        whole = np.clip(np.round(values / unit), -most - 1, most).astype(int)
        loss = (weights * (values - unit * whole) ** 2).sum()
        if best is None or loss < best[0]:
            best = loss, whole, unit
    return best[1], None, best[2]


def nearest(values, entries):
    """Numbers of the nearest of sorted entries."""
    right = np.clip(np.searchsorted(entries, values), 1, len(entries) - 1)
    return np.where(values - entries[right - 1] <= entries[right] - values, right - 1, right)


def codebook(values, weights, count):
    """Means of `count` groups of values, by Lloyd's iterations."""
    order = np.argsort(values)
    values, weights = values[order], weights[order]
    entries = np.unique(np.quantile(values, (np.arange(count) + 0.5) / count))
    entries = np.unique(np.append(entries, np.linspace(values[0], values[-1], count - len(entries))))
    for _ in range(20):
        groups = nearest(values, entries) if len(entries) > 1 else np.zeros(len(values), int)
        sums = np.bincount(groups, weights, len(entries))
        moments = np.bincount(groups, weights * values, len(entries))
        entries = np.unique(np.where(sums > 0, moments / np.maximum(sums, 1e-30), entries))
    return entries


def pack(model, options):
    """Bytes of the first rounds."""
    plan = model.plans[options.rounds]
    trees = model.trees[: options.rounds * model.outputs]
    codes, entries, unit = quantise(trees, options.bits, options.table)
    pairs = {(f, t) for tree in trees for f, t in zip(tree["feature"].tolist(), tree["threshold"].tolist())}
    pairs = sorted(pairs)
    index = {pair: number for number, pair in enumerate(pairs)}
    features, counts = np.unique([feature for feature, _ in pairs], return_counts=True)
    out = Writer()
    header = [(model.outputs, 5), (model.inputs - 1, 8), (len(trees), 12), (len(features), 8)]
    header += [(plan.count_bits, 4), (model.eight, 1), (plan.threshold_bits, 5), (plan.signed, 1)]
    header += [(plan.index_bits, 4), (plan.deepest, 5), (plan.bare_roots, 1)]
    header += [(options.bits, 4), (options.table, 1), (not model.classes, 1)]
    for value, bits in header:
        out.put(value, bits)
    if model.classes:
        for base in bases(model.start, unit):
            out.put(base, 16)
    else:
        out.put_float(unit * model.spread)
        out.put_float(model.mean)
    for entry in entries if options.table else []:
        out.put(entry, 8)
    for feature, count in zip(features.astype(int), counts):
        out.put(feature, width(model.inputs - 1))
        out.put(count - 1, plan.count_bits)
        if model.eight:
            out.put(model.offset[feature], 16)
            out.put(model.shift[feature], 4)
    for _, threshold in pairs:
        out.put(threshold, plan.threshold_bits)
    begin = 0
    for tree in trees:
        code = codes[begin : begin + len(tree["value"])]
        begin += len(tree["value"])

        def put(node, level):
            if level < plan.deepest and (level or plan.bare_roots):
                out.put(node >= 0, 1)
            if node < 0:
                return out.put(code[~node], options.bits)
            out.put(index[tree["feature"][node], tree["threshold"][node]], plan.index_bits)
            put(tree["left"][node], level + 1)
            put(tree["right"][node], level + 1)

        put(0 if len(tree["left"]) else -1, 0)
    blob = out.bytes()
    if len(blob) != plan.size(options.bits, options.table):
        raise AssertionError(f"{len(blob)} bytes, not {plan.size(options.bits, options.table)}")
    return blob


def bases(start, unit):
    return np.clip(np.round(start / unit), -32768, 32767).astype(int)


def unpack(blob):
    """Scores of rows, from the bytes alone: a function; scale and mean of regressions."""
    bits = Reader(blob)
    outputs, inputs, trees, used, count_bits = bits.get(5), bits.get(8) + 1, bits.get(12), bits.get(8), bits.get(4)
    eight, threshold_bits, signed, index_bits = bits.get(1), bits.get(5), bits.get(1), bits.get(4)
    deepest, bare_roots, leaf_bits, table, regression = bits.get(5), bits.get(1), bits.get(4), bits.get(1), bits.get(1)
    if regression:
        base, scale, mean = np.zeros(1, int), bits.get_float(), bits.get_float()
    else:
        base, scale, mean = np.array([bits.signed(16) for _ in range(outputs)]), None, None
    entries = [bits.signed(8) for _ in range(1 << leaf_bits)] if table else None
    pairs = []
    for _ in range(used):
        feature, count = bits.get(width(inputs - 1)), bits.get(count_bits) + 1
        offset, shift = (bits.signed(16), bits.get(4)) if eight else (0, 0)
        pairs += [(feature, offset, shift)] * count
    # A pair's test in terms of the row itself: x <= limit.
    limits = []
    for feature, offset, shift in pairs:
        threshold = bits.signed(threshold_bits) if signed else bits.get(threshold_bits)
        limits.append((feature, ((threshold + 1) << shift) - 1 + offset))
    nodes = []  # feature, limit, left, right, value

    def read(level):
        number = len(nodes)
        nodes.append(None)
        split = level < deepest and (level == 0 and not bare_roots or bits.get(1))
        if split:
            feature, limit = limits[bits.get(index_bits)]
            left = read(level + 1)
            nodes[number] = (feature, limit, left, read(level + 1), 0)
        else:
            value = entries[bits.get(leaf_bits)] if table else bits.signed(leaf_bits)
            nodes[number] = (0, 0, number, number, value)
        return number

    roots = np.array([read(0) for _ in range(trees)], int)
    nodes = np.array(nodes, int).reshape(-1, 5).T.copy()

    def scores(rows):
        total = np.tile(base, (len(rows), 1))
        for begin in range(0, len(rows) if trees else 0, 2000):
            part = rows[begin : begin + 2000]
            at = np.tile(roots, (len(part), 1))
            number = np.arange(len(part))[:, None]
            for _ in range(deepest):
                at = np.where(part[number, nodes[0][at]] <= nodes[1][at], nodes[2][at], nodes[3][at])
            total[begin : begin + 2000] += nodes[4][at].reshape(len(part), -1, outputs).sum(axis=1)
        return total

    return scores, scale, mean


def predict(blob, rows):
    """Classes or values, from the bytes alone."""
    scores, scale, mean = unpack(blob)
    found = scores(rows)
    return decide(found) if scale is None else mean + scale * found[:, 0]


class Rival(Found):
    """Fits on a part of the training rows, and what is best of them at a budget."""

    def __init__(self, table, budgets, more=()):
        self.table, self.budgets = table, sorted({*budgets, *more})
        self.inputs, self.truth = table.train[table.fit], table.train_truth[table.fit]
        self.held, self.held_truth = table.train[table.held], table.train_truth[table.held]
        self.found = []  # error, bytes, options
        self.fits = {}
        self.whole = cache(lambda options: self.boosted(options, table.train, table.train_truth))

    def boosted(self, options, inputs, truth):
        return Boosted(options, inputs, truth, self.table.classes, self.budgets[-1])

    def search(self):
        for leaves in LEAVES:
            for rate in RATES:
                self.measure(Options(leaves, rate))
        best = {self.best(budget)[2].fit() for budget in self.budgets}
        for options in sorted(best, key=str):
            for change in (
                {"bins": 12},
                {"bins": 127},
                {"eight": True, "bins": 127},
                {"least": 3 if len(self.truth) < 4000 else 40},
                {"rate": options.rate * (0.6 if options.rate < 0.5 else 1.25)},
            ):
                self.measure(replace(options, **change))

    def measure(self, options):
        """Errors of what can be packed of one fit, from the numbers of the leaves."""
        if options in self.fits:
            return
        model = self.boosted(options, self.inputs, self.truth)
        self.fits[options] = True
        leaves = model.leaves_of(self.held)
        begins = np.cumsum([0] + [len(tree["value"]) for tree in model.trees])[:-1]
        for bits, table in ENCODINGS:
            most = {model.most_rounds(budget, bits, table) for budget in self.budgets}
            for rounds in sorted({n * part // 10 for n in most for part in (6, 10)} - {0}):
                count = rounds * model.outputs
                codes, entries, unit = quantise(model.trees[:count], bits, table)
                values = codes if entries is None else entries[codes]
                sums = values[leaves[:, :count] + begins[:count]].reshape(len(leaves), rounds, -1).sum(axis=1)
                if self.table.classes:
                    predicted = decide(sums + bases(model.start, unit))
                else:
                    predicted = model.mean + unit * model.spread * sums[:, 0]
                error = self.table.error(predicted, self.held_truth)
                chosen = replace(options, bits=bits, table=table, rounds=rounds)
                self.found.append((error, model.plans[rounds].size(bits, table), chosen))

    def at(self, budget):
        """Bytes and options of the model of all training rows; nothing if none fits."""
        fits = [found for found in self.found if found[1] <= budget]
        for _, _, options in sorted(fits, key=lambda found: found[:2]):
            model = self.whole(options.fit())
            rounds = min(options.rounds, model.most_rounds(budget, options.bits, options.table))
            # Of all rows a single round may no longer fit: the next best then.
            if rounds:
                options = replace(options, rounds=rounds)
                return pack(model, options), options
        return None
