-- The prompt fed from a pipe: printed values, help and completion.
-- label: long
local pd = require 'pushdown'
local program = dofile(pd.root .. '/tests/lua/shell_program.lua')
local test = require 'pushdown.test'

local run = program.run

test('the prompt from a pipe: no prompts, values printed, failures in the status', function()
  local out, err, status = run({}, [[
1 + 1, 'two'
x
x = 5
x;
x
= x * 2
for i = 1, 2 do
  print('i', i)
end
{3, 1, {a = 1, ['b c'] = 2}}
pd.tensor{1, 2}
-- a comment
x -- a comment after
]])
  test.equal(err, '')
  test.equal(out, [[
2	two
nil
5
10
i	1
i	2
{3, 1, {a = 1, ['b c'] = 2}}
Tensor 2 float32 {1, 2}
5
]])
  test.equal(status, 0)
  out, err, status = run({}, 'error("one")\nprint("goes on")\nnil + 1\nfoo bar\n')
  test.equal(out, 'goes on\n')
  assert(err:find('error: prompt:1: one', 1, true) and err:find('near', 1, true), err)
  test.equal(status, 1)
  out, err, status = run({}, 'for i = 1, 2 do\n')
  test.equal(out, '')
  assert(err:find("'end' expected near '<eof>'", 1, true), err)
  test.equal(status, 1)
  out, err, status = run({}, 'x = "\xff\xfe"\nprint("alive")')
  test.equal(out, 'alive\n')
  assert(err:find('prompt:1: the text is not UTF-8 (byte 0xff at position 6', 1, true), err)
  test.equal(status, 1)
  out, err, status = run({}, '')
  test.equal(out .. err, '')
  test.equal(status, 0)
end)

test('tables are printed sorted, cut and without endless cycles', function()
  local out = run({}, [[
t = {}; t.self = t; t.a = {b = {c = {d = {e = {f = {g = 1}}}}}}; t[true] = 1
t
local big = {} for i = 1, 1000 do big[i] = i end return big
{text = 'a\nb\'\1', bytes = 'é\255'}
{pd.stack.kinds, pd.stack}
setmetatable({}, {__tostring = function() return 'my object' end})
local wide = {} for i = 1, 3 do wide['key' .. i] = ('v'):rep(40) end return wide
]])
  assert(out:find("{[true] = 1, a = {b = {c = {d = {e = {f = {...}}}}}}, self = <cycle>}", 1, true), out)
  assert(out:find('60, ... 940 more', 1, true) or out:find('60,\n  ... 940 more', 1, true), out)
  assert(out:find([[{bytes = '\195\169\255', text = 'a\nb\'\001'}]], 1, true), out)
  assert(out:find('{function pd.stack.kinds, module pd.stack (see help(pd.stack))}', 1, true), out)
  assert(out:find('\nmy object\n', 1, true), out)
  assert(out:find("{\n  key1 = 'v", 1, true), out)
end)

test('help at the prompt', function()
  local out, err, status = run({}, [[
help()
help(pd)
help(pd.stack)
? pd.stack.simulate
? Tensor.sum
help('tensor.zeros')
? zzz
help(pd.tensor{1})
? pd.json
]])
  test.equal(err, '')
  test.equal(status, 0)
  for _, text in ipairs { 'Pushdown 0.2.0', 'pd.stack', 'kinds() -> table', 'pd.stack.simulate{',
    'Tensor:sum(dims, keep) -> Tensor', 'pd.tensor.zeros(shape', "There is no help on 'zzz'",
    'matmul(other) -> Tensor', 'pushdown.json' } do
    assert(out:find(text, 1, true), text .. ' in\n' .. out)
  end
end)

