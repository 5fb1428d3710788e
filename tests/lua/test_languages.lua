-- pd.languages: every language against a rule of its own on all short strings; labelled strings and hard negatives;
-- binary numbers; the probabilities of shuffled Dyck languages.
-- label: long
local binary = require 'pushdown.languages.binary'
local pd = require 'pushdown'
local random_numbers = require 'pushdown.languages.random'
local test = require 'pushdown.test'

local rules = dofile(pd.root .. '/tests/lua/language_rules.lua')

local all, languages = {}, {}  -- those of load(), by number and by name
for i, name in ipairs(pd.languages.list()) do
  all[i] = pd.languages.load(name)
  languages[name] = all[i]
end

local function words(text) return pd.tables.matches(text, '%S+') end
local function joined(text) return (text:gsub(' ', '')) end

local function set_of(symbols)
  local set = {}
  for _, symbol in ipairs(symbols) do set[symbol] = true end
  return set
end

-- Lists of all symbols that follow each prefix of the strings of a language up to this length, by the rule.
local function strings_of(language, rule, longest)
  local strings, follow, counts = {}, {}, {}
  test.each_string(language:alphabet(), longest, function(symbols)
    local valid = rule(table.concat(symbols))
    if language:contains(symbols) ~= valid then
      error(('%s: %s'):format(language.name, table.concat(symbols, ' ')))
    end
    if not valid then return end
    strings[#strings + 1], counts[#symbols] = table.concat(symbols, ' '), (counts[#symbols] or 0) + 1
    for i = 0, #symbols do
      local prefix = table.concat(symbols, ' ', 1, i)
      follow[prefix] = follow[prefix] or {}
      follow[prefix][symbols[i + 1] or ''] = true
    end
  end)
  return strings, follow, counts
end

test('membership and next symbols are those of a rule, on all short strings', function()
  local cases, checked = {}, 0
  for i, language in ipairs(all) do cases[i] = { language, rules[language.name] } end
  for types = 1, 3 do cases[#cases + 1] = { pd.languages.shuffle_dyck { types = types }, rules.shuffle_dyck } end
  cases[#cases + 1] = { pd.languages.nested { brackets = { '()', '[]' }, nest = 0.3 }, rules.dyck_2 }
  cases[#cases + 1] = { pd.languages.counting { letters = { 'a', 'b', 'c' }, drawn = 2, multiples = { 1 }, stop = 0.3 },
    function(text)
      local a, b, c = text:match '^(a+)(b+)(c+)$'
      return a ~= nil and #a + #b == #c
    end }
  for _, case in ipairs(cases) do
    local language, rule = unpack(case)
    local longest = ({ [2] = 10, [3] = 8, [4] = 7, [5] = 6, [6] = 5, [7] = 5 })[#language:alphabet()] or 4
    local strings, follow = strings_of(language, rule, longest)
    local sets = language:labelled(strings):next_symbols()
    for i, string in ipairs(strings) do
      local symbols = words(string)
      test.equal(#sets[i], #symbols + 1)
      for t, set in ipairs(sets[i]) do
        local found, prefix = set_of(set), table.concat(symbols, ' ', 1, t - 1)
        for symbol in pairs(follow[prefix]) do assert(found[symbol], language.name .. ': ' .. prefix) end
        test.equal(found[''], follow[prefix][''], language.name .. ': ' .. prefix)
        if t <= 2 then
          -- What follows a short prefix is in some short string.
          for symbol in pairs(#symbols > 4 and found or {}) do
            assert(follow[prefix][symbol], language.name .. ': ' .. prefix)
          end
          local next_symbols = set_of(language:next_symbols(prefix))
          for symbol in pairs(pd.tables.merged(found, next_symbols)) do
            test.equal(next_symbols[symbol], found[symbol], language.name .. ': ' .. prefix)
          end
        end
        checked = checked + 1
      end
    end
  end
  assert(checked > 10000, checked)
  local language = pd.languages.shuffle_dyck {}
  test.equal(table.concat(language:next_symbols '( [', ','), '(,),[,]')
  test.equal(table.concat(language:next_symbols '( [ ) ]', ','), '(,[,')
  test.equal(#language:next_symbols '( ] )', 0)
  test.equal(#languages.marked_reversal:next_symbols '0 # 1', 0)
  test.equal(#language:next_symbols(), 2)
  test.equal(tostring(language), 'Shuffle of 2 Dyck languages: ( ) [ ]')
end)

-- How often each symbol occurs.
local function counts(symbols)
  local out = {}
  for _, symbol in ipairs(symbols) do out[symbol] = (out[symbol] or 0) + 1 end
  return out
end

test('strings are labelled by the language, about half of them valid, of all lengths', function()
  for _, language in ipairs(all) do
    local set, rule = language:sample(401, { 0, 60 }, 7, true), rules[language.name]
    local labels, sets, shortest, longest, valid = set:labels(), set:next_symbols(), math.huge, 0, 0
    test.equal(table.concat(set:alphabet():symbols(), ' '), table.concat(language:alphabet(), ' '))
    for i, string in ipairs(set:strings()) do
      local symbols = words(string)
      -- Ordinary numbers have at most 53 digits.
      if #symbols <= 50 then test.equal(labels[i], rule(joined(string)), language.name .. ': ' .. string) end
      test.equal(language:contains(symbols), labels[i])
      test.equal(#sets[i], labels[i] and #symbols + 1 or 0)
      shortest, longest = math.min(shortest, #symbols), math.max(longest, #symbols)
      valid = valid + (labels[i] and 1 or 0)
    end
    test.equal(set:size(), 401)
    assert(math.abs(valid - 200.5) < 40, valid)
    assert(shortest <= 3 and longest >= 55 and longest <= 60, language.name)
    test.equal(table.concat(language:sample(20, { 0, 9 }, 1):strings(), '/'),
      table.concat(language:sample(20, { 0, 9 }, 1):strings(), '/'))
  end
end)

test('hard negatives have the lengths, counts and marks of the strings of the language', function()
  for _, language in ipairs(all) do
    if language.counted then
      test.fails(language.name .. ' has no hard negatives', function() language:hard_negatives(1, { 0, 9 }, 1, 1) end)
    else
      local set, marks, rule = language:hard_negatives(40, { 0, 40 }, 4, 0.5), { {}, {} }, rules[language.name]
      for i, string in ipairs(set:strings()) do
        test.equal(set:labels()[i], i > 20)
        test.equal(rule(joined(string)), i > 20, language.name .. ': ' .. string)
        local count = 0
        for _, symbol in ipairs(words(string)) do count = count + ((language.marks or {})[symbol] and 1 or 0) end
        marks[i > 20 and 1 or 2][count] = true
      end
      for count in pairs(marks[2]) do assert(marks[1][count], language.name) end
    end
  end
  local near, far, reversal = 0, 0, languages.marked_reversal
  for i, string in ipairs(reversal:hard_negatives(300, { 0, 40 }, 5, 1):strings()) do
    local symbols, mismatches, count = words(string), {}, counts(words(string))
    test.equal(reversal:grammar():contains(string), false)
    test.equal(symbols[(#symbols + 1) / 2] .. count['#'], '#1')
    test.equal((count['0'] or 0) % 2 + (count['1'] or 0) % 2, 0)
    for k = 1, (#symbols - 1) / 2 do
      if symbols[k] ~= symbols[#symbols + 1 - k] then mismatches[#mismatches + 1] = k end
    end
    test.equal(#mismatches, 2, i)
    if mismatches[2] == mismatches[1] + 1 then near = near + 1 else far = far + 1 end
  end
  assert(near > 100 and far > 60, near)
  for _, string in ipairs(languages.dyck_2_3:hard_negatives(300, { 2, 60 }, 6, 1):strings()) do
    local count = counts(words(string))
    test.equal(count['('], count[')'])
    test.equal(count['['], count[']'])
  end
  -- The others are of the language, and the seed decides all.
  local function text(seed)
    local mixed = languages.dyck_2_3:hard_negatives(40, { 0, 20 }, seed, 0.25)
    test.equal(mixed:positives(), 30)
    return table.concat(mixed:strings(), '/')
  end
  test.equal(text(7), text(7))
  assert(text(8) ~= text(7))
  test.fails('no hard negative of marked_reversal of length 0 to 3', function()
    reversal:hard_negatives(1, { 0, 3 }, 1, 1)
  end)
end)

test('reflections of a square find most hard negatives of reversals', function()
  local reflections = { ['0'] = { 2, 1, 4, 3 }, ['1'] = { 3, 2, 1, 4 }, ['#'] = { 1, 2, 3, 4 } }
  for _, name in ipairs { 'marked_reversal', 'unmarked_reversal' } do
    local set, right = languages[name]:hard_negatives(400, { 0, 100 }, 7, 0.5), 0
    local labels = set:labels()
    for i, string in ipairs(set:strings()) do
      local corner = 1
      for _, symbol in ipairs(words(string)) do corner = reflections[symbol][corner] end
      -- Every string of the language passes.
      assert(corner == 1 or not labels[i], string)
      right = right + ((corner == 1) == labels[i] and 1 or 0)
    end
    assert(right > 330 and right < 380, right)
  end
end)

test('languages without a grammar draw strings of every length that they have, also long ones', function()
  for _, language in ipairs(all) do
    if not language:grammar() then
      local random, lengths = random_numbers.park_miller(5), {}
      for length = 0, 120 do
        local found, drawn = pcall(language.draw, language, 1, { lengths = { length, length }, random = random })
        if found then
          test.equal(#drawn[1], length)
          assert(language:contains(drawn[1]), language.name .. ': ' .. table.concat(drawn[1], ' '))
          lengths[#lengths + 1] = length
        else
          assert(drawn:find('has no strings of length', 1, true), drawn)
        end
      end
      -- Three digits and a sign, five digits and two signs, or every second length.
      test.equal(#lengths, ({ compute_sqrt = 118, binary_addition = 116, binary_multiplication = 116 })[language.name]
        or 60, language.name)
    end
  end
  test.fails('no strings', function() languages.marked_reversal:sample(4, { 2, 2 }, 1) end)
end)

test('edits keep the lengths and replace a symbol by another one', function()
  local ones = pd.languages.new { name = 'ones', alphabet = { '0', '1' }, draw = function(_, length)
    return words(('1 '):rep(length))
  end, contains = function(symbols) return not table.concat(symbols):find '0' end }
  local one_edit = 0
  for _, string in ipairs(ones:sample(400, { 2, 5 }, 3):strings()) do
    local symbols = words(string)
    assert(#symbols >= 2 and #symbols <= 5, string)
    if select(2, string:gsub('0', '')) == 1 then one_edit = one_edit + 1 end
  end
  assert(one_edit > 60, one_edit)
  -- Nothing can be edited: a single symbol, and a single length.
  test.fails('no invalid string', function()
    pd.languages.new({ name = 'all', alphabet = { 'a' }, draw = function() return { 'a' } end,
      contains = function() return true end }):sample(4, { 1, 1 }, 1)
  end)
end)

test('strings of several datasets are joined', function()
  local dyck = languages.dyck_2
  local a, b = dyck:sample(10, { 0, 9 }, 1), dyck:sample(5, { 0, 9 }, 2)
  local both = dyck:join({ a, b }, true)
  test.equal(both:size() .. ' ' .. both:positives(), '15 ' .. a:positives() + b:positives())
  test.equal(both:strings()[12], b:strings()[2])
  test.equal(both:labels()[12], b:labels()[2])
  test.equal(#both:next_symbols(), 15)
end)

test('numbers of any size: the root, the quotient and the product of 400 digits fit together', function()
  local random = random_numbers.park_miller(9)
  for _ = 1, 40 do
    local a, b = binary.draw(random, binary.ones(400)), binary.draw(random, binary.ones(150))
    local q, r = binary.quotient(a, b), binary.root(a)
    local rest = binary.difference(a, binary.product(q, b))
    assert(binary.compare(rest, b) < 0)
    test.equal(binary.compare(binary.sum(binary.product(q, b), rest), a), 0)
    local above = binary.sum(r, { 1 })
    assert(binary.compare(binary.product(r, r), a) <= 0 and binary.compare(binary.product(above, above), a) > 0)
  end
end)

-- The numbers are those of Python: int(math.sqrt(x)) and math.isqrt(x).
test('published labels of Compute Sqrt have the roots of numbers in double precision', function()
  local function root_of(name, number)
    local sum = 0
    for i, bit in ipairs(binary[name](number)) do sum = sum + bit * 2 ^ (i - 1) end
    return sum
  end
  -- 94906267² - 1 has 54 digits; the double next to it is 94906267².
  local below = binary.difference(binary.product(binary.of(94906267), binary.of(94906267)), { 1 })
  test.equal(root_of('root', below), 94906266)
  test.equal(root_of('double_root', below), 94906267)
  test.equal(root_of('root', binary.ones(60)), 2 ^ 30 - 1)
  test.equal(root_of('double_root', binary.ones(60)), 2 ^ 30)
  for _, x in ipairs { 0, 1, 2, 15, 16, 2 ^ 52 - 1, 2 ^ 52 } do
    test.equal(root_of('double_root', binary.of(x)), math.floor(math.sqrt(x)), x)
    test.equal(root_of('root', binary.of(x)), math.floor(math.sqrt(x)), x)
  end
  test.fails('at most 1,023 digits, got 1100', function() binary.double_root(binary.ones(1100)) end)
  local exact = languages.compute_sqrt
  for language, other in pairs { [exact] = exact.published, [exact.published] = exact } do
    local set, agreed = language:sample(60, { 450, 460 }, 3), 0
    for i, string in ipairs(set:strings()) do
      test.equal(language:contains(string), set:labels()[i])
      agreed = agreed + (other:contains(string) == set:labels()[i] and 1 or 0)
    end
    assert(agreed < 60)
  end
end)

-- ---- Shuffled Dyck languages ----

test('strings are counted, and one type is the Dyck language of a grammar', function()
  for types, longest in pairs { [1] = 10, [2] = 8, [3] = 6 } do
    local language = pd.languages.shuffle_dyck { types = types }
    for length, count in pairs(select(3, strings_of(language, rules.shuffle_dyck, longest))) do
      test.near(math.exp(language:log_count(length)), count, 1e-9)
    end
  end
  local language, grammar = pd.languages.shuffle_dyck { types = 1 }, pd.grammar.load('dyck', { bracket_types = 1 })
  for _, string in ipairs(language:dataset(50, { lengths = { 2, 30 }, seed = 3 }):strings()) do
    assert(grammar:contains(string), string)
  end
  -- Catalan numbers.
  test.near(language:log_count(40), math.log(6564120420), 1e-9)
end)

-- The largest difference between the frequencies of strings in a dataset and their probabilities.
local function worst(dataset)
  local frequency, probabilities, logs = counts(dataset:strings()), {}, dataset:log_probabilities()
  for i, string in ipairs(dataset:strings()) do
    if probabilities[string] then test.near(probabilities[string], math.exp(logs[i]), 1e-9) end
    probabilities[string] = math.exp(logs[i])
  end
  local largest, mass = 0, 0
  for string, count in pairs(frequency) do
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

test('a grammar of the folder is a language, with options', function()
  local dyck = pd.languages.load('dyck', { bracket_types = 1 })
  test.equal(table.concat(dyck:next_symbols '( ( )', ' '), '( )')
  local set = dyck:sample(30, { 0, 12 }, 1)
  for i, string in ipairs(set:strings()) do
    test.equal(set:labels()[i], string ~= '' and rules.dyck_2(joined(string)))
  end
end)

test('wrong arguments are errors', function()
  local language = pd.languages.shuffle_dyck {}
  test.fails("'x' is not in the alphabet; the symbols are %( %) %[ %]", function() language:contains 'x' end)
  test.fails("there is no language 'reversal'; there are even_pairs,", function() pd.languages.load 'reversal' end)
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
