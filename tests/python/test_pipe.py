"""`pushdown pipe` as docs/reference/pipe.md describes it, without the module."""
import json
import os
import pathlib
import re
import signal
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
COMMAND = [os.environ["PUSHDOWN_BINARY"], "pipe"]


def talk(*lines: bytes, options=()) -> list:
    """Returns the answers to lines without the greeting, and expects a good end."""
    done = subprocess.run([COMMAND[0], *options, "pipe"], input=b"\n".join(lines), capture_output=True, check=False)
    assert done.returncode == 0, done.stderr
    greeting, *answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert greeting["protocol"] == 1 and greeting["program"] == "pushdown" and greeting["version"]
    return answers


def request(method: str, id=1, **arguments) -> bytes:
    return json.dumps({"id": id, "method": method, "arguments": arguments}).encode()


def refusal(line: bytes) -> str:
    (answer,) = talk(line)
    assert answer.keys() == {"id", "error"}, answer
    return answer["error"]


def test_a_line_has_an_answer_with_its_id():
    rules = request("grammar.parse", id="first", text="S -> 'a' S 'b' [0.5] | 'c' [0.5]")
    made, probabilities, released, gone = talk(
        rules, request("grammar.log_probability", id=7, grammar=1, strings=["c", "a"]),
        request("release", id=8, objects=[1]), request("grammar.sample", id=9, grammar=1))
    assert made["id"] == "first" and made["result"]["object"] == 1 and made["result"]["symbols"] == ["a", "b", "c"]
    assert probabilities == {"id": 7, "result": [pytest.approx(-0.6931471805599453), "-inf"]}
    assert released == {"id": 8, "result": None}
    assert gone == {"id": 9, "error": "[pipe] there is no object 1"}


@pytest.mark.parametrize("line, message", [
    (b"", "a value, got the end"), (b"{", "a key"), (b"\xff\xfe", "a value"), (b"nothing", "a value"),
    (b"\0" * 10, "a value"), (b"[1, 2]", "an object"), (b"3", "an object"), (b"null", "an object"),
    (b"{}", "'method'"), (b'{"method": 3}', "'method' must be"), (b'{"method": "grammar.sampel"}', "did you mean"),
    (b'{"method": "release", "arguments": 3}', "'arguments' must be a table"), (b'{"method": "release", "x": 1}', "'x'"),
    (request("grammar.parse"), "'text'"), (request("grammar.parse", text=3), "'text' must be a text"),
    (request("grammar.parse", text="S - 1"), "expected ->"), (request("grammar.parse", text="S -> S", more=1), "'more'"),
    (request("grammar.sample", grammar=1.5), "must be an integer"), (request("grammar.sample", grammar=5), "no object 5"),
    (b'{"method": "grammar.sample", "arguments": {"grammar": 1e999}}', "grammar: expected a finite number, got"),
    (request("model.create", kind="recognizer", options={"alphabet": ["a", None, "b"]}),
     "[model.create] options.alphabet[2]: expected a value, got null"),
    (request("grammar.load", name="dyck", options={"x": {"y": [{"z": [None]}]}}), "options.x.y[1].z[1]: expected"),
    (b'{"id": 9007199254740993, "method": "x"}', "an integer from -2^53 to 2^53, got 9007199254740993"),
    (b'{"id": -9007199254740993, "method": "x"}', "from -2^53 to 2^53, got -9007199254740993"),
    (request("grammar.sample", grammar=1, seed=2**53 + 1), "an integer from -2^53 to 2^53"),
    (request("grammar.sample", id=[1]), "'id' must be a number or a text"),
    (b'{"id": "\\udc41", "method": "x"}', "a high surrogate"),
    (b'{"method": "grammar.sample", "arguments": {"grammar": Infinity}}', "a value"),
    (b"[" * 100000, "nested at most"), (request("runs.find", folder="/nowhere"), "no folder '/nowhere'"),
    (request("model.load", path="/nowhere"), "/nowhere"), (request("model.create", kind="stack"), "'kind'"),
    (request("model.create", kind="recognizer", options={"alphabet": "a"}), "alphabet"),
])
def test_a_wrong_line_has_an_error(line, message):
    assert message in refusal(line + b"\n")


@pytest.mark.parametrize("method, argument, element", [
    ("grammar.log_probability", "strings", "a text"), ("model.log_probability", "strings", "a text"),
    ("model.accepts", "strings", "a text"), ("model.translate", "strings", "a text"),
    ("release", "objects", "an integer"),
])
def test_null_in_a_list_is_an_error(method, argument, element):
    rules = request("grammar.parse", text="S -> 'a' S [0.4] | 'b' [0.6]")
    for values in (["b", None, "a b"], ["b", None], [None, "b"], [None, None], [["b", None]]):
        place = "[1][2]" if len(values) == 1 else f"[{values.index(None) + 1}]"
        expected = "a value" if len(values) == 1 else element
        _, refused = talk(rules, request(method, id=2, grammar=1, **{argument: values}))
        assert refused == {"id": 2, "error": f"[{method}] {argument}{place}: expected {expected}, got null"}


