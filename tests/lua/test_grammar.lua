-- Grammars from Lua: loading, the sandbox, scoring, sampling, datasets, and errors.
local pd = require 'pushdown'
local test = require 'pushdown.test'
local files = require 'pushdown.files'
local json = require 'pushdown.json'

local infinity = math.huge
local names = { 'dyck', 'hardest_cfl', 'marked_reversal', 'padded_reversal', 'unmarked_reversal' }

-- Calls f with the path of a temporary file with this text and extension.
local function with_file(text, ending, f)
  local base = os.tmpname()
  local path = base .. ending
  local file = assert(io.open(path, 'wb'))
  file:write(text)
  file:close()
  local ok, problem = pcall(f, path)
  os.remove(base)
  os.remove(path)
  if not ok then error(problem, 0) end
end

local function loading(text) return function()
  with_file(text, '.lua', pd.grammar.load)
end end

-- null is the logarithm of zero; 1e-9, relative for large numbers.
local function near(got, expected)
  if expected == json.null or expected == nil then return test.equal(got, -infinity) end
  test.near(got, expected, 1e-9 * math.max(1, math.abs(expected)))
end

for _, path in ipairs(files.find(pd.root .. '/tests/golden', '^pcfg_.*%.json$')) do
  local golden = json.decode(files.read(pd.root .. '/tests/golden/' .. path))
  local name = golden.task:gsub('-', '_')
  for _, mode in ipairs { 'paper', 'reference' } do
    test(('%s, mode %s, against the published code'):format(name, mode), function()
      local grammar = pd.grammar.load(name, { mode = mode })
      test.equal(table.concat(grammar:alphabet():symbols(), ' '), table.concat(golden.vocab, ' '))
      local masses = golden['logG_length_' .. mode]
      for length = 1, 100 do near(grammar:log_length_probability(length), masses[length]) end
      local sampler = grammar:sampler { lengths = { 10, 60 } }
      for _, string in ipairs(golden.strings) do
        local tokens = {}
        for i, id in ipairs(string.ids) do tokens[i] = golden.vocab[id + 1] end
        near(grammar:log_probability(tokens), string[mode].logG)
        near(sampler:log_probability(tokens), string[mode].log_p_sample_10_60)
      end
      if not grammar:unambiguous() then return end
      for _, bound in ipairs(golden.cross_entropy_lower_bound_exact[mode]) do
        near(grammar:sampler { lengths = bound.length_range }:expected_lower_bound(), bound.nats_per_symbol)
      end
    end)
  end
end

test('the five grammars are listed and described', function()
  local listed = {}
  for _, name in ipairs(pd.grammar.list()) do listed[name] = true end
  for _, name in ipairs(names) do
    assert(listed[name], name)
    local text = pd.grammar.describe(name)
    assert(text:find(name, 1, true) == 1 and text:find('mode', 1, true), text)
  end
end)

test('grammars declared unambiguous have one derivation for every string', function()
  local count = 0
  for _, name in ipairs(names) do
    for _, mode in ipairs { 'paper', 'reference' } do
      local grammar = pd.grammar.load(name, { mode = mode })
      local sampler = grammar:sampler { lengths = { 6, 24 } }
      local ambiguous = false
      for _, string in ipairs(sampler:sample { count = 60, seed = 1 }) do
        local total, best = grammar:log_probability(string), grammar:parse(string):log_probability()
        assert(best <= total + 1e-9)
        ambiguous = ambiguous or total > best + 1e-9
      end
      test.equal(ambiguous, not grammar:unambiguous())
      count = count + (ambiguous and 0 or 1)
    end
  end
  test.equal(count, 6)
end)

