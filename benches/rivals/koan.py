"""`koan train --flash`, as it is without further options, and its code on a Cortex-M0."""

import json
import os
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path

from linked import counted, run

ROOT = Path(__file__).resolve().parent.parent.parent
KOAN = ROOT / "target" / "release" / "koan"
MODELS = ROOT / "target" / "rivals"
BUDGETS = [512, 1024, 2048, 8192]
# Where the emulated machine's firmware looks for a row.
PACK = 0x18000


def train(table, budget, seed):
    """Error in percent, bytes, and what was chosen; the model stays in MODELS."""
    model = MODELS / f"{table.name}-{budget}-{seed}.koan"
    found = made(table, ["--flash", str(budget)], seed, model)
    if found["bytes"] > budget:
        sys.exit(f"{table.name}: {found['bytes']} bytes, not {budget}")
    return found


def made(table, options, seed, model):
    """What `koan train` does; nothing if no model is so small."""
    MODELS.mkdir(exist_ok=True, parents=True)
    with tempfile.TemporaryDirectory() as folder:
        table.write(Path(folder))
        command = [KOAN, "train", f"{folder}/train.csv", "--test", f"{folder}/test.csv", "--target", "target"]
        # Numbers of few values would be taken for classes.
        command += ["--task", "classification" if table.classes else "regression"]
        command += [*options, "-s", str(seed), "--threads", "1", "--json", "-o", model]
        done = subprocess.run(command, capture_output=True, text=True)
    if "no model is so small" in done.stderr:
        return None
    if done.returncode:
        sys.exit(f"{table.name}, {options}: {done.stderr}")
    found = json.loads(done.stdout)
    kept = ("family", "projection", "features", "bits", "loss", "map", "seconds")
    return {
        "error": 100 * found["error"],
        "bytes": found["bytes"],
        "options": {key: found[key] for key in kept},
        "model": str(model.relative_to(ROOT)),
    }


def firmware(model, form):
    """The program of `cargo xtask cost` with a model in it, for a Cortex-M0, and its bytes."""
    environment = os.environ | {"KOAN_COST_MODEL": str(model.resolve()), "KOAN_COST_FORM": form}
    folder = ROOT / "firmware-example"
    command = ["cargo", "build", "--quiet", "--release", "--locked", "--manifest-path", folder / "Cargo.toml"]
    command += ["--target-dir", folder / "target", "--target", "thumbv6m-none-eabi", "--bin", "cost"]
    # From that folder, so that its configuration is read.
    subprocess.run(command, check=True, env=environment, cwd=folder)
    program = folder / "target" / "thumbv6m-none-eabi" / "release" / "cost"
    sizes = run(["arm-none-eabi-size", program])
    text, data = sizes.splitlines()[1].split()[:2]
    return program, int(text) + int(data)


def measuring():
    """What that program has besides the core and the model, the same for all models: by the
    stored figures of a model and of the core that a program with it grows by."""
    stored = lambda name: json.loads((ROOT / "firmware-example" / name).read_text())
    return stored("cost.json")["Cortex-M0"]["digits-fourier-512"]["flash"] - stored("flash.json")["model included"]["flash"]


def code(model):
    """Bytes of the core's code for a model, in the small form."""
    return firmware(model, "small")[1] - model.stat().st_size - measuring()


def within(table, limit, seed):
    """The model of `koan train --with-code` that fits with its code, as it is linked; nothing if
    none does. The command estimates code; where that is too little, it is asked again for less."""
    model = MODELS / f"{table.name}-{limit}-{seed}-code.koan"
    asked = limit
    while True:
        found = made(table, ["--flash", str(asked), "--with-code=small"], seed, model)
        if found is None:
            return None
        size = code(model)
        if found["bytes"] + size <= limit:
            return found | {"bytes": found["bytes"] + size, "code": size}
        asked -= found["bytes"] + size - limit


def instructions(table, budget, seed):
    """Of one prediction with the fast form, for the first test row."""
    program, _ = firmware(MODELS / f"{table.name}-{budget}-{seed}.koan", "fast")
    return counted(program, table.test[0].astype("<i2").tobytes(), PACK)
