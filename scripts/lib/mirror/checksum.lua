-- CRC-32 of bytes: checksum.ieee as zlib has it, checksum.castagnoli as the files of TensorFlow have it.
local bit = require 'bit'
local band, bxor, rshift = bit.band, bit.bxor, bit.rshift

-- The function for a polynomial whose lowest power is the highest bit.
local function checksum_by(polynomial)
  local remainders = {}
  for byte = 0, 255 do
    local value = byte
    for _ = 1, 8 do
      value = bxor(rshift(value, 1), band(value, 1) == 1 and polynomial or 0)
    end
    remainders[byte] = value
  end
  return function(bytes)
    local value = -1
    for i = 1, #bytes do value = bxor(remainders[band(bxor(value, bytes:byte(i)), 255)], rshift(value, 8)) end
    return bxor(value, -1) % 2 ^ 32
  end
end

return { ieee = checksum_by(0xEDB88320), castagnoli = checksum_by(0x82F63B78) }
