-- Strings in order, best parses, useless symbols, shares of probability, grammars of treebanks, and inside-outside,
-- from Lua.
local pd = require 'pushdown'
local test = require 'pushdown.test'
local files = require 'pushdown.files'

-- All derivations of a string by trying all rules and splits: a list of {probability, uses of each rule}. For grammars
-- without empty and unary rules.
local function derivations(grammar, string)
  local words, by_left = {}, {}
  for word in string:gmatch '%S+' do words[#words + 1] = word end
  for place, rule in ipairs(grammar:rules()) do
    rule.place = place
    by_left[rule.left] = by_left[rule.left] or {}
    table.insert(by_left[rule.left], rule)
  end
  local of_symbol
  -- The derivations of words first .. last from the symbols of a right side from `k` on.
  local function of_side(side, k, first, last)
    if k > #side then return first > last and { { probability = 1, uses = {} } } or {} end
    local list = {}
    for middle = first, last - (#side - k) do
      local heads = of_symbol(side[k], first, middle)
      local tails = #heads > 0 and of_side(side, k + 1, middle + 1, last) or {}
      for _, head in ipairs(heads) do
        for _, tail in ipairs(tails) do
          local uses = {}
          for _, part in ipairs { head, tail } do
            for rule, count in pairs(part.uses) do uses[rule] = (uses[rule] or 0) + count end
          end
          list[#list + 1] = { probability = head.probability * tail.probability, uses = uses }
        end
      end
    end
    return list
  end
  function of_symbol(symbol, first, last)
    if symbol.terminal then
      return first == last and words[first] == symbol.symbol and { { probability = 1, uses = {} } } or {}
    end
    local list = {}
    for _, rule in ipairs(by_left[symbol.symbol]) do
      for _, d in ipairs(of_side(rule.right, 1, first, last)) do
        d.uses[rule.place] = (d.uses[rule.place] or 0) + 1
        list[#list + 1] = { probability = d.probability * rule.weight, uses = d.uses }
      end
    end
    return list
  end
  return of_symbol({ symbol = grammar:start() }, 1, #words)
end

local english = pd.grammar.parse [[
  S -> NP VP
  VP -> V NP [0.7] | VP PP
  NP -> 'I' [0.2] | 'stars' [0.3] | 'telescopes' [0.1] | NP PP
  PP -> P NP
  V -> 'saw'
  P -> 'with'
]]

test('alternatives without a weight share the rest of the probability', function()
  local function weights(text)
    local list = {}
    for _, rule in ipairs(pd.grammar.parse(text):rules()) do list[#list + 1] = rule.weight end
    return table.concat(list, ' ')
  end
  test.equal(weights "S -> 'a' S [0.4] | 'b'", '0.4 0.6')
  test.equal(weights "S -> 'a' [0.5] | 'b' | 'c'", '0.5 0.25 0.25')
  test.fails('text:1: an alternative of S has no weight, and the weights of the others sum to 1',
    weights, "S -> 'a' [0.5] | 'b' [0.5] | 'c'")
  test.fails('have counts, of which no rest is known', function() weights "S -> 'a' [3] | 'b'" end)
  test.equal(#english:warnings(), 0)
end)

test('all strings up to a length, with their probabilities', function()
  local g = pd.grammar.parse "S -> 'b' S 'b' [0.25] | 'a' S 'a' [0.25] | 'c' [0.25] | S [0.25]"
  local strings, probabilities = g:strings { up_to = 5 }
  test.equal(table.concat(strings, ', '), 'c, b c b, a c a, b b c b b, b a c a b, a b c b a, a a c a a')
  for i, w in ipairs(strings) do test.near(probabilities[i], math.exp(g:log_probability(w)), 1e-15) end
  test.equal(#pd.grammar.load('dyck'):strings { up_to = 1 }, 0)
  test.equal(pd.grammar.parse "S -> 'a' | ":strings { up_to = 0 }[1], '')
  test.fails('more than 10 strings of up to 20 symbols', function() g:strings { up_to = 20, limit = 10 } end)
end)

test('the best parses are those of an enumeration', function()
  for _, w in ipairs { 'I saw stars with telescopes', 'I saw stars with telescopes with I with stars' } do
    local all = derivations(english, w)
    table.sort(all, function(a, b) return a.probability > b.probability end)
    local parses = english:parses(w, { best = 1000 })
    test.equal(#parses, #all)
    test.equal(#parses, english:parse_count(w))
    for i, parse in ipairs(parses) do test.near(parse:log_probability(), math.log(all[i].probability), 1e-12) end
    test.near(parses[1]:log_probability(), english:parse(w):log_probability(), 1e-12)
    test.equal(#english:parses(w, { best = 2 }), 2)
  end
  test.equal(#english:parses 'saw I', 0)
  test.fails("'moon'", function() english:parses 'I saw moon' end)
  -- A cycle of unary rules has infinitely many derivations.
  local cycle = pd.grammar.parse "S -> S [0.5] | 'a'"
  for i, parse in ipairs(cycle:parses('a', { best = 20 })) do
    test.near(parse:log_probability(), i * math.log(0.5), 1e-12)
  end
end)

test('useless symbols are reported at once, or removed', function()
  local text = "S -> 'a' S | 'b' | T\nT -> T 'c'\nU -> 'd' | V\n"
  test.fails("text:3: nonterminal V has no rules", function() pd.grammar.parse(text) end)
  test.fails("nonterminals 'V' %(text:3%), 'W' %(text:4%) have no rules", pd.grammar.parse, text .. 'U -> W')
  local g = pd.grammar.parse(text, { prune = true })
  test.equal(table.concat(g:nonterminals(), ' '), 'S')
  test.equal(g:text(), "S -> 'a' S [0.5] | 'b' [0.5]\n")
  local base = os.tmpname()
  files.write(base .. '.pcfg', text)
  test.equal(pd.grammar.load(base .. '.pcfg', { prune = true }):text(), g:text())
  files.write(base .. '.lua',
    "name 'mine' rule \"S -> 'a' S | 'b' | T\"\nrule \"T -> T 'c'\"\nsymbols { 'c', 'b' }\nprune()")
  test.equal(pd.grammar.load(base .. '.lua'):text(), "#% name mine\n#% symbols 'b' 'a'\n" .. g:text())
  for _, ending in ipairs { '', '.pcfg', '.lua' } do os.remove(base .. ending) end
  test.equal(#pd.grammar.build { rules = { { text = "S -> 'a' | T" } }, prune = true }:rules(), 1)
  test.equal(#pd.grammar.from_rules('S --> a\nT --> T', { prune = true }):rules(), 1)
  test.fails('prune is not supported for synchronous grammars',
    pd.grammar.parse, "#% synchronous\nS -> 'a' | 'b'", { prune = true })
end)

test('the grammar of a treebank has the relative frequencies of its rules', function()
  local trees = pd.tree.parse [[
    (S (NP (DT the) (NN dog)) (VP (VBZ barks)) (. .))
    (S (NP (NN dog)) (VP (VBZ barks)) (. ?))
    (S (NP (DT the) (NN .)) (VP (VBZ sees) (NP (NN dog))) (. .))
  ]]
  local g = pd.grammar.from_trees(trees, { name = 'tiny' })
  test.equal(g:name(), 'tiny')
  test.equal(g:start(), 'S')
  local by_text = {}
  for _, rule in ipairs(g:rules()) do by_text[rule.text] = rule.weight end
  test.near(by_text["NP -> DT NN"], 2 / 4, 1e-15)
  test.near(by_text["NP -> NN"], 2 / 4, 1e-15)
  test.near(by_text["NN -> '.'"], 1 / 4, 1e-15)
  test.near(by_text[". -> '.'"], 2 / 3, 1e-15)
  test.near(g:log_probability 'dog barks ?', math.log(1 / 2 * 3 / 4 * 2 / 3 * 2 / 3 * 1 / 3), 1e-13)
  test.equal(pd.grammar.parse(g:text()):text(), g:text())
  -- Other tops have a start symbol of their own.
  local mixed = pd.grammar.from_trees(pd.tree.parse '(S (A a)) (ROOT (A b) (S (A a)))')
  test.equal(mixed:start(), "ROOT'")
  test.near(mixed:log_probability 'a', math.log(1 / 2 * 2 / 3), 1e-13)
  test.equal(pd.grammar.from_trees(trees, { start = 'TOP' }):start(), 'TOP')
  test.fails('tree 1: the start symbol NP is a label of the trees', pd.grammar.from_trees, trees, { start = 'NP' })
  test.fails('expected at least one tree', function() pd.grammar.from_trees {} end)
  test.fails('tree 1: a phrase has no label',
    pd.grammar.from_trees, pd.tree.parse('((The cat) sat)', { labels = false }))
end)

-- One step of expectation maximization over the enumerated derivations. Returns the weights and the log-likelihood.
local function reestimated(grammar, sentences)
  local counts, totals, likelihood = {}, {}, 0
  for _, sentence in ipairs(sentences) do
    local all, sum = derivations(grammar, sentence), 0
    for _, d in ipairs(all) do sum = sum + d.probability end
    likelihood = likelihood + math.log(sum)
    for _, d in ipairs(all) do
      for rule, count in pairs(d.uses) do counts[rule] = (counts[rule] or 0) + count * d.probability / sum end
    end
  end
  local rules, weights = grammar:rules(), {}
  for place, rule in ipairs(rules) do totals[rule.left] = (totals[rule.left] or 0) + (counts[place] or 0) end
  for place, rule in ipairs(rules) do
    weights[place] = totals[rule.left] > 0 and (counts[place] or 0) / totals[rule.left] or rule.weight
  end
  return weights, likelihood
end

test('inside-outside is expectation maximization over all derivations', function()
  local sentences = { 'I saw stars with telescopes', 'I saw I', 'stars saw stars with stars with I', 'I saw I' }
  local grammar = english
  for _ = 1, 4 do
    local weights, likelihood = reestimated(grammar, sentences)
    local next_grammar, likelihoods = grammar:fit(sentences, { iterations = 1, print = false })
    test.near(likelihoods[1], likelihood, 1e-9)
    for place, rule in ipairs(next_grammar:rules()) do test.near(rule.weight, weights[place], 1e-9) end
    grammar = next_grammar
  end
  local fitted, likelihoods = english:fit(sentences, { iterations = 4, print = false })
  test.equal(fitted:text(), grammar:text())
  test.equal(#likelihoods, 5)
end)

test('the likelihood never decreases, and text and files keep the grammar', function()
  local source = pd.grammar.parse [[
    S -> S S [0.2] | A B [0.3] | 'a' [0.4] | [0.1]
    A -> S [0.3] | 'a' [0.7]
    B -> 'b' A | 'b'
  ]]
  local sentences = source:sample { count = 200, seed = 3 }
  local start = pd.grammar.parse "S -> S S | A B | 'a' |\nA -> S | 'a'\nB -> 'b' A | 'b'"
  local lines, print_before = {}, print
  _G.print = function(line) lines[#lines + 1] = line end
  local ok, fitted, likelihoods = pcall(start.fit, start, sentences, { iterations = 25 })
  _G.print = print_before
  assert(ok, fitted)
  test.equal(#likelihoods, 26)
  test.equal(#lines, 26)
  test.equal(lines[1], ('iteration 0  log-likelihood %.6f'):format(likelihoods[1]))
  for i = 2, #likelihoods do assert(likelihoods[i] >= likelihoods[i - 1] - 1e-9 * math.abs(likelihoods[i])) end
  -- No grammar of these rules explains the sentences much better than their source.
  local log_source = 0
  for _, w in ipairs(sentences) do log_source = log_source + source:log_probability(w) end
  assert(likelihoods[26] > log_source - 1)
  test.near(fitted:termination_probability(), 1, 1e-6)
  local path = os.tmpname() .. '.pcfg'
  fitted:save(path)
  test.equal(pd.grammar.load(path):text(), fitted:text())
  os.remove(path)
  -- A Dataset is a list of sentences, too.
  local data = pd.task.dataset { alphabet = start:alphabet(), strings = { { 'a' }, { 'a', 'b' } } }
  local same = start:fit({ 'a', 'a b' }, { iterations = 2, print = false })
  test.equal(start:fit(data, { iterations = 2, print = false }):text(), same:text())
  -- Stops when nothing is gained.
  local _, few = pd.grammar.parse "S -> 'a' | 'b'":fit({ 'a', 'b', 'b' }, { iterations = 50, print = false })
  test.equal(#few, 3)
  test.near(few[2], math.log(1 / 3) + 2 * math.log(2 / 3), 1e-13)
end)

test('sentences that cannot be fitted are errors that name them', function()
  local function fit(sentences, options)
    return function() english:fit(sentences, options or { print = false }) end
  end
  test.fails("sentence 2, 'saw I', is not in the language", fit { 'I saw I', 'saw I' })
  test.fails("sentence 2: .*'moon'", fit { 'I saw I', 'I saw moon' })
  test.fails('expected at least one sentence', fit {})
  local other = pd.task.dataset { alphabet = { 'a' }, strings = { { 'a' } } }
  test.fails('the dataset and the grammar have different symbols', fit(other))
end)

test('symbols outside the alphabet are errors, rejected, or read as another symbol', function()
  local g = pd.grammar.parse "S -> 'a' S 'b' [0.25] | 'a' 'b' [0.5] | '<unk>' [0.25]"
  local odd, reject, unk = 'a x b', { unknown = 'reject' }, { unknown = '<unk>' }
  local answers = { contains = { false, true }, viable_prefix = { false, true }, parse_count = { 0, 1 },
    log_parse_count = { -math.huge, 0 }, log_probability = { -math.huge, math.log(1 / 16) } }
  for method, expected in pairs(answers) do
    test.fails("symbol 'x' is not in the alphabet", function() g[method](g, odd) end)
    test.equal(g[method](g, odd, reject), expected[1], method)
    test.near(g[method](g, odd, unk) == true and 1 or g[method](g, odd, unk), expected[2] == true and 1 or expected[2],
      1e-12)
    test.equal(g[method](g, 'a b', reject), g[method](g, 'a b'), method)
    test.fails("unknown must be 'reject' or a symbol of the alphabet, got 'y'", g[method], g, 'a b', { unknown = 'y' })
  end
  test.equal(g:parse(odd, reject), nil)
  test.equal(tostring(g:parse({ 'a', 'x', 'b' }, unk)), tostring(g:parse 'a <unk> b'))
  test.equal(#g:parses(odd, reject), 0)
  test.equal(#g:parses(odd, { unknown = '<unk>', best = 3 }), 1)
  local values = g:log_probabilities { strings = { odd, 'a b' }, unknown = 'reject' }
  test.equal(values[1], -math.huge)
  test.near(values[2], math.log(0.5), 1e-12)
  local p = pd.pda.load 'dyck_pda'
  test.equal(p:accepts('( x )', reject), false)
  test.equal(p:log_weight('( x )', reject), -math.huge)
  test.equal(p:accepts('( )', reject), p:accepts '( )')
  local s = g:sampler { lengths = { 1, 4 } }
  test.equal(s:log_probability(odd, reject), -math.huge)
  test.equal(s:log_probability('x', { unknown = '<unk>', end_symbol = false }),
    s:log_probability('<unk>', { end_symbol = false }))
end)

-- The number of first symbols of a string with which some string of the list begins.
local function longest_prefix(string, strings)
  local longest, words = 0, pd.tables.matches(string, '%S+')
  for _, other in ipairs(strings) do
    local shared, others = 0, pd.tables.matches(other, '%S+')
    while words[shared + 1] and words[shared + 1] == others[shared + 1] do shared = shared + 1 end
    longest = math.max(longest, shared)
  end
  return longest
end

test('the longest prefix that begins a string, against an enumeration', function()
  local folder = test.folder()
  for _, name in ipairs { 'dyck', 'marked_reversal', 'unmarked_reversal' } do
    local g = pd.grammar.load(name)
    local symbols, strings, all = g:alphabet():symbols(), {}, g:strings { up_to = 9 }
    local draws = pd.tensor.rand({ 200 }, { seed = 7, dtype = 'float64' }):to_table()
    for i = 1, 40 do
      local word = {}
      for t = 1, i % 5 do word[t] = symbols[1 + math.floor(draws[5 * i - t] * #symbols)] end
      strings[i] = table.concat(word, ' ')
    end
    local is_in = {}
    for _, string in ipairs(all) do is_in[string] = true end
    local lengths, inside = g:viable_lengths { strings = strings }
    for i, string in ipairs(strings) do
      test.equal(inside[i], is_in[string] or false, string)
      test.equal(lengths[i], longest_prefix(string, all), string)
    end
    files.write(folder .. '/strings.txt', table.concat(strings, '\n'))
    local found, listed = g:coverage(folder .. '/strings.txt'), g:coverage(strings)
    test.equal(listed.count, 40)
    test.equal(found.count, 32)  -- empty lines are no sentences of a text
    for i, row in ipairs(listed.rows) do
      test.equal(row[2], inside[i])
      test.equal(row[3], not inside[i] and lengths[i] + 1 or nil)
      test.near(math.exp(row[5]), math.exp(g:log_probability(strings[i])), 1e-12)
    end
  end
  local g = pd.grammar.parse "S -> 'the' N V\nN -> 'dog' | 'dogs'\nV -> 'barks' | 'bark'"
  local found = g:coverage({ 'the dog barks', 'the cat barks', 'the dog', 'dog barks', 'the dog barks bark' })
  local rows = {}
  for i, row in ipairs(found.rows) do rows[i] = ('%s %s %s'):format(tostring(row[2]), tostring(row[3]), row[4]) end
  test.equal(table.concat(rows, '|'), 'true nil |false 2 cat|false 3 <end>|false 1 dog|false 4 bark')
  test.equal(found.note, '1 of 5 sentences in the language; 1 of 14 words unknown; words between blanks')
  test.equal(('%d %d'):format(found.covered, found.count), '1 5')
  found:save(folder .. '/coverage')
  test.equal(select(2, pd.csv.read(folder .. '/coverage.csv'))[2].symbol, 'cat')
  test.equal(g:coverage({ 'The dog barks' }, { lower = true }).covered, 1)
  test.equal(g:coverage({ 'the cat barks' }, { unknown = 'dog' }).covered, 1)
  test.equal(g:coverage(pd.task.dataset { alphabet = { 'the', 'x' }, strings = { 'the x' } }).rows[1][3], 2)
  test.fails('expected a file, a dataset or a list of strings', function() g:coverage(7) end)
end)

test('derivations are drawn, with empty right sides and names of every kind', function()
  local d = pd.grammar.parse "S -> '(' S ')' S [0.4] | ε":parse '( )'
  test.equal(d:brackets(), tostring(d))
  test.equal(tostring(d:tree()), '(S -LRB- (S ε) -RRB- (S ε))')
  assert(d:svg():find('>ε<', 1, true) and d:svg():find('>(<', 1, true))
  assert(d:latex():find([=[
  [{S}
    [{(}]
    [{S}
      [{$\varepsilon$}]]
    [{)}]
    [{S}
      [{$\varepsilon$}]]]
]=], 1, true), d:latex())
  -- The grammar of an automaton has brackets in its nonterminals.
  local g = pd.pda.load('dyck_pda'):grammar()
  local name = g:start()
  assert(g:nonterminals()[2]:find('(', 1, true), g:nonterminals()[2])
  assert(g:parse('( )'):svg():find('&lt;' .. name:sub(2, 3), 1, true))
  assert(g:parse('( )'):brackets():find(name, 1, true))
  test.equal(#g:parse('( ( ) )'):tree():words(), 5)
end)

test('a name of no symbol is the empty right side, in texts, files and tables', function()
  local path = os.tmpname() .. '.lua'
  for _, name in ipairs { 'ε', 'λ', 'epsilon' } do
    local text = ("S -> 'a' S | %s"):format(name)
    test.equal(pd.grammar.parse(text):text(), "S -> 'a' S [0.5] | [0.5]\n")
    test.equal(pd.grammar.parse(text, { prune = true }):text(), "S -> 'a' S [0.5] | [0.5]\n")
    files.write(path, ('rule("S -> \'a\' S", 1)\nrule("S -> %s", 3)\n'):format(name))
    test.equal(#pd.grammar.load(path):rules()[2].right, 0)
  end
  os.remove(path)
  test.equal(pd.grammar.parse("S -> 'a' S | 'ε'"):contains 'a ε', true)
  test.equal(pd.grammar.synchronous("S -> 'a' S1 | S1\nS -> λ | ε"):text(),
    pd.grammar.synchronous("S -> 'a' S1 | S1\nS -> |"):text())
  test.fails("text:1: ε means the empty right side, which has no other symbols", pd.grammar.parse, "S -> 'a' ε | 'b'")
end)

test.finish()
