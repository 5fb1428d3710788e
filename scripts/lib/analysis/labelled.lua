-- The positions of strings that a probe (probe.lua) is trained and measured on, with their labels.
local pd = require 'pushdown'

local M = {}

local function fail(form, ...) error('[analysis.probe] ' .. form:format(...), 0) end

local properties = { 'state', 'depth', 'top' }

-- ---- What is asked for: labels of every position ----

local function set_of(alphabet)
  local set = {}
  for _, symbol in ipairs(alphabet:symbols()) do set[symbol] = true end
  return set
end

local function check_symbols(place, symbols, known, whose)
  for _, symbol in ipairs(symbols) do
    if not known[symbol] then fail("%s: '%s' is not in the alphabet of the %s", place, symbol, whose) end
  end
end

-- The state, the depth of the stack above its bottom and its top after each symbol, by name.
local function run_of(automaton, place, text)
  local run = automaton:best_run(text, { accepted = false })
  if not run then fail('%s: the automaton has no run over it', place) end
  local found = { state = {}, depth = {}, top = {} }
  local stacks = run:stacks()
  for t, step in ipairs(run:steps()) do
    local stack = stacks[t + 1]
    found.state[t], found.depth[t], found.top[t] = step.next, #stack - 1, stack[#stack]
  end
  return found
end

-- The labels that a function of the user returns, checked.
local function checked_labels(given, place, count)
  if type(given) ~= 'table' then fail('%s: expected a list of labels, got %s', place, type(given)) end
  for position in pairs(given) do
    if type(position) ~= 'number' or position % 1 ~= 0 or position < 1 or position > count then
      fail('%s: a label at position %s, which is outside the string of %d symbols', place, tostring(position), count)
    end
  end
  for position = 1, count do
    if given[position] == nil then
      fail('%s: there is no label at position %d of %d; false leaves a position out', place, position, count)
    end
  end
  return given
end

-- names, f(place, text, symbols) -> the labels of a string by name.
local function labelling(options)
  local automaton, labels = options.pda, options.labels
  if type(labels) == 'function' then
    if automaton then fail 'expected a pda or a function that returns labels, got both' end
    return { options.name }, function(place, text, symbols)
      return { [options.name] = checked_labels(labels(text), place, #symbols) }
    end
  end
  if not automaton then fail 'expected the option pda, or labels, a function of a string' end
  if not automaton:deterministic() then fail 'the automaton is not deterministic: a string has several runs' end
  for _, name in ipairs(labels or {}) do
    if name ~= 'state' and name ~= 'depth' and name ~= 'top' then
      fail("unknown label '%s': an automaton has state, depth and top", tostring(name))
    end
  end
  local known = set_of(automaton:alphabet())
  return labels or properties, function(place, text, symbols)
    check_symbols(place, symbols, known, 'automaton')
    return run_of(automaton, place, text)
  end
end

-- ---- Strings ----

-- The distinct strings, in their order: {place =, text =, symbols =, labels =, types =}. The type of a position is its
-- last `context` symbols.
local function items_of(given, options, label, known)
  if type(given) == 'userdata' then given = given:strings() end
  local items, seen = {}, {}
  for number, string in ipairs(given) do
    local text = type(string) == 'table' and table.concat(string, ' ') or string
    local place = ("string %d '%s'"):format(number, text)
    local symbols = pd.tables.matches(text, '%S+')
    if known then check_symbols(place, symbols, known, 'model') end
    if #symbols > 0 and not seen[text] then
      seen[text] = true
      local item = { place = place, text = text, symbols = symbols, types = {}, labels = label(place, text, symbols) }
      for t = 1, #symbols do
        item.types[t] = table.concat(symbols, ' ', math.max(1, t - options.context + 1), t)
      end
      items[#items + 1] = item
    end
  end
  return items
end

-- The numbers 1 to count in an order that the seed decides.
local function shuffled(count, seed)
  local _, order = pd.tensor.rand({ count }, { seed = seed, dtype = 'float64' }):sort()
  return order:to_table()
end

-- The strings of both parts. No string is in both.
local function parts_of(strings, options, label, known)
  local train, test = {}, {}
  local items = items_of(strings, options, label, known)
  if options.test_strings then
    local seen = {}
    for _, item in ipairs(items) do seen[item.text] = true end
    train = items
    for _, item in ipairs(items_of(options.test_strings, options, label, known)) do
      if not seen[item.text] then test[#test + 1] = item end
    end
  else
    local count = #items > 0 and math.floor(#items * options.test + 0.5) or 0
    for i, number in ipairs(#items > 0 and shuffled(#items, options.seed) or {}) do
      table.insert(i <= count and test or train, items[number])
    end
  end
  if #train == 0 or #test == 0 then
    fail('%d distinct strings for training and %d others for the test: expected at least one each', #train, #test)
  end
  return train, test
end

-- ---- Tasks ----

-- The positions of a part that have a label: a list of {item =, t =, class =, type =}. `number_of` gives classes their
-- numbers; a class that is new in the test has none.
local function positions_of(items, name, number_of)
  local all = {}
  for _, item in ipairs(items) do
    for t, label in ipairs(item.labels[name]) do
      if label ~= false then
        all[#all + 1] = { item = item, t = t, type = item.types[t], class = number_of(label) }
      end
    end
  end
  return all
end

-- The positions and classes of every label; labels of an automaton with one class are left out unless they are wanted.
local function tasks_of(names, train, test, wanted, notes)
  local tasks = {}
  for _, name in ipairs(names) do
    local numbers, classes = {}, {}
    local learnt = positions_of(train, name, function(label)
      if not numbers[label] then
        classes[#classes + 1] = label
        numbers[label] = #classes
      end
      return numbers[label]
    end)
    local tested = positions_of(test, name, function(label) return numbers[label] or 0 end)
    if #learnt == 0 or #tested == 0 then
      fail("label '%s': %d positions for training and %d for the test: expected at least one each", name, #learnt,
        #tested)
    end
    if #classes == 1 then
      local words = ("label '%s': all %d positions for training have the class '%s'"):format(name, #learnt,
        tostring(classes[1]))
      if wanted or #names == 1 then fail('%s: expected at least two classes', words) end
      notes[#notes + 1] = ('%s is %s everywhere'):format(name, tostring(classes[1]))
    else
      tasks[#tasks + 1] = { name = name, train = learnt, test = tested, classes = #classes }
    end
  end
  if #tasks == 0 then fail('every label has one class: %s', table.concat(notes, '; ')) end
  return tasks
end

-- labelled.tasks(strings, options, alphabet) -> train, test, tasks, notes: the strings of both parts, a list of items
-- {place =, text =, symbols =, ...} each; for every label {name =, train =, test =, classes =} with the positions of
-- both parts, {item =, t =, type =, class =} each, and the number of classes; and remarks. alphabet: of the model, or
-- nil.
function M.tasks(strings, options, alphabet)
  local names, label = labelling(options)
  local notes = {}
  local train, test = parts_of(strings, options, label, alphabet and set_of(alphabet))
  return train, test, tasks_of(names, train, test, options.labels ~= nil, notes), notes
end

return M
