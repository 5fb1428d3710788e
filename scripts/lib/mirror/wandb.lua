-- The offline run of Weights & Biases that `wandb sync FOLDER` takes: records of wandb_internal.proto in the log format
-- of LevelDB, with CRC-32 sums.
local checksum = require 'pushdown.mirror.checksum'
local json = require 'pushdown.json'
local pb = require 'pushdown.mirror.protobuf'
local pd = require 'pushdown'

local M = {}

local block, header = 32768, 7
local whole, first, middle, last = 1, 2, 3, 4

local function chunk(kind, bytes)
  local kind_byte = string.char(kind)
  return pb.fixed32(checksum.ieee(kind_byte .. bytes)) .. string.char(#bytes % 256, math.floor(#bytes / 256))
    .. kind_byte .. bytes
end

M.file_header = ':W&B\225\190\0'

-- The bytes of a record that begins `at` bytes after the beginning of its file.
function M.record(at, bytes)
  local parts, begun = {}, false
  repeat
    local left = block - at % block
    if left < header then
      parts[#parts + 1] = ('\0'):rep(left)
      at, left = at + left, block
    end
    local ends = #bytes + header <= left
    local piece = ends and bytes or bytes:sub(1, left - header)
    bytes = bytes:sub(#piece + 1)
    parts[#parts + 1] = chunk(begun and (ends and last or middle) or ends and whole or first, piece)
    at, begun = at + header + #piece, true
  until ends
  return table.concat(parts)
end

-- JSON of a number has no infinities and no NaN; the program reads these texts.
local function number_text(value)
  if value ~= value then return '"NaN"' end
  if math.abs(value) == math.huge then return value > 0 and '"Infinity"' or '"-Infinity"' end
  return json.encode(value)
end

local function value_text(value) return type(value) == 'number' and number_text(value) or json.encode(value) end

local Encoder = {}
Encoder.__index = Encoder

-- Eight digits for a run: the same whenever it is written.
local function id_of(name) return pd.file.sha256_of_text(name):sub(1, 8) end

-- The encoder of a run; facts: see pushdown.mirror.facts. Its functions return the bytes that come next.
function M.encoder(facts)
  return setmetatable({ facts = facts, id = id_of(facts.name), at = 0, number = 0, last = 0 }, Encoder)
end

-- The path of the file in a folder of runs.
function Encoder:path()
  return ('offline-run-%s-%s/run-%s.wandb'):format(os.date('!%Y%m%d_%H%M%S', self.facts.started), self.id, self.id)
end

-- Files of an earlier start have the same name.
function M.own() return false end

function Encoder:record(field, message)
  self.number = self.number + 1
  local bytes = M.record(self.at, pb.integer(1, self.number) .. pb.message(field, message))
  self.at = self.at + #bytes
  return bytes
end

local function items(field, values, name_field, extra)
  local list = {}
  for i, item in ipairs(values) do
    list[i] = pb.message(field, pb.message(name_field, item.name) .. (extra or '')
      .. pb.text(16, value_text(item.value)))
  end
  return table.concat(list)
end

local key, nested_key = 1, 2

function Encoder:begin()
  local facts = self.facts
  self.at = #M.file_header
  local seconds = math.floor(facts.started)
  local tags = {}
  for i, tag in ipairs(facts.tags) do tags[i] = pb.message(10, tag) end
  return M.file_header .. self:record(21, pb.message(1, pb.text(1, 'pushdown')))
    .. self:record(17, pb.text(1, self.id) .. pb.text(3, 'pushdown') .. pb.message(4, items(1, facts.options, key))
      .. pb.text(6, facts.grid or '') .. pb.text(7, facts.experiment or '') .. pb.text(8, facts.name)
      .. pb.text(9, facts.note or '') .. table.concat(tags) .. pb.text(13, facts.host or '')
      .. pb.message(17, pb.integer(1, seconds) .. pb.integer(2, math.floor((facts.started - seconds) * 1e9))))
end

-- values: list of {name =, value =}.
function Encoder:epoch(step, time, values)
  local all = {}
  for i, item in ipairs(values) do all[i] = item end
  for _, item in ipairs { { '_runtime', math.max(0, time - self.facts.started) }, { '_step', step },
    { '_timestamp', time } } do
    all[#all + 1] = { name = item[1], value = item[2] }
  end
  self.last = step
  return self:record(2, items(1, all, nested_key) .. pb.message(2, pb.integer(1, step)))
    .. self:record(3, items(1, all, nested_key))
end

-- results: list of {name =, value =}, the numbers in which the run ended. A run that was interrupted has no end.
function Encoder:finish(time, status, results)
  local bytes = #results > 0 and self:record(3, items(1, results, nested_key)) or ''
  if status ~= 'done' and status ~= 'failed' then return bytes end
  local runtime = math.max(0, math.floor(time - self.facts.started))
  return bytes .. self:record(18, pb.integer(1, status == 'failed' and 1 or 0) .. pb.integer(2, runtime))
end

return M
