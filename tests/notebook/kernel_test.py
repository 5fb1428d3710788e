"""Tests the kernel for notebooks in the way that Jupyter uses it, through jupyter_client.

usage: kernel_test.py BUILD_FOLDER; exits with status 77 if there is nothing to test.
"""
import atexit
import base64
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time

build = os.path.abspath(sys.argv[1])
try:
    import jupyter_client.manager
except ImportError as error:
    print(f"skipped: {error} (Debian: python3-jupyter-client)")
    sys.exit(77)
if not os.path.exists(f"{build}/pushdown-kernel"):
    print("skipped: built without the kernel (Debian 12: xeus-dev, Debian 13: xeus-zmq-dev)")
    sys.exit(77)

# Seconds after which the test counts as hanging.
PATIENCE = 1200
data = tempfile.mkdtemp()
os.environ.update(JUPYTER_DATA_DIR=data, HOME=data, PUSHDOWN_REGISTRY="off")
said = subprocess.run([f"{build}/pushdown", "kernel", "install"], capture_output=True, text=True, check=True)
assert "jupyter console --kernel pushdown" in said.stdout, said
spec = json.load(open(f"{data}/kernels/pushdown/kernel.json"))
assert spec["argv"][0] == f"{build}/pushdown-kernel" and spec["interrupt_mode"] == "signal", spec

begin = time.time()
manager, client = jupyter_client.manager.start_new_kernel(kernel_name="pushdown", startup_timeout=PATIENCE)
atexit.register(lambda: manager.shutdown_kernel(now=True))  # if an assertion below fails
print(f"starts in {time.time() - begin:.2f} s")


def answer(request):
    """Returns the reply to a request. On a slow machine more replies than one come while the kernel starts."""
    while True:
        message = client.get_shell_msg(timeout=PATIENCE)
        if message["parent_header"].get("msg_id") == request:
            return message["content"]


def run(code, interrupt_at=None):
    """Returns the output of a cell as a list of (kind, content), and the reply. Interrupts it when it prints a text."""
    request = client.execute(code)
    published = []
    while True:
        message = client.get_iopub_msg(timeout=PATIENCE)
        if message["parent_header"].get("msg_id") != request:
            continue
        kind, content = message["msg_type"], message["content"]
        if kind == "status" and content["execution_state"] == "idle":
            break
        if kind not in ("status", "execute_input"):
            published.append((kind, content))
        if interrupt_at and kind == "stream" and interrupt_at in content["text"]:
            manager.interrupt_kernel()
            interrupt_at = None
    return published, answer(request)


def convert(notebook, name, kernel="pushdown"):
    """Returns the HTML that Debian's nbconvert makes from cells that it runs itself, without JupyterLab."""
    try:
        import nbconvert  # noqa: F401
        import nbformat
    except ImportError as error:
        print(f"nbconvert not tested: {error} (Debian: jupyter-nbconvert)")
        return None
    cells = [nbformat.v4.new_code_cell(code) for code in notebook]
    path = f"{data}/{name}.ipynb"
    nbformat.write(nbformat.v4.new_notebook(cells=cells), path)
    command = [sys.executable, "-m", "nbconvert", "--to", "html", "--execute",
               f"--ExecutePreprocessor.kernel_name={kernel}", path]
    said = subprocess.run(command, capture_output=True, text=True)
    assert said.returncode == 0, said
    return open(f"{data}/{name}.html").read()


def streams(published, name):
    return "".join(c["text"] for k, c in published if k == "stream" and c["name"] == name)


def result(published):
    (data,) = [c["data"] for k, c in published if k == "execute_result"]
    return data


published, reply = run("1 + 2")
assert reply["status"] == "ok" and result(published)["text/plain"] == "3", published
assert result(run("_ * 2")[0])["text/plain"] == "6"
assert run("x = 5; y = 'ü'\n-- nothing to show")[0] == []

# The output of Lua, C++ and child processes arrives in order, and while the cell runs.
published, _ = run("print('hi', x) io.write('no ', 'print\\n') os.execute('echo child; echo wrong >&2') pd.log.warn('careful')")
assert streams(published, "stdout").startswith("hi\t5\nno print\n"), published
assert "child\n" in streams(published, "stdout") and "wrong\n" in streams(published, "stderr"), published
assert "careful" in streams(published, "stderr"), published
published, _ = run("io.write('\\255\\254 ', y, '\\n')")
assert streams(published, "stdout") == "?? ü\n", published
# The cell goes on when its first line has arrived.
request = client.execute(f"print('first') while not io.open('{data}/arrived') do end print('last')")
seen = set()
while "idle" not in seen:
    message = client.get_iopub_msg(timeout=PATIENCE)
    if message["parent_header"].get("msg_id") == request:
        seen.add(message["content"].get("text") or message["content"].get("execution_state"))
        if "first\n" in seen:
            open(f"{data}/arrived", "w").close()
