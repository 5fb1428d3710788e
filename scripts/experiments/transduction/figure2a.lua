-- Figure 2a of Grefenstette et al. (2015): coarse and fine accuracies of every model on every task, on sources of
-- the training lengths and on longer ones. The paper's numbers come from Table 3 of its supplement, because the figure
-- has two rows exchanged. The paper only gives the best LSTM depth; here each depth has a row.
--
--   pushdown scripts/experiments/transduction/figure2a.lua
--   pushdown scripts/experiments/transduction/figure2a.lua --tasks copy,reversal --rows Stack,Queue --hidden 64
--
-- Trains unfinished runs first; if it is interrupted, start it again to continue.
local cells = require 'pushdown.cells'
local here = arg[0]:match('^(.*/)') or ''
local figures = dofile(here .. 'figures.lua')
local protocol = figures.protocol

local paper = {
  copy = { lstm_4 = { .98, .98, .01, .50 }, stack = { .89, .94, .00, .22 }, queue = { 1, 1, 1, 1 },
    deque = { 1, 1, 1, 1 } },
  reversal = { lstm_8 = { .95, .98, .04, .13 }, stack = { 1, 1, 1, 1 }, queue = { .44, .61, .00, .07 },
    deque = { 1, 1, 1, 1 } },
  bigram_flipping = { lstm_2 = { .54, .93, .02, .52 }, stack = { .44, .90, .00, .48 }, queue = { .55, .94, .55, .98 },
    deque = { .55, .94, .53, .98 } },
  svo_to_sov = { lstm_8 = { .98, .99, .98, .99 }, stack = { 1, 1, 1, 1 }, queue = { 1, 1, 1, 1 },
    deque = { 1, 1, 1, 1 } },
  gender_conjugation = { lstm_8 = { .98, .99, .99, .99 }, stack = { .93, .97, .93, .97 }, queue = { 1, 1, 1, 1 },
    deque = { 1, 1, 1, 1 } },
}

local options, run = figures.start { name = 'transduction/figure2a',
  doc = 'Accuracies of all models on all tasks, as Figure 2a of Grefenstette et al. (2015).' }
local settings, rows = figures.run(options)

local lines = {}
for _, setting in ipairs(settings) do
  local line = { protocol.titles[setting.task], setting.row }
  local theirs = paper[setting.task][setting.model] or {}
  local ours = setting.best and setting.best.result or {}
  for i, key in ipairs { 'train_coarse', 'train_fine', 'test_coarse', 'test_fine' } do
    line[1 + 2 * i], line[2 + 2 * i] = theirs[i] or '', ours[key] or ''
  end
  for _, key in ipairs { 'learning_rate', 'best_batches', 'perplexity' } do line[#line + 1] = ours[key] or '' end
  line[#line + 1] = #setting.runs
  lines[#lines + 1] = line
end
local columns = { 'task', 'model' }
for _, name in ipairs { 'train coarse', 'train fine', 'test coarse', 'test fine' } do
  columns[#columns + 1] = { name .. ' (paper)', format = '%.2f' }
  columns[#columns + 1] = { name, format = '%.3f' }
end
columns[#columns + 1] = { 'learning rate', format = '%g' }
columns[#columns + 1] = { 'batches', format = '%d' }
columns[#columns + 1] = { 'perplexity', format = '%.4f' }
columns[#columns + 1] = { 'runs', format = '%d' }
run:table('figure2a', {
  title = ('Training: length %d to %d; test: length %d to %d. Of the runs with different learning rates, the one with '
    .. 'the lowest average training perplexity.'):format(options.lengths[1], options.lengths[2],
    options.test_lengths[1], options.test_lengths[2]), columns = columns, rows = lines, note = rows.note })
cells.finish(run, rows, 'figure2a', figures.keys)
