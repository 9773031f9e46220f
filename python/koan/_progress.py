"""What is being done, where somebody looks: terminals and notebooks."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any


class Told:
    """Shows one line that changes, and takes it away in the end."""

    def __init__(self, verbose: bool | None) -> None:
        self._handle: Any = None
        self._width = 0
        self.listener: Callable[[str], None] | None = None
        if verbose is not None and not verbose:
            return
        if _in_notebook():
            self.listener = self._notebook
        elif verbose or (sys.stderr is not None and sys.stderr.isatty()):
            self.listener = self._terminal

    def __enter__(self) -> Told:
        return self

    def __exit__(self, *_: object) -> None:
        if self._width:
            sys.stderr.write("\r" + " " * self._width + "\r")
            sys.stderr.flush()
        if self._handle is not None:
            self._handle.update({"text/plain": ""}, raw=True)

    def _terminal(self, text: str) -> None:
        line = f"koan: {text}"[:100]
        sys.stderr.write("\r" + line.ljust(self._width))
        sys.stderr.flush()
        self._width = max(self._width, len(line))

    def _notebook(self, text: str) -> None:
        from IPython.display import display

        shown = {"text/plain": f"koan: {text}"}
        if self._handle is None:
            self._handle = display(shown, raw=True, display_id=True)
        else:
            self._handle.update(shown, raw=True)


def _in_notebook() -> bool:
    """Whether a kernel of Jupyter's runs this; nothing is imported to know."""
    module = sys.modules.get("IPython")
    shell = module.get_ipython() if module is not None else None
    return type(shell).__name__ == "ZMQInteractiveShell"
