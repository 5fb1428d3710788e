"""The examples of docs/python.md print what the page shows."""
import doctest
import importlib.util
import pathlib
import re

import pytest

PAGE = pathlib.Path(__file__).resolve().parents[2] / "docs/python.md"


def test_the_examples_of_the_page(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text, names = PAGE.read_text(), {}
    for name, script in re.findall(r"^```lua\n-- (\S+)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL):
        pathlib.Path(name).write_text(script)
    for section in re.split(r"^(?=## )", text, flags=re.MULTILINE):
        modules = re.findall(r"^>>> (?:import|from) (\w+)", section, re.MULTILINE)
        if any(importlib.util.find_spec(module) is None for module in modules):
            continue
        # The end of a block is no output.
        examples = re.sub(r"^```.*$", "", section, flags=re.MULTILINE)
        test = doctest.DocTestParser().get_doctest(examples, names, section.splitlines()[0], str(PAGE), 0)
        report: list[str] = []
        failed, _ = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS).run(test, out=report.append, clear_globs=False)
        if failed:
            pytest.fail("".join(report), pytrace=False)
        names = test.globs
