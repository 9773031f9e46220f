"""Rows of any number on Dask, and in one process: seconds, and the most memory of a process.

    python benches/clusters.py ROWS dask|one [K] [LOSS]
"""

import hashlib
import resource
import sys
import time

import numpy as np
import pandas as pd

import koan

COLUMNS = 10
ROWS = 250_000


def part(number):
    """The rows of a partition: numbers of a sixteenth, so that no type rounds them."""
    random = np.random.default_rng(number)
    x = random.integers(-32, 33, size=(ROWS, COLUMNS)) / np.float32(16)
    rows = pd.DataFrame(x, columns=[f"x{i}" for i in range(COLUMNS)])
    score = x[:, 0] * x[:, 1] + np.sin(x[:, 2]) + random.normal(size=ROWS) / 2
    rows["y"] = np.where(score > 0, "up", "down")
    return rows


def peak():
    """Megabytes that this process had at most."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def descended(plan, sums, count):
    """The descent of the logistic loss, which is done; prints what goes over the wire."""
    descent = koan.Descent(plan, sums)
    sizes = []
    while not descent.done:
        step = descent.step()
        gradients = koan.Gradients(plan, step)
        for i in range(count):
            gradients.add(part(i))
        sizes = [len(step), len(gradients.to_bytes())]
        descent.advance(gradients)
    print(f"{descent.n_passes} passes for gradients; bytes of a step and of a gradient: {sizes}")
    return descent


def main():
    count, how = int(sys.argv[1]) // ROWS, sys.argv[2]
    options = {"n_features": int(sys.argv[3]) if len(sys.argv) > 3 else 256, "family": "fourier"}
    options["loss"] = sys.argv[4] if len(sys.argv) > 4 else "squared"
    start = time.perf_counter()
    if how == "one":
        from koan._parts import Job, found, merged_columns, merged_samples, sampled

        # The same passes, without an engine.
        job = Job("y", None, None, None, "error", 0.0, None, options)
        columns, sample = job.no_columns(), None
        for i in range(count):
            columns = merged_columns([columns, found("", [part(i)], job.no_columns())])
        sample = job.no_sample(columns)
        for i in range(count):
            sample = merged_samples([sample, sampled("", [part(i)], job.no_sample(columns))])
        plan = job.plan(sample, None)
        sums = koan.Sums(plan)
        for i in range(count):
            sums.add(part(i))
        fitted = descended(plan, sums, count) if plan.loss == "logistic" else sums
        model = koan.Model(koan.finish(plan, fitted))
        memory = [peak()]
        print(f"a partial sum: {len(sums.to_bytes())} bytes; a plan for workers: "
              f"{len(plan.to_bytes(for_workers=True))} bytes")
    else:
        import dask.dataframe as dd
        from dask import delayed
        from dask.distributed import Client, LocalCluster

        from koan.dask import fit

        cluster = LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None)
        with cluster, Client(cluster) as client:
            start = time.perf_counter()
            parts = [delayed(part)(i) for i in range(count)]
            ddf = dd.from_delayed(parts, meta=part(0).iloc[:0], verify_meta=False)
            model = fit(ddf, target="y", **options)
            memory = [peak(), *client.run(peak).values()]
    seconds = time.perf_counter() - start
    megabytes = ", ".join(f"{value:.0f}" for value in memory)
    digest = hashlib.sha256(model.to_bytes()).hexdigest()[:16]
    print(f"{how}: {count * ROWS} rows, K = {model.n_features}: {seconds:.0f} s, at most "
          f"{megabytes} MB, {model.nbytes} bytes, {digest}")


if __name__ == "__main__":
    main()
