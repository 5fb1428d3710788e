-- Hints from files, rule insertion and extraction from Lua: every hint compared with its grammar, programmed networks
-- without errors, reports, and messages that name the file.
-- label: long
local pd = require 'pushdown'
local test = require 'pushdown.test'
local files = require 'pushdown.files'

local languages = {
  { 'palindrome', {}, 7 }, { 'palindrome', { symbols = 3 }, 5 },
  { 'an_bn', {}, 10 }, { 'an_bn', { minimum = 0 }, 10 },
  { 'an_bn_c_bm_am', {}, 8 }, { 'an_bn_c_bm_am', { minimum = 0 }, 7 },
  { 'anm_bn_cm', {}, 7 }, { 'anm_bn_cm', { minimum = 0 }, 7 },
  { 'parenthesis', {}, 6 }, { 'parenthesis', { bracket_types = 1 }, 10 }, { 'parenthesis', { bracket_types = 3 }, 4 },
}

-- The options of the hint with this name.
local function hint(name, options)
  local known = pd.pda.describe(name)
  local own = {}
  for key, value in pairs(options) do
    if known:find('\n  ' .. key, 1, true) then own[key] = value end
  end
  return pd.pda.load(name, own)
end

local function each_string(symbols, longest, visit)
  test.each_string(symbols, longest, function(list) visit(table.concat(list, ' ')) end)
end

local function hard_strings(grammar, shortest, longest, count, seed)
  return pd.task.labelled { grammar = grammar, lengths = { shortest, longest }, positives = count, negatives = count,
    difficult = 1, swaps = { 1, 2, 3 }, edits = { 'replace', 'transpose', 'insert', 'delete' }, distinct = 'none',
    seed = seed }
end

test('the hints are listed', function()
  local found = {}
  for _, name in ipairs(pd.pda.hints()) do found[name] = true end
  for _, case in ipairs(languages) do
    for _, part in ipairs { 'whole', 'hint_1', 'hint_2', 'dead_states' } do
      assert(found[case[1] .. '/' .. part], case[1] .. '/' .. part)
    end
  end
end)

