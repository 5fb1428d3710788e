-- Fields of protocol buffer messages as bytes (protobuf.dev/programming-guides/encoding). A message is the text of its
-- fields, one after the other. Fields that have their default value, 0 or nothing, are left out, as proto3 has it.
local ffi = require 'ffi'

local M = {}

local function varint(number)
  local bytes = {}
  while number >= 128 do
    bytes[#bytes + 1] = string.char(number % 128 + 128)
    number = math.floor(number / 128)
  end
  return table.concat(bytes) .. string.char(number)
end

-- A number as the bytes of a C type. All machines that the program runs on are little-endian, as the format is.
local function bytes_of(ctype, number)
  local cell = ffi.new(ctype .. '[1]', number)
  return ffi.string(cell, ffi.sizeof(cell))
end

function M.fixed32(number) return bytes_of('uint32_t', number) end
function M.fixed64(number) return bytes_of('uint64_t', number) end

local function field(number, wire, bytes) return varint(8 * number + wire) .. bytes end

-- An integer from 0 (int32, int64, enum, bool).
function M.integer(number, value) return value == 0 and '' or field(number, 0, varint(value)) end
function M.double(number, value) return value == 0 and '' or field(number, 1, bytes_of('double', value)) end
-- A float of a oneof is written also when it is 0.
function M.float(number, value) return field(number, 5, bytes_of('float', value)) end
function M.text(number, value) return value == '' and '' or M.message(number, value) end
-- A message, also an empty one, or an item of a list of texts.
function M.message(number, bytes) return field(number, 2, varint(#bytes) .. bytes) end

return M
