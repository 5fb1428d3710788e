"""The life of the program: its start and end, threads, forks, interrupts and scripts."""
import concurrent.futures
import gc
import multiprocessing
import os
import signal
import subprocess
import sys
import textwrap
import threading
import time

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
    assert program._process is None
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
    assert capsys.readouterr().out == finished.output == "3\tfalse\t1 2\tword\n"
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
