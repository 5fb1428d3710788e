-- Where our tables disagree with those of Mali et al. (2021): trains the models of these rows with one change at a
-- time and a few seeds each. The shares are those of training and validation strings; test strings choose nothing.
--
--   pushdown scripts/experiments/diffstk/readings.lua
--   pushdown scripts/experiments/diffstk/readings.lua --columns DiffStk-LSTM --tasks palindrome --restarts 5
--
-- Trains unfinished runs first; if it is interrupted, start it again to continue.
local here = arg[0]:match('^(.*/)') or ''
local tables = dofile(here .. 'tables.lua')
local cells = require 'pushdown.cells'
local grid = require 'pushdown.grid'
local protocol = tables.protocol

-- Options of train.lua; models: the models to which they apply, all if left out.
local stacks = { 'stack_rnn', 'diffstk_lstm', 'diffstk_mrnn', 'diffstk_mlstm' }
local diffstk, lstms = { 'diffstk_lstm', 'diffstk_mrnn', 'diffstk_mlstm' }, { 'diffstk_lstm', 'diffstk_mlstm' }
local readings = {
  { 'as the protocol', {} },
  { 'constant learning rate', { patience = 0 } },
  { 'learning rate 0.01', { learning_rate = 0.01 } },
  { 'ten strings in an update', { batch = 10 } },
  { 'next symbols of all strings', { symbols_of = 'all' } },
  { 'initial parameters 5 times as large', { initial_scale = 5 } },
  { '100 epochs', { epochs = 100 } },
  { '100 epochs, constant rate, the last one', { epochs = 100, patience = 0, measured = 'last' } },
  { 'no noise', { noise = 0 }, diffstk },
  { 'noise of DiffStk', { noise = 0.01 }, { 'stack_rnn' } },
  { 'no carry-forward', { carry_forward = 'none' }, diffstk },
  { 'carry-forward by counting', { carry_forward = 'counter' }, diffstk },
  { 'f1 is the scaled tanh', { lstm_activation = 'scaled_tanh' }, lstms },
}

local options, run = tables.start { name = 'diffstk/readings', task = 'd2', choices = protocol.tasks,
  restarts = 2,
  columns = 'models whose labels begin with one of these; none: all four',
  doc = 'Models of Mali et al. (2021) that disagree with the paper, with one thing changed at a time.',
  smoke = { rows = { 'as the protocol', 'no noise' }, columns = { 'DiffStk-LSTM' } } }
local all = {}
for _, task in ipairs(options.tasks) do
  for _, reading in ipairs(readings) do
    for _, model in ipairs(reading[3] or stacks) do
      local point = pd.tables.merged({ model = model }, reading[2])
      all[#all + 1] = { task = task, row = reading[1], column = protocol.models[model].label, point = point }
    end
  end
end
local kept, rows = tables.run(options, all)

local lines, measured = {}, { 'train_next', 'train_last', 'valid_next', 'valid_last', 'valid_mean' }
for i, cell in ipairs(kept) do
  lines[i] = { protocol.titles[cell.task], cell.column, cell.row }
  for _, key in ipairs(measured) do
    local mean, deviation = cells.statistics(cell, key)
    lines[i][#lines[i] + 1], lines[i][#lines[i] + 2] = mean, deviation
  end
  lines[i][#lines[i] + 1], lines[i][#lines[i] + 2] = #cell.runs, grid.point_name(cell.point)
end
local columns = { 'language', 'model', 'reading' }
for _, title in ipairs { 'training: sets', 'training: last', 'validation: sets', 'validation: last',
  'validation: mean' } do
  columns[#columns + 1] = { title, format = '%.1f', align = 'right' }
  columns[#columns + 1] = { 'deviation', format = '%.1f', align = 'right' }
end
columns[#columns + 1], columns[#columns + 2] = 'runs', 'setting'
run:table('readings', { title = 'One change at a time, percent', columns = columns, rows = lines,
  note = rows.note })
print('\nSets: valid strings with all next-symbol sets predicted. Last, mean: strings that the last answer, or the\n'
  .. 'mean of all answers, classifies correctly; guessing has 50.')
cells.finish(run, rows, 'readings', tables.keys(options))
