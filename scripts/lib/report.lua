-- Tables of results: aligned text for the terminal, Markdown, CSV and LaTeX (booktabs) from the same rows. Also pages
-- about runs.
--
--   local table = report.table{ columns = { 'model', {'loss', format = '%.4f'} },
--                               rows = { { 'LSTM', 0.31 }, { 'NS-RNN', 0.0123 } } }
--   print(table:text())
--   report.page{ runs = { 'runs/ns_rnn/grid' }, path = 'report.html' }
local table_of = require 'pushdown.text.table'

local M = {}

-- report.table{columns=, rows=, title=, note=}: a column is a name or {name, format = '%.4f', align =
-- 'left' | 'right'}; numbers are right-aligned by default. A row is a list, or a table by column name.
-- NaN is shown as a dash. note: a text below the table.
function M.table(given) return table_of.new(given) end

-- report.page{runs = {17, 'runs/grid'}, path = 'report.html'} -> a description of the written page. Writes the page of
-- `pushdown report` about these runs, given as registry numbers or folders. Further options: title, metric (a list), x,
-- registry, since, and the filters grid, experiment, point, status and where (lists of texts).
function M.page(given) return require 'pushdown.report.page'.make(given) end

return M
