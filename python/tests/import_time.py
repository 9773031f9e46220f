"""Prints how long `import koan` takes, besides numpy: the least of five interpreters."""

import subprocess
import sys

CODE = (
    "import time, numpy; start = time.perf_counter(); import koan; "
    "print(time.perf_counter() - start)"
)
times = [float(subprocess.check_output([sys.executable, "-c", CODE])) for _ in range(5)]
print(f"import koan: {1000 * min(times):.0f} ms besides numpy")
assert min(times) < 0.5, times
