-- pd.pda, runs of automata and of models, Greibach normal form and the hardest language, from Lua.
local pd = require 'pushdown'
local test = require 'pushdown.test'
local files = require 'pushdown.files'

-- With the collector running all the time, a few strings of each kind are enough.
local reduced = os.getenv('PUSHDOWN_GC_STRESS') == '1'

-- All strings over the symbols of at most this length, as texts.
local function all_strings(symbols, longest)
  local list = {}
  test.each_string(symbols, longest, function(string) list[#list + 1] = table.concat(string, ' ') end)
  return list
end

local function temporary(ending, text)
  local path = os.tmpname() .. ending
  if text then files.write(path, text) end
  return path
end

local reversal = pd.pda.load('unmarked_reversal_pda')

test('the shipped automata accept what the grammars derive', function()
  for name, options in pairs { unmarked_reversal = { symbols = 2 }, marked_reversal = { symbols = 2 },
    dyck = { bracket_types = 2 } } do
    local pda, grammar = pd.pda.load(name .. '_pda', options), pd.grammar.load(name, options)
    test.equal(pda:deterministic(), name ~= 'unmarked_reversal')
    local members = 0
    for _, w in ipairs(all_strings(grammar:alphabet():symbols(), reduced and 2 or 6)) do
      local member = grammar:log_probability(w) > -math.huge
      if member then members = members + 1 end
      if pda:accepts(w) ~= member then error(('%s: %q'):format(name, w)) end
    end
    assert(members > (reduced and 0 or 4), name)
  end
  test.equal(#pd.pda.load('dyck_pda', { bracket_types = 5 }):alphabet():symbols(), 10)
  test.equal(pd.pda.load('marked_reversal_pda', { symbols = 3 }):accepts('0 2 # 2 0'), true)
end)

test('lists and descriptions distinguish grammars and automata', function()
  local grammars, automata = ' ' .. table.concat(pd.grammar.list(), ' ') .. ' ', pd.pda.list()
  test.equal(table.concat(automata, ' '), 'dyck_pda marked_reversal_pda unmarked_reversal_pda')
  for _, name in ipairs(automata) do test.equal(grammars:find(' ' .. name .. ' ', 1, true), nil) end
  assert(pd.pda.describe('dyck_pda'):find('bracket_types'))
  test.fails("'marked_reversal' is a grammar, not a pushdown automaton; it is loaded by pd.grammar.load",
    function() pd.pda.load('marked_reversal') end)
  test.fails("'dyck_pda' is a pushdown automaton, not a grammar; it is loaded by pd.pda.load",
    function() pd.grammar.load('dyck_pda') end)
  test.fails("'dyck' is a grammar", function() pd.pda.describe('dyck') end)
  test.fails("did you mean 'dyck_pda'", function() pd.pda.load('dyk_pda') end)
  test.fails('a file is named with its ending, .lua or .pda', function() pd.pda.load('mine') end)
  test.fails("'an_bn' has several hints: 'an_bn/dead_states', ", function() pd.pda.load('an_bn') end)
  local mixed = temporary('.lua', "bottom '_'\nrule \"S -> 'a'\"\n")
  test.fails(":2: 'rule' belongs to a grammar, and this file describes a pushdown automaton", pd.pda.load, mixed)
  os.remove(mixed)
end)

test('text, tables and files make the same automaton', function()
  local text = reversal:text()
  test.equal(pd.pda.parse(text):text(), text)
  local path = temporary('.pda', text)
  test.equal(pd.pda.load(path):text(), text)
  test.fails('is a pushdown automaton, not a grammar', function() pd.grammar.load(path) end)
  os.remove(path)
  test.equal(pd.pda{ name = reversal:name(), bottom = '⊥', at_bottom = true,
    states = reversal:states(), symbols = { '0', '1' }, transitions = reversal:transitions() }:text(), text)
  test.equal(pd.pda{ name = reversal:name(), bottom = '⊥', start = 'q1', at_bottom = true,
    stack_symbols = { '⊥', '0', '1' }, transitions = {
      'q1, x --a--> q1, push a for all x for a in 0 1', 'q1, a --a--> q2, pop for a in 0 1',
      { text = 'q2, a --a--> q2, pop for a in 0 1', weight = 1 } } }:text(), text)
  local weighted = pd.pda{ bottom = '_', accepting = { q = 0.5, r = 2 }, transitions = {
    { state = 'q', top = '_', symbol = 'a', next = 'r', replace = '_', weight = 0.25 },
    { text = 'r, _ --a--> q, push _', weight = 3 } } }
  test.near(weighted:log_weight(''), math.log(0.5))
  test.near(weighted:log_weight('a'), math.log(0.25 * 2))
  test.near(weighted:log_weight('a a'), math.log(0.25 * 3 * 0.5))
  test.near(weighted:accepting().r, 2)
  test.equal(weighted:transitions()[1].text, 'q, _ --a/0.25--> r, replace _')
  test.equal(weighted:transitions()[2].push, '_')
end)

test('a trace is Figure 2 of the paper', function()
  local trace = reversal:trace('0 1 1 0')
  test.equal(trace:accepts(), true)
  test.equal(trace:log_weight(), 0)
  local nodes = {}
  for _, node in ipairs(trace:nodes()) do
    nodes[#nodes + 1] = ('%d,%s,%s%s'):format(node.time, node.state, node.top, node.accepted and '!' or '')
  end
  test.equal(table.concat(nodes, ' '), '0,q1,⊥ 1,q1,0 2,q1,1 3,q1,1 3,q2,0 4,q1,0 4,q2,⊥!')
  local edges = {}
  for _, edge in ipairs(trace:inner_weights()) do
    edges[#edges + 1] = ('%s-%d'):format(edge.from and edge.from.time or 'start', edge.time)
  end
  test.equal(table.concat(edges, ' '), 'start-0 0-1 1-2 2-3 0-3 3-4 start-4')
  test.near(trace:top_distribution(), { { 1, 0, 0 }, { 0, 1, 0 }, { 0, 0, 1 }, { 0, 0.5, 0.5 }, { 0.5, 0.5, 0 } })
  test.near(trace:forward_weights()[4]:exp(), { 0, 0, 1, 0, 1, 0 })
  local lines = tostring(trace)
  assert(lines:find('accepted with weight 1\ntime  read  weight  top ⊥', 1, true), lines)
  assert(lines:find('\n3     1     2       0      0.500  0.500  q1, 1 0.500; q2, 0 0.500\n', 1, true), lines)
  assert(tostring(reversal:trace('0 1')):find('no run accepts'))
end)

test('the stack of a network gives the readings of the automaton', function()
  local pda = pd.pda.parse([[
    %bottom _
    q, x --a/0.3--> q, push a for all x
    q, x --b/2--> r, replace b for all x
    r, x --a/0.7--> r, pop for all x
    r, x --b/0.2--> q, push _ for all x]])
  local w = 'a a b a b b a b a'
  local readings = pd.stack.simulate{ kind = 'nondeterministic', states = 2, symbols = 3,
    bottom = 'reexposed', weights = pda:transition_weights(w):unsqueeze(1) }
  test.near(pda:trace(w):top_distribution(), readings[1], 1e-12)
  readings = pd.stack.simulate{ kind = 'nondeterministic', states = 2, symbols = 3, reading = 'state_symbol',
    weights = pda:transition_weights(w):unsqueeze(1) }
  test.near(pda:trace(w, { bottom = 'original' }):distribution(), readings[1], 1e-12)
end)

test('runs describe themselves', function()
  local run = reversal:best_run('0 1 1 0')
  test.equal(tostring(run), table.concat({
    'Run of 4 steps, weight 1, 1 of the weight of all',
    'time  read  weight  action  state  stack',
    '0                           q1     ⊥',
    '1     0     1       push 0  q1     ⊥ 0',
    '2     1     1       push 1  q1     ⊥ 0 1',
    '3     1     1       pop     q2     ⊥ 0',
    '4     0     1       pop     q2     ⊥' }, '\n'))
  local step = run:steps()[2]
  test.equal(('%d %s %s %s %s %s %s'):format(step.time, step.symbol, step.state, step.top, step.action,
    step.pushed, step.next), '2 1 q1 0 push 1 q1')
  test.equal(table.concat(step.stack, ' '), '⊥ 0 1')
  test.equal(#run:stacks(), 5)
  test.equal(reversal:best_run('0 1'), nil)
  test.equal(#reversal:best_run('0 1', { accepted = false }):steps(), 2)
  -- The single runs sum to the total.
  local half = reversal:normalized()
  local runs, total = half:all_runs('0 0 0 0 0 0', { accepted = false }), 0
  for _, one in ipairs(runs) do total = total + one:share() end
  test.near(total, 1)
  -- Only pushes, or pops from the k-th symbol on: k = 2 would need more symbols than the stack has.
  test.equal(#runs, 4)
  test.near(half:log_weight('0 0 0 0'), runs[1] and math.log(0.5 * 0.5))
  test.fails('more than 5 moves', function() reversal:all_runs('0 0 0 0 0 0 0', { limit = 5 }) end)
end)

test('pictures are drawn, of long strings too', function()
  local path = temporary('.svg')
  for _, text in ipairs { '', '0 1 1 0', ('0 '):rep(reduced and 6 or 90) } do
    local svg = reversal:trace(text):svg(path)
    test.equal(files.read(path), svg)
    assert(svg:find('^<%?xml') and svg:find('</svg>\n$'))
    svg = reversal:best_run(text):svg(path)
    test.equal(files.read(path), svg)
    local _, cells = svg:gsub('<rect', '')
    assert(cells > #reversal:best_run(text):stacks())
  end
  os.remove(path)
  local svg = reversal:normalized():trace('0 0'):svg()
  assert(svg:find('>0/0.5<') and svg:find('>2, q2, ⊥<'), svg)
  assert(not reversal:trace('0 0'):svg():find('/1<'), 'weights of 1 are not written')
  local dot = reversal:trace('0 0'):dot()
  assert(dot:find('^digraph') and dot:find('peripheries=2'))
  if not reduced then
    test.fails('too large for a picture', function() reversal:trace(('0 '):rep(400)):svg() end)
  end
end)

test('a model shows its best run', function()
  local m = pd.model.language_model{ alphabet = { '0', '1', '#' }, seed = 4, dtype = 'float64',
    controller = { kind = 'lstm', hidden = 5 },
    stack = { kind = 'nondeterministic', states = 2, symbols = 2, bottom = 'reexposed' } }
  local weights = m:log_transition_weights('0 1 # 1')
  test.equal(table.concat(weights:size(), ' '), '4 4 10')
  test.near(weights:exp():sum(3), { { 1, 1, 1, 1 }, { 1, 1, 1, 1 }, { 1, 1, 1, 1 }, { 1, 1, 1, 1 } }, 1e-12)
  local trace, run = m:stack_automaton('0 1 # 1'), m:best_run('0 1 # 1')
  test.near(trace:top_distribution(), pd.stack.simulate{ kind = 'nondeterministic', states = 2, symbols = 2,
    bottom = 'reexposed', log_weights = weights:unsqueeze(1) }[1], 1e-12)
  local best = -math.huge
  for _, one in ipairs(trace:all_runs()) do best = math.max(best, one:log_weight()) end
  test.near(run:log_weight(), best, 1e-12)
  local sum = 0
  for _, step in ipairs(run:steps()) do sum = sum + step.log_weight end
  test.near(sum, best, 1e-12)
  assert(run:svg():find('>s0<'))
  test.equal(#m:best_run(''):steps(), 0)
  test.fails("'x' is not in the alphabet", function() m:best_run('x') end)
end)

test('the automaton and the Greibach normal form of a grammar have its weights', function()
  local grammar = pd.grammar.load 'padded_reversal'
  local pda, greibach, ends = pd.pda.from_grammar(grammar), grammar:greibach(), grammar:termination_probability()
  for length = 3, reduced and 5 or 13 do
    local w = grammar:sample { length = length, seed = length }
    test.near(pda:log_weight(w), grammar:log_probability(w), 1e-9)
    test.equal(#pda:best_run(w):steps(), length)
    test.near(greibach:log_probability(w) + math.log(ends), grammar:log_probability(w), 1e-9)
  end
  for _, rule in ipairs(greibach:rules()) do assert(#rule.right == 0 or rule.right[1].terminal, rule.text) end
end)

test('the shipped hardest language contains only the images of members', function()
  local hardest = pd.grammar.load('hardest_cfl')
  local texts = { "S -> 'a' S B | 'a' B\nB -> 'b'", "S -> '0' S '0' | '1' S '1' | '#'",
    "S -> S S | 'a' | 'b' 'b'" }
  for _, text in ipairs(texts) do
    local grammar = pd.grammar.parse(text)
    local members, others = 0, 0
    -- It has no strings whose brackets are all decoys: h(w) for a single symbol w is such a string.
    for _, w in ipairs(all_strings(grammar:alphabet():symbols(), 3)) do
      if #w > 1 then
        local member = grammar:log_probability(w) > -math.huge
        local image = grammar:hardest_image(w)
        if member then members = members + 1 else others = others + 1 end
        if (hardest:log_probability(image) > -math.huge) ~= member then error(w .. ': ' .. image) end
      end
    end
    assert(members > 0 and others > 0)
    assert(hardest:log_probability(grammar:hardest_image(grammar:alphabet():symbols()[1])) == -math.huge)
  end
  local h = pd.grammar.parse("S -> 'a' B | 'a'\nB -> 'b'"):homomorphism()
  test.equal(h.a, ', $ ( [ ( , $ , ;')
  test.equal(h.b, ', ) ] ) , ;')
  test.equal(pd.grammar.parse("S -> 'a' B | 'a'\nB -> 'b'"):hardest_image('a b'), h.a .. ' ' .. h.b)
end)

test('bad input is named', function()
  local function make(options) return function() return pd.pda(options) end end
  test.fails('list of transitions', make{})
  test.fails('at least one transition', make{ transitions = {} })
  test.fails('transition 2: expected push y, replace y or pop',
    make{ bottom = '_', transitions = { 'q, _ --a--> r, pop', 'q, _ --b--> r, drop' } })
  test.fails('transition 1: the weight of a transition must be a number of at least 0, got %-1',
    make{ bottom = '_', transitions = { { text = 'q, _ --a--> r, pop', weight = -1 } } })
  test.fails('one of push', make{ bottom = '_', transitions = {
    { state = 'q', top = '_', symbol = 'a', next = 'r', pop = true, push = 'x' } } })
  test.fails("'next' must be a text", make{ bottom = '_', transitions = {
    { state = 'q', top = '_', symbol = 'a', pop = true } } })
  test.fails("'accepting' must be a list",
    make{ bottom = '_', accepting = 'q', transitions = { 'q, _ --a--> q, pop' } })
  test.fails("symbol '2' is not in the alphabet", function() reversal:accepts('0 2') end)
  test.fails('text:1: expected , after the next state r', function() pd.pda.parse('q, _ --a--> r') end)
  test.fails('cannot read the automaton file', function() pd.pda.load('/nowhere/x.pda') end)
end)

test.finish()
