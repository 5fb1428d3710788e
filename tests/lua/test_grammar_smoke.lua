-- Every grammar of the grammars folder loads with its defaults, samples, accepts its own samples, and has one
-- derivation of each if it says so. Every automaton loads. A synchronous grammar draws pairs and accepts them. Each
-- file is one of the three.
local pd = require 'pushdown'
local test = require 'pushdown.test'
local files = require 'pushdown.files'

local paths = files.find(pd.root .. '/grammars', '^[%w_]+%.lua$')

test('the grammars of the first paper exist', function()
  local found = {}
  for _, path in ipairs(paths) do found[path:gsub('%.lua$', '')] = true end
  for _, name in ipairs { 'marked_reversal', 'unmarked_reversal', 'padded_reversal', 'dyck',
    'hardest_cfl' } do
    assert(found[name], name)
  end
end)

test('every file is a grammar, a synchronous grammar or an automaton', function()
  local kinds = {}
  for _, name in ipairs(pd.grammar.list()) do kinds[name] = 'grammar' end
  for _, name in ipairs(pd.grammar.list('synchronous')) do
    test.equal(kinds[name], nil)
    kinds[name] = 'synchronous'
    test.equal(pd.grammar.parse(pd.grammar.load(name):text()):text(), pd.grammar.load(name):text())
  end
  for _, name in ipairs(pd.pda.list()) do
    test.equal(kinds[name], nil)
    kinds[name] = 'automaton'
    test.equal(pd.pda.parse(pd.pda.load(name):text()):text(), pd.pda.load(name):text())
  end
  for _, path in ipairs(paths) do
    local name = path:gsub('%.lua$', '')
    assert(kinds[name], name)
    assert((kinds[name] == 'automaton') == (name:match('_pda$') ~= nil), name)
  end
end)

for _, name in ipairs(pd.grammar.list()) do
  test(name, function()
    local grammar = pd.grammar.load(name)
    local sampler = grammar:sampler { lengths = { 6, 16 } }
    local data = sampler:dataset(30, { seed = 1 })
    local bound = sampler:lower_bound(data)
    assert(bound > 0 and bound < 10, 'lower bound ' .. bound)
    for length = 6, 16 do
      local mass = grammar:log_length_probability(length)
      assert(mass == mass and mass <= 1e-12, 'log mass of a length is at most 0')
      if mass > -math.huge then
        local tokens = grammar:sample { length = length, seed = 3 }
        local score = grammar:log_probability(tokens)
        assert(score > -math.huge and score <= mass + 1e-9, ('%s scores %g'):format(tostring(tokens), score))
        assert(sampler:log_probability(tokens) > -math.huge)
        if grammar:unambiguous() then test.near(grammar:parse(tokens):log_probability(), score, 1e-9) end
      end
    end
  end)
end

for _, name in ipairs(pd.grammar.list('synchronous')) do
  test(name, function()
    local grammar = pd.grammar.load(name)
    for _, mode in ipairs { 'uniform', 'grammar' } do
      for _, pair in ipairs(grammar:sample { lengths = { 8, 64 }, mode = mode, count = 20, seed = 1 }) do
        local length = select(2, pair.source:gsub('%S+', ''))
        assert(length >= 8 and length <= 64, pair.source)
        assert(grammar:contains(pair.source, pair.target), pair.source .. ' ||| ' .. pair.target)
        local score = grammar:log_probability(pair.source, pair.target)
        local whole = grammar:source_grammar():log_probability(pair.source)
        assert(score > -math.huge and score <= whole + 1e-9, score .. ' ' .. whole)
      end
    end
  end)
end

test.finish()
