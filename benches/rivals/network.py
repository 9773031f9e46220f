"""Small networks of 8-bit integers: scikit-learn's, rounded after training.

An input becomes 8 bits by an offset and a gain, each input its own or all the same; the
network is trained on these 8 bits. Hidden units are 8 bits without sign, weights 8 bits with
one unit for a layer or one for each hidden unit of it, biases 16 bits times a power of two,
sums 32 bits. The bytes are a header, input maps, and for each layer multipliers, biases and
weights. Scores are the last layer's sums.
"""

import struct
import warnings
from dataclasses import dataclass, replace
from functools import cache

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.neural_network import MLPClassifier, MLPRegressor

from found import Found
from tables import decide

NAME = "int8 network"
# 1 in units of an 8-bit input.
ONE = 32
# Steps of training; few rows are passed over more often.
LARGE = 4096  # bytes
STEPS, BATCH, MOST_PASSES = 4000, 128, 400


@dataclass(frozen=True)
class Options:
    hidden: tuple
    alpha: float = 1e-3
    shared: bool = False  # one input map for all inputs
    each: bool = False  # a multiplier for each hidden unit

    def fit(self):
        return replace(self, each=False)


def gain_of(spread):
    """4 bits of mantissa and 4 of exponent: x * (16 + m) << 2 >> e is near ONE * x / spread."""
    best = None
    for exponent in range(16):
        mantissa = int(np.clip(round(ONE / spread * 2.0 ** (exponent - 2)) - 16, 0, 15))
        miss = abs(np.log((16 + mantissa) * 2.0 ** (2 - exponent) * spread / ONE))
        if best is None or miss < best[0] - 1e-9:
            best = miss, mantissa, exponent
    return best[1:]


def input_map(inputs, shared):
    """Offsets and gains of all inputs, or one for all."""
    if shared:
        inputs = inputs.reshape(-1, 1)
    offset = np.clip(np.round(inputs.mean(axis=0)), -32768, 32767).astype(int)
    gains = np.array([gain_of(max(spread, 1 / 16)) for spread in inputs.std(axis=0)])
    return offset, gains[:, 0], gains[:, 1]


def mapped(rows, offset, mantissa, exponent):
    scaled = ((rows - offset) * (16 + mantissa) << 2) >> exponent
    return np.clip(scaled, -128, 127)


def bytes_of(inputs, options, outputs, regression):
    hidden = options.hidden
    sizes = [inputs, *hidden, outputs]
    total = 4 + len(hidden) + 3 * (1 if options.shared else inputs) + (8 if regression else 0)
    for layer, (ins, outs) in enumerate(zip(sizes, sizes[1:])):
        last = layer == len(hidden)
        multipliers = 0 if last else 2 * outs if options.each else 2
        total += outs * (ins + 2) + 1 + multipliers
    return total


