-- Languages of FLaRe whose strings are a part that is free and a part that is computed from it: a string and its image
-- behind a mark, two numbers and their sum or product, a number and its root, a string twice with one symbol missing.
-- Butoi et al. (2025) describe them; how long the parts are, how numbers are drawn and that their lowest digits come
-- first is taken from the paper's program (rycolab/neural-network-recognizers, src/recognizers/hand_picked_languages).
-- Different from it: the length of a whole string is uniform, and roots are exact. The program takes the root of a
-- number in double precision, which is wrong for many numbers of more than 52 digits; `published` is the language with
-- these labels.
local binary = require 'pushdown.languages.binary'

local bits = { '0', '1' }

local function drawn_symbols(random, alphabet, count)
  local symbols = {}
  for i = 1, count do symbols[i] = alphabet[1 + math.floor(#alphabet * random())] end
  return symbols
end

local function place_of(symbols, wanted)
  for i, symbol in ipairs(symbols) do
    if symbol == wanted then return i end
  end
end

-- ---- w # f(w) ----

local function marked(name, title, symbols, image)
  local alphabet = { unpack(symbols) }
  alphabet[#alphabet + 1] = '#'
  return { name = name, title = title, level = 'context-sensitive', alphabet = alphabet, marks = { ['#'] = true },
    sets = function(string)
      local sets, middle = {}, place_of(string, '#') or math.huge
      local second = middle <= #string and image { unpack(string, 1, middle - 1) }
      for i = 0, #string do sets[i + 1] = i < middle and alphabet or { second[i - middle + 1] or '' } end
      return sets
    end,
    draw = function(random, length)
      if length % 2 == 0 then return nil end
      local string = drawn_symbols(random, symbols, (length - 1) / 2)
      local second = image { unpack(string) }
      string[#string + 1] = '#'
      for _, symbol in ipairs(second) do string[#string + 1] = symbol end
      return string
    end,
  }
end

local function odds_first(symbols)
  local image = {}
  for first = 1, 2 do
    for i = first, #symbols, 2 do image[#image + 1] = symbols[i] end
  end
  return image
end

local function sorted(symbols)
  table.sort(symbols)
  return symbols
end

-- ---- Numbers ----

-- One number drawn from the gamma distribution of an integer shape.
local function gamma(random, shape)
  local sum = 0
  for _ = 1, shape do sum = sum - math.log(1 - random()) end
  return sum
end

-- Divides `digits` into parts of at least one digit, whose shares of the rest have a Dirichlet distribution.
local function parts_of(random, shapes, digits)
  local shares, sum, parts, rest = {}, 0, {}, digits - #shapes
  for i, shape in ipairs(shapes) do
    shares[i] = gamma(random, shape)
    sum = sum + shares[i]
  end
  local share, before = 0, 0
  for i = 1, #shapes do
    share = share + shares[i]
    local here_ends = i == #shapes and rest or math.floor(rest * share / sum)
    parts[i], before = 1 + here_ends - before, here_ends
  end
  return parts
end

-- Numbers with these signs behind them, the last sign '=', and after it the number that `compute` makes of them, which
-- may have zeros behind. draw(random, digits): the numbers, and the digits of all that is written.
local function equation(name, title, signs, compute, draw)
  local alphabet, marks, with_sign, zeros = { '0', '1', unpack(signs) }, {}, {}, { '0', '' }
  for i, sign in ipairs(signs) do marks[sign], with_sign[i] = true, { '0', '1', sign } end
  return { name = name, title = title, level = 'context-sensitive', alphabet = alphabet, marks = marks,
    sets = function(symbols)
      local sets, numbers, first, result = {}, {}, 1, nil  -- of the number, or of the result
      for i = 0, #symbols do
        if result then
          sets[i + 1] = result[i - first + 2] and { result[i - first + 2] } or zeros
        else
          sets[i + 1] = i < first and bits or with_sign[#numbers + 1]
          if symbols[i + 1] == signs[#numbers + 1] then
            numbers[#numbers + 1], first = binary.read(symbols, first, i), i + 2
            if #numbers == #signs then
              local number = compute(unpack(numbers))
              result = binary.write({}, number, math.max(1, #number))
            end
          end
        end
      end
      return sets
    end,
    draw = function(random, length)
      if length < 2 * #signs + 1 then return nil end
      local numbers, digits = draw(random, length - #signs)
      local symbols = {}
      for i, sign in ipairs(signs) do
        binary.write(symbols, numbers[i], digits[i])
        symbols[#symbols + 1] = sign
      end
      return binary.write(symbols, compute(unpack(numbers)), digits[#digits])
    end,
  }
end

-- Two numbers in any order. largest(most, x): the largest number that may follow x so that the result is at most
-- `most`, nil if there is none.
local function operation(name, title, sign, shapes, compute, largest)
  return equation(name, title, { sign, '=' }, compute, function(random, digits)
    local parts = parts_of(random, shapes, digits)
    if parts[1] > parts[2] then parts[1], parts[2] = parts[2], parts[1] end
    local most = binary.ones(parts[3])
    local function up_to(limit, count)
      local ones = binary.ones(count)
      return binary.draw(random, limit and binary.least(limit, ones) or ones)
    end
    local x = up_to(largest(most, {}), parts[1])
    local y = up_to(largest(most, x), parts[2])
    if random() < 0.5 then return { x, y }, parts end
    return { y, x }, { parts[2], parts[1], parts[3] }
  end)
end

local function root_by(root)
  return equation('compute_sqrt', 'Compute Sqrt', { '=' }, root, function(random, digits)
    local parts = parts_of(random, { 2, 1 }, digits)
    return { binary.draw(random, binary.ones(math.min(parts[1], 2 * parts[2]))) }, parts
  end)
end

local square_root = root_by(binary.root)
square_root.published = root_by(binary.double_root)

-- ---- w w with one 1 missing ----

local function in_missing_duplicate(symbols)
  local half, missing = #symbols / 2, place_of(symbols, '_')
  if half % 1 ~= 0 or not missing then return false end
  local whole = { unpack(symbols) }
  whole[missing] = '1'
  for i = 1, half do
    if whole[i] ~= whole[half + i] or whole[i] == '_' then return false end
  end
  return true
end

local missing_duplicate = { name = 'missing_duplicate_string', title = 'Missing Duplicate', level = 'context-sensitive',
  alphabet = { '0', '1', '_' }, marks = { _ = true }, contains = in_missing_duplicate,
  sets = function(symbols)
    local sets, missing, prefix = {}, place_of(symbols, '_') or math.huge, {}
    for i = 0, #symbols do
      prefix[i] = symbols[i]
      sets[i + 1] = { '0', '1', i < missing and '_' or in_missing_duplicate(prefix) and '' or nil }
    end
    return sets
  end,
  draw = function(random, length)
    if length == 0 or length % 2 == 1 then return nil end
    local half, ones = length / 2, {}
    local symbols = drawn_symbols(random, bits, half)
    symbols[1 + math.floor(half * random())] = '1'
    for i = 1, half do
      symbols[half + i] = symbols[i]
      if symbols[i] == '1' then ones[#ones + 1], ones[#ones + 2] = i, half + i end
    end
    symbols[ones[1 + math.floor(#ones * random())]] = '_'
    return symbols
  end,
}

return {
  marked('marked_copy', 'Marked Copy', bits, function(symbols) return symbols end),
  missing_duplicate,
  marked('odds_first', 'Odds First', bits, odds_first),
  operation('binary_addition', 'Binary Addition', '+', { 1, 1, 1 }, binary.sum, binary.difference),
  operation('binary_multiplication', 'Binary Multiplication', '×', { 1, 1, 2 }, binary.product, function(most, x)
    return #x > 0 and binary.quotient(most, x) or nil
  end),
  square_root,
  marked('bucket_sort', 'Bucket Sort', { '1', '2', '3', '4', '5' }, sorted),
}
