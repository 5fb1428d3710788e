-- Figure 2b of Grefenstette et al. (2015): convergence. Average training perplexity and fine accuracy on sources
-- of the training lengths over the number of batches, for the chosen run of every model.
--
--   pushdown scripts/experiments/transduction/figure2b.lua
--   pushdown scripts/experiments/transduction/figure2b.lua --tasks reversal --rows Stack-LSTM,1-layer
--
-- Trains unfinished runs first; if it is interrupted, start it again to continue.
local cells = require 'pushdown.cells'
local files = require 'pushdown.files'
local report = require 'pushdown.report'
local here = arg[0]:match('^(.*/)') or ''
local curves = dofile(here .. 'curves.lua')
local figures = dofile(here .. 'figures.lua')
local protocol = figures.protocol

local options, run = figures.start { name = 'transduction/figure2b',
  doc = 'Convergence during training, as Figure 2b of Grefenstette et al. (2015).' }
local settings, rows = figures.run(options)

if rows.note then print('\n' .. rows.note) end
local by_task, kept = {}, {}
for _, setting in ipairs(settings) do
  if setting.best then
    local columns = curves.read(setting.best.folder)
    local drawn = by_task[setting.task] or { perplexity = {}, fine = {} }
    by_task[setting.task] = drawn
    table.insert(drawn.perplexity, curves.series(columns, 'perplexity', setting.row))
    table.insert(drawn.fine, curves.series(columns, 'train_fine', setting.row, 100))
    for i, batches in ipairs(columns.batches) do
      kept[#kept + 1] = { setting.task, setting.row, batches, columns.perplexity[i], columns.train_coarse[i] or '',
        columns.train_fine[i] or '', columns.test_coarse[i] or '', columns.test_fine[i] or '' }
    end
  end
end
files.write(run:path 'figure2b.csv', report.table({ columns = { 'task', 'model', 'batches', 'perplexity',
  'train_coarse', 'train_fine', 'test_coarse', 'test_fine' }, rows = kept }):csv())
for _, task in ipairs(protocol.tasks) do
  local drawn = by_task[task]
  if drawn then
    run:lines('figure2b-' .. task, { title = protocol.titles[task] .. ': average training perplexity',
      x_label = 'batches', y_label = 'perplexity', x_log = true, y_log = true, series = drawn.perplexity })
    run:lines('figure2b-' .. task .. '-fine', { title = protocol.titles[task] .. ': fine accuracy, training lengths',
      x_label = 'batches', y_label = 'fine accuracy (%)', x_log = true, y_max = 100, series = drawn.fine })
  end
end
cells.finish(run, rows, 'figure2b', figures.keys)
