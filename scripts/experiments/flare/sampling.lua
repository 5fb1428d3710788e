-- Labelled strings of a language, as the program of Butoi et al. (2025) makes them (rycolab/neural-network-
-- recognizers, src/recognizers/string_sampling/sample_dataset.py). Each is valid with probability 1/2. Valid ones
-- have a length drawn uniformly from the lengths that have strings. Of the invalid ones one half are uniform symbols
-- of a uniform length, the other half new valid strings after K edits, P(K = k) = 1/2^k. An edit is an insertion, a
-- replacement by another symbol or a deletion anywhere; those that would leave the lengths are not drawn. Strings in
-- the language are discarded.
local pd = require 'pushdown'

local tries = 10000  -- for a string

-- generator(seed) -> function that returns numbers in [0, 1), all from the seed: the generator of Park and Miller.
local function generator(seed)
  local state = seed % 2147483646 + 1
  return function()
    state = state * 16807 % 2147483647
    return (state - 1) / 2147483646
  end
end

local function words(text) return pd.tables.matches(text, '%S+') end

local function valid_strings(language, count, lengths, seed, random)
  local strings = {}
  if language.grammar then
    local drawn = language.grammar():sampler { lengths = lengths }:dataset(count, { seed = seed, batch = 1 })
    for i, string in ipairs(drawn:strings()) do strings[i] = type(string) == 'table' and string or words(string) end
    return strings
  end
  for i = 1, count do
    -- Not every length has strings.
    for _ = 1, tries do
      strings[i] = language.draw(random, lengths[1] + math.floor((lengths[2] - lengths[1] + 1) * random()))
      if strings[i] then break end
    end
    if not strings[i] then
      error(('%s has no strings of length %d to %d'):format(language.name, lengths[1], lengths[2]), 0)
    end
  end
  return strings
end

-- fresh_strings(language, lengths, seed, random) -> function that returns one new valid string after the other, each a
-- list of symbols.
local function fresh_strings(language, lengths, seed, random)
  local strings, used, batch = {}, 0, 200
  return function()
    if used == #strings then
      seed, used = seed + 1, 0
      strings = valid_strings(language, batch, lengths, seed, random)
    end
    used = used + 1
    return strings[used]
  end
end

local function edited(symbols, alphabet, lengths, random)
  local copy = { unpack(symbols) }
  local function place(count) return 1 + math.floor(count * random()) end
  repeat
    local kinds = {}
    if #copy < lengths[2] then kinds[#kinds + 1] = 'insert' end
    if #copy > 0 and #alphabet > 1 then kinds[#kinds + 1] = 'replace' end
    if #copy > lengths[1] then kinds[#kinds + 1] = 'delete' end
    local kind = kinds[place(#kinds)]
    if kind == 'insert' then
      table.insert(copy, place(#copy + 1), alphabet[place(#alphabet)])
    elseif kind == 'replace' then
      local where, others = place(#copy), {}
      for _, symbol in ipairs(alphabet) do
        if symbol ~= copy[where] then others[#others + 1] = symbol end
      end
      copy[where] = others[place(#others)]
    elseif kind == 'delete' then
      table.remove(copy, place(#copy))
    end
  until random() < 0.5
  return copy
end

-- A LabelledDataset of strings of the language's alphabet, with the sets of next symbols of the valid ones if they are
-- wanted. A grammar lists its symbols in an order of its own.
local function labelled(language, strings, labels, next_symbols)
  local function dataset(alphabet, sets)
    return pd.task.labelled_dataset { alphabet = alphabet, strings = strings, labels = labels, next_symbols = sets }
  end
  if not next_symbols then return dataset(language.alphabet) end
  local sets = {}
  if language.grammar then
    local grammar = language.grammar()
    sets = dataset(grammar:alphabet()):with_next_symbols(grammar):next_symbols()
  else
    for i, string in ipairs(strings) do sets[i] = labels[i] and language.next(words(string)) or {} end
  end
  return dataset(language.alphabet, sets)
end

-- sample(language, count, { shortest, longest }, seed, next_symbols) -> LabelledDataset. next_symbols: whether the
-- dataset has the sets of symbols that may follow each prefix of a valid string.
local function sample(language, count, lengths, seed, next_symbols)
  local random = generator(seed)
  for _ = 1, 10 do random() end
  local alphabet, strings, labels, positives = language.alphabet, {}, {}, 0
  for i = 1, count do
    labels[i] = random() < 0.5
    if labels[i] then positives = positives + 1 end
  end
  local valid = positives > 0 and valid_strings(language, positives, lengths, seed, random) or {}
  local fresh = fresh_strings(language, lengths, seed, random)
  local function invalid()
    for _ = 1, tries do
      local symbols = {}
      if random() < 0.5 then
        symbols = edited(fresh(), alphabet, lengths, random)
      else
        for i = 1, lengths[1] + math.floor((lengths[2] - lengths[1] + 1) * random()) do
          symbols[i] = alphabet[1 + math.floor(#alphabet * random())]
        end
      end
      if not language.contains(symbols) then return symbols end
    end
    error(('no invalid string of %s of length %d to %d was found in %d tries'):format(language.name, lengths[1],
      lengths[2], tries), 0)
  end
  for i = 1, count do
    strings[i] = table.concat(labels[i] and table.remove(valid) or invalid(), ' ')
  end
  return labelled(language, strings, labels, next_symbols)
end

-- join(language, sets, next_symbols) -> the strings of several LabelledDatasets as one; next_symbols as in sample.
local function join(language, sets, next_symbols)
  local strings, labels = {}, {}
  for _, set in ipairs(sets) do
    local of_set = set:labels()
    for i, string in ipairs(set:strings()) do
      strings[#strings + 1], labels[#labels + 1] = type(string) == 'table' and table.concat(string, ' ') or string,
        of_set[i]
    end
  end
  return labelled(language, strings, labels, next_symbols)
end

return { sample = sample, join = join, generator = generator, fresh_strings = fresh_strings }
