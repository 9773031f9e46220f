"""Anomaly scores beside scikit-learn's: area under the ROC curve.

    python3 -m venv target/benches && target/benches/bin/pip install -r benches/requirements.txt
    target/benches/bin/python benches/anomalies.py DATA/tabular

For every table of classes the most frequent class is the normal one. Half of its rows are
trained on, without any others; the other half and all other classes are scored.
`koan train --task anomaly` has its usual options, so have IsolationForest and OneClassSVM
(on standardised inputs, and at most 5,000 rows for the second). Nothing is chosen by the
rows that are scored; means are over three seeds.
"""

import json
import subprocess
import sys
import tempfile
from pathlib import Path

# This folder's sklearn.py must not hide the package of the same name.
sys.path = [entry for entry in sys.path if Path(entry or ".").resolve() != Path(__file__).resolve().parent]

import pandas as pd
from sklearn.ensemble import IsolationForest
from sklearn.metrics import roc_auc_score
from sklearn.preprocessing import StandardScaler
from sklearn.svm import OneClassSVM

KOAN = Path(__file__).parent.parent / "target" / "release" / "koan"
SEEDS = range(1, 4)


def halves(table, seed):
    """Normal rows to train on, and all rows to score."""
    normal = table.target.value_counts().index[0]
    rows = table[table.target == normal].sample(frac=1, random_state=seed)
    half = len(rows) // 2
    scored = pd.concat([rows[half:], table[table.target != normal]])
    return normal, rows[:half], scored


def koan(normal, train, scored, seed):
    with tempfile.TemporaryDirectory() as folder:
        paths = [f"{folder}/{name}.csv" for name in ("train", "test")]
        for path, rows in zip(paths, (train, scored)):
            rows.assign(target="c" + rows.target.astype(str)).to_csv(path, index=False)
        options = ["--target", "target", "--task", "anomaly", "--normal", f"c{normal}"]
        # Of few rows no smaller rate can be told; the area does not depend on it.
        options += ["--false-alarm", "0.1"]
        command = [KOAN, "train", paths[0], "--test", paths[1], *options]
        command += ["-s", str(seed), "-o", f"{folder}/m.koan", "--json"]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode:
            sys.exit(done.stderr)
        found = json.loads(done.stdout)
        return found["detection"]["auc"], found["bytes"]


def main():
    print("| table | koan | bytes | isolation forest | one-class SVM |")
    print("| --- | ---: | ---: | ---: | ---: |")
    means = []
    for path in sorted(Path(sys.argv[1]).glob("*.tsv.gz")):
        table = pd.read_csv(path, sep="\t")
        if table.target.dtype.kind == "f" or table.target.nunique() > 30:
            continue
        rows = []
        for seed in SEEDS:
            normal, train, scored = halves(table, seed)
            inputs = lambda rows: rows.drop(columns="target")
            scale = StandardScaler().fit(inputs(train))
            a, b = scale.transform(inputs(train)), scale.transform(inputs(scored))
            of = lambda model: roc_auc_score(scored.target == normal, model.fit(a).score_samples(b))
            # The support vectors of more rows take minutes.
            few = min(len(a), 5000)
            machine = OneClassSVM().fit(a[:few])
            auc, size = koan(normal, train, scored, seed)
            forest = of(IsolationForest(random_state=seed))
            rows.append((auc, size, forest, roc_auc_score(scored.target == normal, machine.score_samples(b))))
        mean = [sum(row[i] for row in rows) / len(rows) for i in range(4)]
        means.append(mean)
        name = path.name.removesuffix(".tsv.gz")
        print(f"| {name} | {mean[0]:.3f} | {mean[1]:.0f} | {mean[2]:.3f} | {mean[3]:.3f} |", flush=True)
    mean = [sum(mean[i] for mean in means) / len(means) for i in range(4)]
    print(f"| mean | {mean[0]:.3f} | {mean[1]:.0f} | {mean[2]:.3f} | {mean[3]:.3f} |")


main()
