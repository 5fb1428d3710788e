-- Shared by the figure scripts: trains the runs of all tasks, models and learning rates, and chooses the setting of
-- each model on each task.
local pd = require 'pushdown'
local cells = require 'pushdown.cells'
local experiment = require 'pushdown.experiment'
local here = arg[0]:match('^(.*/)') or ''
local protocol = dofile(here .. 'protocol.lua')

local M = { protocol = protocol }

-- Section 4.4: the learning rates of the search.
local rates = { 5e-3, 1e-3, 5e-4, 1e-4, 5e-5 }

function M.start(given)
  local options = cells.options { tasks = given.tasks or protocol.tasks, restarts = 1,
    folder = 'runs/transduction/grid' }
  options[#options + 1] = { 'learning_rates', rates, 'learning rates to try; the best one is chosen by the average '
    .. 'training perplexity' }
  return experiment.start { name = given.name, doc = given.doc, options = protocol.with_options(options),
    quick = pd.tables.merged({ folder = 'runs/transduction/quick_grid', learning_rates = { 5e-3, 1e-3 } },
      protocol.quick),
    smoke = pd.tables.merged({ folder = 'runs/transduction/smoke_grid', learning_rates = { 1e-3, 5e-4 },
      tasks = { 'reversal', 'svo_to_sov' }, rows = { 'Stack-LSTM', '2-layer LSTM' } }, protocol.smoke) }
end

-- Trains unfinished runs. Returns the settings and the rows of the grid. A setting is { task =, model =, row =, runs =
-- the finished runs, best = the run with the lowest average training perplexity }.
function M.run(options)
  local all = {}
  for _, task in ipairs(protocol.tasks) do
    for _, model in ipairs(protocol.model_names) do
      for _, rate in ipairs(options.learning_rates) do
        all[#all + 1] = { task = task, model = model, row = protocol.labels[model],
          point = { model = model, learning_rate = rate } }
      end
    end
  end
  local kept, rows = cells.train { cells = all, options = options, settings = protocol.options,
    name = 'transduction', script = here .. 'train.lua' }
  local settings, by_name = {}, {}
  for _, cell in ipairs(kept) do
    local name = cell.task .. '/' .. cell.model
    local setting = by_name[name]
    if not setting then
      setting = { task = cell.task, model = cell.model, row = cell.row, runs = {} }
      by_name[name], settings[#settings + 1] = setting, setting
    end
    for _, run in ipairs(cell.runs) do
      setting.runs[#setting.runs + 1] = run
      if not setting.best or run.result.perplexity < setting.best.result.perplexity then setting.best = run end
    end
  end
  return settings, rows
end

M.keys = { 'learning_rate', 'parameters', 'batches', 'best_batches', 'perplexity', 'train_coarse', 'train_fine',
  'test_coarse', 'test_fine', 'seconds', 'stopped' }

return M