test('the modes agree where the published code is right', function()
  for _, name in ipairs { 'hardest_cfl', 'marked_reversal', 'unmarked_reversal' } do
    local paper, reference = pd.grammar.load(name), pd.grammar.load(name, { mode = 'reference' })
    local lengths = { lengths = { 6, 30 } }
    local a, b = paper:sampler(lengths), reference:sampler(lengths)
    for _, string in ipairs(a:sample { count = 50, seed = 4 }) do
      test.near(a:log_probability(string), b:log_probability(string), 1e-11)
    end
  end
  -- In padded reversal the code's w is never empty, so both ends of 0 1 1 0 come from w.
  local padded = pd.grammar.load 'padded_reversal'
  local altered = pd.grammar.load('padded_reversal', { mode = 'reference' })
  test.equal(altered:log_probability '0', -infinity)
  assert(padded:log_probability '0' > -infinity and altered:log_probability '0 1 0' > -infinity)
end)

test('exact values of short strings', function()
  local dyck = pd.grammar.load 'dyck'
  test.near(math.exp(dyck:log_length_probability(2)), 0.5 / 41, 1e-15)
  test.near(math.exp(dyck:log_length_probability(40)), 2.71127565297e-7, 1e-17)
  test.near(dyck:log_probability '( )', math.log(0.25 / 41), 1e-13)
  test.equal(dyck:log_probability '', -infinity)
  test.equal(dyck:log_length_probability(3), -infinity)
  local unmarked = pd.grammar.load 'unmarked_reversal'
  test.near(unmarked:log_probability '', math.log(1 / 61), 1e-13)
  test.near(unmarked:log_length_probability(0), math.log(1 / 61), 1e-13)
  local hardest = pd.grammar.load 'hardest_cfl'
  for length = 0, 5 do test.equal(hardest:log_length_probability(length), -infinity) end
  assert(hardest:log_length_probability(6) > -infinity)
end)

