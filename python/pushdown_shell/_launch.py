"""Where the program is, and the environment that it needs."""
from __future__ import annotations

import os
import shutil


def command() -> list[str]:
    """Returns the words that start the program: $PUSHDOWN_BINARY, or `pushdown` on the PATH.

    Raises FileNotFoundError if there is none.
    """
    found = os.environ.get("PUSHDOWN_BINARY") or shutil.which("pushdown")
    if not found:
        raise FileNotFoundError("there is no program 'pushdown' on the PATH; PUSHDOWN_BINARY can name it")
    return [found]


def environment() -> dict[str, str]:
    """Returns the variables that the program needs besides those of this process."""
    return {}
