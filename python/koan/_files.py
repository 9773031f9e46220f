"""Files that are whole or not there."""

from __future__ import annotations

import os
import tempfile


def write_whole(path: str | os.PathLike[str], data: bytes) -> None:
    """Writes the bytes to a file, whole or not at all."""
    folder = os.path.dirname(os.path.abspath(path))
    try:
        handle, name = tempfile.mkstemp(prefix=".koan-", dir=folder)
    except OSError as error:
        # Nobody asked for a temporary file.
        raise OSError(error.errno, error.strerror, os.fspath(path)) from None
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        mask = os.umask(0)
        os.umask(mask)
        os.chmod(name, 0o666 & ~mask)
        os.replace(name, path)
    except BaseException:
        os.unlink(name)
        raise
