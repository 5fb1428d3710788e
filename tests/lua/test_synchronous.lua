-- Synchronous grammars and pairs drawn from them, from Lua: the grammars of the transduction tasks compared with their
-- definitions, files, texts and tables of rules, and errors.
local pd = require 'pushdown'
local test = require 'pushdown.test'
local files = require 'pushdown.files'

local top = test.folder()

local function words_of(text) return pd.tables.matches(text, '%S+') end

-- The grammar of clauses in another form: a recursive descent over the source that writes the target.
local function translate_clause(source)
  local words, at = words_of(source), 1
  local function class() return (words[at] or 'end'):match '^%a+' end
  local function other(word) return (word:gsub('^(%a)i', '%1o'):gsub('^rpi$', 'rpo')) end
  local function take(expected)
    assert(class() == expected, 'expected ' .. expected .. ', got ' .. class())
    at = at + 1
    return other(words[at - 1])
  end
  -- For every bracketing of phrases and relative clauses, their words keep their order, including verbs.
  local subject, object, verb = {}, {}, nil
  local depth = 0  -- relative clauses whose verb is still to come
  local part = subject
  while at <= #words do
    local c = class()
    if c == 'vi' and depth == 0 then
      assert(verb == nil, 'one verb of the main clause')
      verb, part = take 'vi', object
    else
      if c == 'rpi' then depth = depth + 1 elseif c == 'vi' then depth = depth - 1 end
      part[#part + 1] = take(c)
    end
  end
  assert(verb and #subject > 0 and #object > 0 and depth == 0)
  for _, word in ipairs(object) do subject[#subject + 1] = word end
  subject[#subject + 1] = verb
  return table.concat(subject, ' ')
end

test('svo_to_sov moves the verb of the main clause behind its object', function()
  local grammar = pd.grammar.load 'svo_to_sov'
  test.equal(grammar:source_alphabet():size(), 100)
  test.equal(grammar:target_alphabet():size(), 100)
  test.near(grammar:termination_probability(), 1)
  for _, pair in ipairs(grammar:sample { lengths = { 3, 40 }, count = 60, seed = 5 }) do
    test.equal(translate_clause(pair.source), pair.target)
    local targets, complete = grammar:translations(pair.source, { limit = 5 })
    test.equal(table.concat(targets, '\n'), pair.target)
    test.equal(complete, true)
  end
  -- The paper's own example.
  local source = 'si1 vi28 oi5 oi7 si15 rpi si19 vi16 oi10 oi24'
  test.equal(translate_clause(source), 'so1 oo5 oo7 so15 rpo so19 vo16 oo10 oo24 vo28')
  test.equal(grammar:translations(source)[1], translate_clause(source))
  local word_by_word = source:gsub('(%a)i', '%1o'):gsub('rpi', 'rpo')
  test.equal(grammar:contains(source, word_by_word), false)
end)

test('gender_conjugation gives every noun its article, word by word', function()
  local grammar = pd.grammar.load 'gender_conjugation'
  test.near(grammar:termination_probability(), 0.4, 1e-9)
  local definite = { m = 'der', f = 'die', n = 'das' }
  local indefinite = { m = 'ein', f = 'eine', n = 'ein' }
  for _, pair in ipairs(grammar:sample { lengths = { 8, 64 }, count = 60, seed = 2 }) do
    local words, target = words_of(pair.source), {}
    for i, word in ipairs(words) do
      local gender = (words[i + 1] or ''):sub(1, 1)
      target[i] = word == 'the' and definite[gender] or word == 'a' and indefinite[gender]
        or word == 'or' and 'oder' or word == 'and' and 'und' or (word:gsub('^(%a)e', '%1g'))
    end
    test.equal(table.concat(target, ' '), pair.target)
    local targets, complete = grammar:translations(pair.source, { limit = 5 })
    test.equal(#targets, 1)
    test.equal(complete, true)
  end
end)

test('sizes are options', function()
  test.equal(pd.grammar.load('svo_to_sov', { words = 2 }):source_alphabet():size(), 7)
  test.equal(pd.grammar.load('gender_conjugation', { words = 1 }):target_alphabet():size(), 11)
end)

local text = "#% name swap\nA -> S1 T2 | T2 S1\nS -> 'a' | 'x' [0.25]\nS -> 'a' S1 | S1 'y' [0.75]\nT -> 'b' |"

test('a grammar of text answers questions', function()
  local grammar = pd.grammar.synchronous(text)
  test.equal(tostring(grammar),
    'SynchronousGrammar swap: 4 rules, 3 nonterminals, 2 source symbols, 2 target symbols')
  test.equal(grammar:start(), 'A')
  test.equal(table.concat(grammar:nonterminals(), ' '), 'A S T')
  test.equal(grammar:rules()[1].text, 'A -> S1 T2 | T2 S1')
  test.equal(grammar:rules()[1].target[1].symbol, 'T')
  test.equal(grammar:rules()[1].target[1].index, 2)
  test.equal(grammar:rules()[3].weight, 0.75)
  test.near(grammar:log_probability('a a b', 'x y'), math.log(0.75 * 0.25))
  test.equal(grammar:log_probability({ 'a', 'b' }, { 'y' }), -math.huge)
  test.equal(grammar:contains('a a b', { 'x', 'y' }), true)
  test.near(grammar:source_grammar():log_probability 'a a b', math.log(0.75 * 0.25))
  test.near(grammar:target_grammar():log_probability 'x y', math.log(0.75 * 0.25))
  test.equal(#grammar:translations 'b', 0)
  test.equal(#grammar:warnings(), 0)
  test.equal(pd.grammar.parse(grammar:text()):text(), grammar:text())
  test.equal(grammar:sample { length = 4, seed = 1 }.target, 'x y y')
  local one = grammar:sample { lengths = { 2, 9 }, target_lengths = { 5, 5 }, seed = 1 }
  test.equal(one.target, 'x y y y y')
  local again = grammar:sample { lengths = { 2, 30 }, count = 5, seed = 3, mode = 'grammar' }
  for i, pair in ipairs(grammar:sample { lengths = { 2, 30 }, count = 5, seed = 3, mode = 'grammar' }) do
    test.equal(pair.source, again[i].source)
  end
end)

test('rules may come as a table', function()
  local grammar = pd.grammar.synchronous { name = 'own', start = 'A', source_symbols = { 'b', 'a' },
    rules = { { text = "T -> 'b' | 'y'" }, { text = "A -> 'a' T1 | T1", weight = 1 }, "A -> T1 | T1 'y' [2]" } }
  test.equal(grammar:start(), 'A')
  test.equal(table.concat(grammar:source_alphabet():symbols(), ' '), 'b a')
  test.near(grammar:log_probability('b', 'y y'), math.log(2 / 3))
  test.fails('is given both in the rule and beside it',
    pd.grammar.synchronous, { rules = { { text = "A -> 'a' | 'x' [1]", weight = 2 } } })
  test.fails('at least one rule', function() pd.grammar.synchronous { rules = {} } end)
end)

test('files are read by their kind', function()
  files.write(top .. '/one.scfg', text)
  files.write(top .. '/two.txt', '#% synchronous\n' .. text)
  files.write(top .. '/three.lua', [[
doc 'Swaps.'
local n = option('n', 1, 'words')
synchronous()
target_symbols { 'y', 'x' }
rule 'A -> S1 T2 | T2 S1'
for _ = 1, n do rule "S -> 'a' | 'x'" end
rule "T -> 'b' | 'y'"
]])
  test.equal(pd.grammar.load(top .. '/one.scfg'):text(), pd.grammar.load(top .. '/two.txt'):text())
  local grammar = pd.grammar.load(top .. '/three.lua', { n = 2 })
  test.equal(grammar:name(), 'three')
  test.equal(#grammar:rules(), 4)
  test.equal(grammar:target_alphabet():symbols()[1], 'y')
  local described = pd.grammar.describe(top .. '/three.lua')
  assert(described:find('^three: Swaps%.\n  n +number, default 1: words$'), described)
end)

test('errors in a file are reported with their line', function()
  local function file(content)
    files.write(top .. '/bad.lua', content)
    return function() pd.grammar.load(top .. '/bad.lua') end
  end
  test.fails('bad%.lua:2: in A %-> S1 | S1 S2: S2 of the target side has no nonterminal of index 2 on the source side',
    file "synchronous()\nrule 'A -> S1 | S1 S2'\nrule \"S -> 'a' | 'b'\"")
  test.fails('bad%.lua:3: in S %-> a | b: nonterminal a has no rules; write terminals in quotes',
    file "synchronous()\nrule 'A -> S1 | S1'\nrule 'S -> a | b'")
  test.fails('bad%.lua:2: expected | and the target side',
    file "synchronous()\nrule \"A -> 'a'\"")
  test.fails("a synchronous grammar has no 'symbols'", file "synchronous()\nsymbols { 'a' }\nrule \"A -> 'a' | 'b'\"")
  test.fails("a synchronous grammar has no 'unambiguous'", file "synchronous()\nunambiguous()\nrule \"A -> 'a' | 'b'\"")
  test.fails("'transition' belongs to a pushdown automaton", file "synchronous()\ntransition 'x'")
  test.fails("did you mean 'synchronous'", file "synchronus()")
  test.fails('S1 has no rules', file "rule 'A -> S1 | S1'")
  test.fails('f%.scfg', function() pd.grammar.load(top .. '/f.scfg') end)
  test.fails("'context_free' or 'synchronous'", function() pd.grammar.list 'regular' end)
  test.fails('a Grammar', function() pd.pda.from_grammar(pd.grammar.synchronous(text)) end)
end)

test('invalid questions are refused', function()
  local grammar = pd.grammar.synchronous(text)
  test.fails("'x' is not in the alphabet", function() grammar:contains('a x', 'x') end)
  test.fails("'b' is not in the alphabet", function() grammar:log_probability('a b', 'b') end)
  test.fails('expected length', function() grammar:sample {} end)
  test.fails('give only one of them', function() grammar:sample { length = 3, lengths = { 3, 4 } } end)
  test.fails('there are no strings of length 1;', function() grammar:sample { length = 1 } end)
  test.fails('had a target of length 7 to 8', grammar.sample, grammar, { length = 3, target_lengths = { 7, 8 } })
end)

test('a grammar is a source of pairs', function()
  local grammar = pd.grammar.load('svo_to_sov', { words = 3 })
  local pairs_of = pd.task.transduction { kind = 'grammar', grammar = grammar, lengths = { 8, 64 } }
  test.equal(tostring(pairs_of), 'Pairs: svo_to_sov, 10 source symbols, 10 target symbols')
  local drawn, again = pairs_of:draw(20, { seed = 1 }), pairs_of:draw(20, { seed = 1 })
  for i, pair in ipairs(drawn) do
    test.equal(pair.target, translate_clause(pair.source))
    test.equal(again[i].source, pair.source)
  end
  test.equal(pairs_of:source_alphabet():size(), 10)
  test.fails('a SynchronousGrammar', pd.task.transduction, { kind = 'grammar', grammar = pd.grammar.load 'dyck' })
end)

test('the kinds of pairs, and lists of them', function()
  test.equal(table.concat(pd.task.transductions(), ' ', 1, 4), 'copy reversal bigram_flipping grammar')
  for _, kind in ipairs { 'copy', 'reversal', 'bigram_flipping' } do
    local source = pd.task.transduction { kind = kind, symbols = 5, lengths = { 4, 9 } }
    for _, pair in ipairs(source:draw(30, { seed = 4 })) do
      local words, target = words_of(pair.source), {}
      for i, word in ipairs(words) do
        local to = kind == 'copy' and i or kind == 'reversal' and #words + 1 - i or i % 2 == 1 and i + 1 or i - 1
        target[to] = word
      end
      assert(#words >= 4 and #words <= 9)
      test.equal(table.concat(target, ' '), pair.target)
    end
  end
  files.write(top .. '/pairs.txt', 'a b ||| x\nb ||| y x\n')
  local from_file = pd.task.pairs(top .. '/pairs.txt')
  local from_list = pd.task.pairs { { 'a b', 'x' }, { { 'b' }, 'y x' } }
  for i, pair in ipairs(from_file:draw(10, { seed = 1 })) do
    test.equal(pair.target, pair.source == 'b' and 'y x' or 'x')
    test.equal(from_list:draw(10, { seed = 1 })[i].source, pair.source)
  end
  files.write(top .. '/pairs.txt', 'a b ||| x\nb y x\n')
  test.fails('pairs%.txt:2: expected', function() pd.task.pairs(top .. '/pairs.txt') end)
  test.fails('nowhere%.txt', function() pd.task.pairs(top .. '/nowhere.txt') end)
  test.fails('pair 2', function() pd.task.pairs { { 'a', 'b' }, { 'c' } } end)
end)

test.finish()
