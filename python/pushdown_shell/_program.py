"""The program as a child process that answers requests (docs/reference/pipe.md)."""
from __future__ import annotations

import functools
import json
import os
import pickle
import secrets
import subprocess
import sys
import tempfile
import threading
import weakref
from collections.abc import Mapping
from typing import Any, final

from . import _launch
from ._values import Error, plain, visible

PROTOCOL = 1


def start(words: list[str], **settings: Any) -> subprocess.Popen[bytes]:
    """Starts the program with these words. Ctrl-C in a terminal does not reach it: this module ends it instead."""
    variables = {**os.environ, **_launch.environment(), **settings.pop("variables", {})}
    try:
        return subprocess.Popen([*_launch.command(), *words], env=variables, start_new_session=True, **settings)
    except (OSError, TypeError, ValueError) as error:
        raise Error(f"the program cannot be started: {error}") from error


def _end(process: subprocess.Popen[bytes], log: int) -> None:
    """Ends a program, which does so by itself at the end of its input, and leaves no zombie."""
    assert process.stdin and process.stdout
    try:
        process.stdin.close()
        process.wait(5)
    except (OSError, subprocess.TimeoutExpired):
        process.kill()
        process.wait()
    process.stdout.close()
    os.close(log)


class Remote:
    """An object of a program, such as a model, by the request that makes it.

    A program that was started again, also in another process, makes its objects again when they are used.
    """

    def __init__(self, program: Program, method: str, arguments: Mapping[str, Any]) -> None:
        self._program, self._method, self._name = program, method, secrets.token_hex(8)
        self._arguments = _plain(method, arguments)
        self._facts: dict[str, Any] = program.make(self)

    def _request(self, method: str, **arguments: Any) -> Any:
        return self._program.request(method, {self._method.split(".")[0]: self, **arguments})

    def __repr__(self) -> str:
        return visible(str(self._facts["description"]), one_line=True)

    def __reduce__(self) -> tuple[Any, ...]:
        return _again, (pickle.dumps((type(self), self.__dict__)),)


# A pool sends an object again with every task: the same one must not be made again each time.
@functools.lru_cache(maxsize=16)
def _again(pickled: bytes) -> Remote:
    kind, state = pickle.loads(pickled)
    remote: Remote = kind.__new__(kind)
    remote.__dict__.update(state)
    return remote


