"""Whether more flash, or more time, ever makes the models of a search worse.

    python3 -m venv target/benches && target/benches/bin/pip install -r benches/requirements.txt
    cargo build --release -p koan-cli
    target/benches/bin/python benches/monotone.py DATA/tabular

Of each table and time one `koan tune --flash 16k` finds a front. A size's error is that of the best
model of the front which fits, by held-out rows, on test rows that the search has not seen. An error
counts as worse where it is more than one standard error (of the smaller one, on so many test rows)
above that of the next smaller size, or of the next shorter time. Time and memory are those of the
whole command. Two searches run side by side, each with one thread.
"""

import argparse
import json
import math
import re
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
# This folder's sklearn.py must not hide the package of the same name.
sys.path[0] = str(ROOT / "benches" / "rivals")

from tables import Table

KOAN = ROOT / "target" / "release" / "koan"
TABLES = ["503_wind", "churn", "phoneme", "segmentation", "wine_quality_white"]
SIZES = [512, 1024, 2048, 4096, 8192, 16384]
SECONDS = [10, 60, 300]


def search(table, seconds):
    """The front of a search, the time it took over what was asked for, and its memory in MB."""
    with tempfile.TemporaryDirectory() as folder:
        table.write(Path(folder))
        command = ["/usr/bin/time", "-f", "%e s %M KB", KOAN, "tune", f"{folder}/train.csv", "--test", f"{folder}/test.csv"]
        command += ["--target", "target", "--task", "classification" if table.classes else "regression"]
        command += ["--flash", "16k", "--minutes", str(seconds / 60), "--threads", "1", "--json", "-o", f"{folder}/tuned"]
        done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{table.name}, {seconds} s: {done.stderr}")
    took, kilobytes = re.search(r"([\d.]+) s (\d+) KB\s*$", done.stderr).groups()
    return json.loads(done.stdout)["front"], float(took) / seconds, int(kilobytes) / 1024


def errors(front):
    """The error in percent of the best model of each size, by held-out rows; none where none fits."""
    found = []
    for size in SIZES:
        fitting = [model for model in front if model["bytes"] <= size]
        best = min(fitting, key=lambda model: model["held_out"], default=None)
        found.append(best and 100 * best["test"])
    return found


def deviation(table, error):
    """The standard error of an error in percent on the test rows."""
    rows = len(table.test)
    if table.classes:
        return 100 * math.sqrt(max(error / 100 * (1 - error / 100), 1 / rows) / rows)
    # Of normal errors: that of a root mean square over n rows is one part in sqrt(2 n).
    return error / math.sqrt(2 * rows)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("data", type=Path, help="folder of the tables")
    parser.add_argument("--tables", nargs="*", default=TABLES)
    parser.add_argument("--seconds", nargs="*", type=int, default=SECONDS, help="times to ask for, ascending")
    parser.add_argument("--seed", type=int, default=1, help="of the split")
    given = parser.parse_args()
    tables = [Table(given.data / f"{name}.tsv.gz", given.seed) for name in given.tables]
    jobs = [(table, seconds) for seconds in reversed(given.seconds) for table in tables]
    with ThreadPoolExecutor(2) as pool:
        found = dict(zip(((table.name, seconds) for table, seconds in jobs), pool.map(lambda job: search(*job), jobs)))
    print("| table | time asked for | " + " | ".join(f"{size} bytes" for size in SIZES) + " | time taken | memory |")
    print("| --- | ---: |" + " ---: |" * (len(SIZES) + 2))
    compared, worse = 0, []
    for table in tables:
        shorter = None
        for seconds in given.seconds:
            front, taken, memory = found[table.name, seconds]
            row = errors(front)
            told = " | ".join("none" if error is None else f"{error:.2f}" for error in row)
            print(f"| {table.name} | {seconds} s | {told} | {100 * taken:.0f} % | {memory:.0f} MB |")
            pairs = [(row[i - 1], row[i], f"{SIZES[i]} bytes in {seconds} s") for i in range(1, len(SIZES))]
            if shorter:
                pairs += [(shorter[i], row[i], f"{seconds} s at {SIZES[i]} bytes") for i in range(len(SIZES))]
            for less, more, where in pairs:
                if less is None:
                    continue
                compared += 1
                if more is None or more - less > deviation(table, less):
                    worse.append(f"{table.name}, {where}: {less:.2f} -> {'none' if more is None else f'{more:.2f}'} %")
            shorter = row
    print(f"\n{compared} steps to more flash or more time, {len(worse)} worse by more than a standard error:")
    for line in worse:
        print(f"- {line}")


if __name__ == "__main__":
    main()
