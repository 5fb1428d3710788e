"""The life of the program: its start and end, threads, forks, interrupts and scripts."""
import concurrent.futures
import copy
import gc
import json
import multiprocessing
import os
import pickle
import signal
import subprocess
import sys
import textwrap
import threading
import time

import numpy as np
import pushdown_shell as pushdown
import pytest

RULES = "S -> 'a' S 'b' [0.5] | 'c' [0.5]"


@pytest.fixture
def program():
    with pushdown.Program() as one:
        yield one


def children() -> str:
    return subprocess.run(["ps", "-o", "stat=,comm=", "--ppid", str(os.getpid())], capture_output=True, text=True,
                          check=True).stdout


def test_it_is_started_at_the_first_request_and_ended_by_with(program):
    assert program._process is None and repr(program) == "Program()"
    assert program.version.count(".") == 2
    process = program._process
    program.close()
    assert process.returncode == 0 and " Z" not in children()
    assert pushdown.grammar(RULES, program=program).sample(length=3) == "a c b"


def test_a_program_that_is_not_used_any_more_ends():
    program = pushdown.Program()
    process = program.version and program._process
    del program
    gc.collect()
    assert process.returncode == 0


def test_objects_that_are_not_used_any_more_are_released(program):
    grammar, *others = [pushdown.grammar(RULES, program=program) for _ in range(3)]
    while others:
        number = program._numbers[others.pop()]
        gc.collect()
        grammar.sample()
        with pytest.raises(pushdown.Error, match=f"no object {number}"):
            program._exchange("grammar.sample", {"grammar": number})


def test_a_program_that_has_ended_is_started_again(program):
    grammar = pushdown.grammar(RULES, program=program)
    program._process.kill()
    program._process.wait()
    assert grammar.sample(length=3) == "a c b"
    # In the middle of a request, the request fails; between two requests, the program starts again.
    failed = threading.Event()

    def end():
        while not failed.wait(0.5):
            if process := program._process:
                process.terminate()

    ending = threading.Thread(target=end)
    ending.start()
    try:
        with pytest.raises(pushdown.Error, match="the program has ended with status"):
            while True:
                grammar.sample(10**5)
    finally:
        failed.set()
        ending.join()
    assert grammar.sample(length=3) == "a c b"


def test_an_object_belongs_to_one_program(program):
    model = pushdown.language_model(alphabet=["a"], program=program, controller={"kind": "lstm", "hidden": 2})
    with pytest.raises(pushdown.Error, match="belongs to another program"):
        pushdown.Program().request("model.log_probability", {"model": model, "strings": ["a"]})


def test_new_models_are_the_same_after_a_new_start(program):
    model = pushdown.language_model(alphabet=["a"], program=program, controller={"kind": "lstm", "hidden": 2})
    before = model.log_probability("a")
    program.close()
    assert model.log_probability("a") == before


def test_threads_share_a_program(program):
    grammar = pushdown.grammar(RULES, program=program)
    strings = ["c", "a c b", "a a c b b"] * 20
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        assert list(pool.map(grammar.log_probability, strings)) == grammar.log_probability(strings).tolist()


def in_child(grammar, queue):
    queue.put((grammar.sample(length=3), grammar._program._process.pid))


def test_a_forked_process_has_its_own_program(program):
    grammar = pushdown.grammar(RULES, program=program)
    context = multiprocessing.get_context("fork")
    queue = context.Queue()
    child = context.Process(target=in_child, args=(grammar, queue))
    child.start()
    string, pid = queue.get(timeout=600)
    child.join()
    assert string == "a c b" and pid != program._process.pid and child.exitcode == 0
    assert program._process.poll() is None and grammar.sample(length=3) == "a c b"


def number_of(grammar):
    return grammar.log_probability("c") and grammar._program._numbers[grammar]


@pytest.mark.parametrize("context", ["fork", "spawn"])
def test_methods_go_to_a_pool(context):
    done = python(f"""
        import multiprocessing, sys
        sys.path.insert(0, {os.path.dirname(__file__)!r})
        from test_program import number_of
        from pushdown_shell._program import shared
        grammar = pushdown.grammar({RULES!r})
        program = pushdown.Program("--threads", "2")
        model = pushdown.language_model(alphabet=["a"], controller={{"kind": "lstm", "hidden": 2}}, program=program)
        with multiprocessing.get_context({context!r}).Pool(1) as pool:
            assert pool.map(grammar.log_probability, ["c", "a c b"]) == grammar.log_probability(["c", "a c b"]).tolist()
            assert pool.map(model.log_probability, ["a", "a a"]) == model.log_probability(["a", "a a"]).tolist()
            # It is made once, not for each task.
            numbers = pool.map(number_of, [grammar] * 4, chunksize=1)
            assert numbers == [numbers[0]] * 4, numbers
            back, = pool.map(pushdown.grammar, ["S -> 'a'"])
            assert back._program is shared and back.symbols == ["a"] and back.sample() == "a", back
        print("done")
        """)
    output, errors = done.communicate(timeout=600)
    assert output == "done\n", errors


