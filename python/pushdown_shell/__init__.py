"""Pushdown from Python: stack-augmented neural networks, grammars and runs (docs/python.md).

    import pushdown_shell as pushdown
    table = pushdown.runs("runs")
    model = pushdown.load(table["folder"][0])
    model.log_probability("0 1 # 1 0")

The program does the work. It is started at the first call and ends with Python.
"""
from ._objects import Grammar, Model, grammar, language_model, load, recognizer
from ._program import Error, Program
from ._runs import Finished, Run, Table, run, runs

__all__ = ["Error", "Finished", "Grammar", "Model", "Program", "Run", "Table", "grammar", "language_model", "load",
           "recognizer", "run", "runs"]