for _, case in ipairs(languages) do
  local name, options, longest = unpack(case)
  local shown = name
  for key, value in pairs(options) do shown = shown .. ' ' .. key .. ' ' .. value end
  local grammar = pd.grammar.load(name, options)
  local whole = hint(name .. '/whole', options)

  test(shown .. ': the whole automaton accepts the grammar\'s strings and no others', function()
    assert(whole:deterministic())
    local members = 0
    each_string(grammar:alphabet():symbols(), longest, function(text)
      local member = grammar:contains(text)
      if member then members = members + 1 end
      if whole:accepts(text) ~= member then error(('%q'):format(text)) end
    end)
    assert(members > 1, members)
    local data = hard_strings(grammar, 20, 150, 100, 1)
    for i, text in ipairs(data:strings()) do test.equal(whole:accepts(text), data:labels()[i]) end
  end)

  test(shown .. ': the parts are parts of it', function()
    local lines, pushes = {}, 0
    for _, transition in ipairs(whole:transitions()) do
      lines[transition.text] = true
      if transition.push then
        pushes = pushes + 1
        test.equal(transition.push, transition.symbol)
      end
      assert(transition.push or transition.pop or transition.replace == transition.top)
    end
    local first, second = hint(name .. '/hint_1', options), hint(name .. '/hint_2', options)
    local dead = hint(name .. '/dead_states', options)
    test.equal(#first:transitions(), pushes)
    for _, transition in ipairs(first:transitions()) do assert(transition.push and lines[transition.text]) end
    test.equal(#second:transitions(), #whole:transitions())
    for _, transition in ipairs(second:transitions()) do assert(lines[transition.text], transition.text) end
    test.equal(table.concat(dead:dead(), ' '), 'dead')
    for _, transition in ipairs(dead:transitions()) do test.equal(transition.next, 'dead') end
    -- Together they know the outcome of every string that is not dead yet, and only hopeless strings are dead.
    local both = pd.pda.merged { second, dead }
    local symbols = grammar:alphabet():symbols()
    each_string(symbols, math.min(longest, 5), function(text)
      local alive = both:accepts(text)
      if grammar:viable_prefix(text) then assert(alive, text) end
      test.equal(second:accepts(text), alive)
      if alive then
        for _, symbol in ipairs(symbols) do
          local next_text = text == '' and symbol or text .. ' ' .. symbol
          assert(both:best_run(next_text, { accepted = false }), next_text)
        end
      end
    end)
  end)

  for _, order in ipairs { 'third', 'second' } do
    test(('%s: a %s-order network is programmed without an error'):format(shown, order), function()
      local model = pd.model.recognizer { alphabet = grammar:alphabet(), architecture = 'nspda', order = order,
        states = 16, seed = 2 }
      local inhibited = pd.model.recognizer { alphabet = grammar:alphabet(), architecture = 'nspda', order = order,
        states = 16, seed = 2 }
      assert(pd.model.insert_rules(inhibited, whole, { inhibition = true }).holds)
      local report = pd.model.insert_rules(model, whole)
      assert(report.holds and report.margin > 0.05 and report.discrete_margin > 0.05, tostring(report))
      test.equal(report.acceptance, true)
      for _, line in ipairs(report.transitions) do assert(line.programmed and line.margin > 0, line.text) end
      local data = hard_strings(grammar, 40, 60, 100, 3)
      test.equal(pd.train.evaluate(model, data).accuracy, 1)
      each_string(grammar:alphabet():symbols(), 4, function(text)
        test.equal(model:accepts(text), grammar:contains(text))
        test.equal(inhibited:accepts(text), grammar:contains(text))
      end)
      local pda, found = pd.model.extract_pda(model)
      test.equal(found.agreed, found.strings)
      assert(found.accepted > 0)
      assert(pda:isomorphic(whole:minimal()), pda:text())
      test.equal(pd.pda.parse(pda:text()):text(), pda:text())
      assert(pda:svg():find('<circle'))
    end)
  end
end

-- Table 5 of Mali et al. (2019).
test('programmed networks make no error on long strings', function()
  for _, name in ipairs { 'palindrome', 'an_bn', 'an_bn_c_bm_am', 'anm_bn_cm', 'parenthesis' } do
    local grammar = pd.grammar.load(name)
    for _, longest in ipairs { 60, 480, 960 } do
      local data = hard_strings(grammar, longest - 20, longest, 1000, longest)
      for _, order in ipairs { 'third', 'second' } do
        local model = pd.model.recognizer { alphabet = grammar:alphabet(), architecture = 'nspda', order = order,
          states = 10, seed = longest }
        pd.model.insert_rules(model, name .. '/whole')
        local found = pd.train.evaluate(model, data)
        test.equal(found.positives, 1000)
        test.equal(found.strings, 2000)
        test.equal(found.missed + found.false_positives, 0)
      end
    end
  end
end)

local abc = { 'a', 'b', 'c' }
local function network(options)
  return pd.model.recognizer(pd.tables.merged({ alphabet = abc, architecture = 'nspda', states = 6, seed = 1 },
    options))
end

test('a hint may be a name, a path, an automaton or a list of these', function()
  local folder = test.folder()
  files.write(folder .. '/mine.pda', '%bottom _\n%strength 1.25\n%dead trap\n'
    .. 'q, _ --a--> q, push a\nq, a --b--> trap, replace a\n')
  files.write(folder .. '/mine.lua', "start 'q'\nbottom '_'\nstates { 'q', 'trap' }\ndead { 'trap' }\nstrength(1.25)\n"
    .. "transition 'q, _ --a--> q, push a'\ntransition 'q, a --b--> trap, replace a'\n")
  for _, ending in ipairs { '.pda', '.lua' } do
    local report = pd.model.insert_rules(network(), folder .. '/mine' .. ending)
    test.equal(report.strength, 1.25)
    test.equal(report.strength_from, 'hint')
    test.equal(report.acceptance, false)
    test.equal(#report.transitions[2].to, 0)
    report = pd.model.insert_rules(network(), folder .. '/mine' .. ending, { dead = 'neuron', strength = 1.1 })
    test.equal(report.strength_from, 'given')
    test.equal(report.transitions[2].to[1], report.neurons.trap[1])
  end
  local list = pd.model.insert_rules(network(), { 'an_bn/hint_2', pd.pda.load 'an_bn/dead_states' })
  test.equal(#list.transitions, 8)
  test.equal(list.missing, 'keep')
  test.equal(list.numbers > 0, true)
  assert(tostring(list):find('Rules: 8 of 8 transitions programmed, strength'), tostring(list))
  -- Errors in files name the line.
  local function broken(text, message)
    files.write(folder .. '/broken.lua', text)
    test.fails(message, function() pd.model.insert_rules(network(), folder .. '/broken.lua') end)
  end
  broken("bottom '_'\nstrength 'x'\ntransition 'q, _ --a--> q, push a'\n", 'broken.lua:2: strength needs a number')
  broken("bottom '_'\nstrength(1)\nstrength(1)\n", 'broken.lua:3: strength is given twice')
  broken("bottom '_'\n\ntransition 'q, _ --a--> q push a'\n", 'broken.lua:3: expected ,')
  broken("bottom '_'\ntransition 'q, _ --z--> q, push z'\n", "broken.lua:2: the network does not know the symbol 'z'")
  broken("bottom '_'\ntransition 'q, _ --a--> q, push a'\ntransition 'q, _ --a--> q, replace _'\n",
    'broken.lua:3: .* contradicts broken.lua:2')
  broken("bottom '_'\ndead { 't' }\ntransition 'q, _ --a--> t, push a'\ntransition 't, _ --a--> q, push a'\n",
    'broken.lua:4: t is dead, but')
  broken("bottom '_'\nrule 'S -> a'\n", "'rule' belongs to a grammar")
  broken("bottom '_'\nhint 'x'\n", "'hint' is not a word of")
  for _, file in ipairs { 'mine.pda', 'mine.lua', 'broken.lua', '' } do os.remove(folder .. '/' .. file) end
end)

test('errors', function()
  local function with(pda, options, more)
    return function() pd.model.insert_rules(network(more), pda, options) end
  end
  test.fails('state neurons, but the network has 2', with('an_bn/whole', {}, { states = 2 }))
  test.fails('the strength 0.1 does not hold', with('an_bn/whole', { strength = 0.1 }))
  test.fails('contradicts', with('unmarked_reversal_pda', {}, { alphabet = { '0', '1' } }))
  -- Both name what they need and what they got.
  for name, call in pairs { insert_rules = function(m) pd.model.insert_rules(m, 'an_bn/whole') end,
    extract_pda = pd.model.extract_pda } do
    local needs = ("%%[model%%.%s%%] expected a recognizer with architecture = 'nspda', got "):format(name)
    test.fails(needs .. "one with architecture = 'recurrent'", call, pd.model.recognizer { alphabet = abc })
    test.fails(needs .. 'a language model', function() call(pd.model.language_model { alphabet = abc }) end)
    test.fails(needs .. 'a transducer', call, pd.model.transducer { source_alphabet = abc, target_alphabet = abc })
    test.fails('expected a LanguageModel or a Recognizer or a Transducer', function() call(abc) end)
  end
  test.fails('more than 1 control states', function()
    local model = network()
    pd.model.insert_rules(model, 'an_bn/whole')
    pd.model.extract_pda(model, { limit = 1 })
  end)
end)

test('a strength chosen, given and refused', function()
  local model = network()
  local chosen = pd.model.insert_rules(model, 'an_bn/whole')
  test.equal(chosen.strength_from, 'chosen')
  test.equal(chosen.weight_scale, 1)
  local given = pd.model.insert_rules(network(), 'an_bn/whole', { strength = 3, frozen = true })
  test.equal(given.weight_scale, 3)
  assert(given.holds and given.frozen)
  local unchecked = pd.model.insert_rules(network(), 'an_bn/whole', { strength = 0.1, check = false })
  assert(not unchecked.holds and tostring(unchecked):find('DOES NOT HOLD'))
end)

test('state diagrams', function()
  local path = os.tmpname()
  local svg = pd.pda.load('an_bn_c_bm_am/whole'):svg(path)
  test.equal(files.read(path), svg)
  os.remove(path)
  local _, circles = svg:gsub('<circle', '')
  test.equal(circles, 5)  -- four states, one accepts
  for _, text in ipairs { '>b, a: pop<', '>c, ⊥: replace ⊥<', 'alone on the stack' } do
    assert(svg:find(text, 1, true), text)
  end
  svg = pd.pda.load('palindrome/dead_states'):svg()
  assert(svg:find('#d9d9d9', 1, true) and svg:find('>c, any: replace top<', 1, true))
  -- Weights, and replace transitions.
  svg = pd.pda.parse('%bottom _\nq, _ --a/0.5--> r, replace x\nr, x --a--> q, pop\n'):svg()
  assert(svg:find('>a, _: replace x / 0.5<', 1, true))
  local many = { '%bottom _' }
  for i = 1, 61 do many[#many + 1] = ('q%d, _ --a--> q%d, push a'):format(i, i + 1) end
  test.fails('too large for a picture', function() pd.pda.parse(table.concat(many, '\n')):svg() end)
end)

test.finish()
