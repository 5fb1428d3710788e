"""Finds the program of this package and the LibTorch that it runs with.

The program's module is compiled for one minor version of torch, so the package has one for each
version that it supports, and one more for builds of torch with CUDA where those were compiled. This
file imports neither torch nor NumPy, because that would take longer than starting the program.
"""

from __future__ import annotations

import os
import re
import sys
from importlib.machinery import ModuleSpec, PathFinder
from importlib.util import find_spec
from pathlib import Path

from ._values import Error

_PROGRAM = Path(__file__).resolve().parent / "program"
_BINARY = _PROGRAM / "bin" / "pushdown"
_MODULES = _PROGRAM / "lib" / "pushdown"


def _folders(spec: ModuleSpec | None) -> list[Path]:
    return [Path(folder) for folder in (spec.submodule_search_locations or [] if spec else [])]


def _is_here(folder: Path) -> bool:
    """Whether Python searches this folder only because it is the current one: for an empty entry of PYTHONPATH."""
    named = [Path(entry).resolve() for entry in os.environ.get("PYTHONPATH", "").split(os.pathsep) if entry]
    here = Path(os.curdir).resolve()
    return folder.resolve() == here and here not in named and here.name not in ("site-packages", "dist-packages")


def _torch() -> tuple[Path, str, bool]:
    """Returns the folder of the installed torch, its minor version, and whether it has CUDA."""
    folders = _folders(find_spec("torch"))
    if folders and _is_here(folders[0].parent):
        folders = _folders(PathFinder.find_spec("torch", [path for path in sys.path if not _is_here(Path(path))]))
    if not folders:
        raise Error(
            f"torch is not installed for {sys.executable}: expected torch {' or '.join(_minors())} "
            f"(pip install 'torch=={_minors()[-1]}.*')"
        )
    folder = folders[0]
    try:
        text = (folder / "version.py").read_text(encoding="utf-8")
    except OSError as error:
        raise Error(f"the torch in {folder} is broken: cannot read version.py ({error.strerror})") from None
    version = re.search(r"^__version__ = '(\d+\.\d+)", text, re.MULTILINE)
    if not version:
        raise Error(f"the torch in {folder} is broken: version.py has no __version__")
    cuda = re.search(r"^cuda(?:: [^=]*)? = '", text, re.MULTILINE)
    return folder, version[1], cuda is not None


def _minors() -> list[str]:
    """Returns the versions of torch for which the package has a module, the oldest first."""
    names = (path.parent.name for path in _MODULES.glob("torch-*/pushdown.so"))
    minors = {name.removeprefix("torch-").removesuffix("-cuda") for name in names}
    if not minors:
        raise Error(f"the package is broken: no module in {_MODULES}")
    return sorted(minors, key=lambda minor: [int(part) for part in minor.split(".")])


def command() -> list[str]:
    """Returns the words that start the program.

    This is the executable that the environment variable PUSHDOWN_BINARY names, or else that of the package, or
    else, beside the sources, `pushdown` on the PATH.
    """
    found = os.environ.get("PUSHDOWN_BINARY") or (str(_BINARY) if _BINARY.exists() else None)
    if not found:
        from shutil import which

        found = which("pushdown")
    if not found:
        raise Error(f"the program is missing: expected {_BINARY}, or the environment variable PUSHDOWN_BINARY")
    return [found]


def environment() -> dict[str, str]:
    """Returns the environment variables that the program needs to find its module and LibTorch.

    Raises Error if there is no torch, or one for which the package has no module.
    """
    if os.environ.get("PUSHDOWN_BINARY") or os.environ.get("PUSHDOWN_MODULE") or not _BINARY.exists():
        return {}
    folder, minor, cuda = _torch()
    module = _MODULES / f"torch-{minor}" / "pushdown.so"
    with_cuda = _MODULES / f"torch-{minor}-cuda" / "pushdown.so"
    cuda = cuda and with_cuda.exists()
    if not cuda and not module.exists():
        raise Error(f"no module for the installed torch: expected torch {' or '.join(_minors())}, got {minor} in {folder}")
    libraries = ["libc10.so", "libtorch_cpu.so"] + (["libtorch.so"] if cuda else [])
    return {
        "PUSHDOWN_MODULE": str(with_cuda if cuda else module),
        "PUSHDOWN_PRELOAD": "\n".join(str(folder / "lib" / name) for name in libraries),
    }


def main() -> None:
    """Becomes the program, with the arguments of this process: the command `pushdown`."""
    try:
        words = command() + sys.argv[1:]
        os.execve(words[0], words, {**os.environ, **environment()})
    except (Error, OSError) as error:
        sys.exit(f"pushdown: {error}")
