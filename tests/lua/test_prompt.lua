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

test('the cheat sheet fits 80 columns, and its examples run', function()
  local sheet = require('pushdown.prompt.entry').cheat_sheet()
  for line in sheet:gmatch '[^\n]+' do assert(#line < 80, line) end
  -- Some lines have two examples, separated by blanks.
  local examples = sheet:match('\n\n(.*)$'):gsub('(%S)   +', '%1\n')
  local _, err, status = run({}, (examples:gsub('epochs = 5', 'epochs = 1, progress = false')))
  test.equal(err, '')
  test.equal(status, 0)
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
  test.equal(words ':run ns_rnn/tra', 'ns_rnn/train')
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
  has(describe 'plot.lines', 'plot.lines{series=, ', '\n  The line chart as SVG text.',
    '\n    x_log (boolean, default false): logarithmic horizontal axis')
  has(describe 'grid.run', 'missing=, ...} -> rows\n  Trains the script at every point',
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
