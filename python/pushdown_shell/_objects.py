"""Models and grammars."""
from __future__ import annotations

import os
import secrets
from collections.abc import Mapping, Sequence
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from ._program import Program, Remote, shared
from ._values import absolute, path_text, texts

Path = str | os.PathLike[str]
Strings = list[str] | tuple[str, ...] | NDArray[np.str_]


def floats(values: Sequence[float | str]) -> NDArray[np.float64]:
    """The numbers of an answer, in which infinities are texts."""
    return np.array([float(value) for value in values], dtype=np.float64)


class Model(Remote):
    """A trained or new model. It does not change.

    A string is one text with blanks between its symbols. A method for several strings takes a list, tuple or
    array of them.
    """

    @property
    def kind(self) -> str:
        """'LanguageModel', 'Recognizer' or 'Transducer'."""
        return str(self._facts["kind"])

    @property
    def symbols(self) -> list[str]:
        """The alphabet, in the order of the columns of logits."""
        return list(self._facts["symbols"])

    @property
    def options(self) -> dict[str, Any]:
        """All options, with the defaults filled in."""
        return dict(self._facts["options"])

    @property
    def parameter_count(self) -> int:
        """The number of trainable parameters."""
        return int(self._facts["parameters"])

    @overload
    def log_probability(self, strings: str) -> float: ...
    @overload
    def log_probability(self, strings: Strings) -> NDArray[np.float64]: ...
    def log_probability(self, strings: str | Strings) -> float | NDArray[np.float64]:
        """Returns the natural logarithm of the probability of a string, or of each of several: B numbers."""
        found = floats(self._request("model.log_probability", strings=texts(strings, "strings")))
        return float(found[0]) if isinstance(strings, str) else found

    def logits(self, string: str) -> NDArray[np.float64]:
        """Returns the scores of every symbol at every position, n x V. Row t predicts symbol t.

        If the model predicts an end, there is a row n + 1 and a last column for it.
        """
        found = self._request("model.logits", string=string)
        return floats(found["values"]).reshape(found["shape"])

    @overload
    def sample(self, count: None = None, *, length: int | None = None, longest: int | None = None, prefix: str = "",
               temperature: float = 1, seed: int | None = None) -> str: ...
    @overload
    def sample(self, count: int, *, length: int | None = None, longest: int | None = None, prefix: str = "",
               temperature: float = 1, seed: int | None = None) -> list[str]: ...
    def sample(self, count: int | None = None, *, length: int | None = None, longest: int | None = None,
               prefix: str = "", temperature: float = 1, seed: int | None = None) -> str | list[str]:
        """Returns a string that the model draws, or a list of `count` strings.

        `length` is the number of symbols of each string, those of `prefix` included. Without it the model ends the
        strings; one that has not ended after `longest` (1000) symbols is an error. A model without an end needs a
        length. Symbols are drawn in proportion to p ** (1 / temperature).
        """
        found: list[str] = self._request("model.sample", count=count, length=length, longest=longest, prefix=prefix,
                                         temperature=temperature, seed=seed)
        return found[0] if count is None else found

    def next(self, prefix: str = "", *, temperature: float = 1) -> dict[str, float]:
        """Returns the probabilities of the next symbol after a prefix, that of the end as "<end>"."""
        found: dict[str, float] = self._request("model.next", prefix=prefix, temperature=temperature)
        return found

    def surprisal(self, string: str) -> list[tuple[str, float]]:
        """Returns the symbols of a string and its end "<end>", each with its surprisal -log p in nats."""
        return [(symbol, float(value)) for symbol, value in self._request("model.surprisal", string=string)]

    def trace(self, string: str, target: str | None = None, *, layer: int | None = None,
              memory: int = 1) -> dict[str, Any]:
        """Returns what a memory does while the model reads a string, or a transducer a source and a target.

        "symbols" are the n symbols that the network reads and "actions" the names of the A actions. "weights" (n x A),
        "depth" (n), "depths" (n x D, the distribution of the depth) and "readings" (n x R) are arrays, or None if the
        memory has no such numbers.
        """
        found: dict[str, Any] = self._request("model.trace", string=string, target=target, layer=layer, memory=memory)
        arrays = {name: None if found.get(name) is None else np.array(found[name], dtype=np.float64)
                  for name in ("weights", "depth", "depths", "readings")}
        return {"symbols": found["symbols"], "actions": found["actions"], **arrays}

    @overload
    def accepts(self, strings: str) -> bool: ...
    @overload
    def accepts(self, strings: Strings) -> NDArray[np.bool_]: ...
    def accepts(self, strings: str | Strings) -> bool | NDArray[np.bool_]:
        """Returns whether a recognizer classifies a string as valid, or each of several: B truth values."""
        found = self._request("model.accepts", strings=texts(strings, "strings"))
        return bool(found[0]) if isinstance(strings, str) else np.array(found, dtype=np.bool_)

    @overload
    def translate(self, sources: str, *, longest: int | None = None) -> str: ...
    @overload
    def translate(self, sources: Strings, *, longest: int | None = None) -> list[str]: ...
    def translate(self, sources: str | Strings, *, longest: int | None = None) -> str | list[str]:
        """Returns the target that a transducer writes for a source, or for each of several.

        A target that has not ended after `longest` symbols ends with ' ...'.
        """
        found: list[str] = self._request("model.translate", strings=texts(sources, "sources"), longest=longest)
        return found[0] if isinstance(sources, str) else found

    def save(self, path: Path) -> None:
        """Writes a safetensors file with the parameters and the options, which load() reads."""
        self._request("model.save", path=absolute(path))

    def save_parameters(self, path: Path, part: str = "") -> None:
        """Writes the parameters by name to a .safetensors or .npz file.

        With part="controller" only those of the controller, whose names are then those of torch.nn.LSTM.
        """
        self._request("model.save_parameters", path=absolute(path), part=part)

    def with_parameters(self, path: Path, part: str = "") -> Model:
        """Returns the model with the parameters of such a file. Those of other parts are the same."""
        return Model(self._program, "model.with_parameters", {"model": self, "path": absolute(path), "part": part})


