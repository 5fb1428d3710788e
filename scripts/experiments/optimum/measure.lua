-- What a language model knows of the process that makes the strings of a language (languages.lua): its cross-entropy
-- and its accuracy on a set of strings, in bits per symbol. Strings of similar lengths are read together, in pieces, so
-- that thousands of symbols fit into memory.
local pd = require 'pushdown'

local M = {}

-- Strings in batches of at most `batch`, of similar lengths.
local function batches(set, batch)
  local order = {}
  for i = 1, #set.strings do order[i] = i end
  table.sort(order, function(a, b)
    local one, other = #set.strings[a], #set.strings[b]
    return one < other or one == other and a < b
  end)
  local lists = {}
  for i, number in ipairs(order) do
    if (i - 1) % batch == 0 then lists[#lists + 1] = {} end
    table.insert(lists[#lists], number)
  end
  return lists
end

-- reader(model, strings, last) -> function(first, last) that returns log-probabilities, B x c x (V + 1), of the places
-- first .. last. Strings are filled up with some symbol behind their ends, which nothing depends on.
local function reader(model, strings, longest)
  local filler = model:alphabet():symbols()[1]
  local kind = model:options().stack.kind
  local words = {}
  local function text(symbols, first, last)
    local n = 0
    for i = first, last do
      n = n + 1
      words[n] = symbols[i] or filler
    end
    return table.concat(words, ' ', 1, n)
  end
  -- These stacks are read by kernels only as a whole.
  if kind:find 'nondeterministic' then
    local all = {}
    for i, symbols in ipairs(strings) do
      all[i] = model:logits(text(symbols, 1, longest))
    end
    all = pd.tensor.stack(all)
    return function(first, last) return all[{ {}, { first, last }, {} }]:log_softmax(3) end
  end
  local state = model:begin(#strings, longest)
  return function(first, last)
    local texts = {}
    for i, symbols in ipairs(strings) do texts[i] = text(symbols, first, last) end
    local logits
    logits, state = model:read(texts, state)
    return logits:log_softmax(3)
  end
end

-- measure(model, language, set, {batch =, piece =, epsilon =}) -> cross_entropy (bits per symbol; an end is a symbol),
-- accuracy (see languages.lua), right (a list: of each string, whether all steps are right) and right_share.
function M.measure(model, language, set, options)
  local place, outcomes = {}, #language.alphabet + 1
  for i, symbol in ipairs(model:alphabet():symbols()) do place[symbol] = i end
  place[''] = outcomes
  local categorical = language.accuracy == 'categorical'
  local found = { right = {} }
  local nats, predicted, steps, right_steps, right_weight, all_weight = 0, 0, 0, 0, 0, 0

  for _, list in ipairs(batches(set, options.batch)) do
    local strings, walks, longest = {}, {}, 0
    for i, number in ipairs(list) do
      strings[i], walks[i] = set.strings[number], language.walk()
      longest = math.max(longest, #strings[i] + 1)
    end
    local read = reader(model, strings, longest)
    local sums, judged, right = {}, {}, {}
    for i = 1, #list do sums[i], judged[i], right[i] = 0, 0, 0 end
    for first = 1, longest, options.piece do
      local last = math.min(longest, first + options.piece - 1)
      local targets, there, wanted, allowed = {}, {}, {}, {}
      for i, symbols in ipairs(strings) do
        local walk, target, present, counts, sets = walks[i], {}, {}, {}, {}
        for t = first, last do
          local k = t - first + 1
          target[k], present[k], counts[k] = 1, 0, 0
          local possible = nil
          if t <= #symbols + 1 then
            local symbol = symbols[t] or ''
            local following = walk.next()
            target[k], present[k] = place[symbol], 1
            counts[k] = (categorical or #following == 1) and 1 or 0
            possible = following
            if t <= #symbols then walk.read(symbol) end
          end
          if categorical then
            local row = {}
            for v = 1, outcomes do row[v] = 0 end
            for _, outcome in ipairs(possible or {}) do row[place[outcome[1]]] = 1 end
            sets[k] = row
          end
        end
        targets[i], there[i], wanted[i], allowed[i] = target, present, counts, sets
      end
      local logs = pd.tensor.no_grad(read, first, last)
      local goal = pd.tensor(targets, { dtype = 'int64' })
      local present = pd.tensor(there)
      local hits
      if categorical then
        local above = logs:gt(math.log(options.epsilon)):to 'float32'
        hits = (above - pd.tensor(allowed)):abs():sum(3):eq(0):to 'float32'
      else
        hits = logs:argmax(3):eq(goal):to 'float32'
      end
      local counts = pd.tensor(wanted)
      local losses = (logs:gather(3, goal:unsqueeze(3)):squeeze(3) * present):to('float64'):sum(2):to_table()
      local hit, all = (hits * counts):sum(2):to_table(), counts:sum(2):to_table()
      for i = 1, #list do
        sums[i], right[i], judged[i] = sums[i] - losses[i], right[i] + hit[i], judged[i] + all[i]
      end
    end
    for i, number in ipairs(list) do
      local weight = set.weights and set.weights[number] or 1
      local whole = right[i] == judged[i]
      found.right[number] = whole
      nats, predicted = nats + weight * sums[i], predicted + weight * (#strings[i] + 1)
      steps, right_steps = steps + weight * judged[i], right_steps + weight * right[i]
      right_weight, all_weight = right_weight + (whole and weight or 0), all_weight + weight
    end
  end
  found.cross_entropy = nats / math.log(2) / predicted
  found.accuracy, found.right_share = right_steps / steps, right_weight / all_weight
  return found
end

-- reach(sizes, right) -> the largest size up to which all are right: 0 if one of the smallest is wrong.
function M.reach(sizes, right)
  local wrong, largest = math.huge, 0
  for i, size in ipairs(sizes) do
    if not right[i] then wrong = math.min(wrong, size) end
  end
  for _, size in ipairs(sizes) do
    if size < wrong then largest = math.max(largest, size) end
  end
  return largest
end

return M