assert "last\n" in seen, seen
answer(request)
# No part of a long output is lost.
published, _ = run("for i = 1, 100000 do print(i) end")
assert streams(published, "stdout") == "".join(f"{i}\n" for i in range(1, 100001))

# Pictures and tables.
shown = result(run("pd.plot.lines{ series = { { y = { 1, 2, 3 } } } }")[0])
assert shown["image/svg+xml"].startswith("<svg "), shown
encoded = shown["text/html"].split("base64,")[1].split('"')[0]
assert base64.b64decode(encoded, validate=True).decode() == shown["image/svg+xml"], shown
if shutil.which("rsvg-convert"):
    assert base64.b64decode(shown["image/png"], validate=True).startswith(b"\x89PNG\r\n"), shown
shown = result(run("pd.report.table{ columns = { 'model', 'loss' }, rows = { { '<LSTM>', 0.25 }, { 'GRU', 3 } } }")[0])
assert "<th>loss</th>" in shown["text/html"] and "&lt;LSTM&gt;" in shown["text/html"], shown
shown = result(run("{ { event = 'x', epoch = 1 } }")[0])
assert shown["text/html"].index("<th>epoch</th>") < shown["text/html"].index("<th>event</th>"), shown
shown = result(run("{ { a = 1, b = 'x' }, { a = 2 } }")[0])
assert shown["text/html"].count("<tr>") == 3 and "a = 1" in shown["text/plain"], shown
published, _ = run("display('<b>bold</b>', 'text/html'); display({ { n = 1 } })")
kinds = [c["data"] for k, c in published if k == "display_data"]
assert kinds[0] == {"text/html": "<b>bold</b>"} and "<th>n</th>" in kinds[1]["text/html"], published

# The value of a cell is that of its last expression. Sessions that were copied with their prompts
# run entry by entry.
assert result(run("n = 3\nn")[0])["text/plain"] == "3"
assert result(run("local a = 4\nif a > 3 then\n  a = a + 1\nend\na * 2")[0])["text/plain"] == "10"
assert result(run("a + 1")[0])["text/plain"] == "6", "locals live on"
published, _ = run("pd> n + 1\n4\npd> for i = 1, 2 do\n...   n = n + i\n... end\npd> n")
assert result(published)["text/plain"] == "6", published
assert [c["data"]["text/plain"] for k, c in published if k == "display_data"] == ["4"], published
assert "shut its kernel down" in run("quit")[1]["evalue"]
assert ", middle half " in streams(run(":time -n 5 math.sin(1)")[0], "stdout")

# A training shows one line and replaces it.
small = """
g = pd.grammar.load 'marked_reversal'
d = g:sampler{ lengths = { 20, 40 } }:dataset(1000, { seed = 1 })
m = pd.model.language_model{ alphabet = g:alphabet(), seed = 1 }
for epoch in pd.train.trainer{ model = m, train = d, valid = d, epochs = 3 }:epochs() do end
"""
published, _ = run(small)
shown = [(k, c["transient"]["display_id"], c["data"]["text/plain"]) for k, c in published]
assert [k for k, _, _ in shown[:1]] == ["display_data"] and len(shown) >= 4, published
assert all(k == "update_display_data" for k, _, _ in shown[1:]), published
assert len({place for _, place, _ in shown}) == 1, published
assert shown[-1][2].startswith("epoch 3: cross-entropy ") and "training ends: 3 of 3 epochs" in shown[-1][2], published

# The line of a grid ends with its finished state.
published, _ = run(f"""
pd.files.write('{data}/square.lua', [[
local options, run = pd.experiment.start {{ name = 'square', smoke = {{}}, options = {{ {{ 'x', 1, 'x' }},
  {{ 'seed', 1, 'seed' }}, {{ 'restart', 1, 'restart' }} }} }}
run:finish {{ square = options.x ^ 2 }}
]])
rows = pd.grid.run{{ name = 'g', script = '{data}/square.lua', folder = '{data}/grid', points = {{ {{ x = 2 }}, {{ x = 3 }} }},
  workers = 1 }}
#rows
""")
assert result(published)["text/plain"] == "2", published
shown = [c["data"]["text/plain"] for k, c in published if k.endswith("display_data")]
assert shown[-1].startswith("2/2 finished, in 0:"), shown

