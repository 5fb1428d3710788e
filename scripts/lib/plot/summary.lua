-- What trainer:run() returns: the numbers of a training that is over, or of several, as tables that show themselves as
-- short texts.
local statistics = require 'pushdown.statistics'
local table_of = require 'pushdown.text.table'

local M = {}

local function time_text(seconds)
  if seconds < 10 then return ('%.1f s'):format(seconds) end
  local whole = math.floor(seconds + 0.5)
  if whole < 60 then return whole .. ' s' end
  if whole < 3600 then return ('%d:%02d min'):format(whole / 60, whole % 60) end
  return ('%d:%02d h'):format(whole / 3600, whole / 60 % 60)
end

-- The key of the number by which the best epoch was measured, its name and its format; accuracies are shown in percent.
local measures = {
  { 'perplexity', 'perplexity', '%.2f' }, { 'fine', 'fine accuracy', '%.2f %%', 100 },
  { 'accuracy', 'accuracy', '%.2f %%', 100 }, { 'train_accuracy', 'training accuracy', '%.2f %%', 100 },
  { 'cross_entropy', 'cross-entropy', '%.4f' }, { 'train_cross_entropy', 'training cross-entropy', '%.4f' },
}
local function measure_of(summary)
  for _, measure in ipairs(measures) do
    if summary[measure[1]] then return measure end
  end
end

local function shown(measure, value) return measure[3]:format((measure[4] or 1) * value) end

-- The name and the number by which the best epoch was measured.
local function measured(summary)
  local measure = measure_of(summary)
  if measure then return measure[2], shown(measure, summary[measure[1]]) end
end

local Summary = {}

function Summary.__tostring(summary)
  local lines = {}
  local function line(name, ...)
    lines[#lines + 1] = ('%-13s  %s'):format(name, (...):format(select(2, ...)))
  end
  line('model', '%s, %d parameters', summary.model, summary.parameters)
  line('epochs', summary.best_epoch and '%d, the best one is %d' or '%d', summary.epochs, summary.best_epoch)
  local name, value = measured(summary)
  local difference = summary.cross_entropy_difference
  if name then
    line(name, '%s%s', value, difference and (', %.4f %s the lower bound'):format(math.abs(difference),
      difference < 0 and 'below' or 'above') or '')
  end
  if summary.parameters_of == 'best' then line('parameters', 'epoch %d, the best', summary.best_epoch) end
  if summary.parameters_of == 'last' then line('parameters', 'update %d, the last', summary.updates) end
  line('time', '%s', time_text(summary.seconds))
  line('ended', '%s', summary.error or summary.finished or 'not yet')
  if summary.folder then line('folder', '%s', summary.folder) end
  return table.concat(lines, '\n')
end

-- Why a training is over, in a few words.
local function ending(summary)
  if summary.error then return 'failed' end
  local reason = summary.finished or ''
  if reason:find '^%d+ of %d+ epochs are done' then return 'all epochs' end
  return reason:match '^no improvement' or reason:match '^the (time limit)' or reason:sub(1, 20)
end

-- A row for each summary: `first` is the name of its first column, `key` the field that is shown there.
local function table_text(list, first, key)
  local rows, measure = {}, nil
  for k, one in ipairs(list) do
    local name, value = measured(one)
    measure = measure or name
    rows[k] = { one[key], one.epochs, one.best_epoch, tonumber((value or ''):match '^[%d.]+'),
      one.cross_entropy_difference, time_text(one.seconds), ending(one) }
  end
  local columns = { first, 'epochs', 'best', { measure or 'value', format = '%.4f' },
    { 'difference', format = '%.4f' }, { 'time', align = 'right' }, 'ended' }
  if not list[1] or not list[1].cross_entropy_difference then
    table.remove(columns, 5)
    for _, row in ipairs(rows) do row[5], row[6], row[7] = row[6], row[7], nil end
  end
  return (table_of.new { columns = columns, rows = rows }:text(79):gsub('\n$', ''))
end

-- Whose parameters the models have.
local function parameters_text(list)
  local which = {}
  for _, one in ipairs(list) do
    if one.parameters_of then which[one.parameters_of] = true end
  end
  return which.best and '\nThe models have the parameters of their best epochs.'
    or which.last and '\nThe models have the parameters of their last updates.' or ''
end

local Summaries = {}

function Summaries.__tostring(list) return table_text(list, 'model', 'model') .. parameters_text(list) end

local Seeds = {}

function Seeds.__tostring(list)
  local lines = { table_text(list, 'seed', 'seed') .. parameters_text(list) }
  if list.mean then
    local measure = measure_of(list[list.best])
    lines[2] = ('%s: mean %s%s, %d of %d seeds; the best is seed %d.'):format(measure[2], shown(measure, list.mean),
      list.deviation and ', standard deviation ' .. shown(measure, list.deviation) or '', list.count, #list,
      list[list.best].seed)
  end
  return table.concat(lines, '\n')
end

-- summary.one(numbers) -> the same table, which shows itself in a few lines.
function M.one(numbers) return setmetatable(numbers, Summary) end

-- summary.list{numbers, ...} -> the same list, which shows itself as a table with a row for each.
function M.list(list)
  for _, numbers in ipairs(list) do M.one(numbers) end
  return setmetatable(list, Summaries)
end

-- summary.seeds(list, seeds, best, model) -> the list of the summaries of one training with several seeds, with the
-- fields best (the place of the best seed), model (its model), measure, and count, mean and deviation of the measure
-- over the seeds that have not failed. Each summary has its seed.
function M.seeds(list, seeds, best, model)
  local measure, values = measure_of(list[best]), {}
  for k, one in ipairs(list) do
    one.seed = seeds[k]
    if measure and not one.error then values[#values + 1] = one[measure[1]] end
  end
  list.best, list.model, list.measure, list.count = best, model, measure and measure[1], #values
  list.mean, list.deviation = statistics(values)
  return setmetatable(list, Seeds)
end

-- summary.is(value): whether it is a summary, or a list of summaries.
function M.is(value)
  local meta = type(value) == 'table' and getmetatable(value)
  return meta == Summary or meta == Summaries or meta == Seeds
end

return M
