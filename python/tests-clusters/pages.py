"""The pages whose blocks of Python are run."""

import ast
import pathlib
import re

CLUSTERS = "docs/clusters.md"
MODELS = "docs/models.md"


def blocks_of(page):
    """The page's blocks of Python."""
    text = (pathlib.Path(__file__).resolve().parents[2] / page).read_text()
    return re.findall(r"```python\n(.*?)```", text, re.DOTALL)


def run(block, names):
    """Runs a block; values that nothing takes are computed, where they are computed late."""
    computed = []
    for line in ast.parse(block, CLUSTERS).body:
        if not isinstance(line, ast.Expr):
            exec(compile(ast.Module([line], []), CLUSTERS, "exec"), names)
            continue
        value = eval(compile(ast.Expression(line.value), CLUSTERS, "eval"), names)
        for late in ("compute", "toPandas"):
            if hasattr(value, late):
                computed.append(getattr(value, late)())
    return computed
