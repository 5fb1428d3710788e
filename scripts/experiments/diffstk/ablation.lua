-- Tables 6 to 8 of Mali et al. (2021): compares two ways of training the same models on D2.
local here = arg[0]:match('^(.*/)') or ''
local tables = dofile(here .. 'tables.lua')
local cells = require 'pushdown.cells'
local protocol = tables.protocol

local models = { 'rnn', 'lstm', 'stack_rnn', 'diffstk_rnn', 'diffstk_mrnn', 'diffstk_mirnn' }

local M = {}

-- The standard deviation of the noise that an ablation gives to every model.
M.noise = protocol.models.diffstk_rnn.noise

-- The model's own way of carrying its state forward.
function M.carry(model) return protocol.models[model].carry_forward end

-- number: that of the table; what: text for the documentation; columns: the two names; point(model, column): the
-- options of train.lua for column 1 or 2; paper: mean and best of both columns for each model.
function M.table(number, what, columns, point, paper)
  local name = 'table' .. number
  local options, run = tables.start { name = 'diffstk/' .. name, task = 'd2',
    columns = ('%s or %s alone; none: both'):format(columns[1], columns[2]), smoke = { rows = { 'DiffStk-RNN' } },
    doc = ('%s on D₂, as Table %d of Mali et al. (2021).'):format(what, number) }
  local all = {}
  for _, model in ipairs(models) do
    for column, title in ipairs(columns) do
      local given, own = point(model, column), protocol.models[model]
      -- Leaves out noise that the model has by default, so that these runs are shared with Table 1.
      if tonumber(given.noise) == own.noise then given.noise = nil end
      if given.carry_forward == own.carry_forward then given.carry_forward = nil end
      given.model = model
      all[#all + 1] = { task = 'd2', row = protocol.models[model].label, column = title, point = given,
        paper = { paper[model][2 * column - 1], paper[model][2 * column] } }
    end
  end
  local kept, rows = tables.run(options, all)
  local others, other_columns = tables.other_measures(options)
  local lines = {}
  for i, cell in ipairs(kept) do
    local mean, deviation, _, best = cells.statistics(cell, 'test_' .. options.decision)
    lines[i] = { cell.row, cell.column, cell.paper[1], mean, deviation, cell.paper[2], best }
    for _, n in ipairs(options.long_lengths) do
      lines[i][#lines[i] + 1] = (cells.statistics(cell, ('n%d_%s'):format(n, options.decision)))
    end
    for _, measure in ipairs(others) do lines[i][#lines[i] + 1] = tables.mean_of(cell, 'test', measure) end
    lines[i][#lines[i] + 1] = #cell.runs
    lines[i][#lines[i] + 1] = require 'pushdown.grid'.point_name(cell.point)
  end
  local titles = { 'model', 'training' }
  local function add(title) titles[#titles + 1] = { title, format = '%.2f', align = 'right' } end
  for _, title in ipairs { 'paper mean', 'mean', 'deviation', 'paper best', 'best' } do add(title) end
  for _, n in ipairs(options.long_lengths) do add(('n%d mean'):format(n)) end
  for _, column in ipairs(other_columns) do titles[#titles + 1] = column end
  titles[#titles + 1], titles[#titles + 2] = 'runs', 'setting'
  run:table(name, { title = what .. ': correctly classified test strings in percent', columns = titles, rows = lines,
    note = rows.note })
  tables.curves(run, options, kept, name)
  tables.explain(run, options, 'd2')
  cells.finish(run, rows, name, tables.keys(options))
end

return M
