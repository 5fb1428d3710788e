-- k-Shuffle Dyck against other sources: lists of all strings, a grammar for k = 1, and the frequencies of samples.
local pd = require 'pushdown'
local test = require 'pushdown.test'

-- All strings of a length over the alphabet, as lists.
local function all_strings(alphabet, length)
  local strings = { {} }
  for _ = 1, length do
    local longer = {}
    for _, string in ipairs(strings) do
      for _, symbol in ipairs(alphabet) do
        local copy = { unpack(string) }
        copy[#copy + 1] = symbol
        longer[#longer + 1] = copy
      end
    end
    strings = longer
  end
  return strings
end

-- Whether what is left of each type alone is balanced: the definition.
local function is_shuffle(symbols, alphabet)
  for i = 1, #alphabet, 2 do
    local rest = ''
    for _, symbol in ipairs(symbols) do
      if symbol == alphabet[i] then rest = rest .. '(' elseif symbol == alphabet[i + 1] then rest = rest .. ')' end
    end
    local before
    repeat
      before = rest
      rest = rest:gsub('%(%)', '')
    until rest == before
    if rest ~= '' then return false end
  end
  return true
end

test('membership, counts and next symbols against all strings', function()
  for types, longest in pairs { [1] = 10, [2] = 6, [3] = 4 } do
    local language = pd.languages.shuffle_dyck { types = types }
    local alphabet, followed = language:alphabet(), {}
    for length = 1, longest do
      local count = 0
      for _, symbols in ipairs(all_strings(alphabet, length)) do
        local expected = is_shuffle(symbols, alphabet)
        test.equal(language:contains(symbols), expected)
        if expected then
          count = count + 1
          for t = 0, length do
            local prefix = table.concat(symbols, ' ', 1, t)
            followed[prefix] = followed[prefix] or {}
            followed[prefix][symbols[t + 1] or ''] = true
          end
        end
      end
      test.near(math.exp(language:log_count(length)), count, 1e-9)
    end
    -- Every set of a prefix of half the length is complete: open brackets can still be closed.
    for prefix, symbols in pairs(followed) do
      if #pd.tables.matches(prefix, '%S+') < longest / 2 then
        local found = language:next_symbols(prefix)
        test.equal(#found, #pd.tables.keys(symbols), prefix)
        for _, symbol in ipairs(found) do assert(symbols[symbol], prefix .. ' ' .. symbol) end
      end
    end
  end
  local language = pd.languages.shuffle_dyck {}
  test.equal(table.concat(language:next_symbols '( [', ','), '(,),[,]')
  test.equal(table.concat(language:next_symbols '( [ ) ]', ','), '(,[,')
  test.equal(#language:next_symbols '( ] )', 0)
  test.equal(#language:next_symbols(), 2)
  test.equal(language:contains '', false)
end)

test('one type is the Dyck language of a grammar', function()
  local language, grammar = pd.languages.shuffle_dyck { types = 1 }, pd.grammar.load('dyck', { bracket_types = 1 })
  for _, string in ipairs(language:dataset(50, { lengths = { 2, 30 }, seed = 3 }):strings()) do
    assert(grammar:contains(string), string)
  end
  -- Catalan numbers.
  test.near(language:log_count(40), math.log(6564120420), 1e-9)
end)

-- The largest difference between the frequencies of strings in a dataset and their probabilities.
local function worst(dataset)
  local counts, probabilities, logs = {}, {}, dataset:log_probabilities()
  for i, string in ipairs(dataset:strings()) do
    counts[string] = (counts[string] or 0) + 1
    if probabilities[string] then test.near(probabilities[string], math.exp(logs[i]), 1e-9) end
    probabilities[string] = math.exp(logs[i])
  end
  local largest, mass = 0, 0
  for string, count in pairs(counts) do
    local p = probabilities[string]
    largest = math.max(largest, math.abs(count / dataset:size() - p) / math.sqrt(p * (1 - p) / dataset:size()))
    mass = mass + p
  end
  return largest, mass
end

test('samples have the probabilities that are returned with them', function()
  local language = pd.languages.shuffle_dyck { types = 3 }
  for _, options in ipairs { { lengths = { 4, 4 }, seed = 1 }, { lengths = { 1, 5 }, seed = 2 },
    { lengths = { 4, 4 }, distribution = 'walk', open = 0.3, seed = 3 },
    { lengths = { 6, 6 }, distribution = 'walk', deepest = 1, seed = 4 } } do
    local dataset = language:dataset(20000, options)
    local largest, mass = worst(dataset)
    assert(largest < 4.5, largest)  -- standard deviations; there are at most 1,000 strings
    test.near(mass, 1, 1e-9)
    for _, string in ipairs(dataset:strings()) do assert(language:contains(string), string) end
  end
  local function drawn() return table.concat(language:dataset(20, { lengths = { 2, 60 }, seed = 1 }):strings(), '|') end
  test.equal(drawn(), drawn())
  test.near(language:dataset(20, { lengths = { 4, 4 } }):lower_bound(), language:log_count(4) / 4, 1e-9)
end)

test('long strings of many types', function()
  local language = pd.languages.shuffle_dyck { types = 64 }
  for _, distribution in ipairs { 'uniform', 'walk' } do
    local dataset = language:dataset(2, { lengths = { 600, 600 }, distribution = distribution })
    for i, string in ipairs(dataset:strings()) do
      assert(language:contains(string))
      test.equal(dataset:lengths()[i], 600)
    end
  end
  assert(table.concat(language:alphabet(), ' '):find('< > (5 )5', 1, true))
end)

test('labels and sets of next symbols for recognizers', function()
  local language = pd.languages.shuffle_dyck {}
  local data = language:labelled { '( [ ) ]', '( [ )', ') (' }
  test.equal(data:positives(), 1)
  local sets = data:next_symbols()
  test.equal(table.concat(sets[1][3], ','), '(,),[,]')
  test.equal(table.concat(sets[1][5], ','), '(,[,')
  test.equal(#sets[2], 0)
end)

test('what is refused', function()
  local language = pd.languages.shuffle_dyck {}
  test.fails("'x' is not in the alphabet; the symbols are %( %) %[ %]", function() language:contains 'x' end)
  test.fails('there are no strings of lengths 3 to 3', function() language:dataset(1, { lengths = { 3, 3 } }) end)
  test.fails('lengths must be {lowest, highest}', function() language:dataset(1, { lengths = { 4, 2 } }) end)
  test.fails('a length must be an integer from 0 to 10000, got 10002', function() language:log_count(10002) end)
  test.fails('open must be above 0 and below 1', function()
    language:dataset(1, { lengths = { 2, 2 }, distribution = 'walk', open = 1 })
  end)
  test.fails('expected a number of strings, 1 or more, got nil', function()
    language:dataset(nil, { lengths = { 2, 2 } })
  end)
  test.fails('types', function() pd.languages.shuffle_dyck { types = 0 } end)
end)

test.finish()
