"""`koan train --flash`, as it is without further options, and its code on a Cortex-M0."""

import json
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
KOAN = ROOT / "target" / "release" / "koan"
MODELS = ROOT / "target" / "rivals"
NAME = "koan"


def train(table, budget, seed):
    """Error in percent, bytes, and what was chosen; the model stays in MODELS."""
    MODELS.mkdir(exist_ok=True, parents=True)
    model = MODELS / f"{table.name}-{budget}-{seed}.koan"
    with tempfile.TemporaryDirectory() as folder:
        table.write(Path(folder))
        command = [KOAN, "train", f"{folder}/train.csv", "--test", f"{folder}/test.csv", "--target", "target"]
        # Numbers of few values would be taken for classes.
    command += ["--task", "classification" if table.classes else "regression"]
    command += ["--flash", str(budget), "-s", str(seed), "--threads", "1", "--json", "-o", model]
        done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{table.name}, {budget} bytes: {done.stderr}")
    found = json.loads(done.stdout)
    if found["bytes"] > budget:
        sys.exit(f"{table.name}: {found['bytes']} bytes, not {budget}")
    kept = ("family", "projection", "features", "bits", "loss", "map", "seconds")
    return {
        "error": 100 * found["error"],
        "bytes": found["bytes"],
        "options": {key: found[key] for key in kept},
        "model": str(model.relative_to(ROOT)),
    }
