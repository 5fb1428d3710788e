"""Pushdown from Python: stack-augmented neural networks, grammars and runs (docs/python.md).

    import pushdown_shell as pushdown
    table = pushdown.runs("runs")
    model = pushdown.load(table["folder"][0])
    model.log_probability("0 1 # 1 0")

The program does the work. It is started at the first call and ends with Python.
"""
from __future__ import annotations

TYPE_CHECKING = False  # typing takes a fifth of the start of `pushdown`
if TYPE_CHECKING:
    from ._objects import Grammar, Model, grammar, language_model, load, recognizer
    from ._program import Program
    from ._runs import Finished, Run, Table, run, runs
    from ._values import Error

__all__ = ["Error", "Finished", "Grammar", "Model", "Program", "Run", "Table", "grammar", "language_model", "load",
           "recognizer", "run", "runs"]


# NumPy comes with the first use of a name, because the command `pushdown` imports this package, too.
def __getattr__(name: str) -> object:
    if name in __all__:
        from . import _objects, _program, _runs, _values

        for module in (_values, _objects, _program, _runs):
            if hasattr(module, name):
                return getattr(module, name)
    raise AttributeError(f"module 'pushdown_shell' has no attribute '{name}'")


def __dir__() -> list[str]:
    return __all__
