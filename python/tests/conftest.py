"""Where things are."""

import os
import pathlib

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]


@pytest.fixture(scope="session")
def root() -> pathlib.Path:
    """The root of the repository."""
    return ROOT


@pytest.fixture(scope="session")
def command() -> pathlib.Path:
    """The command `koan`, as `cargo xtask` has built it."""
    path = pathlib.Path(os.environ.get("KOAN", ROOT / "target/release/koan"))
    assert path.exists(), "no command: cargo build --release --package koan-cli, or set KOAN"
    return path


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--thorough", action="store_true", help="also what takes minutes")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if config.getoption("--thorough"):
        return
    skip = pytest.mark.skip(reason="minutes: --thorough")
    for item in items:
        if "thorough" in item.keywords:
            item.add_marker(skip)
