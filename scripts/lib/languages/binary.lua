-- Natural numbers of any size as lists of bits, the lowest first, as FLaRe writes them. A list may end in zeros; the
-- functions return lists without them, so that zero is the empty list.
local M = {}

local function trimmed(bits)
  while bits[#bits] == 0 do bits[#bits] = nil end
  return bits
end

-- A number of Lua.
function M.of(number)
  local bits = {}
  while number > 0 do
    bits[#bits + 1] = number % 2
    number = (number - bits[#bits]) / 2
  end
  return bits
end

-- The number of a text of 0s and 1s from symbol `first` to `last`.
function M.read(symbols, first, last)
  local bits = {}
  for i = first, last do bits[#bits + 1] = symbols[i] == '1' and 1 or 0 end
  return trimmed(bits)
end

-- Appends the number to a list of symbols, with zeros up to this many digits, and returns the list.
function M.write(symbols, bits, digits)
  for i = 1, digits do symbols[#symbols + 1] = bits[i] == 1 and '1' or '0' end
  return symbols
end

-- The largest number of this many digits.
function M.ones(digits)
  local bits = {}
  for i = 1, digits do bits[i] = 1 end
  return bits
end

-- -1, 0 or 1, as a is below, equal to or above b.
function M.compare(a, b)
  if #a ~= #b then return #a < #b and -1 or 1 end
  for i = #a, 1, -1 do
    if a[i] ~= b[i] then return a[i] < b[i] and -1 or 1 end
  end
  return 0
end

function M.least(a, b) return M.compare(a, b) < 0 and a or b end

function M.sum(a, b)
  local bits, carry = {}, 0
  for i = 1, math.max(#a, #b) do
    local digit = (a[i] or 0) + (b[i] or 0) + carry
    bits[i], carry = digit % 2, digit >= 2 and 1 or 0
  end
  if carry == 1 then bits[#bits + 1] = 1 end
  return bits
end

-- a - b, where b is at most a.
function M.difference(a, b)
  local bits, borrow = {}, 0
  for i = 1, #a do
    local digit = a[i] - (b[i] or 0) - borrow
    bits[i], borrow = digit % 2, digit < 0 and 1 or 0
  end
  return trimmed(bits)
end

function M.product(a, b)
  local counts, carry = {}, 0
  if #a == 0 or #b == 0 then return {} end
  for i = 1, #a + #b do counts[i] = 0 end
  for i = 1, #a do
    if a[i] == 1 then
      for j = 1, #b do counts[i + j - 1] = counts[i + j - 1] + b[j] end
    end
  end
  for i = 1, #counts do
    local digit = counts[i] + carry
    counts[i], carry = digit % 2, math.floor(digit / 2)
  end
  return trimmed(counts)
end

-- The largest q with q b <= a, for b above zero: long division.
function M.quotient(a, b)
  local bits, rest = {}, {}
  for i = #a, 1, -1 do
    table.insert(rest, 1, a[i])
    trimmed(rest)
    bits[i] = M.compare(rest, b) >= 0 and 1 or 0
    if bits[i] == 1 then rest = M.difference(rest, b) end
  end
  return trimmed(bits)
end

-- The largest r with r r <= a: one digit of r for every two of a, from the top.
function M.root(a)
  local root, rest = {}, {}
  for i = math.ceil(#a / 2), 1, -1 do
    table.insert(rest, 1, a[2 * i] or 0)
    table.insert(rest, 1, a[2 * i - 1])
    trimmed(rest)
    -- With the digit d the square grows by (4 r + d) d.
    local step = trimmed { 1, 0, unpack(root) }
    local digit = M.compare(rest, step) >= 0 and 1 or 0
    if digit == 1 then rest = M.difference(rest, step) end
    table.insert(root, 1, digit)
    trimmed(root)
  end
  return root
end

-- The root of the number rounded to double precision, itself rounded to double precision and then down: what
-- int(math.sqrt(a)) is in Python. It equals M.root up to 52 digits. Its bits are exact, because a double is a whole
-- number of 53 digits times a power of 2.
function M.double_root(a)
  if #a > 1023 then error(('[languages] the root of a double: expected at most 1,023 digits, got %d'):format(#a), 0) end
  local kept = math.max(0, #a - 53)
  local high = 0
  for i = #a, kept + 1, -1 do high = 2 * high + a[i] end
  -- Rounds to the nearest number, in the middle between two to the even one.
  if a[kept] == 1 then
    local above = high % 2 == 1
    for i = 1, kept - 1 do above = above or a[i] == 1 end
    if above then high = high + 1 end
  end
  return M.of(math.floor(math.sqrt(high * 2 ^ kept)))
end

-- A number drawn uniformly from 0 to `largest`.
function M.draw(random, largest)
  while true do
    local bits = {}
    for i = 1, #largest do bits[i] = random() < 0.5 and 0 or 1 end
    trimmed(bits)
    if M.compare(bits, largest) <= 0 then return bits end
  end
end

return M