def test_numbers_are_kept_exactly():
    ids = [2**53, -(2**53), 2**53 - 1, 0.1, "9007199254740993", -0.5]
    assert [answer["id"] for answer in talk(*[request("nothing", id=id) for id in ids])] == ids
    named = request("model.create", kind="language_model", options={
        "alphabet": ["a"], "controller": {"kind": "lstm", "hidden": 1}, "seed": 2**53})
    assert talk(named)[0]["result"]["options"]["seed"] == 2**53


def test_a_byte_order_mark_at_the_start():
    first, second = talk(b"\xef\xbb\xbf" + request("grammar.load", name="dyck"), b"\xef\xbb\xbf{}")
    assert first["result"]["object"] == 1 and "expected a value" in second["error"]


def test_a_line_is_answered_when_its_end_has_come():
    with subprocess.Popen(COMMAND, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        process.stdout.readline()
        for parts in ([request("nothing", id=1)[:9], request("nothing", id=1)[9:], b"\n"], [b"\0", b"{}\n"],
                      [b"a" * 70000, b"a" * 70000 + b"\n"], [request("nothing", id="\u00fc"), b"\n"]):
            for part in parts:
                process.stdin.write(part)
                process.stdin.flush()
            answer = json.loads(process.stdout.readline())
            assert "error" in answer
        assert answer["id"] == "\u00fc"
        process.stdin.write(request("nothing", id="last"))
        process.stdin.close()
        assert json.loads(process.stdout.readline())["id"] == "last"


def test_samples_have_limits():
    made = request("model.create", kind="language_model", options={
        "alphabet": ["a"], "controller": {"kind": "lstm", "hidden": 1}, "seed": 1})
    samples = [request("model.sample", model=1, **options) for options in
               ({"length": 2**53}, {"longest": 2**53}, {"length": 10**5, "count": 10**5}, {"count": 10**9})]
    dyck = request("grammar.load", name="dyck")
    answers = talk(made, dyck, *samples, request("grammar.sample", grammar=2, count=10**9))
    messages = ["'length' must be", "'longest' must be", "more than 10^9 symbols", "'count' must be", "more than 4 GB"]
    assert len(answers) == 7
    for answer, message in zip(answers[2:], messages):
        assert message in answer["error"], answer


def test_wrong_lines_change_nothing():
    lines = [b"{" * 1000, b"\0{}", request("nothing"), b"a" * (2**26 + 1), request("grammar.load", id=5, name="dyck")]
    answers = talk(*lines)
    assert ["error" in answer for answer in answers] == [True, True, True, True, False]
    assert "at most 67108864 bytes" in answers[3]["error"]
    assert answers[4]["id"] == 5 and answers[4]["result"]["object"] == 1


def test_an_object_is_of_one_kind():
    _, wrong = talk(request("grammar.load", name="dyck"), request("model.log_probability", model=1, strings=["("]))
    assert wrong["error"] == "[pipe] object 1 is a grammar: expected a model"


def test_only_answers_go_to_standard_output():
    # A definition that prints while the program answers.
    define = ("pd.grammar.parse = (function(parse) return function(text) print('printed') io.write('written') "
              "io.stdout:write('directly') return parse(text) end end)(pd.grammar.parse)")
    (answer,) = talk(request("grammar.parse", text="S -> 'a'"), options=["-e", define])
    assert answer["result"]["symbols"] == ["a"]


def test_the_end_of_the_input_ends_the_program():
    process = subprocess.Popen(COMMAND, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert process.stdout.readline().startswith(b'{"protocol":1,')
    process.stdin.close()
    assert process.wait(600) == 0 and process.stdout.read() == b""


def test_an_interrupt_ends_the_program():
    for line in (b"", request("grammar.sample", grammar=1, count=10**8) + b"\n"):
        process = subprocess.Popen(COMMAND, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        process.stdout.readline()
        process.stdin.write(request("grammar.load", name="marked_reversal") + b"\n" + line)
        process.stdin.flush()
        process.stdout.readline()
        process.send_signal(signal.SIGINT)
        assert process.wait(600) == 130
        assert process.stderr.read() == b"pushdown pipe: interrupted\n"


def test_the_command_line():
    done = subprocess.run([*COMMAND, "--help"], capture_output=True, text=True, check=False)
    assert done.returncode == 0 and done.stdout.startswith("pushdown pipe"), done
    for word in ("more", "--more"):
        done = subprocess.run([*COMMAND, word], capture_output=True, text=True, check=False)
        assert done.returncode == 2 and done.stdout == "" and "more" in done.stderr, done


def test_the_page_names_every_method():
    known = re.search("the methods are (.*)", refusal(request("nothing"))).group(1).split(", ")
    page = (ROOT / "docs/reference/pipe.md").read_text()
    methods = page[page.index("\n## Methods"):]
    assert re.findall(r"^\| `([a-z_.]+)` \|", methods, re.MULTILINE) == known
