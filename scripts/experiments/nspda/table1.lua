-- Table 1 of Mali et al. (2019): the duration of training with and without hints, for second-order (W1)
-- and third-order (W2) weights. The paper does not say what its numbers count; here they are epochs
-- until all training strings are correctly classified.
--
--   pushdown scripts/experiments/nspda/table1.lua --tasks palindrome,an_bn
--
-- Trains unfinished runs first; if it is interrupted, start it again to continue.
local here = arg[0]:match('^(.*/)') or ''
local tables = dofile(here .. 'tables.lua')

local tasks = { 'palindrome', 'an_bn', 'an_bn_c_bm_am', 'anm_bn_cm' }
local options, run = tables.start { name = 'nspda/table1', tasks = tasks,
  doc = 'Epochs to convergence with and without hints, as Table 1 of Mali et al. (2019).' }

local nnpda = { 'nnpda_2', 'nnpda' }
local paper = {
  { 'NNPDA w/o hints', { nnpda, 'none' }, { 100, 81 }, { 280, 215 }, {}, {} },
  { 'NNPDA w/ dead neuron hints', { nnpda, 'dead_neuron' }, { 92, 83 }, { 212, 192 }, { 485, 145 }, { 250, 195 } },
  { 'NSPDA w/o hints', { tables.nspda, 'none' }, { 91, 79 }, { 221, 192 }, { 488, 159 }, { 339, 293 } },
  { 'NSPDA w/ Hint #1', { tables.nspda, 'hint_1' }, { 80, 75 }, { 190, 170 }, { 410, 140 }, { 240, 160 } },
  { 'NSPDA w/ Hint #2', { tables.nspda, 'hint_2' }, { 70, 72 }, { 150, 138 }, { 389, 134 }, { 222, 148 } },
}
local cells = tables.cells(tasks, { 'W1', 'W2' }, paper, function(row, order)
  return { model = row[1][order], hint = row[2] }
end)

local kept, rows = tables.run(options, cells)
tables.finish(run, options, kept, rows, { name = 'table1', metric = 'epochs', format = '%.1f',
  row_title = 'rule method', title = 'Epochs to convergence; W1 second-order, W2 third-order weights.',
  others = { { 'test_error', 'test error %' } } })
