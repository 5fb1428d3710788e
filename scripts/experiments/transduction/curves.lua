-- Reads training.csv of a run as series for plots.
local files = require 'pushdown.files'

local M = {}

-- The columns of training.csv: name -> list, false where a cell is empty.
function M.read(folder)
  local names, columns = nil, {}
  for line in files.read(folder .. '/training.csv'):gmatch('[^\n]+') do
    local cells = {}
    for cell in (line .. ','):gmatch('([^,]*),') do cells[#cells + 1] = cell end
    if not names then
      names = cells
      for _, name in ipairs(names) do columns[name] = {} end
    else
      for i, name in ipairs(names) do table.insert(columns[name], tonumber(cells[i]) or false) end
    end
  end
  return columns
end

-- A column over the batches, without the empty cells.
function M.series(columns, name, title, factor)
  local series = { name = title, x = {}, y = {} }
  for i, value in ipairs(columns[name]) do
    if value then series.x[#series.x + 1], series.y[#series.y + 1] = columns.batches[i], value * (factor or 1) end
  end
  return series
end

-- The four accuracies of a run, in percent.
function M.accuracies(folder)
  local columns = M.read(folder)
  return { M.series(columns, 'train_coarse', 'coarse, training', 100),
    M.series(columns, 'train_fine', 'fine, training', 100),
    M.series(columns, 'test_coarse', 'coarse, test', 100), M.series(columns, 'test_fine', 'fine, test', 100) }
end

return M
