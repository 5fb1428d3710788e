-- A run of a memory of sections with strengths as the matrix of a heat map. The upper rows show how much each
-- step pushes, pops and reads; the lower rows show the strength of every section, the top first.
local check = require 'pushdown.plot.figure'.check
local heat_map = require 'pushdown.plot.heat_map'
local pd = require 'pushdown'
local shared = require 'pushdown.plot.rows'

-- The values of one memory from a tensor B? x n x K (x S), as a list of rows.
local function rows_of(tensor, memory)
  local rows = {}
  for t, memories in ipairs(tensor:to_table()) do rows[t] = memories[memory] end
  return rows
end

-- Raises an error unless these are strengths of one string with such a memory. Returns their size.
local function check_run(run, memory, where)
  check(pd.doc_name(run.strengths) == 'Tensor', where,
    "option 'run' must be the result of model:strengths(...) or pd.stack.strengths{...}")
  local size = run.strengths:size()
  check(#size == 3, where, 'expected tensors of one string, without a batch dimension, got %d dimensions', #size)
  check(memory <= size[2], where, "option 'memory' must be 1 to %d, got %d", size[2], memory)
  return size
end

-- Converts the options of plot.strengths to those of plot.heat_map.
local function heat_map_of(spec)
  local where = 'plot.strengths'
  local memory, run = spec.memory, spec.run
  local size = check_run(run, memory, where)
  local steps = size[1]
  local values, labels = {}, {}
  local ends = run.push and { { '', 'push', 'pop', 'read' } }
    or { { ' top', 'push_top', 'pop_top', 'read_top' }, { ' bottom', 'push_bottom', 'pop_bottom', 'read_bottom' } }
  for _, one in ipairs(ends) do
    local read, sums = rows_of(run[one[4]], memory), {}
    for t = 1, steps do
      sums[t] = 0
      for _, share in ipairs(read[t]) do sums[t] = sums[t] + share end
    end
    for _, row in ipairs { { 'push' .. one[1], rows_of(run[one[2]], memory) },
      { 'pop' .. one[1], rows_of(run[one[3]], memory) }, { 'read' .. one[1], sums } } do
      values[#values + 1], labels[#labels + 1] = row[2], row[1]
    end
  end
  -- An empty row between the two parts.
  local gap = {}
  for t = 1, steps do gap[t] = 0 / 0 end
  values[#values + 1], labels[#labels + 1] = gap, ''
  local what = spec.what
  check(run[what] and #run[what]:size() == 3, where, "what must be 'strengths' or a reading, got '%s'", tostring(what))
  local sections = rows_of(run[what], memory)
  local symbols = spec.symbols or run.symbols or {}
  local places = size[3]
  for place = places, 1, -1 do
    local row = {}
    for t = 1, steps do row[t] = sections[t][place] end
    values[#values + 1] = row
    -- In a stack or queue step i pushes section i; the bottom half of a deque counts downwards.
    local pushed = places == steps and place or place > steps and place - steps or steps - place + 1
    labels[#labels + 1] = symbols[pushed] or tostring(pushed)
  end
  local x_labels = {}
  for t = 1, steps do x_labels[t] = symbols[t] or tostring(t) end
  -- The scale ends at 1 unless a value is larger.
  local high = 1
  for _, row in ipairs(values) do
    for t = 1, steps do
      if row[t] == row[t] then high = math.max(high, row[t]) end
    end
  end
  return { values = values, y_labels = labels, x_labels = x_labels, low = 0, high = high,
    title = spec.title, x_label = 'what is read', y_label = 'what was read when it was pushed',
    value_label = what == 'strengths' and 'strength' or 'share in the reading', ascii = spec.ascii,
    columns = spec.columns, format = '%.2f', width = spec.width or math.max(640, 160 + 22 * steps),
    height = spec.height or 120 + 16 * #values }
end

return { check_run = check_run, rows_of = rows_of, options = { shared.strengths, {
  { 'what', 'strengths', "what the lower part shows: the strength of every section, or 'read', its share in the "
    .. "reading (of a deque 'read_top' or 'read_bottom')" },
}, shared.picture, shared.size(), shared.text },
  svg = function(spec) return heat_map.svg(heat_map_of(spec)) end,
  text = function(spec) return heat_map.text(heat_map_of(spec)) end }
