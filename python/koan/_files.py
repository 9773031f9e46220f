"""Files that models are read from."""

from __future__ import annotations

import os

# What models begin with, and their bytes, at most, as in the command.
_MAGIC = b"KOAN"
_MOST = 1 << 26


def read_model(path: str | os.PathLike[str]) -> bytes:
    """The bytes of a file; of one that cannot be a model no more than the first."""
    with open(path, "rb") as file:
        data = file.read(64)
        if data.startswith(_MAGIC):
            data += file.read(_MOST)
    if len(data) > _MOST:
        raise ValueError(f"model: more than {_MOST} bytes: not a file of this kind")
    return data