# What remains of the view of run() is its finished state.
published, _ = run(small.replace("for epoch in ", "done = ").replace(":epochs() do end", ":run()"))
shown = [c["data"]["text/plain"] for k, c in published if "display_data" in k]
assert "100 %" in shown[-1] and "finished" in shown[-1] and " left" not in shown[-1], published

# The session survives errors.
published, reply = run("local function f() error('boom') end\nf()")
assert reply["status"] == "error" and "boom" in reply["evalue"], reply
assert any("prompt:2" in line for line in published[-1][1]["traceback"]), published
assert "did you mean 'print'?" in run("pritn(1)")[1]["evalue"]
for nonsense in ("for i =", "%$#", ":nothing", "os.exit(3)", "error({})", "pd.tensor{{1}, {2, 3}}", "\x00", "return"):
    run(nonsense)
assert result(run("x")[0])["text/plain"] == "5"
assert "pd.stack.simulate" in streams(run("? pd.stack.simulate")[0], "stdout")
assert ", processor " in streams(run(":time 1 + 1")[0], "stdout")
assert "function M.find(" in streams(run("?? pd.runs.find")[0], "stdout")
assert streams(run("!echo from the system")[0], "stdout") == "from the system\n"
assert run("!false")[1]["evalue"] == "!false ended with status 1"
assert result(run("'seven'")[0]) and result(run("_ .. #_")[0])["text/plain"] == "seven5"
assert "did you mean ':history'?" in run(":histroy")[1]["evalue"]
assert "_ .. #_\n" in streams(run(":history")[0], "stdout")

# Completion, inspection, completeness.
reply = answer(client.complete("ü = pd.stack.simu", 17))
assert reply["matches"] == ["simulate"] and reply["cursor_start"] == 13 and reply["cursor_end"] == 17, reply
code = "m = pd.model.language_model{\n  stack = { kind = 'superp"
assert answer(client.complete(code, len(code)))["matches"] == ["superposition"]
reply = answer(client.inspect("pd.stack.simulate{ kind = 'none' }", 12))
assert reply["found"] and "Drives a bare stack" in reply["data"]["text/plain"], reply
assert not answer(client.inspect("no_such_thing", 4))["found"]
for code, status in (("for i = 1, 3 do", "incomplete"), ("1 + 1", "complete"), ("x = = 3", "invalid"),
                     (":time -n many", "invalid")):
    assert answer(client.is_complete(code))["status"] == status, code

# Interrupts: in Lua, in a training step, and while nothing runs.
published, reply = run("print('runs') while true do end", interrupt_at="runs")
assert reply["ename"] == "Interrupted", reply
train = """
g = pd.grammar.load 'marked_reversal'
d = g:sampler{ lengths = { 20, 40 } }:dataset(2000, { seed = 1 })
m = pd.model.language_model{ alphabet = g:alphabet(), stack = { kind = 'superposition', size = 10 } }
t = pd.train.trainer{ model = m, train = d, valid = d, epochs = 1000, progress = false }
for epoch in t:epochs() do last = epoch print('one epoch') end
"""
published, reply = run(train, interrupt_at="one epoch")
assert reply["ename"] == "Interrupted", (published, reply)
manager.interrupt_kernel()
assert result(run("tostring(m):match 'superposition'")[0])["text/plain"] == "superposition"

page = convert(["pd.plot.lines{ title = 'A curve', series = { { y = { 1, 2, 3 } } } }",
                "{ { model = 'LSTM', loss = 0.25 }, { model = 'GRU', loss = 0.5 } }", "x = 3\nx", small], "walk")
if page:
    # Some versions of nbconvert remove the elements of an SVG and leave their texts.
    assert "data:image/svg+xml;base64," in page and "A curve" in page and "<?xml" not in page, "the picture is in the page"
    assert "<th>loss</th>" in page and "<td>LSTM</td>" in page, "tables are tables"
    assert page.count("cross-entropy 0") == 1 and "training ends: 3 of 3 epochs" in page, "one line of progress"

begin = time.time()
for _ in range(50):
    run("x")
print(f"{(time.time() - begin) / 50 * 1e3:.1f} ms a cell")
client.stop_channels()
manager.shutdown_kernel()
assert not manager.is_alive()
said = subprocess.run([f"{build}/pushdown", "kernel", "remove"], capture_output=True, text=True, check=True)
assert not os.path.exists(f"{data}/kernels/pushdown"), said
print("passed", flush=True)
os._exit(0)  # jupyter_client raises errors when Python ends normally
