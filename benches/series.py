"""Errors on sets of the UCR time series archive, beside published ones.

    python3 benches/series.py DATA/ucr [--seeds 3] [--flash 512,1k] [--write docs/series.md]

A set is NAME_TRAIN.csv.gz and NAME_TEST.csv.gz, a series a row with its class first, no header;
DATA/ucr/published.csv has accuracies of MiniRocket and QUANT on the same split. `koan train` has
no options but the class's column, the flash and the seed: its search sees the training rows alone.
Without --write the table is printed; with it it takes the place of the one in the page.
"""

import argparse
import csv
import json
import subprocess
import sys
import tempfile
from pathlib import Path

KOAN = Path(__file__).parent.parent / "target" / "release" / "koan"
START, END = "<!-- table -->\n", "<!-- end -->\n"


def trained(folder, name, flash, seed):
    """Error in percent, bytes and seconds of a model."""
    with tempfile.TemporaryDirectory() as scratch:
        train, test = (folder / f"{name}_{part}.csv.gz" for part in ("TRAIN", "TEST"))
        command = [KOAN, "train", train, "--test", test, "--target", "1", "--header", "no"]
        command += ["--flash", flash, "-s", str(seed), "-o", f"{scratch}/m.koan", "--json"]
        done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{name}: {done.stderr}")
    report = json.loads(done.stdout)
    return 100 * report["error"], report["bytes"], report["seconds"]


def mean(values):
    values = list(values)
    return sum(values) / len(values)


def table(folder, flashes, seeds):
    with open(folder / "published.csv", newline="") as file:
        published = {row.pop("dataset"): row for row in csv.DictReader(file)}
    methods = list(next(iter(published.values())))
    heads = ["set", *(f"{flash}: error (bytes)" for flash in flashes), *methods]
    lines = ["| " + " | ".join(heads) + " |", "| --- |" + " ---: |" * (len(heads) - 1)]
    rows, seconds = [], []
    for name, accuracies in published.items():
        row = []
        for flash in flashes:
            runs = [trained(folder, name, flash, seed) for seed in range(1, seeds + 1)]
            row.append((mean(run[0] for run in runs), mean(run[1] for run in runs)))
            seconds += [run[2] for run in runs]
        row += [(100 * (1 - float(accuracies[method])), None) for method in methods]
        rows.append(row)
        lines.append(line(name, row))
        print(lines[-1], file=sys.stderr, flush=True)
    means = []
    for column in zip(*rows):
        size = None if column[0][1] is None else mean(size for _, size in column)
        means.append((mean(error for error, _ in column), size))
    lines.append(line("mean", means))
    lines.append("")
    lines.append(f"Seeds 1 to {seeds}; {mean(seconds):.0f} s a model, {max(seconds):.0f} at most.")
    return "\n".join(lines) + "\n"


def line(name, row):
    cells = [f"{error:.2f}" + (f" ({size:.0f})" if size else "") for error, size in row]
    return f"| {name} | " + " | ".join(cells) + " |"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--flash", default="512,1k")
    parser.add_argument("--write", type=Path)
    options = parser.parse_args()
    text = table(options.folder, options.flash.split(","), options.seeds)
    if options.write is None:
        print(text, end="")
        return
    before, rest = options.write.read_text().split(START)
    after = rest.split(END)[1]
    new = options.write.with_suffix(".new")
    new.write_text(f"{before}{START}{text}{END}{after}")
    new.replace(options.write)


if __name__ == "__main__":
    main()