test('many strings at once', function()
  local grammar = pd.grammar.load 'unmarked_reversal'
  local strings = { '', '0', '0 0', '0 1 1 0', { '1', '1' } }
  local all = grammar:log_probabilities { strings = strings }
  test.equal(#all, #strings)
  for i, string in ipairs(strings) do test.equal(all[i], grammar:log_probability(string)) end
  test.equal(#grammar:log_probabilities { strings = {} }, 0)
  if pd.device.status().cuda_devices == 0 then
    test.fails('[device]', function() grammar:log_probabilities { strings = strings, device = 'cuda' } end)
  else
    for i, value in ipairs(grammar:log_probabilities { strings = strings, device = 'cuda' }) do
      if value ~= all[i] then test.near(value, all[i], 1e-11) end
    end
  end
end)

test('any number of bracket types and content symbols', function()
  local grammar = pd.grammar.load('dyck', { bracket_types = 6 })
  test.equal(table.concat(grammar:alphabet():symbols(), ' '), '( ) [ ] { } < > (5 )5 (6 )6')
  assert(grammar:log_probability '< (5 )5 { } >' > -infinity)
  test.equal(grammar:log_probability '(5 )6', -infinity)
  local reversal = pd.grammar.load('marked_reversal', { symbols = 3, mean_length = 5 })
  test.near(reversal:log_probability '2 0 # 0 2', 2 * math.log(5 / 18) - math.log(6), 1e-13)
end)

test('strings are texts with blanks or lists of symbols', function()
  local grammar = pd.grammar.load 'marked_reversal'
  test.equal(grammar:log_probability '0 # 0', grammar:log_probability { '0', '#', '0' })
  test.equal(pd.grammar.text { '0', '#', '0' }, '0 # 0')
  test.equal(pd.grammar.text '0 # 0', '0 # 0')
  test.equal(grammar:log_probability '0 # 1', -infinity)
end)

test('the seed determines the samples', function()
  local grammar = pd.grammar.load 'dyck'
  local one = grammar:sample { length = 30, seed = 5 }
  test.equal(type(one), 'string')
  test.equal(#one, 59)
  test.equal(grammar:sample { length = 30, seed = 5 }, one)
  local many = grammar:sample { length = 30, seed = 5, count = 4 }
  test.equal(#many, 4)
  test.equal(many[1], one)
  assert(many[2] ~= one)
  local free = grammar:sample { seed = 2, count = 20 }
  for _, string in ipairs(free) do assert(grammar:log_probability(string) > -infinity) end
end)

test('samplers and their datasets', function()
  local grammar = pd.grammar.load 'dyck'
  local sampler = grammar:sampler { lengths = { 9, 15 } }
  test.equal(table.concat(sampler:lengths(), ' '), '10 12 14')
  local data = sampler:dataset(45, { seed = 3 })
  test.equal(data:size(), 45)
  local strings, lengths = data:strings(), data:lengths()
  for i = 1, 45 do test.equal(lengths[i], lengths[i - (i - 1) % 10]) end
  test.equal(table.concat(sampler:dataset(45, { seed = 3 }):strings(), '|'), table.concat(strings, '|'))
  assert(table.concat(sampler:dataset(45, { seed = 4 }):strings(), '|') ~= table.concat(strings, '|'))
  local sum, symbols = 0, 0
  for i, string in ipairs(strings) do
    sum, symbols = sum - sampler:log_probability(string), symbols + lengths[i]
  end
  test.near(sampler:lower_bound(data), sum / symbols, 1e-12)
  test.near(data:lower_bound(), sum / symbols, 1e-12)
  test.near(sampler:lower_bound(strings), sum / symbols, 1e-12)
  test.near(sampler:entropy() / 12, sampler:expected_lower_bound(), 1e-12)
  local estimate, deviation = sampler:estimate_entropy { strings = 2000, seed = 1 }
  test.near(estimate, sampler:entropy(), 5 * deviation)
  local path = os.tmpname()
  data:save(path)
  local again = pd.task.load_dataset(path)
  os.remove(path)
  test.equal(table.concat(again:strings(), '|'), table.concat(strings, '|'))
  test.equal(again:lower_bound(), data:lower_bound())
  local own = pd.task.dataset { alphabet = { 'a', 'b' }, strings = { 'a b', { 'b' } } }
  test.equal(own:symbol_count(), 3)
  test.fails('is unknown', function() own:lower_bound() end)
end)

test('derivations', function()
  local grammar = pd.grammar.load 'dyck'
  local derivation = grammar:parse '( [ ] )'
  test.equal(tostring(derivation), "(S (T '(' (S (T '[' ']')) ')'))")
  test.equal(derivation:to_table().children[1].children[2].symbol, 'S')
  test.near(derivation:log_probability(), grammar:log_probability '( [ ] )', 1e-12)
  test.equal(grammar:parse '( ]', nil)
  local counts, total = grammar:rule_counts '( [ ] ) ( )', 0
  for i, rule in ipairs(grammar:rules()) do
    if rule.left == 'T' then total = total + counts[i] end
  end
  test.near(total, 3, 1e-12)
end)

test('text is read and written', function()
  local text = "S -> 'a' S 'b' [0.75] | T [0.25]\nT -> 'c' [1]\n"
  local grammar = pd.grammar.parse(text)
  test.equal(grammar:text(), text)
  for _, name in ipairs(names) do
    local loaded = pd.grammar.load(name)
    local again = pd.grammar.parse(loaded:text())
    test.equal(again:text(), loaded:text())
    test.equal(again:name(), name)
    test.equal(again:unambiguous(), loaded:unambiguous())
    local string = loaded:sampler { lengths = { 20, 21 } }:sample { seed = 1 }
    test.equal(again:log_probability(string), loaded:log_probability(string))
  end
  with_file(text, '.pcfg', function(path) test.equal(pd.grammar.load(path):text(), grammar:text()) end)
  assert(grammar:normal_form():find("T -> 'c' [1]", 1, true))
  test.near(pd.grammar.parse("S -> S S [.8] | 'a' [.2]"):termination_probability(), 0.25, 1e-12)
end)

test('one line each', function()
  local grammar = pd.grammar.load 'dyck'
  local sampler = grammar:sampler { lengths = { 2, 6 } }
  for _, object in ipairs { grammar, grammar:alphabet(), sampler, sampler:dataset(3, { seed = 1 }),
    grammar:parse '( )' } do
    local line = tostring(object)
    assert(#line > 5 and not line:find('\n'), line)
  end
  test.equal(tostring(grammar), 'Grammar dyck: 6 rules, 2 nonterminals, 4 symbols ( ) [ ]')
end)

test('a grammar file of one\'s own', function()
  with_file([[
    name 'mine'
    doc 'An example.'
    local n = option('copies', 2, 'number of symbols', { integer = true, minimum = 1, maximum = 9 })
    local loud = option('loud', false, 'doubles the first symbol')
    symbols { 'z', 'x1' }
    for i = 1, n do rule(("S -> 'x%d'"):format(i), i) end
    rule("S -> 'z' S | 'z' [3]")
    if loud then rule("S -> 'x1' 'x1'", 1) end
  ]], '.lua', function(path)
    test.fails('an alternative of S has no weight, and the others have counts', function() pd.grammar.load(path) end)
  end)
  with_file([[
    option('copies', 2, 'number of symbols')
    rule("S -> 'z' S [1] | 'z' [3]")
    unambiguous()
  ]], '.lua', function(path)
    local grammar = pd.grammar.load(path, { copies = 2.5 })
    test.near(grammar:log_probability 'z z', math.log(0.25 * 0.75), 1e-13)
    assert(grammar:rules()[1].origin:find('%.lua:2$'))
    assert(pd.grammar.describe(path):find('copies', 1, true))
  end)
end)

test('the sandbox offers the grammar words and nothing else', function()
  for _, word in ipairs { 'io', 'os', 'debug', 'require', 'load', 'loadstring', 'dofile', 'loadfile', 'print',
    'getfenv', 'setfenv', 'getmetatable', 'setmetatable', 'rawset', 'package', 'jit', 'ffi', 'pd', '_G',
    'pcall', 'coroutine', 'collectgarbage', 'newproxy' } do
    test.fails(("'%s' is not a word of a grammar"):format(word), loading(('local x = %s'):format(word)))
  end
  test.fails("dump", loading 'local x = string.dump(error)')
  test.fails('compiled Lua is not read', loading(string.dump(function() end)))
  -- Changes that a file makes to its tables of functions stay in the file.
  with_file("string.rep = nil; math.huge = 1; table.concat = nil; rule 'S -> \"a\"'", '.lua', function(path)
    pd.grammar.load(path)
    assert(string.rep and table.concat and math.huge == infinity)
  end)
  -- Only this file sees the assigned global.
  with_file("leaked = 1; rule 'S -> \"a\"'", '.lua', pd.grammar.load)
  test.equal(rawget(_G, 'leaked'), nil)
end)

test('broken grammar files are errors with file and line', function()
  test.fails('%.lua:2: .*expected', loading '\nrule(')
  test.fails('%.lua:2: rule needs a text, got number', loading '\nrule(1)')
  test.fails('%.lua:1: the weight of a rule must be a number', loading "rule('S ->', 'x')")
  test.fails('%.lua:1: name is given twice', loading "name 'a' name 'b'")
  test.fails('%.lua:1: boom', loading "error 'boom'")
  test.fails('error%(table%)', loading 'error {}')
  test.fails('%.lua:2: nonterminal T has no rules', loading "rule 'S -> \"a\"'\nrule 'S -> T'")
  test.fails('%.lua:2: .*one alternative without a weight', loading "\nrule(\"S -> 'a' | 'b'\", 1)")
  test.fails('%.lua:1: the weight of a rule of S', loading "rule(\"S -> 'a'\", -1)")
  test.fails('%.lua:1: the weights of nonterminal S must have a positive finite sum, got 0',
    loading "rule(\"S -> 'a'\", 0)")
  test.fails('needs at least one rule', loading "start 'S'")
  test.fails('%.lua:3: the file is not UTF%-8', loading "rule \"S -> 'a'\"\n\n-- \255")
  test.fails("default of option 'x' must be", loading "option('x', {}, 'doc')")
  with_file("S -> 'a'\nS -> 'b", '.txt', function(path)
    test.fails('%.txt:2: the terminal .* has no closing quote', function() pd.grammar.load(path) end)
    test.fails("unknown option 'x'", function() pd.grammar.load(path, { x = 1 }) end)
  end)
end)

test('wrong calls say what was expected', function()
  local function fails(pattern, f, ...)
    local arguments = { ... }
    return test.fails(pattern, function() f(unpack(arguments)) end)
  end
  local load = pd.grammar.load
  fails("no grammar 'dick', did you mean 'dyck'?", load, 'dick')
  fails("unknown option 'bracket_type', did you mean 'bracket_types'?", load, 'dyck', { bracket_type = 1 })
  fails('must be at least 1, got 0', load, 'dyck', { bracket_types = 0 })
  fails('must be an integer', load, 'dyck', { bracket_types = 1.5 })
  fails("did you mean 'paper'?", load, 'dyck', { mode = 'papre' })
  fails('cannot read the grammar file', load, '/nowhere/at/all.lua')
  fails('got nothing', pd.grammar.parse)
  local grammar = load 'marked_reversal'
  fails("symbol 'x' is not in the alphabet", grammar.log_probability, grammar, '0 x')
  fails("symbol '0#0' is not in the alphabet", grammar.log_probability, grammar, '0#0')
  fails('UTF%-8', grammar.log_probability, grammar, '\255')
  fails('at least 0', grammar.log_length_probability, grammar, -1)
  fails('expected a list of 2, got one of 1', grammar.sampler, grammar, { lengths = { 4 } })
  fails('no strings of length 4;', grammar.sampler, grammar, { lengths = { 4, 4 } })
  local sampler = grammar:sampler { lengths = { 3, 9 } }
  fails('count must be at least 1', sampler.dataset, sampler, 0)
  fails('cannot draw', sampler.lower_bound, sampler, { '0 0' })
  fails('the dataset and the sampler have different symbols', sampler.lower_bound, sampler,
    load 'dyck':sampler { lengths = { 2, 4 } }:dataset(2))
  fails('at least one string', pd.task.dataset, { alphabet = { 'a' }, strings = {} })
  fails("symbol 'b'", pd.task.dataset, { alphabet = { 'a' }, strings = { 'b' } })
  fails('cannot read', pd.task.load_dataset, '/nowhere/at/all')
end)

test('a list of rules makes a grammar', function()
  local grammar = pd.grammar.build { name = 'built', rules = { { text = "S -> 'a' S", weight = 1 },
    { text = "S -> 'b'", weight = 3 } } }
  test.near(grammar:log_probability 'a b', math.log(0.25 * 0.75), 1e-13)
  test.fails('with a list of rules', function() pd.grammar.build { name = 'x' } end)
end)

test('a wrong declaration of unambiguity is found', function()
  local path = os.tmpname()
  local file = assert(io.open(path, 'w'))
  file:write "#% name double\n#% unambiguous\nS -> S S [.4] | 'a' [.6]\n"
  file:close()
  os.rename(path, path .. '.txt')
  test.fails("double: unambiguous is declared, but 'a a a' has more than one derivation",
    pd.grammar.load, path .. '.txt')
  os.remove(path .. '.txt')
  local rules = { { text = "S -> 'a' S 'a'", weight = 0.4 }, { text = "S -> 'b'", weight = 0.3 },
    { text = "S -> 'a' 'b' 'a'", weight = 0.3 } }
  test.fails("its probability is 0.42, and that of its best derivation 0.3",
    pd.grammar.build, { rules = rules, unambiguous = true })
  assert(pd.grammar.build { rules = rules }:unambiguous() == false)
  for _, name in ipairs(pd.grammar.list()) do pd.grammar.load(name) end
end)

test.finish()