class Trained:
    def __init__(self, options, inputs, truth, classes):
        self.classes, self.map = classes, input_map(inputs, options.shared)
        self.mean, self.spread = (0.0, 1.0) if classes else (truth.mean(), truth.std())
        kind = MLPClassifier if classes else MLPRegressor
        batch = min(BATCH, max(len(truth) // 10, 16))
        passes = max(min(STEPS * batch // len(truth), MOST_PASSES), 10)
        network = kind(
            hidden_layer_sizes=options.hidden,
            alpha=options.alpha,
            batch_size=batch,
            learning_rate_init=0.005,
            max_iter=passes,
            random_state=1,
            tol=1e-5,
            n_iter_no_change=20,
        )
        inputs = self.eight(inputs).astype(np.float32)
        with warnings.catch_warnings(), np.errstate(under="ignore"):
            warnings.simplefilter("ignore", ConvergenceWarning)
            network.fit(inputs / ONE, truth if classes else (truth - self.mean) / self.spread)
        self.weights, self.biases = network.coefs_, network.intercepts_
        # What hidden units reach on the training rows.
        self.reach, values = [], inputs / ONE
        for weights, bias in zip(self.weights[:-1], self.biases[:-1]):
            values = np.maximum(values @ weights + bias, 0)
            self.reach.append(np.maximum(np.quantile(values, 0.9995, axis=0), 1e-3))

    def eight(self, rows):
        return mapped(rows, *self.map)


def pack(model, options):
    """Weights, biases and multipliers as integers, in bytes."""
    offset, mantissa, exponent = model.map
    inputs, outputs = model.weights[0].shape[0], model.weights[-1].shape[1]
    flags = options.each | options.shared << 1 | (not model.classes) << 2
    out = struct.pack("<BBBB", inputs - 1, outputs, len(options.hidden), flags)
    out += bytes(options.hidden)
    for each in zip(offset, mantissa, exponent):
        out += struct.pack("<hB", each[0], each[1] | each[2] << 4)
    unit = np.full(inputs, 1 / ONE)  # of the numbers that enter a layer
    for layer, (weights, bias) in enumerate(zip(model.weights, model.biases)):
        last = layer == len(options.hidden)
        if not last:
            reach = model.reach[layer] if options.each else model.reach[layer].max()
            after = np.broadcast_to(reach, weights.shape[1]) / 255
            if not options.each:
                # Units that are alike at the way out have weights that are alike.
                after = np.full(weights.shape[1], after[0])
        weights = weights * unit[:, None]
        largest = np.maximum(np.abs(weights).max(axis=0), 1e-9)
        if last or not options.each:
            largest = np.full(len(largest), largest.max())
        # Biases must fit as well.
        sum_unit = np.maximum(largest / 127, np.abs(bias).max() / (32767 << 8))
        integers = np.clip(np.round(weights / sum_unit), -127, 127).astype(int)
        bias = np.round(bias / sum_unit)
        up = max(int(np.ceil(np.log2(max(np.abs(bias).max(), 1) / 32767))), 0)
        bias = np.clip(np.round(bias / 2**up), -32767, 32767).astype(int)
        out += struct.pack("<B", up)
        if not last:
            # A product with 8 bits, and a shift.
            factor = (sum_unit / after)[: None if options.each else 1]
            shift = np.clip(np.floor(np.log2(255 / factor)), 0, 31).astype(int)
            factor = np.clip(np.round(factor * 2.0**shift), 0, 255).astype(int)
            out += np.stack([factor, shift], axis=1).astype("u1").tobytes()
            unit = after
        out += bias.astype("<i2").tobytes() + integers.T.astype("i1").tobytes()
    if not model.classes:
        out += struct.pack("<ff", sum_unit[0] * model.spread, model.mean)
    if len(out) != bytes_of(inputs, options, outputs, not model.classes):
        raise AssertionError("not as many bytes as foreseen")
    return out


def sums(blob, rows):
    """The last layer's sums, from the bytes alone, and what follows them."""
    at = 4
    inputs, outputs, depth, flags = blob[0] + 1, *blob[1:4]
    hidden = list(blob[at : at + depth])
    at += depth
    maps = 1 if flags & 2 else inputs
    take = lambda kind, count: np.frombuffer(blob, kind, count, at).astype(int)
    raw = np.frombuffer(blob, "u1", 3 * maps, at).reshape(-1, 3)
    offset = raw[:, :2].copy().view("<i2")[:, 0].astype(int)
    values = mapped(rows, offset, raw[:, 2] & 15, raw[:, 2] >> 4)
    at += 3 * maps
    for layer, count in enumerate([*hidden, outputs]):
        last = layer == depth
        up = blob[at]
        at += 1
        if not last:
            factor, shift = take("u1", 2 * (count if flags & 1 else 1)).reshape(-1, 2).T
            at += 2 * len(factor)
        bias = take("<i2", count) << up
        at += 2 * count
        weights = take("i1", count * values.shape[1]).reshape(count, -1)
        at += weights.size
        total = np.rint(values.astype(float) @ weights.T.astype(float)).astype(np.int64) + bias
        if np.abs(total).max() >= 1 << 31:
            raise OverflowError("a sum has more than 32 bits")
        if last:
            return total, blob[at:]
        total = np.clip(total, 0, (1 << 24) - 1)
        values = np.minimum((total * factor) >> shift, 255)


def predict(blob, rows):
    total, rest = sums(blob, rows)
    if not rest:
        return decide(total)
    scale, mean = struct.unpack("<ff", rest)
    return mean + scale * total[:, 0]


class Rival(Found):
    def __init__(self, table, budgets, more=()):
        """`more` are budgets between the others, for which less is searched."""
        self.table, self.budgets, self.more = table, sorted(budgets), sorted(more)
        self.inputs, self.truth = table.train[table.fit], table.train_truth[table.fit]
        self.held, self.held_truth = table.train[table.held], table.train_truth[table.held]
        self.found = []
        self.trained = cache(lambda options: Trained(options, self.inputs, self.truth, table.classes))
        self.whole = cache(lambda options: Trained(options, table.train, table.train_truth, table.classes))
        # One map for all inputs where their ranges are not too different.
        ranges = np.ptp(self.inputs, axis=0)
        self.alike = len(ranges) > 2 and ranges.max() <= 16 * np.median(ranges)

    def widest(self, budget, layers, alpha, shared=False):
        """As many hidden units, as many in each layer, as fit; nothing if none does."""
        classes = self.table.classes
        outputs, inputs = classes if classes > 2 else 1, self.inputs.shape[1]
        options = None
        for units in range(1, 256):
            wider = Options((units,) * layers, alpha, shared)
            if bytes_of(inputs, wider, outputs, not classes) > budget:
                break
            options = wider
        return options

    def search(self):
        for budget in self.budgets:
            best = self.best(budget)
            if budget >= LARGE and best:
                # Large networks take long: as the best of the small ones, but wider.
                for layers in (1, 2):
                    self.measure(self.widest(budget, layers, best[2].alpha, best[2].shared))
                continue
            self.measure(self.widest(budget, 1, 1e-3))
            if self.alike:
                self.measure(self.widest(budget, 1, 1e-3, True))
            best = self.best(budget)
            shared = bool(best and best[2].shared)
            for layers, alpha in ((1, 3e-2), (2, 1e-3), (2, 3e-2)):
                self.measure(self.widest(budget, layers, alpha, shared))
            best = self.best(budget)
            if best:
                options = best[2].fit()
                fewer = tuple(max(units * 3 // 4, 1) for units in options.hidden)
                self.measure(replace(options, hidden=fewer))
                # A multiplier for each unit may take the place of a unit.
                self.measure(replace(options, hidden=tuple(max(units - 1, 1) for units in options.hidden)))
                self.measure(replace(options, alpha={1e-3: 1e-4, 3e-2: 3e-1}.get(options.alpha, 1e-2)))
        for budget in self.more:
            best = self.best(budget)
            if best:
                options = best[2]
                self.measure(self.widest(budget, len(options.hidden), options.alpha, options.shared))

    def measure(self, options):
        if options is None or any(found[2].fit() == options for found in self.found):
            return
        model = self.trained(options)
        for each in (False, True):
            chosen = replace(options, each=each)
            blob = pack(model, chosen)
            error = self.table.error(predict(blob, self.held), self.held_truth)
            self.found.append((error, len(blob), chosen))

    def at(self, budget):
        """Bytes of the network of all training rows, which are as many, and its options."""
        chosen = self.best(budget)
        if chosen is None:
            return None
        return pack(self.whole(chosen[2].fit()), chosen[2]), chosen[2]
