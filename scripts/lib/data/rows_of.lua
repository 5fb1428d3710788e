-- The columns and rows that data.write writes of a dataset, of a list, or of what is drawn from a sampler.
local pd = require 'pushdown'

local function fail(form, ...) error('[data.write] ' .. form:format(...), 0) end

local function text_of(string) return type(string) == 'table' and table.concat(string, ' ') or string end

local function of_pairs(list, options)
  local rows = {}
  for i, pair in ipairs(list) do
    if type(pair) ~= 'table' or not pair.source or not pair.target then
      fail('entry %d: expected a pair {source =, target =}, like the first one', i)
    end
    rows[i] = { text_of(pair.source), text_of(pair.target) }
  end
  return { options.source, options.target }, rows
end

local function of_strings(list, options, labels)
  local rows = {}
  for i, string in ipairs(list) do
    local text = text_of(string)
    if type(text) ~= 'string' then fail('string %d: expected a text or a list of symbols, got a %s', i, type(text)) end
    rows[i] = { text, labels and (labels[i] and 1 or 0) or nil }
  end
  return { options.text, labels and options.label or nil }, rows
end

-- By class.
local kinds = {
  Dataset = function(data, options) return of_strings(data:strings(), options) end,
  LabelledDataset = function(data, options) return of_strings(data:strings(), options, data:labels()) end,
}
local function sampled(data, options)
  return of_strings(data:sample { count = options.count, seed = options.seed }, options)
end
local drawn = {
  Sampler = sampled,
  Grammar = sampled,
  Pairs = function(data, options) return of_pairs(data:draw(options.count, { seed = options.seed }), options) end,
}

return function(data, options)
  local class = type(data) == 'userdata' and pd.doc_name(data) or type(data)
  if drawn[class] then
    if not options.count then fail('expected the option count: a %s draws without end', class) end
    return drawn[class](data, options)
  end
  if options.count then fail('the option count is for a Sampler, a Grammar or Pairs, not for a %s', class) end
  if kinds[class] then return kinds[class](data, options) end
  if class ~= 'table' then
    fail('expected a dataset, got %s: a Dataset, LabelledDataset, Sampler, Grammar, Pairs, or a list of strings or '
      .. 'pairs', tostring(data))
  end
  local first = data[1]
  if type(first) == 'table' and first.source then return of_pairs(data, options) end
  return of_strings(data, options)
end
