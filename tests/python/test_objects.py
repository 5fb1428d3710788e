"""Models and grammars of the module, against the program in another process, NumPy and exact sums."""
import importlib.util
import itertools
import json
import math
import os

import numpy as np
import pushdown_shell as pushdown
import pytest
from pushdown_shell._program import shared

RULES = "S -> 'a' S 'b' [0.5] | 'c' [0.5]"
STRINGS = ["a b a", "", "b b b a a c", "c"]

# Makes a model of every kind of controller and stack, and prints what it computes.
EXPORT = """
local folder, strings = arg[1], pd.json.decode(arg[2])
local function export(name, make, options)
  options.alphabet, options.seed, options.dtype = { 'a', 'b', 'c' }, 1, 'float64'
  local ok, model = pcall(pd.model[make], options)
  if not ok then error(name .. ': ' .. tostring(model), 0) end
  pd.tensor.no_grad(function()
    for _, parameter in pairs(model:parameters()) do parameter:assign(parameter * 3) end
  end)
  model:export(folder .. '/' .. name)
  local values = {}
  for i, string in ipairs(strings) do
    values[i] = make == 'recognizer' and model:accepts(string) or make ~= 'recognizer' and model:log_probability(string)
  end
  print('model ' .. pd.json.encode { name = name, values = values })
end
for _, make in ipairs { 'language_model', 'recognizer' } do
  for _, kind in ipairs(pd.controller.kinds()) do
    export(make .. '-' .. kind, make, { controller = { kind = kind, hidden = 4 }, stack = { kind = 'superposition' } })
  end
  for _, kind in ipairs(pd.stack.kinds()) do
    export(make .. '-' .. kind, make, { controller = { kind = 'lstm', hidden = 4 }, stack = { kind = kind } })
  end
  export(make .. '-transformer', make, { architecture = 'transformer', hidden = 8, heads = 2 })
end
export('recognizer-nspda', 'recognizer', { architecture = 'nspda' })
export('recognizer-nnpda', 'recognizer', { architecture = 'nnpda' })
"""


@pytest.fixture(scope="module")
def exported(tmp_path_factory):
    """The folder of the models of EXPORT, and what the program computes by name."""
    folder = tmp_path_factory.mktemp("models")
    (folder / "export.lua").write_text(EXPORT)
    done = pushdown.run(folder / "export.lua", str(folder), json.dumps(STRINGS), echo=False)
    made = [json.loads(line[6:]) for line in done.output.splitlines() if line.startswith("model ")]
    return folder, {one["name"]: one["values"] for one in made}


def test_every_controller_and_stack(exported):
    folder, expected = exported
    assert len(expected) > 40
    for name, values in expected.items():
        model = pushdown.load(folder / name)
        assert model.symbols == ["a", "b", "c"] and model.options["seed"] == 1
        if model.kind == "Recognizer":
            assert model.accepts(STRINGS).tolist() == values, name
            assert model.accepts(STRINGS[0]) is values[0], name
        else:
            np.testing.assert_allclose(model.log_probability(STRINGS), values, rtol=1e-12, err_msg=name)
            scores = model.logits(STRINGS[0])
            assert scores.shape == (4, 4)
            logs = scores - np.log(np.exp(scores).sum(1, keepdims=True))
            assert sum(logs[t, k] for t, k in enumerate([0, 1, 0, 3])) == pytest.approx(values[0], rel=1e-9)


def test_the_reader_with_numpy_agrees(exported):
    folder, expected = exported
    agree = 0
    for name in (name for name in expected if name.startswith("language_model")):
        path = folder / name / "run_model.py"
        spec = importlib.util.spec_from_file_location("run_model", path)
        reader = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(reader)
        model = pushdown.load(folder / name)
        try:
            values = [float(reader.log_probability(path.parent, string.split())) for string in STRINGS]
        except SystemExit:
            continue
        np.testing.assert_allclose(model.log_probability(STRINGS), values, rtol=1e-9, err_msg=name)
        agree += 1
    assert agree >= 8


def test_a_stack_that_a_script_defines():
    define = "dofile(pd.root .. '/tests/lua/queue_in_lua.lua')('queue_in_lua', 2)"
    options = {"alphabet": ["a", "b"], "stack": {"kind": "queue_in_lua"}, "seed": 1}
    with pushdown.Program("-e", define) as program:
        model = pushdown.language_model(program=program, **options)
        assert "queue_in_lua stack" in repr(model) and model.log_probability("a b") < 0
    with pytest.raises(pushdown.Error, match="queue_in_lua"):
        pushdown.language_model(**options)


def small_model(**options):
    return pushdown.language_model(**{"alphabet": ["a", "b"], "controller": {"kind": "lstm", "hidden": 3}, "seed": 1,
                                      **options})