def _plain(method: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments of a method as JSON has them, but for objects, and without those that are None."""
    given = {name: value if isinstance(value, Remote) else plain(value, f"[{method}] {name}")
             for name, value in arguments.items()}
    return {name: value for name, value in given.items() if value is not None}


@final
class Program:
    """A program that is started at the first request. All threads may use it; their requests follow each other.

    `options` are words of its command line, such as "--threads", "4". After `with Program() as program:` it has
    ended. A forked process has a program of its own.
    """

    def __init__(self, *options: str) -> None:
        self.options, self._name = options, secrets.token_hex(8)
        self._lock = threading.RLock()
        self._process: subprocess.Popen[bytes] | None = None
        self._finish: weakref.finalize[Any, Any] | None = None
        self._log = self._log_read = self._requests = 0
        self._numbers: weakref.WeakKeyDictionary[Remote, int] = weakref.WeakKeyDictionary()
        self._unused: list[int] = []
        self._facts: dict[str, Any] = {}
        _programs.add(self)

    def __repr__(self) -> str:
        return f"Program({', '.join(map(repr, self.options))})"

    def __reduce__(self) -> tuple[Any, ...]:
        return _program, (self._name, self.options)

    def __enter__(self) -> Program:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Ends the program. The next request starts it again."""
        with self._lock:
            if self._finish:
                self._finish()
            self._process = self._finish = None

    @property
    def version(self) -> str:
        """The version of the program."""
        with self._lock:
            self._start()
            return str(self._facts["version"])

    def request(self, method: str, arguments: Mapping[str, Any]) -> Any:
        """Returns the result of a method of docs/reference/pipe.md. Raises Error with the program's message."""
        with self._lock:
            self._start()
            if numbers := self._unused[:]:
                del self._unused[:len(numbers)]
                self._exchange("release", {"objects": numbers})
            return self._exchange(method, self._numbered(_plain(method, arguments)))

    def make(self, remote: Remote) -> dict[str, Any]:
        """Makes an object in the program and returns the facts about it."""
        with self._lock:
            self._start()
            facts: dict[str, Any] = self._exchange(remote._method, self._numbered(remote._arguments))
            self._numbers[remote] = number = facts.pop("object")
            weakref.finalize(remote, self._unused.append, number).atexit = False
            return facts

    def _numbered(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """The arguments with numbers in place of objects."""
        numbered = {}
        for name, value in arguments.items():
            if isinstance(value, Remote):
                if value._program is not self:
                    raise Error(f"{name} belongs to another program")
                if value not in self._numbers:
                    self.make(value)
                value = self._numbers[value]
            numbered[name] = value
        return numbered

    def _start(self) -> None:
        if self._process and self._process.poll() is None:
            return
        self.close()
        self._numbers, self._unused = weakref.WeakKeyDictionary(), []
        # The program appends to a file that this process reads.
        log, path = tempfile.mkstemp()
        try:
            with open(path, "ab") as end:
                self._process = start([*self.options, "pipe"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                      stderr=end)
        except BaseException:
            os.close(log)
            raise
        finally:
            os.unlink(path)
        self._log, self._log_read = log, 0
        self._finish = weakref.finalize(self, _end, self._process, log)
        self._facts = self._read()
        if self._facts.get("protocol") != PROTOCOL:
            self.close()
            raise Error(f"the program speaks protocol {self._facts.get('protocol')}, this module {PROTOCOL}: "
                        "take both from the same version")

    def _exchange(self, method: str, arguments: Mapping[str, Any]) -> Any:
        self._requests += 1
        request = {"id": self._requests, "method": method, "arguments": arguments}
        line = json.dumps(request, ensure_ascii=False, allow_nan=False).encode("utf-8", "surrogateescape")
        assert self._process and self._process.stdin
        try:
            self._process.stdin.write(line + b"\n")
            self._process.stdin.flush()
        except BrokenPipeError:
            pass  # reading tells why it has ended
        except BaseException:
            self._abandon()
            raise
        answer = self._read()
        if answer.get("id") != self._requests or "error" not in answer and "result" not in answer:
            self._abandon()
            raise Error(f"the program has answered request {answer.get('id')}: expected {self._requests}")
        if "error" in answer:
            raise Error(answer["error"])
        return answer["result"]

    def _read(self) -> dict[str, Any]:
        """The next line of the program. Shows what it has logged."""
        assert self._process and self._process.stdout
        try:
            line = self._process.stdout.readline()
        except BaseException:  # Ctrl-C: the answer would come to the next request
            self._abandon()
            raise
        if not line.endswith(b"\n"):
            status = self._process.wait()
            said = self._logged().strip()
            self.close()
            raise Error(f"the program has ended with status {status}" + (f": {said}" if said else ""))
        if said := self._logged():
            sys.stderr.write(visible(said))
        text = line.decode("utf-8", "surrogateescape")
        try:
            answer = json.loads(text)
        except ValueError:
            answer = None
        if not isinstance(answer, dict):
            self._abandon()
            raise Error(f"the program has printed a line that is no answer: {text[:80].rstrip()}")
        return answer

    def _logged(self) -> str:
        said = os.pread(self._log, 2**20, self._log_read)
        self._log_read += len(said)
        return said.decode("utf-8", "replace")

    def _abandon(self) -> None:
        if self._process:
            self._process.kill()
        self.close()

    def _forget(self) -> None:
        """In a forked process: leaves the program to the process that started it."""
        self._lock = threading.RLock()
        if self._process and self._finish and self._process.stdin and self._process.stdout:
            self._finish.detach()
            null = os.open(os.devnull, os.O_RDWR)
            for pipe in (self._process.stdin, self._process.stdout):
                os.dup2(null, pipe.fileno())
            os.close(null)
            os.close(self._log)
            self._process.returncode = 0
        self._process = self._finish = None


_programs: weakref.WeakSet[Program] = weakref.WeakSet()


def _after_fork() -> None:
    for program in list(_programs):
        program._forget()


os.register_at_fork(after_in_child=_after_fork)

shared = Program()
shared._name = "shared"


def _program(name: str, options: tuple[str, ...]) -> Program:
    """The program of this name, which another process has sent, or a new one."""
    for program in list(_programs):
        if program._name == name:
            return program
    made = Program(*options)
    made._name = name
    return made
