-- Languages that are not context-free, and therefore have no grammar here. Their strings are counted, sampled and
-- recognized exactly.
--
--   local language = pd.languages.shuffle_dyck { types = 2 }
--   print(language:contains '( [ ) ]', table.concat(language:next_symbols '( [', ' '))
--   pd.data.write('shuffle.jsonl', language:dataset(1000, { lengths = { 2, 40 }, seed = 1 }))
local pd = require 'pushdown'

local M = {}

local function fail(form, ...) error('[languages.shuffle_dyck] ' .. form:format(...), 0) end

-- A function that returns random numbers in [0, 1), all from the seed. Each block decides the seed of the next one.
local function generator(seed)
  local block, used = {}, 0
  return function()
    if used == #block then
      if used > 0 then seed = math.floor(block[1] * 2 ^ 53) end
      block, used = pd.tensor.rand({ 4096 }, { seed = seed, dtype = 'float64' }):to_table(), 0
    end
    used = used + 1
    return block[used]
  end
end

-- ---- Counting ----
-- The strings of one type with n pairs are counted by the Catalan number C(n), and those of a shuffle by
--   W_{j+k}(n) = sum over i of binomial(2n, 2i) W_j(i) W_k(n - i),
-- so a_k(n) = W_k(n) / (2n)! is the convolution of a_j and a_{k-j}, from a_1(n) = 1 / (n! (n + 1)!).

local most = 10000  -- symbols: the convolutions take the square of the length

local log_factorials = { [0] = 0 }
local function log_factorial(n)
  for i = #log_factorials + 1, n do log_factorials[i] = log_factorials[i - 1] + math.log(i) end
  return log_factorials[n]
end

local Shuffle = {}
Shuffle.__index = Shuffle

-- ln a_k(n) for n from 0 to `pairs_of`, as a table by n.
function Shuffle:_counts(types, pairs_of)
  local own = self._logs[types] or {}
  self._logs[types] = own
  if own[pairs_of] then return own end
  if types == 1 then
    for n = 0, pairs_of do own[n] = -log_factorial(n) - log_factorial(n + 1) end
    return own
  end
  local half = math.floor(types / 2)
  local left, right = self:_counts(half, pairs_of), self:_counts(types - half, pairs_of)
  for n = own[0] and #own + 1 or 0, pairs_of do
    local largest, sum = -math.huge, 0
    for i = 0, n do largest = math.max(largest, left[i] + right[n - i]) end
    for i = 0, n do sum = sum + math.exp(left[i] + right[n - i] - largest) end
    own[n] = largest + math.log(sum)
  end
  return own
end

-- Draws how many pairs each type from `first` on has, uniformly over the strings.
function Shuffle:_draw_pairs(random, types, pairs_of, first, drawn)
  if types == 1 then
    drawn[first] = pairs_of
    return
  end
  local half = math.floor(types / 2)
  local left, right = self:_counts(half, pairs_of), self:_counts(types - half, pairs_of)
  local total, left_over, chosen = self:_counts(types, pairs_of)[pairs_of], random(), pairs_of
  for i = 0, pairs_of do
    left_over = left_over - math.exp(left[i] + right[pairs_of - i] - total)
    if left_over < 0 then
      chosen = i
      break
    end
  end
  self:_draw_pairs(random, half, chosen, first, drawn)
  self:_draw_pairs(random, types - half, pairs_of - chosen, first + half, drawn)
end