def test_a_copy_is_of_the_same_program(program):
    model = pushdown.language_model(alphabet=["a"], controller={"kind": "lstm", "hidden": 2}, program=program)
    same = pickle.loads(pickle.dumps(model))
    assert same._program is program and same.log_probability("a") == model.log_probability("a")
    assert repr(same) == repr(model) and same.options == model.options
    assert copy.deepcopy(pushdown.Run("/nowhere", program))._program is program


GREETING = '{"protocol": 1, "version": "1.2.3"}'


@pytest.mark.parametrize("lines, message", [
    ([GREETING, '{"id": 7, "result": []}'], "has answered request 7: expected 1"),
    ([GREETING, '{"result": []}'], "has answered request None: expected 1"),
    ([GREETING, '{"id": 1}'], "has answered request 1"),
    ([GREETING, "no\x1b[2J"], r"a line that is no answer: no\\027\[2J"), ([GREETING, "[1]"], r"no answer: \[1\]"),
    (["hello"], "no answer: hello"), ([GREETING.replace("1,", "2,")], "speaks protocol 2, this module 1"),
])
def test_another_program(tmp_path, monkeypatch, lines, message):
    path = tmp_path / "program"
    path.write_text(f"#!{sys.executable}\nimport sys\nlines = {lines!r}\nprint(lines[0], flush=True)\n"
                    "for line, _ in zip(lines[1:], sys.stdin):\n    print(line, flush=True)\nsys.stdin.read()\n")
    path.chmod(0o700)
    monkeypatch.setenv("PUSHDOWN_BINARY", str(path))
    with pushdown.Program() as program, pytest.raises(pushdown.Error, match=message):
        program.request("release", {"objects": []})
    assert program._process is None


def test_wrong_words_of_a_command_line(tmp_path):
    for options in (("a\0b",), ("\ud800",), (3,)):
        with pytest.raises(pushdown.Error, match="the program cannot be started"):
            _ = pushdown.Program(*options).version
    for wrong, message in (("a\0b", "without NUL"), ("\ud800", "a lone surrogate"), ({}, "a text or a number, got {}")):
        for value, place in ((wrong, "x"), (["a", wrong], r"x\[1\]")):
            with pytest.raises(pushdown.Error, match=f"^{place}: expected .*{message}"):
                pushdown.run(tmp_path / "script.lua", x=value)
    with pytest.raises(pushdown.Error, match=r"^words\[1\]: expected a text without NUL"):
        pushdown.run(tmp_path / "script.lua", "a", "\0")