def load(path: Path, which: str = "best", device: str | None = None, program: Program = shared) -> Model:
    """Returns the model in a run folder, an exported folder, a checkpoint or a file of Model.save.

    `which` is 'best' or 'last', the newest parameters of a run. `device` is 'cpu', 'cuda' or 'cuda:n'.
    """
    return Model(program, "model.load", {"path": absolute(path), "which": which, "device": device})


def _create(kind: str, options: Mapping[str, Any], program: Program) -> Model:
    # The same model again, if the program is started again.
    if options.get("seed") is None:
        options = {**options, "seed": secrets.randbelow(2**53)}
    return Model(program, "model.create", {"kind": kind, "options": options})


def language_model(*, program: Program = shared, **options: Any) -> Model:
    """Returns a new language model. The options are those of pd.model.language_model."""
    return _create("language_model", options, program)


def recognizer(*, program: Program = shared, **options: Any) -> Model:
    """Returns a new recognizer. The options are those of pd.model.recognizer."""
    return _create("recognizer", options, program)


class Grammar(Remote):
    """A probabilistic context-free grammar."""

    @property
    def symbols(self) -> list[str]:
        """The terminal symbols."""
        return list(self._facts["symbols"])

    @property
    def text(self) -> str:
        """The rules, which grammar() reads."""
        return str(self._facts["text"])

    @overload
    def sample(self, count: None = None, *, length: int | None = None, seed: int | None = None) -> str: ...
    @overload
    def sample(self, count: int, *, length: int | None = None, seed: int | None = None) -> list[str]: ...
    def sample(self, count: int | None = None, *, length: int | None = None,
               seed: int | None = None) -> str | list[str]:
        """Returns a random string, or a list of `count` strings, of any or of this length."""
        found: list[str] = self._request("grammar.sample", count=count, length=length, seed=seed)
        return found[0] if count is None else found

    @overload
    def log_probability(self, strings: str) -> float: ...
    @overload
    def log_probability(self, strings: Strings) -> NDArray[np.float64]: ...
    def log_probability(self, strings: str | Strings) -> float | NDArray[np.float64]:
        """Returns the natural logarithm of the probability of a string, or of each of several: B numbers.

        It is -inf outside of the language.
        """
        found = floats(self._request("grammar.log_probability", strings=texts(strings, "strings")))
        return float(found[0]) if isinstance(strings, str) else found


def grammar(source: Path, *, program: Program = shared, **options: Any) -> Grammar:
    """Returns the grammar of rules such as "S -> 'a' S 'b' [0.5] | 'c' [0.5]", of a file, or of the program.

    The name of a grammar of the program, such as 'dyck', and a file in Lua can have options.
    """
    if isinstance(source, str) and "->" in source:
        return Grammar(program, "grammar.parse", {"text": source})
    is_path = not isinstance(source, str) or os.sep in source or "." in source
    name = absolute(source, "source") if is_path else path_text(source, "source")
    return Grammar(program, "grammar.load", {"name": name, "options": options})
