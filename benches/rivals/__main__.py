"""Errors of rivals at equal bytes, for docs/rivals.md.

    python3 -m venv target/benches && target/benches/bin/pip install -r benches/requirements.txt
    sudo apt-get install gcc gcc-arm-none-eabi libnewlib-arm-none-eabi
    cargo build --release -p koan-cli
    target/benches/bin/python benches/rivals DATA/tabular --json rivals.jsonl > tables.md

Every result is a line of the file of --json; what is there already is not run again.
docs/rivals.md says what is compared.
"""

import argparse
import json
import os
from pathlib import Path

# One thread each, before numpy counts the cores.
os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = "1"

import koan
from tables import Table

BUDGETS = [512, 1024, 2048, 8192]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data", type=Path, help="the folder of tables")
    parser.add_argument("--json", type=Path, required=True, help="lines of results, read first and added to")
    parser.add_argument("--seeds", type=int, default=1, help="splits, from seed 1")
    parser.add_argument("--tables", nargs="+", help="names of tables [default: all]")
    arguments = parser.parse_args()
    done = read(arguments.json)
    for seed in range(1, arguments.seeds + 1):
        for path in sorted(arguments.data.glob("*.tsv.gz")):
            table = Table(path, seed)
            for budget in BUDGETS:
                if (seed, table.name, "koan", budget) in done:
                    continue
                line = {"seed": seed, "table": table.name, "rival": "koan", "limit": budget}
                line.update(koan.train(table, budget, seed))
                with arguments.json.open("a") as file:
                    print(json.dumps(line), file=file)


def read(path):
    lines = [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []
    return {(line["seed"], line["table"], line["rival"], line["limit"]) for line in lines}


main()
