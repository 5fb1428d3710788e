"""The values that go to the program, and the texts that come from it.

The command `pushdown` imports this file, too, so it imports no NumPy.
"""
from __future__ import annotations

import math
import operator
import os
import re
from collections.abc import Iterator, Mapping
from typing import Any

_CONTROLS = re.compile("[\x00-\x1f\x7f-\x9f\ud800-\udfff]")
_LARGEST = 2**53  # the program's numbers are float64
_DEEPEST = 64


def visible(text: str, one_line: bool = False) -> str:
    r"""Returns the text as a terminal may show it: a control character becomes \027 with its number.

    Texts of the program can come from files of strangers. Tabs and line ends stay in a text of several lines.
    """
    def shown(match: re.Match[str]) -> str:
        character = match[0]
        return character if character in "\t\n" and not one_line else f"\\{ord(character) & 0xff:03d}"

    return _CONTROLS.sub(shown, text)


class Error(Exception):
    """A call that the program refuses, with its message, or a program that cannot be started or has ended."""

    __module__ = "pushdown_shell"

    def __str__(self) -> str:
        return visible(super().__str__())


def plain(value: Any, where: str, depth: int = 0) -> Any:
    """Returns a value as JSON has it: numbers and arrays of NumPy are numbers and lists. Errors begin with `where`."""
    if depth > _DEEPEST:
        raise Error(f"{where[:80]}...: expected at most {_DEEPEST} lists and dictionaries inside of each other")
    if hasattr(value, "tolist"):  # of NumPy, PyTorch or pandas
        value = value.tolist()
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return _encodable(value, where)
    if isinstance(value, os.PathLike):
        return absolute(value, where)
    if isinstance(value, Mapping):
        for name in value:
            if not isinstance(name, str):
                raise Error(f"{where}: expected names as keys, got {name!r}")
        return {_encodable(name, where): plain(inner, f"{where}.{name}", depth + 1) for name, inner in value.items()}
    if isinstance(value, (list, tuple, range, Iterator)):
        values = [plain(inner, f"{where}[{i}]", depth + 1) for i, inner in enumerate(value)]
        if None in values:
            raise Error(f"{where}[{values.index(None)}]: expected a value, got None")
        return values
    if hasattr(value, "__index__"):
        number = operator.index(value)
        if abs(number) > _LARGEST:
            raise Error(f"{where}: expected an integer from -2^53 to 2^53, got {number}")
        return number
    if hasattr(value, "__float__"):
        if not math.isfinite(float(value)):
            raise Error(f"{where}: expected a finite number, got {float(value)}")
        return float(value)
    raise Error(f"{where}: expected a number, text, list or dictionary, got {type(value).__name__}")


def texts(values: Any, where: str) -> list[str]:
    """Returns a text, or several in a list, a tuple, an array or an iterator, as a list."""
    if hasattr(values, "tolist"):
        values = values.tolist()
    if not isinstance(values, (str, list, tuple, Iterator)):
        raise Error(f"{where}: expected a text or a list of texts, got {type(values).__name__}")
    found = [values] if isinstance(values, str) else list(values)
    for i, value in enumerate(found):
        if not isinstance(value, str):
            raise Error(f"{where}[{i}]: expected a text, got {value!r}")
    return found


def _encodable(text: str, where: str) -> str:
    """The text, in which only the bytes of a file name may be surrogates (PEP 383)."""
    try:
        text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError as error:
        raise Error(f"{where}: expected Unicode, got a lone surrogate at index {error.start}") from None
    return text


def word(text: str, where: str) -> str:
    """Returns the text, which must be fit for a word of a command line or a path."""
    if "\0" in text:
        raise Error(f"{where}: expected a text without NUL, got {text!r}")
    return _encodable(text, where)


def path_text(path: str | os.PathLike[str], where: str = "path") -> str:
    """Returns a path as a text."""
    if not isinstance(path, (str, os.PathLike)):
        raise Error(f"{where}: expected a path, got {type(path).__name__}")
    return word(os.fspath(path), where)


def absolute(path: str | os.PathLike[str], where: str = "path") -> str:
    """Returns the absolute path: the program may have another working folder."""
    return os.path.abspath(path_text(path, where))
