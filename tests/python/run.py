"""Runs the tests of the Python module with pytest; exits with status 77 where pytest or NumPy is missing.

usage: PUSHDOWN_BINARY=build/release/pushdown run.py [ARGUMENTS OF PYTEST...]
"""
# label: long
import os
import pathlib
import sys

here = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(here.parent.parent / "python"))
try:
    import numpy  # noqa: F401
    import pytest
except ImportError as error:
    print(f"test skipped: {error} (Debian: python3-pytest, python3-numpy)")
    sys.exit(77)
os.environ["PUSHDOWN_REGISTRY"] = "off"
os.environ["PUSHDOWN_BINARY"] = os.path.abspath(os.environ["PUSHDOWN_BINARY"])
sys.dont_write_bytecode = True
sys.exit(pytest.main(["-q", "-p", "no:cacheprovider", str(here), *sys.argv[1:]]))
