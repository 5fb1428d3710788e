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

-- report.table{options} -> a table, with text(), markdown(), csv(), latex() and save(path).
function M.table(given) return table_of.new(given) end

-- report.page{options} -> a description of the written page. Writes the page of `pushdown report`.
function M.page(given) return page.make(given) end

return M
