"""Where the command is."""

import os
import pathlib

import pytest


@pytest.fixture(scope="session")
def command():
    """The command `koan`, as `cargo xtask` has built it."""
    root = pathlib.Path(__file__).resolve().parents[2]
    path = pathlib.Path(os.environ.get("KOAN", root / "target/release/koan"))
    assert path.exists(), "no command: cargo build --release --package koan-cli, or set KOAN"
    return path
