-- Table 6 of Mali et al. (2019): the test error of an NSPDA trained with each learning algorithm.
--
--   pushdown scripts/experiments/nspda/table6.lua --tasks palindrome
--
-- Trains unfinished runs first; if it is interrupted, start it again to continue.
local here = arg[0]:match('^(.*/)') or ''
local tables = dofile(here .. 'tables.lua')

local tasks = { 'palindrome', 'an_bn', 'an_bn_c_bm_am', 'anm_bn_cm' }
local options, run = tables.start { name = 'nspda/table6', tasks = tasks,
  doc = 'Test error by learning algorithm, as Table 6 of Mali et al. (2019).' }

local paper = {
  { 'BPTT', 'bptt', { 2.02, 1.99 }, { 2.23, 2.55 }, { 2.99, 2.79 }, { 2.99, 1.59 } },
  { 'TBPTT', 'tbptt', { 2.59, 2.81 }, { 1.05, 1.29 }, { 2.97, 2.02 }, { 1.58, 1.11 } },
  { 'RTRL', 'rtrl', { 0.02, 0.19 }, { 0.09, 0.10 }, { 1.85, 0.07 }, { 0.09, 0.01 } },
  { 'UORO', nil, { 0.00, 0.00 }, { 0.06, 0.01 }, { 0.99, 0.00 }, { 0.09, 0.00 } },
}
local cells = tables.cells(tasks, { 'M1', 'M2' }, paper, function(learning, order)
  return { model = tables.nspda[order], hint = 'hint_2', learning = learning }
end)

local kept, rows = tables.run(options, cells)
tables.finish(run, options, kept, rows, { name = 'table6', metric = 'test_error', format = '%.2f',
  row_title = 'learning algorithm', title = 'Test error in percent; M1 second order, M2 third order, Hint #2.',
  others = { { 'train_error', 'train error %' }, { 'epochs', 'epochs' }, { 'seconds', 'seconds' } } })