@pytest.mark.parametrize("name", ["-e.lua", "--help", "-i", "runs", "pipe", "a b"])
def test_a_script_of_any_name(tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    (tmp_path / name).write_text("print(arg[0], ...)")
    assert pushdown.run(name, "--", "-x", echo=False).output == f"{name}\t--\t-x\n"


@pytest.mark.parametrize("items", [
    ["a,b", "c"], [], [""], ["", ""], ["["], ["[]"], ['["a"]'], ["--x", "-"], [",", "ü", "\n"], ["a", "b"], ("a",),
    np.array(["1", "a,b"]), range(3),
])
def test_lists_arrive_as_they_are(tmp_path, items):
    script = tmp_path / "script.lua"
    script.write_text("""
        local options = pd.experiment.start { name = 'lists', options = { { 'list', { 'x' }, 'texts' } } }
        print(pd.json.encode(pd.json.list(options.list)))
        """)
    output = pushdown.run(script, list=items, run_folder=tmp_path / "run", echo=False).output
    assert json.loads(output) == [str(item) for item in items]


def test_values_of_options_arrive_as_they_are(tmp_path):
    script = tmp_path / "script.lua"
    script.write_text("""
        local options = pd.experiment.start { name = 'values', options = { { 'text', '', 'a text' },
          { 'x', 1.5, 'a number' }, { 'numbers', { 1 }, 'numbers' }, { 'flag', false, 'a flag' } } }
        print(pd.json.encode(options))
        """)
    for text in ("--x", "--", "-e", "a=b", "a\nb", "", " ", "--text=--x"):
        output = pushdown.run(script, text=text, x=np.float32(0.5), numbers=np.array([0.1, -2]), flag=np.bool_(True),
                              run_folder=tmp_path / "run", overwrite=True, echo=False).output
        found = json.loads(output)
        assert found["text"] == text and found["x"] == 0.5 and found["numbers"] == [0.1, -2] and found["flag"] is True


def test_a_warning_of_the_program_appears_on_stderr(program, capsys):
    pushdown.grammar("dyck", program=program)
    assert "grammar dyck is supercritical" in capsys.readouterr().err


def test_a_missing_program(program, monkeypatch):
    monkeypatch.setenv("PUSHDOWN_BINARY", "/nowhere/pushdown")
    with pytest.raises(pushdown.Error, match="the program cannot be started: .*/nowhere/pushdown"):
        pushdown.grammar(RULES, program=program)
    monkeypatch.setenv("PUSHDOWN_BINARY", "/bin/false")
    with pytest.raises(pushdown.Error, match="the program has ended with status 1"):
        pushdown.grammar(RULES, program=program)


def python(text: str) -> subprocess.Popen:
    path = os.path.dirname(os.path.dirname(pushdown.__file__))
    code = f"import sys; sys.path.insert(0, {path!r}); import pushdown_shell as pushdown\n{textwrap.dedent(text)}"
    return subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def ends(pid: int) -> bool:
    for _ in range(6000):
        if not os.path.exists(f"/proc/{pid}"):
            return True
        time.sleep(0.1)
    return False


def test_the_program_ends_with_python():
    for last in ("", "import os, signal; os.kill(os.getpid(), signal.SIGKILL)"):
        done = python(f"""
            from pushdown_shell._program import shared
            shared.version
            print(shared._process.pid, flush=True)
            {last}
            """)
        assert ends(int(done.stdout.readline()))
        done.communicate()


def test_an_interrupt_in_a_request():
    done = python(f"""
        from pushdown_shell._program import shared
        grammar = pushdown.grammar({RULES!r})
        print(shared._process.pid, flush=True)
        try:
            grammar.sample(10**8)
        except KeyboardInterrupt:
            print("interrupted", grammar.sample(length=3))
        """)
    pid = int(done.stdout.readline())
    time.sleep(1)
    done.send_signal(signal.SIGINT)
    output, errors = done.communicate(timeout=600)
    assert output == "interrupted a c b\n" and errors == "" and ends(pid)


def test_scripts(tmp_path, capsys):
    script = tmp_path / "script.lua"
    script.write_text("""
        local options, run = pd.experiment.start { name = 'square', smoke = {}, words = true, options = {
          { 'x', 1.5, 'a number' }, { 'flag', true, 'a flag' }, { 'list', { 1 }, 'numbers' } } }
        print(options.x, options.flag, table.concat(options.list, ' '), unpack(options.words))
        if options.x < 0 then error('x is negative', 0) end
        run:finish { square = options.x ^ 2 }
        """)
    finished = pushdown.run(script, "word", x=3, flag=False, list=[1, 2], run_folder=tmp_path / "runs/one")
    expected = f"3\tfalse\t1 2\tword\n{tmp_path / 'runs/one'}: square 9\n"
    assert capsys.readouterr().out == finished.output == expected
    assert finished.run.folder == str(tmp_path / "runs/one") and finished.run.result == {"square": 9}
    assert finished.run.options["list"] == [1, 2] and finished.run.record["status"] == "done"
    with pytest.raises(pushdown.Error, match="(?s)script.lua has ended with status 1:.*x is negative"):
        pushdown.run(script, x=-1, run_folder=tmp_path / "runs/two", echo=False)
    with pytest.raises(pushdown.Error, match="status 2:\nsquare: unknown option --y"):
        pushdown.run(script, y=1, echo=False)
    script.write_text("print 'no run'")
    with pytest.raises(pushdown.Error, match="the script has made no run"):
        _ = pushdown.run(script, echo=False).run
    assert [run.result.get("square") for run in map(pushdown.Run, pushdown.runs(tmp_path)["folder"])] == [9, None]


@pytest.mark.parametrize("code, presses", [
    ("pd.grammar.load 'marked_reversal':sample { count = 1e8 }", 1),
    ("while true do end", 2),  # compiled loops do not end at the first Ctrl-C
])
def test_an_interrupted_script(tmp_path, code, presses):
    (tmp_path / "script.lua").write_text(f"print(require('pushdown').process.pid()) {code}")
    done = python(f"""
        try:
            pushdown.run({str(tmp_path / "script.lua")!r})
        except KeyboardInterrupt:
            print("interrupted")
        """)
    pid = int(done.stdout.readline())
    for _ in range(presses):
        time.sleep(1)
        done.send_signal(signal.SIGINT)
    output, errors = done.communicate(timeout=600)
    assert output == "interrupted\n" and errors == "" and ends(pid)
