-- Minimal pairs: the share of pairs of which a model gives the grammatical string the higher probability.
local data = require 'pushdown.data'
local files = require 'pushdown.files'
local pd = require 'pushdown'
local sentences = require 'pushdown.analysis.sentences'
local table_of = require 'pushdown.text.table'
local trim = require 'pushdown.text.trim'

local where = 'analysis.minimal_pairs'

local function fail(form, ...) error(('[%s] '):format(where) .. form:format(...), 0) end

-- A list of {name =, model =}; a model alone has no name.
local function models_of(given)
  if type(given) == 'userdata' then return { { name = '', model = given } } end
  local list = {}
  for i, model in ipairs(type(given) == 'table' and given or {}) do
    list[i] = { name = ('model %d'):format(i), model = model }
  end
  for _, name in ipairs(#list == 0 and type(given) == 'table' and pd.tables.keys(given, 'string') or {}) do
    list[#list + 1] = { name = name, model = given[name] }
  end
  if #list == 0 then fail('expected a language model, or a table of models by name, got %s', tostring(given)) end
  for _, entry in ipairs(list) do
    if type(entry.model) ~= 'userdata' then
      fail('%s: expected a language model, got %s', entry.name, tostring(entry.model))
    end
  end
  return list
end

-- The 95 % interval of Wilson (1927) of a share.
local function interval(share, count)
  local z2 = 1.959963984540054 ^ 2
  local middle = (share + z2 / (2 * count)) / (1 + z2 / count)
  local half = math.sqrt(z2) * math.sqrt(share * (1 - share) / count + z2 / (4 * count * count)) / (1 + z2 / count)
  return math.max(0, middle - half), math.min(1, middle + half)
end

-- The surprisals of both strings from the first word on that differs.
local function compared(model, row, pair)
  local good, bad = model:surprisal(pair.good.words), model:surprisal(pair.bad.words)
  row.difference = bad.total - good.total
  local at = 1
  while pair.good.words[at] == pair.bad.words[at] do at = at + 1 end
  if not good[at] or not bad[at] then return end  -- one string continues the other, and the model predicts no end
  row.critical, row.critical_difference = at, bad[at].surprisal - good[at].surprisal
  row.good_word, row.bad_word = pair.good.written[at] or good[at].symbol, pair.bad.written[at] or bad[at].symbol
end

local function group_of(name)
  return { phenomenon = name, pairs = 0, right = 0, critical_pairs = 0, critical_right = 0 }
end

local function count(group, row)
  group.pairs, group.right = group.pairs + 1, group.right + (row.difference > 0 and 1 or 0)
  if row.critical then
    group.critical_pairs = group.critical_pairs + 1
    group.critical_right = group.critical_right + (row.critical_difference > 0 and 1 or 0)
  end
end

local function finish(group)
  group.accuracy = group.right / group.pairs
  group.low, group.high = interval(group.accuracy, group.pairs)
  if group.critical_pairs > 0 then group.critical_accuracy = group.critical_right / group.critical_pairs end
  group.right, group.critical_right, group.critical_pairs = nil, nil, nil
end

-- What one model makes of the pairs.
local function measured(entry, rows, options)
  local model, reader = entry.model, entry.reader
  local found = group_of(nil)
  found.name, found.phenomena, found.rows = entry.name, {}, {}
  local by_name = {}
  for i, given in ipairs(rows) do
    local pair = {}
    for _, side in ipairs { 'good', 'bad' } do
      local words, written = reader:read(given.place, given[options[side]])
      pair[side] = { words = words, written = written }
    end
    local good, bad = table.concat(pair.good.words, ' '), table.concat(pair.bad.words, ' ')
    if good == bad then fail("%s: both strings are '%s' for the model", given.place, good) end
    local name = given[options.phenomenon] and tostring(given[options.phenomenon]) or ''
    local row = { place = given.place, phenomenon = name, good = good, bad = bad }
    compared(model, row, pair)
    found.rows[i] = row
    if not by_name[name] then
      by_name[name] = group_of(name)
      table.insert(found.phenomena, by_name[name])
    end
    count(by_name[name], row)
    count(found, row)
  end
  for _, group in ipairs(found.phenomena) do finish(group) end
  finish(found)
  found.note = reader:note()
  return found
end

-- The groups of a result that have a line, that of all pairs last.
local function lines_of(result)
  local lines = {}
  for i, group in ipairs(result.phenomena) do lines[i] = group end
  if #lines == 1 and lines[1].phenomenon == '' then lines[1] = nil end
  lines[#lines + 1] = result
  return lines
end

local function interval_text(group) return ('%.4f to %.4f'):format(group.low, group.high) end

local function printed(results)
  local columns, rows = { 'phenomenon', 'pairs' }, {}
  local alone = #results == 1 and results[1].name == ''
  for k, result in ipairs(results) do
    columns[#columns + 1] = { alone and 'accuracy' or result.name, format = '%.4f' }
    columns[#columns + 1] = '95 % interval'
    if alone then columns[#columns + 1] = { 'critical word', format = '%.4f' } end
    for i, group in ipairs(lines_of(result)) do
      rows[i] = rows[i] or { group.phenomenon or 'all', group.pairs }
      rows[i][2 * k + 1], rows[i][2 * k + 2] = group.accuracy, interval_text(group)
      if alone then rows[i][5] = group.critical_accuracy end
    end
  end
  local notes = {}
  for i, result in ipairs(results) do notes[i] = (alone and '' or result.name .. ': ') .. result.note end
  return table_of.new { columns = columns, rows = rows, note = table.concat(notes, '\n') }
end

-- The same numbers with a line for each phenomenon and model, and those of the pairs.
local function as_numbers(results)
  local summary, every = {}, {}
  for _, result in ipairs(results) do
    for _, group in ipairs(lines_of(result)) do
      summary[#summary + 1] = { result.name, group.phenomenon or 'all', group.pairs, group.accuracy, group.low,
        group.high, group.critical_accuracy }
    end
    for _, row in ipairs(result.rows) do
      every[#every + 1] = { result.name, row.place, row.phenomenon, row.good, row.bad, row.difference, row.critical,
        row.good_word, row.bad_word, row.critical_difference }
    end
  end
  return table_of.new { rows = summary, columns = { 'model', 'phenomenon', 'pairs', 'accuracy', 'low', 'high',
    'critical_accuracy' } },
    table_of.new { rows = every, columns = { 'model', 'place', 'phenomenon', 'good', 'bad', 'difference', 'critical',
      'good_word', 'bad_word', 'critical_difference' } }
end

local Result = {}
Result.__index = Result

function Result:__tostring() return trim.right(self.table:text()) end

-- Writes the table, its numbers as path.csv, and path-pairs.csv with every pair.
function Result:save(path)
  local summary, every = as_numbers(self.models)
  self.table:save(path)
  files.write(path .. '.csv', summary:csv())
  files.write(path .. '-pairs.csv', every:csv())
end

return function(given, path, options)
  local models = models_of(given)
  for _, entry in ipairs(models) do
    entry.reader = sentences.reader(where, entry.model:alphabet(), 'model', options)
  end
  if type(path) ~= 'string' then fail('expected a file of pairs, got %s', tostring(path)) end
  local rows = data.rows(path, { columns = { options.good, options.bad }, format = options.format,
    header = options.header })
  if #rows == 0 then fail("'%s': there are no pairs", path) end
  local results = {}
  for i, entry in ipairs(models) do results[i] = measured(entry, rows, options) end
  local found = #results == 1 and results[1].name == '' and results[1] or {}
  found.models, found.table = results, printed(results)
  return setmetatable(found, Result)
end
