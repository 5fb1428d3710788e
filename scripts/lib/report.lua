-- Tables of results: aligned text for the terminal, Markdown, CSV and LaTeX (booktabs) from the same rows. Also pages
-- about runs.
--
--   local table = report.table{ columns = { 'model', {'loss', format = '%.4f'} },
--                               rows = { { 'LSTM', 0.31 }, { 'NS-RNN', 0.0123 } } }
--   print(table:text())
--   report.page{ runs = { 'runs/ns_rnn/grid' }, path = 'report.html' }
local page = require 'pushdown.report.page'
local table_of = require 'pushdown.text.table'

local M = {}

-- report.table{columns=, rows=, title=, note=}: a column is a name or {name, format = '%.4f', align =
-- 'left' | 'right'}; numbers are right-aligned by default. A row is a list, or a table by column name.
-- NaN is shown as a dash. note: a text below the table.
function M.table(given) return table_of.new(given) end

-- report.page{options} -> a description of the written page. Writes the page of `pushdown report`.
function M.page(given) return page.make(given) end

return M
