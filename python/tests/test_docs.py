"""docs/python.md says what happens."""

import re
import shutil
import subprocess

import pytest


@pytest.mark.thorough
def test_the_page_is_run(root, command, monkeypatch):
    monkeypatch.chdir(root)
    # What an earlier run wrote is somebody's file, which an export leaves alone.
    shutil.rmtree(root / "target/pumps-c", ignore_errors=True)
    page = (root / "docs/python.md").read_text()
    blocks = re.findall(r"```(python|sh)\n(.*?)```", page, re.DOTALL)
    told = []
    names: dict = {}
    for kind, block in blocks:
        if kind == "python":
            exec(compile(block, "docs/python.md", "exec"), names)
            continue
        block = block.replace("target/release/koan", str(command))
        # Whatever happens, the emulator ends.
        block = f"trap 'kill $(jobs -p) || true' EXIT\n{block.replace('kill $!', '')}"
        done = subprocess.run(["bash", "-ec", block], capture_output=True, text=True, timeout=400)
        assert done.returncode == 0, done.stderr + done.stdout
        told.append(done.stdout)
    assert len(told) == 3
    assert "200 of 200 rows equal the host's" in told[0], told[0]
    # What the example in C says of a pump that trembles.
    assert told[1] == "worn\n"
