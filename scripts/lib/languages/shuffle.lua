-- k-Shuffle Dyck (languages.shuffle_dyck): its strings are counted, sampled and recognized exactly.
local bracket_pair = require 'pushdown.grammar.brackets'
local pd = require 'pushdown'
local processes = require 'pushdown.languages.processes'
local random_numbers = require 'pushdown.languages.random'

local function fail(form, ...) error('[languages.shuffle_dyck] ' .. form:format(...), 0) end

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

-- ln a_k(n) for n from 0 to `pairs_of`, as a table by n.
local function counts(language, types, pairs_of)
  local own = language.counts[types] or {}
  language.counts[types] = own
  if own[pairs_of] then return own end
  if types == 1 then
    for n = 0, pairs_of do own[n] = -log_factorial(n) - log_factorial(n + 1) end
    return own
  end
  local half = math.floor(types / 2)
  local left, right = counts(language, half, pairs_of), counts(language, types - half, pairs_of)
  for n = own[0] and #own + 1 or 0, pairs_of do
    local largest, sum = -math.huge, 0
    for i = 0, n do largest = math.max(largest, left[i] + right[n - i]) end
    for i = 0, n do sum = sum + math.exp(left[i] + right[n - i] - largest) end
    own[n] = largest + math.log(sum)
  end
  return own
end

-- Draws how many pairs each type from `first` on has, uniformly over the strings.
local function draw_pairs(language, random, types, pairs_of, first, drawn)
  if types == 1 then
    drawn[first] = pairs_of
    return
  end
  local half = math.floor(types / 2)
  local left, right = counts(language, half, pairs_of), counts(language, types - half, pairs_of)
  local total, left_over, chosen = counts(language, types, pairs_of)[pairs_of], random(), pairs_of
  for i = 0, pairs_of do
    left_over = left_over - math.exp(left[i] + right[pairs_of - i] - total)
    if left_over < 0 then
      chosen = i
      break
    end
  end
  draw_pairs(language, random, half, chosen, first, drawn)
  draw_pairs(language, random, types - half, pairs_of - chosen, first + half, drawn)
end

-- A string of this length, all with the same probability.
local function uniform(language, random, length)
  local pairs_of, order = {}, {}
  draw_pairs(language, random, language.types, length / 2, 1, pairs_of)
  for type_of = 1, language.types do
    for _ = 1, 2 * pairs_of[type_of] do order[#order + 1] = type_of end
  end
  for i = length, 2, -1 do
    local other = math.floor(i * random()) + 1
    order[i], order[other] = order[other], order[i]
  end
  local depths, left = {}, {}
  for type_of = 1, language.types do depths[type_of], left[type_of] = 0, 2 * pairs_of[type_of] end
  local symbols = {}
  for t, type_of in ipairs(order) do
    local depth, more = depths[type_of], left[type_of]
    -- The share of the completions of this type that open a bracket now.
    local opens = random() < (depth + 2) * (more - depth) / (2 * more * (depth + 1))
    depths[type_of], left[type_of] = depth + (opens and 1 or -1), more - 1
    symbols[t] = (opens and language.opening or language.closing)[type_of]
  end
  return symbols
end

-- ---- Methods ----

local Shuffle = {}

local function check_length(length)
  if type(length) ~= 'number' or length % 1 ~= 0 or length < 0 or length > most then
    fail('a length must be an integer from 0 to %d, got %s', most, tostring(length))
  end
end

-- language:log_count(length) -> the natural logarithm of the number of strings of this length, -inf if there are none.
function Shuffle:log_count(length)
  check_length(length)
  if length % 2 == 1 or length == 0 then return -math.huge end
  local language = self._definition
  return counts(language, language.types, length / 2)[length / 2] + log_factorial(length)
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
  local random, strings, log_probabilities = random_numbers.blocks(options.seed), {}, {}
  for i = 1, count do
    local length = lengths[math.floor(#lengths * random()) + 1]
    local symbols, log_probability
    if walks then
      symbols, log_probability = processes.drawn(self._definition.walk(length, options), random)
    else
      symbols, log_probability = uniform(self._definition, random, length), -self:log_count(length)
    end
    strings[i], log_probabilities[i] = table.concat(symbols, ' '), log_probability - math.log(#lengths)
  end
  return pd.task.dataset { alphabet = self:alphabet(), strings = strings, log_probabilities = log_probabilities }
end

local function definition(types)
  local opening, closing, alphabet, steps = {}, {}, {}, {}
  for type_of = 1, types do
    local open, close = bracket_pair(type_of)
    opening[type_of], closing[type_of], steps[open], steps[close] = open, close, { type_of, 1 }, { type_of, -1 }
    alphabet[2 * type_of - 1], alphabet[2 * type_of] = open, close
  end
  -- With a length, the process is the walk of this length, and its outcomes have probabilities.
  local function walk(length, options)
    local depths, depth, open_now, read, opens, closes = {}, 0, 0, 0, {}, {}
    for type_of = 1, types do
      depths[type_of], opens[type_of], closes[type_of] = 0, { opening[type_of] }, { closing[type_of] }
    end
    local process = {}
    function process.next()
      local outcomes, share = {}, depth == 0 and 1 or 0  -- of the opening brackets
      if length and depth > 0 and depth < length - read and depth < options.deepest then share = options.open end
      for type_of = 1, types do
        opens[type_of][2], closes[type_of][2] = share / types, (1 - share) / open_now
        if not length or read < length and share > 0 then outcomes[#outcomes + 1] = opens[type_of] end
        if depths[type_of] > 0 and share < 1 then outcomes[#outcomes + 1] = closes[type_of] end
      end
      if depth == 0 and read > 0 and (not length or read == length) then outcomes[#outcomes + 1] = { '', 1 } end
      return outcomes
    end
    function process.read(symbol)
      local type_of, step = unpack(steps[symbol])
      if depths[type_of] == (step < 0 and 1 or 0) then open_now = open_now + step end
      depths[type_of], depth, read = depths[type_of] + step, depth + step, read + 1
    end
    return process
  end
  local language = { name = 'shuffle_dyck', title = ('Shuffle of %d Dyck language%s'):format(types, types == 1 and ''
    or 's'), level = types == 1 and 'context-free' or 'context-sensitive', alphabet = alphabet, walk = walk,
    types = types, opening = opening, closing = closing, counts = {} }
  function language.draw(random, length)
    return length % 2 == 0 and length > 0 and uniform(language, random, length) or nil
  end
  return language
end

return { definition = definition, methods = Shuffle }