@pytest.mark.parametrize("stack", ["none", "nondeterministic"])
def test_samples_have_the_probabilities_of_the_model(stack):
    model = small_model(stack={"kind": stack})
    count = 5000
    drawn = model.sample(count, seed=1)
    assert drawn == model.sample(count, seed=1) and drawn != model.sample(count, seed=2)
    for length in range(4):
        for symbols in itertools.product("ab", repeat=length):
            p = math.exp(model.log_probability(" ".join(symbols)))
            share = drawn.count(" ".join(symbols)) / count
            assert abs(share - p) < 5 * math.sqrt(p * (1 - p) / count), symbols


def test_samples_of_a_length():
    assert all(len(string.split()) == 7 for string in small_model().sample(50, length=7, seed=1))
    model = small_model(end_symbol=False)
    drawn = model.sample(20000, length=2, seed=3)
    for string in ("a a", "a b", "b a", "b b"):
        p = math.exp(model.log_probability(string))
        assert abs(drawn.count(string) / 20000 - p) < 5 * math.sqrt(p * (1 - p) / 20000)
    assert model.sample(2, length=0) == ["", ""] and isinstance(model.sample(length=3), str)
    with pytest.raises(pushdown.Error, match="predicts no end of a string: give a length"):
        model.sample(2)
    with pytest.raises(pushdown.Error, match="have not ended after 1 symbols"):
        small_model().sample(100, longest=1, seed=1)


def test_samples_with_a_prefix_and_a_temperature():
    model = small_model()
    assert all(string.startswith("b a") for string in model.sample(50, prefix="b a", seed=1))
    cold = model.sample(2000, length=1, temperature=1e-4, seed=1)
    assert len(set(cold)) == 1 and cold[0] == max("ab", key=model.next().get)


def test_predictions_agree_with_the_log_probability():
    model = small_model()
    next_symbols = model.next("a b")
    assert set(next_symbols) == {"a", "b", "<end>"} and abs(sum(next_symbols.values()) - 1) < 1e-6
    surprisals = model.surprisal("a b")
    assert [symbol for symbol, _ in surprisals] == ["a", "b", "<end>"]
    assert sum(nats for _, nats in surprisals) == pytest.approx(-model.log_probability("a b"))
    assert surprisals[2][1] == pytest.approx(-math.log(next_symbols["<end>"]), rel=1e-5)
    with pytest.raises(pushdown.Error, match="temperature must be a number above 0"):
        model.next("a", temperature=0)


def test_a_trace_shows_what_the_stack_does():
    trace = small_model(stack={"kind": "superposition", "size": 2}).trace("a b b")
    assert trace["symbols"] == ["a", "b", "b"] and trace["actions"] == ["push", "pop", "no_op"]
    assert trace["weights"].shape == (3, 3) and trace["readings"].shape == (3, 2)
    np.testing.assert_allclose(trace["weights"].sum(1), 1)
    np.testing.assert_allclose(trace["depths"] @ np.arange(4), trace["depth"])
    assert small_model(stack={"kind": "list"}).trace("a", memory=2)["depths"] is None
    with pytest.raises(pushdown.Error, match="no memory to trace"):
        small_model().trace("a")
    with pytest.raises(pushdown.Error, match="a LanguageModel reads no target"):
        small_model().trace("a", "b")


def test_errors_are_those_of_the_program():
    model = small_model()
    with pytest.raises(pushdown.Error, match="symbol 'c' is not in the alphabet; the symbols are 'a' and 'b'"):
        model.log_probability("a c")
    with pytest.raises(pushdown.Error, match="a LanguageModel has no method 'accepts'"):
        model.accepts("a")
    with pytest.raises(pushdown.Error, match="unknown option 'controler', did you mean 'controller'"):
        pushdown.language_model(alphabet=["a"], controler={})
    with pytest.raises(pushdown.Error, match="/nowhere"):
        pushdown.load("/nowhere")
    with pytest.raises(pushdown.Error, match="options.noise: expected a finite number, got inf"):
        pushdown.language_model(alphabet=["a"], noise=math.inf)


def test_numbers_and_arrays_of_numpy_are_arguments():
    grammar = pushdown.grammar(RULES)
    assert grammar.sample(np.int64(2), seed=np.uint8(3)) == grammar.sample(2, seed=3)
    expected = grammar.log_probability(["c", "a c b"])
    array = np.array(["c", "a c b"])
    for strings in (array, array.astype(object), tuple(array), iter(array)):
        assert grammar.log_probability(strings).tolist() == expected.tolist()
    assert grammar.log_probability(np.array([], dtype=str)).shape == (0,)
    assert grammar.log_probability(np.str_("c")) == expected[0]
    model = pushdown.language_model(alphabet=np.array(["a", "b"]), seed=np.int32(1), end_symbol=np.bool_(True),
                                    controller={"kind": "lstm", "hidden": np.float64(3)})
    assert model.log_probability("a b") == small_model().log_probability("a b")
    assert model.sample(3, temperature=np.float32(0.5), seed=1) == model.sample(3, temperature=0.5, seed=1)


