-- What trainer:run() returns: the numbers of a training that is over, or of several, as tables that show themselves as
-- short texts.
local table_of = require 'pushdown.text.table'

local M = {}

local function time_text(seconds)
  if seconds < 10 then return ('%.1f s'):format(seconds) end
  local whole = math.floor(seconds + 0.5)
  if whole < 60 then return whole .. ' s' end
  if whole < 3600 then return ('%d:%02d min'):format(whole / 60, whole % 60) end
  return ('%d:%02d h'):format(whole / 3600, whole / 60 % 60)
end

-- The name and the number by which the best epoch was measured.
local function measured(summary)
  if summary.perplexity then return 'perplexity', ('%.2f'):format(summary.perplexity) end
  if summary.fine then return 'fine accuracy', ('%.2f %%'):format(100 * summary.fine) end
  local accuracy = summary.accuracy or summary.train_accuracy
  if accuracy then return summary.accuracy and 'accuracy' or 'training accuracy', ('%.2f %%'):format(100 * accuracy) end
  local entropy = summary.cross_entropy or summary.train_cross_entropy
  if not entropy then return nil end
  return summary.cross_entropy and 'cross-entropy' or 'training cross-entropy', ('%.4f'):format(entropy)
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

local Summaries = {}

function Summaries.__tostring(list)
  local rows, measure = {}, nil
  for k, one in ipairs(list) do
    local name, value = measured(one)
    measure = measure or name
    rows[k] = { one.model, one.epochs, one.best_epoch, tonumber((value or ''):match '^[%d.]+'),
      one.cross_entropy_difference, time_text(one.seconds), ending(one) }
  end
  local columns = { 'model', 'epochs', 'best', { measure or 'value', format = '%.4f' },
    { 'difference', format = '%.4f' }, { 'time', align = 'right' }, 'ended' }
  if not list[1] or not list[1].cross_entropy_difference then
    table.remove(columns, 5)
    for _, row in ipairs(rows) do row[5], row[6], row[7] = row[6], row[7], nil end
  end
  return (table_of.new { columns = columns, rows = rows }:text(79):gsub('\n$', ''))
end

-- summary.one(numbers) -> the same table, which shows itself in a few lines.
function M.one(numbers) return setmetatable(numbers, Summary) end

-- summary.list{numbers, ...} -> the same list, which shows itself as a table with a row for each.
function M.list(list)
  for _, numbers in ipairs(list) do M.one(numbers) end
  return setmetatable(list, Summaries)
end

return M
