"""The entry of the Python package: which module and which LibTorch the program gets."""
from __future__ import annotations

import sys
from pathlib import Path

import pytest
from pushdown_shell import _launch


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A package with modules for two versions of torch, one of them also with CUDA, and a torch without a version."""
    modules = tmp_path / "program" / "lib" / "pushdown"
    for name in ("torch-2.9", "torch-2.13", "torch-2.13-cuda"):
        (modules / name).mkdir(parents=True)
        (modules / name / "pushdown.so").touch()
    binary = tmp_path / "program" / "bin" / "pushdown"
    binary.parent.mkdir()
    binary.touch()
    (tmp_path / "torch").mkdir()
    (tmp_path / "torch" / "__init__.py").touch()
    monkeypatch.setattr(_launch, "_BINARY", binary)
    monkeypatch.setattr(_launch, "_MODULES", modules)
    monkeypatch.setattr(sys, "path", [str(tmp_path)])
    monkeypatch.delitem(sys.modules, "torch", raising=False)
    for name in ("PUSHDOWN_BINARY", "PUSHDOWN_MODULE"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path


def install(package: Path, version: str) -> None:
    (package / "torch" / "version.py").write_text(version)


def test_the_module_for_the_installed_torch(package: Path) -> None:
    assert _launch.command() == [str(package / "program/bin/pushdown")]
    install(package, "__version__ = '2.9.1+cpu'\ndebug = False\ncuda: Optional[str] = None\n")
    chosen = _launch.environment()
    assert chosen["PUSHDOWN_MODULE"] == str(package / "program/lib/pushdown/torch-2.9/pushdown.so")
    assert chosen["PUSHDOWN_PRELOAD"].split("\n") == [
        str(package / "torch/lib" / name) for name in ("libc10.so", "libtorch_cpu.so")]


def test_the_module_with_cuda_where_both_have_it(package: Path) -> None:
    install(package, "__version__ = '2.13.0'\ncuda: Optional[str] = '13.0'\n")
    chosen = _launch.environment()
    assert chosen["PUSHDOWN_MODULE"].endswith("torch-2.13-cuda/pushdown.so")
    assert chosen["PUSHDOWN_PRELOAD"].endswith("/libtorch.so")
    install(package, "__version__ = '2.9.0'\ncuda: Optional[str] = '13.0'\n")
    assert _launch.environment()["PUSHDOWN_MODULE"].endswith("torch-2.9/pushdown.so")


def test_a_program_of_the_user(package: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PUSHDOWN_BINARY", "/somewhere/pushdown")
    assert _launch.command() == ["/somewhere/pushdown"]
    assert _launch.environment() == {}


@pytest.mark.parametrize("version, message", [
    ("__version__ = '2.8.0'\n", "no module for the installed torch: expected torch 2.9 or 2.13, got 2.8 in "),
    ("version = 1\n", "version.py has no __version__"),
    (None, "cannot read version.py (No such file or directory)"),
])
def test_another_torch(package: Path, version: str | None, message: str) -> None:
    if version:
        install(package, version)
    with pytest.raises(_launch.Error) as caught:
        _launch.environment()
    assert message in str(caught.value)


def test_a_torch_in_the_current_folder_is_not_taken(package: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    here = package / "here"
    (here / "torch").mkdir(parents=True)
    (here / "torch" / "__init__.py").touch()
    (here / "torch" / "version.py").write_text("__version__ = '2.9.0'\n")
    install(package, "__version__ = '2.13.0'\n")
    monkeypatch.chdir(here)
    monkeypatch.setenv("PYTHONPATH", ":/nowhere")
    for first in ("", ".", str(here)):  # as Python writes an empty entry
        monkeypatch.setattr(sys, "path", [first, str(package)])
        assert "/torch-2.13/" in _launch.environment()["PUSHDOWN_MODULE"]
        monkeypatch.setattr(sys, "path", [first])
        with pytest.raises(_launch.Error, match="torch is not installed"):
            _launch.environment()
    monkeypatch.setenv("PYTHONPATH", str(here))  # the user names the folder
    assert "/torch-2.9/" in _launch.environment()["PUSHDOWN_MODULE"]


def test_no_torch_and_no_program(package: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "path", [])
    with pytest.raises(_launch.Error, match=r"torch is not installed .* \(pip install 'torch==2\.13\.\*'\)"):
        _launch.environment()
    monkeypatch.setattr(_launch, "_BINARY", package / "missing")
    monkeypatch.setenv("PATH", "")
    with pytest.raises(_launch.Error, match="the program is missing: expected"):
        _launch.command()
