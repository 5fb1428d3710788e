-- Tables 1 to 4 of Mali et al. (2021): compares all models on one language.
local here = arg[0]:match('^(.*/)') or ''
local tables = dofile(here .. 'tables.lua')
local cells = require 'pushdown.cells'
local protocol = tables.protocol

-- number: that of the table; task; paper: for each model the train mean and best, the test mean and best, and the means
-- at 120 and 160 symbols.
return function(number, task, paper)
  local name = 'table' .. number
  local options, run = tables.start { name = 'diffstk/' .. name, task = task,
    smoke = { rows = { 'LSTM', 'DiffStk-MRNN' } },
    doc = ('All models on %s, as Table %d of Mali et al. (2021).'):format(protocol.titles[task], number) }
  local all = {}
  for _, model in ipairs(protocol.model_names) do
    if paper[model] then
      all[#all + 1] = { task = task, row = protocol.models[model].label, paper = paper[model],
        point = { model = model } }
    end
  end
  local kept, rows = tables.run(options, all)

  -- The indices of each set's mean and best in `paper`, which has the long sets of 120 and 160 symbols.
  local sets, place = { 'train', 'test' }, { train = { 1, 2 }, test = { 3, 4 }, n120 = { 5 }, n160 = { 6 } }
  for _, n in ipairs(options.long_lengths) do sets[#sets + 1] = 'n' .. n end
  local others, other_columns = tables.other_measures(options)
  local lines = {}
  for _, set in ipairs(sets) do
    local at = place[set] or {}
    for _, cell in ipairs(kept) do
      local mean, deviation, _, best = cells.statistics(cell, set .. '_' .. options.decision)
      local line = { set, cell.row, cell.paper[at[1]] or 'NA', mean, deviation, cell.paper[at[2]] or 'NA', best }
      for _, measure in ipairs(others) do line[#line + 1] = tables.mean_of(cell, set, measure) end
      line[#line + 1] = #cell.runs
      lines[#lines + 1] = line
    end
  end
  local columns = { 'strings', 'model' }
  for _, title in ipairs { 'paper mean', 'mean', 'deviation', 'paper best', 'best' } do
    columns[#columns + 1] = { title, format = '%.2f', align = 'right' }
  end
  for _, column in ipairs(other_columns) do columns[#columns + 1] = column end
  columns[#columns + 1] = 'runs'
  run:table(name, { title = protocol.titles[task] .. ': correctly classified strings in percent', columns = columns,
    rows = lines,
    note = rows.note })
  tables.curves(run, options, kept, name)
  tables.explain(run, options, task)
  cells.finish(run, rows, name, tables.keys(options))
end