@pytest.mark.parametrize("value, message", [
    (["b", None, "a b"], r"strings\[1\]: expected a text, got None"), ([None], r"strings\[0\]: expected a text"),
    ([None, None], r"strings\[0\]: expected a text"), (["a", 3], r"strings\[1\]: expected a text, got 3"),
    (np.array(["a", None]), r"strings\[1\]: expected a text, got None"), (np.array([[1]]), r"strings\[0\]: expected"),
    (None, "strings: expected a text or a list of texts, got NoneType"), ({"a"}, "strings: .* got set"),
    (3, "strings: .* got int"), (b"a", "strings: .* got bytes"), (["a", "\ud800"], r"strings\[1\]: .* a lone"),
])
def test_wrong_strings_name_their_place(value, message):
    model = small_model()
    for call in (pushdown.grammar(RULES).log_probability, model.log_probability, model.accepts, model.translate):
        with pytest.raises(pushdown.Error, match=message.replace("strings", "(strings|sources)")):
            call(value)


@pytest.mark.parametrize("value, message", [
    (math.nan, "expected a finite number, got nan"), (np.float32("inf"), "expected a finite number, got inf"),
    ([1, math.nan], r"\[1\]: expected a finite number"), (np.array([[1, np.nan]]), r"\[0\]\[1\]: expected a finite"),
    ({"y": [None]}, r".y\[0\]: expected a value, got None"), (2**53 + 1, r"integer from -2\^53 to 2\^53, got 9007"),
    (-(10**30), "got -1000000000000000000000000000000"),
    ("a\udfff", "expected Unicode, got a lone surrogate at index 1"),
    ({3: 4}, "expected names as keys, got 3"), (b"a", "got bytes"), ({1}, "got set"), (object(), "got object"),
    ({"\ud800": 1}, "a lone surrogate"), (1j, "got complex"),
])
def test_wrong_values_name_their_argument(value, message):
    for call in (lambda x: pushdown.grammar("dyck", x=x), lambda x: pushdown.language_model(alphabet=["a"], x=x)):
        with pytest.raises(pushdown.Error, match=rf"^\[\w+\.\w+\] options\.x.*{message}"):
            call(value)
    with pytest.raises(pushdown.Error, match=r"\[grammar.sample\] seed: "):
        pushdown.grammar(RULES).sample(seed=math.nan)


def test_values_that_contain_themselves():
    lists, names = [], {}
    lists.append(lists)
    names["x"] = names
    for value in (lists, names):
        with pytest.raises(pushdown.Error, match="expected at most 64 lists and dictionaries inside of each other"):
            pushdown.language_model(alphabet=["a"], x=value)


def test_zero_bytes_cut_nothing():
    grammar = pushdown.grammar("S -> 'a\0b'")
    assert grammar.symbols == ["a\0b"] and grammar.log_probability("a\0b") == 0
    with pytest.raises(pushdown.Error, match=r"symbol 'c\\000d' is not in the alphabet; the symbols are 'a\\000b'"):
        grammar.log_probability("c\0d")
    with pytest.raises(pushdown.Error, match="unknown option 'seed"):
        shared.request("grammar.sample", {"grammar": grammar, "seed\0": 1})


@pytest.mark.parametrize("path", ["a\0b", "\ud800", 3, None])
def test_wrong_paths(path):
    model = small_model()
    for call in (pushdown.load, model.save, model.save_parameters, model.with_parameters, pushdown.runs, pushdown.Run,
                 pushdown.run, pushdown.grammar):
        with pytest.raises(pushdown.Error, match="(path|folder|script|source): expected"):
            call(path)


def test_texts_of_strangers_are_harmless(tmp_path, capsys):
    escape, control = "\x1b]0;owned\x07", "\x9b31m"
    (tmp_path / "foreign.pcfg").write_text(f"S -> '{escape}{control}'")
    grammar = pushdown.grammar(tmp_path / "foreign.pcfg")
    assert grammar.symbols == [escape + control]
    assert str(grammar) == repr(grammar) == r"Grammar: 1 rule, 1 nonterminal, 1 symbol \027]0;owned\007\15531m"
    with pytest.raises(pushdown.Error) as caught:
        pushdown.grammar(f"S -> '{escape}{control}\udc9b' x")
    assert not set("\x1b\x07\x9b\udc9b") & set(str(caught.value))
    assert str(pushdown.Error("a\tb\n\x1b[1m\udc9b")) == "a\tb\n\\027[1m\\155"
    (tmp_path / control).mkdir()
    (tmp_path / control / "run.json").write_text(f"[{escape}")
    pushdown.runs(tmp_path)
    printed = capsys.readouterr()
    assert "pushdown_shell.runs: " in printed.err and not set("\x1b\x9b") & set(printed.err)


