"""Errors of rivals at equal bytes, for docs/rivals.md.

    python3 -m venv target/benches && target/benches/bin/pip install -r benches/requirements.txt
    sudo apt-get install gcc gcc-arm-none-eabi libnewlib-arm-none-eabi qemu-system-arm
    cargo build --release -p koan-cli
    target/benches/bin/python benches/rivals DATA/tabular --json rivals.jsonl > tables.md

Every result is a line of the file of --json; what is there already is not run again.
docs/rivals.md says what is compared.
"""

import argparse
import json
import os
import sys
from dataclasses import asdict
from pathlib import Path

# One thread each, before numpy counts the cores.
os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = "1"

import numpy as np

import forest
import koan
import network
import trees
from koan import BUDGETS
from linked import Program
from markdown import markdown
from tables import Table

# Bytes of models with the code that predicts.
TOTALS = [2048, 4096, 8192]
# Whose instructions are counted.
COUNTED = 1024
RIVALS = {"trees": trees, "forest": forest, "network": network}
# Somewhat more than the code of these takes.
CODE = {"trees": 992, "network": 464}


class Results:
    def __init__(self, path):
        self.path = path
        self.lines = [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []

    @staticmethod
    def key(table, seed, rival, limit, whole):
        """What a line begins with."""
        start = {"seed": seed, "table": table.name, "classes": table.classes}
        return start | {"rival": rival, "limit": limit, "whole": whole}

    def has(self, **key):
        return any(all(line.get(name) == value for name, value in key.items()) for line in self.lines)

    def add(self, key, found):
        """`found` is nothing where no model fits."""
        self.lines.append(key | (found or {"error": None}))
        with self.path.open("a") as file:
            print(json.dumps(self.lines[-1]), file=file)


def program(rival, model, options, table, rows, method="loadable"):
    """The C program of a model, which must give what Python gives; and the test rows for it."""
    if rival is not forest:
        made = Program.of(f"{rival.__name__}.c", model)
        if table.classes:
            expected = rival.predict(model, rows[:50])
        elif rival is trees:
            expected = trees.unpack(model)[0](rows[:50])[:, 0]
        else:
            expected = network.sums(model, rows[:50])[0][:, 0]
        made.check(rows[:50], expected)
        return made
    grown, packed = model
    made = Program.of_forest(grown, packed, method)
    expected = forest.predict(packed, rows[:50])
    # Sums of single precision in any order.
    made.check(rows[:50], expected if table.classes else expected * 65536, 0 if table.classes else 1 + abs(expected).max() / 8)
    return made


def compare(name, rival, table, seed, results):
    """All budgets of a table."""
    key = lambda limit, whole: results.key(table, seed, name, limit, whole)
    left = [(limit, whole) for whole, limits in ((False, BUDGETS), (True, TOTALS)) for limit in limits]
    left = [each for each in left if not results.has(**key(*each))]
    if not left:
        return
    # emlearn's inline code takes some 10 bytes a split, its arrays 8.
    more = [total - CODE[name] if name in CODE else (total - 100) * 4 // 5 for total in TOTALS]
    run = rival.Rival(table, BUDGETS, more)
    run.search()
    rows = table.test[:, run.columns] if rival is forest else table.test
    for limit, whole in left:
        if whole and rival is forest:
            results.add(key(limit, whole), forest_with_code(run, table, rows, limit))
            continue
        found = run.at(limit - CODE[name] if whole else limit)
        if found is None:
            results.add(key(limit, whole), None)
            continue
        model, options = found
        blob = model[1] if rival is forest else model
        made = program(rival, model, options, table, rows)
        line = {
            "error": table.error(rival.predict(blob, rows), table.test_truth),
            "bytes": len(blob),
            "options": asdict(options),
        }
        if whole:
            line["code"] = made.code(rows[0])
            line["bytes"] += line["code"]
            if line["bytes"] > limit:
                sys.exit(f"{table.name}, {name}: {line['code']} bytes of code")
        elif limit == COUNTED:
            line["instructions"] = made.instructions(rows[0])
        results.add(key(limit, whole), line)


def forest_with_code(run, table, rows, limit):
    """The best forest whose code and model fit, as arrays or inline, whichever is less."""
    tried = set()
    for _, size, options in sorted(run.found, key=lambda found: found[:2]):
        # Somewhat less than it takes; the first that really fits is taken.
        least = min(1.03 * size, size + 2600) if options.bits == 0 else size + (1900 if options.bits == 32 else 2600)
        if least > limit or options in tried:
            continue
        tried.add(options)
        model = run.whole(options.fit()), forest.pack(run.whole(options.fit()), options.bits)
        made = [program(forest, model, options, table, rows, method) for method in ("loadable", "inline")]
        total = min(each.model_bytes + each.code(rows[0]) for each in made)
        if total <= limit:
            error = table.error(forest.predict(model[1], rows), table.test_truth)
            return {"error": error, "bytes": total, "code": total - len(model[1]), "options": asdict(options)}
    return None


def koans(table, seed, results, counts):
    key = lambda limit, whole: results.key(table, seed, "koan", limit, whole)
    for limit in BUDGETS:
        if not results.has(**key(limit, False)):
            results.add(key(limit, False), koan.train(table, limit, seed))
    if not counts:
        return
    for limit in TOTALS:
        if not results.has(**key(limit, True)):
            results.add(key(limit, True), koan.within(table, limit, seed))
    counted = key(COUNTED, False) | {"counted": True}
    if not results.has(**counted):
        results.add(counted, {"instructions": koan.instructions(table, COUNTED, seed)})


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data", type=Path, help="the folder of tables")
    parser.add_argument("--json", type=Path, required=True, help="lines of results, read first and added to")
    parser.add_argument("--seeds", type=int, default=1, help="splits, from seed 1")
    parser.add_argument("--tables", nargs="+", help="names of tables [default: all]")
    parser.add_argument("--rivals", nargs="+", default=[*RIVALS, "koan"], help="who is run [default: all]")
    parser.add_argument("--models-only", action="store_true", help="not Koan's code")
    arguments = parser.parse_args()
    # emlearn makes numpy raise them.
    np.seterr(all="warn", under="ignore")
    results = Results(arguments.json)
    for seed in range(1, arguments.seeds + 1):
        for path in sorted(arguments.data.glob("*.tsv.gz")):
            if arguments.tables and path.name.removesuffix(".tsv.gz") not in arguments.tables:
                continue
            table = Table(path, seed)
            for name in arguments.rivals:
                if name == "koan":
                    koans(table, seed, results, not arguments.models_only)
                else:
                    compare(name, RIVALS[name], table, seed, results)
            print(f"seed {seed}, {table.name}", file=sys.stderr, flush=True)
    print(markdown(results.lines))


main()
