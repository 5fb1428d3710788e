-- The columns and rows that data.write writes of a dataset, of a list, or of what is drawn from a sampler.
local pd = require 'pushdown'

local function fail(form, ...) error('[data.write] ' .. form:format(...), 0) end

-- A string with single blanks between its symbols, which every format can hold. known: the symbols that were checked.
local function text_of(string, place, known)
  local symbols = type(string) == 'table' and string or pd.tables.matches(string, '%S+')
  for i, symbol in ipairs(symbols) do
    known[symbol] = known[symbol] or type(symbol) == 'string' and not symbol:find '%z'
      and pcall(pd.grammar.alphabet, { symbol })
    if not known[symbol] then fail("%s: '%s' cannot be a symbol (symbol %d)", place, tostring(symbol), i) end
  end
  return table.concat(symbols, ' ')
end

local function of_pairs(list, options)
  local rows, known = {}, {}
  for i, pair in ipairs(list) do
    if type(pair) ~= 'table' or not pair.source or not pair.target then
      fail('entry %d: expected a pair {source =, target =}, like the first one', i)
    end
    rows[i] = { text_of(pair.source, ('source %d'):format(i), known),
      text_of(pair.target, ('target %d'):format(i), known) }
  end
  return { options.source, options.target }, rows
end

local function of_strings(list, options, labels)
  local rows, known = {}, {}
  for i, string in ipairs(list) do
    if type(string) ~= 'string' and type(string) ~= 'table' then
      fail('string %d: expected a text or a list of symbols, got a %s', i, type(string))
    end
    rows[i] = { text_of(string, ('string %d'):format(i), known), labels and (labels[i] and 1 or 0) or nil }
  end
  return { options.text, labels and options.label or nil }, rows
end

-- By class.
local kinds = {
  Dataset = function(data, options) return of_strings(data:strings(), options) end,
  LabelledDataset = function(data, options) return of_strings(data:strings(), options, data:labels()) end,
  Sentences = function(data, options)
    local list = {}
    for i = 1, data:size() do list[i] = data:sentence(i) end
    return of_strings(list, options)
  end,
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
    fail('expected a dataset, got %s: a Dataset, LabelledDataset, Sentences, Sampler, Grammar, Pairs, or a list of '
      .. 'strings or pairs', tostring(data))
  end
  local first = data[1]
  if type(first) == 'table' and first.source then return of_pairs(data, options) end
  return of_strings(data, options)
end