def test_the_module_shows_its_names():
    assert dir(pushdown) == sorted(pushdown.__all__) and "runs" in dir(pushdown)
    assert all(getattr(pushdown, name).__module__.startswith("pushdown_shell") for name in dir(pushdown))


def test_parameters_of_a_part(tmp_path):
    one, other = small_model(), small_model(seed=2)
    one.save_parameters(tmp_path / "lstm.npz", part="controller")
    with np.load(tmp_path / "lstm.npz") as weights:
        assert sorted(weights) == ["bias_hh_l0", "bias_ih_l0", "weight_hh_l0", "weight_ih_l0"]
        assert weights["weight_hh_l0"].shape == (12, 3)
    mixed = other.with_parameters(tmp_path / "lstm.npz", part="controller")
    mixed.save_parameters(tmp_path / "mixed.npz")
    with np.load(tmp_path / "lstm.npz") as weights, np.load(tmp_path / "mixed.npz") as found:
        for name in weights:
            np.testing.assert_array_equal(found[f"controller.{name}"], weights[name])
    other.save_parameters(tmp_path / "other.npz")
    with np.load(tmp_path / "other.npz") as before, np.load(tmp_path / "mixed.npz") as found:
        np.testing.assert_array_equal(found["output.weight"], before["output.weight"])
    with pytest.raises(pushdown.Error, match="no part 'cell'; its parts are controller, output"):
        one.save_parameters(tmp_path / "x.npz", part="cell")
    with pytest.raises(pushdown.Error, match="lstm.npz"):
        small_model(controller={"kind": "lstm", "hidden": 4}).with_parameters(tmp_path / "lstm.npz", part="controller")
    one.save(tmp_path / "one.safetensors")
    assert pushdown.load(tmp_path / "one.safetensors").log_probability("a") == one.log_probability("a")


def test_a_transducer_translates(tmp_path):
    (tmp_path / "make.lua").write_text("pd.model.transducer{ pairs = pd.task.transduction{ kind = 'copy', symbols = 3 }, "
                                       "controller = { kind = 'lstm', hidden = 4 }, seed = 1 }:save(arg[1])")
    pushdown.run(tmp_path / "make.lua", str(tmp_path / "model.safetensors"))
    model = pushdown.load(tmp_path / "model.safetensors")
    assert model.kind == "Transducer"
    source = model.symbols[0] if not model.symbols[0].startswith("<") else model.symbols[1]
    assert isinstance(model.translate(source, longest=3), str) and len(model.translate([source] * 3)) == 3
    with pytest.raises(pushdown.Error, match="'longest' must be between 0 and 10000000"):
        model.translate(source, longest=2**53)


def test_grammars(tmp_path):
    rules = "S -> 'a' S 'b' [0.5] | 'c' [0.5]"
    (tmp_path / "own.pcfg").write_text(rules + "\n")
    for grammar in (pushdown.grammar(rules), pushdown.grammar(tmp_path / "own.pcfg"),
                    pushdown.grammar(os.path.relpath(tmp_path / "own.pcfg"))):
        assert grammar.symbols == ["a", "b", "c"]
        assert grammar.log_probability("a c b") == pytest.approx(2 * math.log(0.5))
        assert grammar.log_probability([]).shape == (0,)
        assert grammar.log_probability(["c", "a"]).tolist() == [pytest.approx(math.log(0.5)), -math.inf]
        assert grammar.sample(3, seed=1) == grammar.sample(3, seed=1)
        assert grammar.sample(length=5, seed=1) == "a a c b b"
        assert pushdown.grammar(grammar.text).log_probability("c") == grammar.log_probability("c")
    assert len(pushdown.grammar("dyck", bracket_types=3).symbols) == 6
    with pytest.raises(pushdown.Error, match="did you mean 'dyck'"):
        pushdown.grammar("dyk")
    with pytest.raises(pushdown.Error, match="no strings of length 2; the nearest lengths with strings are 1 and 3"):
        pushdown.grammar(rules).sample(length=2)
    with pytest.raises(pushdown.Error, match="expected a context-free grammar, got a synchronous one"):
        pushdown.grammar("svo_to_sov")


def test_unusual_symbols():
    grammar = pushdown.grammar("S -> 'ü' [0.5] | '\"' [0.25] | '\\\\' [0.25]")
    assert sorted(grammar.symbols) == ['"', "\\", "ü"]
    assert grammar.log_probability("ü") == pytest.approx(math.log(0.5))