-- A string of this length, all with the same probability.
function Shuffle:_uniform(random, length)
  local pairs_of, order = {}, {}
  self:_draw_pairs(random, self.types, length / 2, 1, pairs_of)
  for type_of = 1, self.types do
    for _ = 1, 2 * pairs_of[type_of] do order[#order + 1] = type_of end
  end
  for i = length, 2, -1 do
    local other = math.floor(i * random()) + 1
    order[i], order[other] = order[other], order[i]
  end
  local depths, left = {}, {}
  for type_of = 1, self.types do depths[type_of], left[type_of] = 0, 2 * pairs_of[type_of] end
  local symbols = {}
  for t, type_of in ipairs(order) do
    local depth, more = depths[type_of], left[type_of]
    -- The share of the completions of this type that open a bracket now.
    local opens = random() < (depth + 2) * (more - depth) / (2 * more * (depth + 1))
    depths[type_of], left[type_of] = depth + (opens and 1 or -1), more - 1
    symbols[t] = (opens and self.opening or self.closing)[type_of]
  end
  return symbols
end

-- A walk, and the logarithm of its probability.
function Shuffle:_walk(random, length, options)
  local depths, depth, symbols, log_probability = {}, 0, {}, 0
  for type_of = 1, self.types do depths[type_of] = 0 end
  for t = 1, length do
    local opens
    if depth == 0 then
      opens = true
    elseif depth == length - t + 1 or depth >= options.deepest then
      opens = false
    else
      opens = random() < options.open
      log_probability = log_probability + math.log(opens and options.open or 1 - options.open)
    end
    local candidates = {}
    for type_of = 1, self.types do
      if opens or depths[type_of] > 0 then candidates[#candidates + 1] = type_of end
    end
    local type_of = candidates[math.floor(#candidates * random()) + 1]
    log_probability = log_probability - math.log(#candidates)
    local step = opens and 1 or -1
    depths[type_of], depth = depths[type_of] + step, depth + step
    symbols[t] = (opens and self.opening or self.closing)[type_of]
  end
  return symbols, log_probability
end

-- ---- Methods ----

local function words_of(tokens)
  return type(tokens) == 'table' and tokens or pd.tables.matches(tokens or '', '%S+')
end

-- The depth of every type after these symbols and their sum, or nil if no string of the language begins so.
function Shuffle:_depths(symbols)
  local depths, sum = {}, 0
  for type_of = 1, self.types do depths[type_of] = 0 end
  for _, symbol in ipairs(symbols) do
    local of = self._steps[symbol]
    if not of then
      fail("'%s' is not in the alphabet; the symbols are %s", symbol, table.concat(self:alphabet(), ' '))
    end
    depths[of.type], sum = depths[of.type] + of.step, sum + of.step
    if depths[of.type] < 0 then return nil end
  end
  return depths, sum
end

function Shuffle:__tostring()
  return ('Shuffle of %d Dyck language%s: %s'):format(self.types, self.types == 1 and '' or 's',
    table.concat(self:alphabet(), ' '))
end

-- language:alphabet() -> the symbols, each opening bracket before its closing one.
function Shuffle:alphabet()
  local symbols = {}
  for type_of = 1, self.types do
    symbols[#symbols + 1], symbols[#symbols + 2] = self.opening[type_of], self.closing[type_of]
  end
  return symbols
end

-- language:contains(string) -> whether the string is in the language.
function Shuffle:contains(tokens)
  local symbols = words_of(tokens)
  local depths, sum = self:_depths(symbols)
  return depths ~= nil and sum == 0 and #symbols > 0
end

-- language:next_symbols(prefix) -> the symbols that may follow, in the order of the alphabet, and '' for the end; none
-- if no string begins with the prefix.
function Shuffle:next_symbols(tokens)
  local symbols = words_of(tokens)
  local depths, sum = self:_depths(symbols)
  local found = {}
  if not depths then return found end
  for type_of = 1, self.types do
    found[#found + 1] = self.opening[type_of]
    if depths[type_of] > 0 then found[#found + 1] = self.closing[type_of] end
  end
  if sum == 0 and #symbols > 0 then found[#found + 1] = '' end
  return found
end

local function check_length(length)
  if type(length) ~= 'number' or length % 1 ~= 0 or length < 0 or length > most then
    fail('a length must be an integer from 0 to %d, got %s', most, tostring(length))
  end
end

-- language:log_count(length) -> the natural logarithm of the number of strings of this length, -inf if there are none.
function Shuffle:log_count(length)
  check_length(length)
  if length % 2 == 1 or length == 0 then return -math.huge end
  return self:_counts(self.types, length / 2)[length / 2] + log_factorial(length)
end

local sample_options = pd._options.declare('languages.dataset', {
  { 'lengths', nil, '{lowest, highest} length; each even length is equally likely', type = 'list of integers',
    required = true },
  { 'distribution', 'uniform', 'of the strings of a length: all equally likely, or a walk that opens or closes a '
    .. 'bracket in each step', choices = { 'uniform', 'walk' } },
  { 'open', 0.5, 'of a walk: probability of an opening bracket where both are possible', minimum = 0, maximum = 1 },
  { 'deepest', 16, 'of a walk: largest number of open brackets', minimum = 1 },
  { 'seed', 1, 'decides the strings', minimum = 0 },
})

-- language:dataset(count, {options}) -> a Dataset of random strings with their probabilities.
function Shuffle:dataset(count, options)
  options = sample_options(options)
  if type(count) ~= 'number' or count < 1 or count % 1 ~= 0 then
    fail('expected a number of strings, 1 or more, got %s', tostring(count))
  end
  local low, high = options.lengths[1], options.lengths[2]
  if #options.lengths ~= 2 or low > high then fail 'lengths must be {lowest, highest}' end
  check_length(low)
  check_length(high)
  local walks = options.distribution == 'walk'
  if walks and (options.open <= 0 or options.open >= 1) then
    fail('open must be above 0 and below 1, got %g', options.open)
  end
  local lengths = {}
  for length = math.max(2, low), high do
    if length % 2 == 0 then lengths[#lengths + 1] = length end
  end
  if #lengths == 0 then fail('there are no strings of lengths %d to %d', low, high) end
  local random, strings, log_probabilities = generator(options.seed), {}, {}
  for i = 1, count do
    local length = lengths[math.floor(#lengths * random()) + 1]
    local symbols, log_probability
    if walks then
      symbols, log_probability = self:_walk(random, length, options)
    else
      symbols, log_probability = self:_uniform(random, length), -self:log_count(length)
    end
    strings[i], log_probabilities[i] = table.concat(symbols, ' '), log_probability - math.log(#lengths)
  end
  return pd.task.dataset { alphabet = self:alphabet(), strings = strings, log_probabilities = log_probabilities }
end

-- language:labelled(strings) -> a LabelledDataset of these strings, with the labels and, for valid strings, the sets of
-- next symbols of the language.
function Shuffle:labelled(strings)
  if type(strings) == 'userdata' then strings = strings:strings() end
  local labels, sets = {}, {}
  for i, string in ipairs(strings) do
    local symbols, found = words_of(string), {}
    labels[i] = self:contains(symbols)
    if labels[i] then
      local prefix = {}
      for t = 0, #symbols do
        prefix[t] = symbols[t]
        found[t + 1] = self:next_symbols(prefix)
      end
    end
    sets[i] = found
  end
  return pd.task.labelled_dataset { alphabet = self:alphabet(), strings = strings, labels = labels,
    next_symbols = sets }
end

local shuffle_options = pd._options.declare('languages.shuffle_dyck', {
  { 'types', 2, 'number k of Dyck languages, each with brackets of its own', minimum = 1, maximum = 1000 },
})

-- The names of grammars/dyck.lua.
local keyboard = { { '(', ')' }, { '[', ']' }, { '{', '}' }, { '<', '>' } }

-- languages.shuffle_dyck{options} -> k-Shuffle Dyck: the shuffles of k Dyck languages, each over brackets of its own,
-- but not the empty string. Every type of bracket is balanced by itself, so brackets of different types may cross: ( [
-- ) ]. For k = 1 it is Dyck-1; for k >= 2 it is not context-free, because its strings of the form (* [* )* ]* are
-- those with (^m [^n )^m ]^n. Suzgun et al. (2019) count with it, Papadimitriou and Jurafsky (2023) and Hu et al.
-- (2025) train models on crossing brackets before natural language. Methods: alphabet(), contains(string),
-- next_symbols(prefix), log_count(length), dataset(count, {lengths =, distribution =, open =, deepest =, seed =}) and
-- labelled(strings). With distribution = 'walk' each symbol opens a bracket of a random type with probability `open`
-- or closes one of a random type that is open, as in the program of Hu et al. (src/grammar.py: open = 0.5, deepest =
-- 16, 64 types, length 2048); theirs cuts strings at the length, ours closes all brackets before it.
function M.shuffle_dyck(options)
  options = shuffle_options(options)
  local self = setmetatable({ types = options.types, opening = {}, closing = {}, _steps = {}, _logs = {} }, Shuffle)
  for type_of = 1, options.types do
    local names = keyboard[type_of] or { '(' .. type_of, ')' .. type_of }
    self.opening[type_of], self.closing[type_of] = names[1], names[2]
    self._steps[names[1]], self._steps[names[2]] = { type = type_of, step = 1 }, { type = type_of, step = -1 }
  end
  return self
end

return M
