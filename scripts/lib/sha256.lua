-- sha256(text) -> the 32 bytes of its SHA-256 (FIPS 180-4). sha256.base64(text) -> the same as base64, the form of
-- hashes in a Content-Security-Policy.
local bit = require 'bit'
local band, bnot, bxor, ror, rshift, tobit = bit.band, bit.bnot, bit.bxor, bit.ror, bit.rshift, bit.tobit

-- The first 32 bits of the fractional parts of square (power = 1 / 2) and cube roots of the first primes.
local function root_bits(count, power)
  local bits, candidate = {}, 2
  while #bits < count do
    local prime = true
    for divisor = 2, math.floor(math.sqrt(candidate)) do
      if candidate % divisor == 0 then prime = false break end
    end
    if prime then bits[#bits + 1] = tobit(math.floor(candidate ^ power % 1 * 2 ^ 32)) end
    candidate = candidate + 1
  end
  return bits
end

local first_state, constants = root_bits(8, 1 / 2), root_bits(64, 1 / 3)

local function word_bytes(word)
  return string.char(rshift(word, 24), band(rshift(word, 16), 255), band(rshift(word, 8), 255), band(word, 255))
end

local function sha256(text)
  local padded = text .. '\128' .. ('\0'):rep((55 - #text) % 64) .. word_bytes(tobit(math.floor(#text / 2 ^ 29)))
    .. word_bytes(tobit(#text * 8 % 2 ^ 32))
  local state, w = { unpack(first_state) }, {}
  for block = 1, #padded, 64 do
    for i = 1, 16 do
      local b1, b2, b3, b4 = padded:byte(block + 4 * i - 4, block + 4 * i - 1)
      w[i] = tobit(((b1 * 256 + b2) * 256 + b3) * 256 + b4)
    end
    for i = 17, 64 do
      local x, y = w[i - 15], w[i - 2]
      w[i] = tobit(w[i - 16] + w[i - 7] + bxor(ror(x, 7), ror(x, 18), rshift(x, 3))
        + bxor(ror(y, 17), ror(y, 19), rshift(y, 10)))
    end
    local a, b, c, d, e, f, g, h = unpack(state)
    for i = 1, 64 do
      local t1 = h + bxor(ror(e, 6), ror(e, 11), ror(e, 25)) + bxor(band(e, f), band(bnot(e), g)) + constants[i] + w[i]
      local t2 = bxor(ror(a, 2), ror(a, 13), ror(a, 22)) + bxor(band(a, b), band(a, c), band(b, c))
      h, g, f, e, d, c, b, a = g, f, e, tobit(d + t1), c, b, a, tobit(t1 + t2)
    end
    for i, value in ipairs { a, b, c, d, e, f, g, h } do state[i] = tobit(state[i] + value) end
  end
  local bytes = {}
  for i = 1, 8 do bytes[i] = word_bytes(state[i]) end
  return table.concat(bytes)
end

local digits = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'

local function base64(text)
  local bytes, out = sha256(text), {}
  for i = 1, #bytes, 3 do
    local b1, b2, b3 = bytes:byte(i, i + 2)
    local number = b1 * 65536 + (b2 or 0) * 256 + (b3 or 0)
    for place = 0, 3 do
      local digit = math.floor(number / 64 ^ (3 - place)) % 64 + 1
      local padding = place == 2 and not b2 or place == 3 and not b3
      out[#out + 1] = padding and '=' or digits:sub(digit, digit)
    end
  end
  return table.concat(out)
end

return setmetatable({ base64 = base64 }, { __call = function(_, text) return sha256(text) end })
