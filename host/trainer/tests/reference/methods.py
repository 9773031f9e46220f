"""Figures that host/trainer/tests/methods compares with, from numpy, scipy and scikit-learn.

    python3 host/trainer/tests/reference/methods.py

Printed with scikit-learn 1.9.1, scipy 1.17.1, numpy 2.4.6.
"""

import numpy as np
from scipy.optimize import linprog, lsq_linear
from sklearn.decomposition import PCA
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.svm import SVC


class Numbers:
    """The same integers as `Numbers` in host/trainer/tests/methods/common.rs."""

    def __init__(self, seed):
        self.state = seed

    def next(self):
        self.state = (self.state * 6364136223846793005 + 1442695040888963407) % 2**64
        return (self.state >> 48) % 2048 - 1024


ROWS, FEATURES = 60, 6
numbers = Numbers(1)
X = np.array([[numbers.next() for _ in range(FEATURES)] for _ in range(ROWS)], dtype=float)
noise = np.array([[numbers.next() for _ in range(3)] for _ in range(ROWS)], dtype=float)
two = (X[:, 0] + X[:, 1] - X[:, 2] + 1.5 * noise[:, 0] > 300).astype(int)
three = np.argmax(X[:, :3] + X[:, 3:] + noise, axis=1)
value = X[:, 0] / 512 + np.sin(X[:, 1] / 256) + noise[:, 0] / 4096
weights = 1.0 + np.arange(ROWS) % 3
ones = np.ones(ROWS)


def show(name, numbers):
    print(name, "[" + ", ".join(f"{number:.9e}" for number in np.ravel(numbers)) + "]")


def logistic(name, labels, penalty, weights):
    """Objective, weights and biases of sum(loss) + penalty/2 * |w|^2."""
    model = LogisticRegression(C=1 / penalty, tol=1e-12, max_iter=10000, solver="newton-cg")
    # Unit features for the solver: the same problem in other units.
    model.set_params(C=1024.0**2 / penalty)
    model.fit(X / 1024, labels, sample_weight=weights)
    w, b = model.coef_ / 1024, model.intercept_
    logs = model.predict_log_proba(X / 1024)[np.arange(ROWS), labels]
    show(name, [-(weights * logs).sum() + penalty / 2 * (w**2).sum(), *w.T.ravel(), *b])


logistic("logistic", two, 1e6, ones)
logistic("logistic weighted", two, 1e5, weights)
logistic("multinomial", three, 1e6, ones)
logistic("multinomial weighted", three, 1e5, weights)


def hinge(name, labels, penalty, weights):
    model = SVC(kernel="linear", C=1024.0**2 / penalty, tol=1e-9)
    model.fit(X / 1024, labels, sample_weight=weights)
    w, b = model.coef_[0] / 1024, model.intercept_[0]
    y = 2 * labels - 1
    loss = (weights * np.maximum(0, 1 - y * (X @ w + b))).sum()
    show(name, [loss + penalty / 2 * (w**2).sum(), *w])


hinge("hinge", two, 1e6, ones)
hinge("hinge weighted", two, 1e5, weights)


def boxed_hinge(name, bound, weights):
    """Without a penalty: a linear program in w, b and the slacks."""
    y = 2 * two - 1
    cost = np.concatenate([np.zeros(FEATURES + 1), weights])
    rows = np.hstack([-y[:, None] * X, -y[:, None], -np.eye(ROWS)])
    bounds = [(-bound, bound)] * FEATURES + [(None, None)] + [(0, None)] * ROWS
    show(name, [linprog(cost, A_ub=rows, b_ub=-ones, bounds=bounds, method="highs").fun])


boxed_hinge("boxed hinge 2e-4", 2e-4, ones)
boxed_hinge("boxed hinge 1e-3 weighted", 1e-3, weights)


def boxed_squares(name, bound, weights):
    root = np.sqrt(weights)
    bounds = (np.array([-bound] * FEATURES + [-np.inf]), np.array([bound] * FEATURES + [np.inf]))
    matrix = root[:, None] * np.hstack([X / 1024, ones[:, None]])
    bounds = tuple(np.concatenate([side[:-1] * 1024, side[-1:]]) for side in bounds)
    fit = lsq_linear(matrix, root * value, bounds=bounds, tol=1e-14, method="bvls")
    show(name, [fit.cost, *(fit.x[:-1] / 1024), fit.x[-1]])


boxed_squares("boxed squares 2e-4", 2e-4, ones)
boxed_squares("boxed squares 1e-3 weighted", 1e-3, weights)

# Regularisation networks, N * gamma = 0.06; gamma of scikit-learn is 1 / width^2.
U = X / 512
train, test = slice(0, 40), slice(40, 60)


def gaussian(a, b, width):
    return np.exp(-((a[:, None, :] - b[None, :, :]) ** 2).sum(-1) / width**2)


def laplacian(a, b, width):
    return np.exp(-np.abs(a[:, None, :] - b[None, :, :]).sum(-1) / width)


for name, kernel in {
    "gaussian": KernelRidge(kernel="rbf", gamma=1 / 4, alpha=0.06),
    "laplacian": KernelRidge(kernel="laplacian", gamma=1 / 3, alpha=0.06),
}.items():
    show(name, kernel.fit(U[train], value[train]).predict(U[test])[:5])
for name, kernel in {
    "sum": lambda a, b: gaussian(a, b, 1) + gaussian(a, b, 4),
    "product": lambda a, b: gaussian(a[:, :2], b[:, :2], 1) * laplacian(a[:, 2:], b[:, 2:], 8),
}.items():
    model = KernelRidge(kernel="precomputed", alpha=0.06)
    model.fit(kernel(U[train], U[train]), value[train])
    show(name, model.predict(kernel(U[test], U[train]))[:5])

# AdaBoost from its definition: every stump of every round, tried one by one.
y = 2 * two - 1
margin, weight = np.zeros(ROWS), ones / ROWS
alphas, errors = [], []
for _ in range(20):
    best = (0, None)
    for k in range(FEATURES):
        for threshold in np.unique(X[:, k])[:-1]:
            h = np.where(X[:, k] > threshold, 1, -1)
            edge = (weight * y * h).sum()
            if abs(edge) > abs(best[0]) + 1e-12:
                best = (edge, np.sign(edge) * h)
    error = (1 - abs(best[0])) / 2
    alphas.append(0.5 * np.log((1 - error) / error))
    margin += alphas[-1] * best[1]
    weight *= np.exp(-alphas[-1] * y * best[1])
    weight /= weight.sum()
    errors.append(((margin > 0) != (y > 0)).mean())
show("adaboost alphas", alphas)
show("adaboost errors", errors)

pca = PCA(n_components=2).fit(X)
show("pca variances", pca.explained_variance_ * (ROWS - 1) / ROWS)
show("pca share", [pca.explained_variance_ratio_.sum()])
show("pca first coordinates", np.abs(pca.transform(X)[:3]))
show("auc", [roc_auc_score(two, X[:, 0]), roc_auc_score(two, np.round(X[:, 0] / 512))])