test('help finds words and kinds', function()
  local out, err, status = run({}, [[
help 'superposition'
help 'perplexity'
help 'controler'
]])
  test.equal(err, '')
  test.equal(status, 0)
  for _, text in ipairs { 'a stack: superposition:', 'temperature', "'perplexity' is mentioned in",
    'pd.train.evaluate(', "There is no help on 'controler', did you mean 'pd.controller'?" } do
    assert(out:find(text, 1, true), text .. ' in\n' .. out)
  end
  for line in out:gmatch '[^\n]+' do assert(#line <= 98, line) end
end)

test('the cheat sheet fits a window of 80 columns and 24 rows, and its examples run', function()
  local sheet = require('pushdown.prompt.entry').cheat_sheet()
  assert(select(2, sheet:gsub('\n', '')) < 24)
  for line in sheet:gmatch '[^\n]+' do assert(#line < 80, line) end
  -- Some lines have two examples, separated by blanks.
  local examples = sheet:match('\n\n(.*)$'):gsub('(%S)   +', '%1\n')
  test.has(examples, 't:run()', 'pd.train.evaluate(', 'pd.model.load ', 'pd.report.page{')
  local _, err, status = run({}, (examples:gsub('epochs = 5', 'epochs = 1, progress = false')),
    { folder = program.folder })
  test.equal(err, '')
  test.equal(status, 0)
end)

test('earlier values: _, _1, ... _9', function()
  local out, err, status = run({}, [[
1
'two'
nil
x = 4
_ .. _1
:time -n 5 7
{_, _1, _2, _3}
_12
]])
  assert(out:find "^1\ntwo\nnil\ntwo1\n" and out:find("\n{7, 'two1', 'two', 1}\n", 1, true), out)
  assert(err:find('there is no value _12: _ is the last value, and _1 to _9 are those before it', 1, true), err)
  test.equal(status, 1)
end)

test(':history and :save', function()
  local path = program.folder .. '/saved.lua'
  local entries = [[
1 + 1
local a, b = 3
local function twice(n)
  return 2 * n
end
nil + 1
_ * twice(a)
twice(a);
local big = {} for i = 1, 3 do big[i] = i end return #big
y = 'show(' -- a comment
y -- another
? pd.stack.kinds
help 'zzz'
:history twice
:save %s
:save %s
]]
  local out, err = run({}, entries:format(path, path))
  for _, text in ipairs { "\n   3  local function twice(n)\n        return 2 * n\n      end\n",
    '\n   5  _ * twice(a)\n',
    "8 entries in " .. path } do
    assert(out:find(text, 1, true), text .. ' in\n' .. out)
  end
  assert(not out:find('nil + 1', 1, true), out)
  assert(err:find("exists; :save -f " .. path .. ' replaces it', 1, true), err)
  local again, problem, status = run { path }
  test.equal(problem, '')
  test.equal(status, 0)
  test.equal(again, '2\n12\n3\nshow(\n')
  -- A script draws the seeds that the session drew.
  local drawn = 'pd.pda.load "dyck_pda"\nm = pd.model.language_model{ alphabet = { "a" } }\nm:log_probability "a"\n'
  out = run({}, drawn .. ':save -f ' .. path .. '\n')
  local number = out:match '\n(%-[%d.]+)\n'
  assert(number and run({ path }):find(number, 1, true), out)
  err = select(2, run({}, ':save\n:save a b\n:save ' .. path .. '\n1\n:save /nonexistent/x\n'))
  for _, text in ipairs { ':save needs a file', "expected one file, got 'b' too", 'there is nothing to save',
    "cannot write '/nonexistent/x'" } do
    assert(err:find(text, 1, true), text .. ' in\n' .. err)
  end
  out = run({}, ':history\n:history zzz\n')
  assert(out:find 'first entry' and out:find "No entry of this prompt has 'zzz'", out)
end)

test('!command runs a command of the system', function()
  local out, err, status = run({}, "!echo 'one  two' | tr a-z A-Z\n!false\n!\n!cd /\n!kill -9 $$\n1\n")
  test.equal(out, 'ONE  TWO\n1\n')
  for _, text in ipairs { '!false ended with status 1', '! needs a command', '!cd changes only',
    'was ended by signal 9' } do
    assert(err:find(text, 1, true), text .. ' in\n' .. err)
  end
  test.equal(status, 1)
end)

test(':reload loads libraries and modules again, into the same tables', function()
  local path = program.write('module_of_test.lua', "return { value = 1, old = true }\n")
  local out, err = run({}, ([[
package.path = '%s/?.lua;' .. package.path
m = require 'module_of_test'
pd.files.write('%s', "return { value = 2, new = function() return 'new' end }\n")
:reload module_of_test
m.value, m.old, m.new()
pd.files.write('%s', "return {\n")
:reload module_of_test
m.value
lines = pd.plot.lines
:reload pd.plot
lines ~= pd.plot.lines, pd.plot.lines ~= nil
:reload csv
:reload plto
:reload stack
:reload
]]):format(program.folder, path, path))
  for _, text in ipairs { 'Loaded module_of_test again', "\n2\tnil\tnew\n", '\n2\nLoaded pushdown.plot again',
    'parts of it', 'true\ttrue', 'pushdown.csv was not loaded yet' } do
    assert(out:find(text, 1, true), text .. ' in\n' .. out)
  end
  for _, text in ipairs { 'module_of_test was not changed: ', "no library or module 'plto', did you mean 'plot'?",
    'pd.stack is a part of the core', ':reload needs the name' } do
    assert(err:find(text, 1, true), text .. ' in\n' .. err)
  end
end)

test(':runs and pd.runs.list() list the runs here', function()
  local out, err = run({}, [[
pd.runs.list()
record = pd.runs.record{ experiment = 'demo', folder = 'runs/demo/1', options = {} }
record:finish{ result = { cross_entropy = 0.25 } }
pd.runs.list()
#pd.runs.list{ status = 'failed' }
:runs
:runs show 1
:runs shwo
]], { folder = test.folder(), environment = 'PUSHDOWN_REGISTRY= ' })
  assert(out:find '^No runs are recorded here%.\n', out)
  for _, text in ipairs { 'demo', 'cross entropy 0.25', 'Run 1: demo' } do
    assert(out:find(text, 1, true), text .. ' in\n' .. out)
  end
  assert(err:find "did you mean 'show'", err)
end)

test('unknown commands and fields suggest the nearest', function()
  local commands = require('pushdown.prompt.commands').names()
  local _, err = run({}, ':histroy\n:zzzzz\npd.stak\npd.plot.linse\npd.runs.finnd()\npd.plot[1]\n')
  for _, text in ipairs { "there is no command :histroy, did you mean ':history'?",
    'there is no command :zzzzz; there are :' .. table.concat(commands, ', :', 1, #commands - 1) .. ' and :',
    "[pd] there is no pd.stak, did you mean 'stack'?", "[pd.plot] there is no pd.plot.linse, did you mean 'lines'?",
    "[pd.runs] there is no pd.runs.finnd, did you mean 'find'?" } do
    assert(err:find(text, 1, true), text .. ' in\n' .. err)
  end
end)

test('??x shows sources and definitions', function()
  local out, err = run({}, [[
function double(n)
  return 2 * n
end
??double
??pd.plot.lines
??runs.find
??pd.stack.simulate
??nondeterministic
??lstm
??dyck
??pd.plot
??Tensor.sum
t = pd.tensor{ 1 }
??t:matmul
??print
??nil
??_99
??superpositoin
??
]])
  for _, text in ipairs { '-- entry 1 of the prompt\nfunction double(n)\n  return 2 * n\nend\n',
    '-- scripts/lib/plot/lines.lua:', '-- scripts/lib/runs.lua:', '\nfunction M.find(', '(bindings/stack',
    'a stack: nondeterministic: Simulates all runs of a weighted pushdown automaton',
    '(docs/reference/stacks.md, "nondeterministic")',
    '(src/stack/nondeterministic.cpp:', "c' = ", '(src/controller/lstm.cpp:', '(grammars/dyck.lua)',
    '-- scripts/lib/plot.lua',
    'Tensor:sum', 'Tensor:matmul', '(bindings/tensor', "There is no 'nil'", "There is no '_99'" } do
    assert(out:find(text, 1, true), text .. ' in\n' .. out)
  end
  assert(err:find('?? needs a function', 1, true), err)
end)

test('completion inside calls, tables and strings', function()
  local complete = require 'pushdown.prompt.completion'
  -- The completions of the end of a text, and what follows them.
  local function words(text)
    local start, found, ending = complete(text)
    return type(found) == 'table' and table.concat(found, ' ') or found, ending, start
  end
  test.equal(words "pd.stack.simulate{ kind = 'superp", 'superposition')
  local found, ending, start = words 'pd.model.language_model{ alphabet = a, controller = { kind = [[lstm]], hid'
  test.equal(found, 'hidden')
  test.equal(ending, ' = ')
  test.equal(start, #'pd.model.language_model{ alphabet = a, controller = { kind = [[lstm]], h')
  -- Existing keys are not offered again, and comments and strings are not keys.
  test.equal(words "pd.stack.simulate{ kind = 'superposition', -- depth = 1\n note = 'no_op = ', de", 'depth')
  test.equal(words "pd.stack.simulate{ depth = 1, kind = 'superposition', de", nil)
  test.equal(words "m = model{ stack = { kind = 'strat", 'stratification stratification_deque stratification_queue')
  test.equal(words "pd.model.language_model{ dtype = 'float", 'float32 float64')
  test.equal(words "pd.grammar.load('dyc", 'dyck dyck_n')
  test.equal(words "pd.grammar.load('dyck', { mean_s", 'mean_splits')
  test.equal(words "pd.grammar.load 'dyck'; pd.pda.load 'an_bn/wh", 'an_bn/whole')
  test.equal(words "require 'pushdown.rep", 'pushdown.report')
  test.equal(words "sampler:dataset(10, { se", 'seed')
  test.equal(words "t{ optimizer = { kind = 'adam', beta", 'beta1 beta2')
  test.equal(words "pd.train.trainer{ optimizer = 'ad", 'adam adamw')
  test.equal(words "pd.model.language_model{ layers = { { kind = 'superp", 'superposition')
  -- Choices, without files if only choices fit.
  test.equal(words "pd.model.language_model{ architecture = '", 'nnpda nspda recurrent transformer')
  test.equal(words "pd.model.recognizer{ alphabet = a, architecture = 'n", 'nnpda nspda')
  test.equal(words "pd.model.recognizer{ architecture = 'zzz", '')
  test.equal(words "pd.train.trainer{ curriculum = '", 'incremental sequential two_stage')
  test.equal(words "pd.train.trainer{ curriculum = { kind = 'tw", 'two_stage')
  test.equal(words "pd.train.trainer{ curriculum = { kind = 'two_stage', thr", 'threshold')
  test.equal(words 'pd.train.trainer{ noise = { las', 'last_epoch')
  test.equal(words "pd.train.describe 'tex", 'text')
  test.equal(words "pd.task.labelled{ edits = { '", 'delete insert replace transpose')
  test.equal(words "pd.task.labelled{ edits = { 'insert', 're", 'replace')
  test.equal(words "labelled:curriculum{ stage_end = 'la", 'last_open')
  -- Options of the Lua modules, which need not be loaded.
  test.equal(words "pd.plot.lines{ x_l", 'x_label x_log')
  test.equal(words "pd.plot.tree{ layout = 'b", 'below beside')
  test.equal(words 'pd.plot.lines{ series = { { y = { 1 }, sty', 'style')
  test.equal(words "pd.plot.lines{ series = { { y = { 1 }, style = '", 'line points steps')
  test.equal(words "pd.grid.run{ restar", 'restarts')
  test.equal(words ':ti', 'time')
  test.equal(words ':ed', 'edit')
  test.equal(words ':', 'edit help history quit reload run runs save time')
  test.equal(words ':his', 'history')
  test.equal(words ':reload plo', 'plot')
  test.equal(words ':save ru', 'files')
  test.equal(words '!ls ru', 'files')
  test.equal(words ':run ns_r', 'ns_rnn')
  test.equal(words ':run tutorial/02', 'tutorial/02_grammar')
  test.equal(words ':run no/such', 'files')
  test.equal(words "help 'super", 'superposition')
  -- The tensors of pd.stack.simulate are no options of a model's stack.
  test.equal(words "pd.model.language_model{ stack = { kind = 'superposition', vec", 'vector')
  -- In other places it completes files or the names of Lua.
  test.equal(words "io.open('", 'files')
  test.equal(words "f{ x = 'pat", 'files')
  for _, text in ipairs { '', 'pd.st', 'pd.stack.simulate{ kind = ki', 'x = { [', '-- pd.grammar.load("', '--[[ {',
    ')}]', 'f({', 'pd.stack.simulate{ kind = { ki', "'" } do
    local fine, problem = pcall(complete, text)
    assert(fine, problem)
    if text ~= "'" then test.equal(select(2, complete(text)), nil) end
  end
end)

test('methods are completed by the class of their object', function()
  local complete = require 'pushdown.prompt.completion'
  local function options_of(text) return table.concat(select(2, complete(text)), ' ') end
  rawset(_G, 'grammar_of_test', pd.grammar.load 'dyck')
  rawset(_G, 'of_test', { sampler = pd.grammar.load('dyck'):sampler { lengths = { 4, 8 } } })
  local usage = pd.docs()['Grammar:sample']
  local offered = options_of 'grammar_of_test:sample{ '
  for option in offered:gmatch '%S+' do assert(usage:find(option .. '=', 1, true), option .. ' in ' .. usage) end
  -- Options of other classes are offered only if the class is not known.
  assert(not offered:find 'target_lengths' and options_of('unknown:sample{ '):find 'target_lengths', offered)
  assert(not options_of('of_test.sampler:sample{ '):find 'target_lengths')
  rawset(_G, 'grammar_of_test', nil)
  rawset(_G, 'of_test', nil)
end)

-- The choices in the completion's own list are those that the calls accept.
test('choices of completion are accepted', function()
  local complete = require 'pushdown.prompt.completion'
  local g = pd.grammar.load 'marked_reversal'
  for _, option in ipairs { 'distinct', 'positive_lengths', 'negative_lengths', 'negative_kind', 'edits' } do
    local list = option == 'edits'
    local _, choices = complete(("pd.task.labelled{ %s = %s'"):format(option, list and '{ ' or ''))
    assert(#choices > 1, option)
    local wrong = test.fails(option, function()
      pd.task.labelled { grammar = g, lengths = { 1, 9 }, positives = 5, negatives = 5,
        [option] = list and { '?' } or '?' }
    end)
    for _, choice in ipairs(choices) do assert(wrong:find("'" .. choice .. "'", 1, true), choice .. ' in ' .. wrong) end
    test.equal(select(2, wrong:match 'one of (.-), got':gsub("'[%w_]+'", '')), #choices)
  end
  local data = pd.task.labelled { grammar = g, lengths = { 1, 9 }, positives = 5, negatives = 5 }
  for _, option in ipairs { 'kind', 'stage_end' } do
    local _, choices = complete(("labelled:curriculum{ %s = '"):format(option))
    local wrong = test.fails(option, function() data:curriculum { [option] = '?' } end)
    for _, choice in ipairs(choices) do assert(wrong:find("'" .. choice .. "'", 1, true), choice .. ' in ' .. wrong) end
  end
end)

-- The functions with an argument that is a name, and the names that the core lists for them.
test('listed names are accepted, and others are not', function()
  local of_option, of_name = {}, {}
  for _, entry in ipairs(pd.texts()) do
    local names = entry.texts()
    assert(#names > 1, entry.name)
    of_name[entry.name] = names
    if entry.option then of_option[entry.option] = entry.name end
    if entry.of then
      test.equal(pd.doc_name(entry.call), entry.name)
      for _, name in ipairs(names) do assert(#entry.call(name) > 10, name) end
      test.fails('no_such_name', function() entry.call 'no_such_name' end)
    end
  end
  test.equal(of_option.stack, 'pd.stack.describe')
  test.equal(of_option.learning, 'pd.train.describe_learning')
  test.equal(table.concat(of_name['pd.stack.describe'], ' '), table.concat(pd.stack.kinds(), ' '))
  test.equal(table.concat(of_name['pd.train.describe'], ' '), 'text sentences language_model recognizer transducer')
end)

test('help lists the Lua modules and the options by kind, and finds words', function()
  local describe = require 'pushdown.prompt.description'
  local function has(text, ...)
    for _, part in ipairs { ... } do assert(text:find(part, 1, true), part .. ' in\n' .. text) end
  end
  local library = require 'pushdown.prompt.library'
  has(describe(pd), 'pd.plot', 'pd.runs', 'pd.grid', 'pd.experiment', 'pd.json')
  for _, name in ipairs(library.names) do
    local module = library.load(name)
    assert(module and #library.head('pushdown.' .. name) > 20, name)
    has(describe 'pd', 'pd.' .. name)
    -- Every function has a comment that help shows.
    for key, f in pairs(type(module) == 'table' and module or {}) do
      if type(f) == 'function' and debug.getinfo(f, 'S').what ~= 'C' then
        local call, sentence = library.signature(key, f)
        assert(call:find(key, 1, true) and #sentence > 0, ('pd.%s.%s: %s %s'):format(name, key, call, sentence))
      end
    end
  end
  has(describe 'plot', 'lines{series=, reference=, ', 'heat_map{values=, ')
  has(describe 'plot.lines', 'plot.lines{series=, ', '\n  The line chart as SVG text, also of ',
    '\n    x_log (boolean, default false): logarithmic horizontal axis')
  has(describe 'grid.run', 'recorded=, ...} -> rows\n  Trains the script at every point',
    'points (list of tables, required): ')
  for line in describe('plot.by_length'):gmatch '[^\n]+' do assert(#line <= 98, line) end
  has(describe 'train.trainer', 'stop_patience', 'Options for a recognizer:', 'objective', 'Options for a transducer:',
    'accuracy_every')
  has(describe 'model.language_model', "Options of architecture = 'transformer':", 'feedforward')
  for topic, expected in pairs { ['early stopping'] = 'stop_patience', ['learning curve'] = 'curves.svg',
    ['cross entropy'] = 'cross_entropy_difference', pytorch = 'Tensor indices start at 1' } do
    has(describe(topic), ("'%s' is mentioned in"):format(topic), expected)
  end
  -- Whole sentences, without the targets of links.
  has(describe 'early stopping', 'Early stopping is on by default.\n')
  assert(not describe('early stopping'):find('](', 1, true))
  has(describe 'early stoping', "did you mean 'early stopping'?")
  has(describe 'pd.plot.linse', "did you mean 'pd.plot.lines'?")
  for _, nonsense in ipairs { 'zzz', 'foo', 'qq' } do assert(not describe(nonsense):find 'did you mean', nonsense) end
end)

test.finish()
