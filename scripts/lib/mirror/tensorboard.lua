-- The event file of a run as TensorBoard reads it: records with a length and masked CRC-32C sums, each an Event of
-- tensorflow/core/util/event.proto. Scalars are simple values, as PyTorch writes them; the options of the run are those
-- of the hparams plugin.
local bit = require 'bit'
local checksum = require 'pushdown.mirror.checksum'
local pb = require 'pushdown.mirror.protobuf'

local M = {}

-- A record of a TFRecord file.
function M.record(bytes)
  local function sum(part)
    local value = checksum.castagnoli(part)
    return pb.fixed32((bit.ror(value, 15) % 2 ^ 32 + 0xa282ead8) % 2 ^ 32)
  end
  local length = pb.fixed64(#bytes)
  return length .. sum(length) .. bytes .. sum(bytes)
end

-- An Event with a summary of these values.
local function event(time, step, values)
  return M.record(pb.double(1, time) .. pb.integer(2, step) .. pb.message(5, table.concat(values)))
end

local float_type, text_type = 1, 7  -- of a TensorProto
local function shape(size) return pb.message(2, pb.message(2, pb.integer(1, size))) end
local no_numbers = pb.message(8, pb.integer(1, float_type) .. shape(0))

local function metadata(plugin, content, class)
  return pb.message(9, pb.message(1, pb.text(1, plugin) .. pb.text(2, content)) .. pb.integer(4, class or 0))
end

local function plugin_data(tag, field, message)
  return pb.message(1, pb.text(1, '_hparams_/' .. tag) .. no_numbers .. metadata('hparams', pb.message(field, message)))
end

-- A google.protobuf.Value.
local function value_of(value)
  if type(value) == 'number' then
    -- Of a oneof, so that 0 is written, too.
    return value == 0 and '\17' .. ('\0'):rep(8) or pb.double(2, value)
  elseif type(value) == 'boolean' then
    return value and pb.integer(4, 1) or '\32\0'
  end
  return pb.message(3, value)
end

local function hyperparameters(facts)
  local fields = {}
  for i, option in ipairs(facts.options) do
    fields[i] = pb.message(1, pb.text(1, option.name) .. pb.message(2, value_of(option.value)))
  end
  fields[#fields + 1] = pb.text(4, facts.name) .. pb.double(5, facts.started)
  return plugin_data('session_start_info', 3, table.concat(fields))
end

local function text(tag, value)
  return pb.message(1, pb.text(1, tag)
    .. pb.message(8, pb.integer(1, text_type) .. shape(1) .. pb.message(8, value))
    .. metadata('text', '', 2))
end

local Encoder = {}
Encoder.__index = Encoder

-- The encoder of a run; facts: see pushdown.mirror.facts. Its functions return the bytes that come next.
function M.encoder(facts) return setmetatable({ facts = facts, last = 0 }, Encoder) end

-- The path of a file that is begun at this time, in a folder of logs.
function Encoder:path(time) return ('%s/events.out.tfevents.%d.pushdown'):format(self.facts.name, time) end

-- Whether the name is that of a file of an encoder.
function M.own(name) return name:find '^events%.out%.tfevents%.%d+%.pushdown$' ~= nil end

function Encoder:begin()
  local facts = self.facts
  local parts = { M.record(pb.double(1, facts.started) .. pb.text(3, 'brain.Event:2')),
    -- What was read of an earlier file of this run is void.
    M.record(pb.double(1, facts.started) .. pb.integer(2, 1) .. pb.message(7, pb.integer(1, 1))),
    event(facts.started, 0, { hyperparameters(facts) }) }
  for _, note in ipairs(facts.texts) do
    parts[#parts + 1] = event(facts.started, 0, { text(note.name, note.text) })
  end
  return table.concat(parts)
end

-- values: list of {name =, value =}.
function Encoder:epoch(step, time, values)
  local list = {}
  for i, item in ipairs(values) do list[i] = pb.message(1, pb.text(1, item.name) .. pb.float(2, item.value)) end
  self.last = step
  return event(time, step, list)
end

local statuses = { done = 1, failed = 2, running = 3 }

-- results: list of {name =, value =}, the numbers in which the run ended.
function Encoder:finish(time, status, results)
  local bytes = ''
  local list = {}
  for i, item in ipairs(results) do list[i] = { name = 'result/' .. item.name, value = item.value } end
  if #list > 0 then bytes = self:epoch(self.last, time, list) end
  local ended = pb.integer(1, statuses[status] or 0) .. pb.double(2, time)
  return bytes .. event(time, 0, { plugin_data('session_end_info', 4, ended) })
end

return M
