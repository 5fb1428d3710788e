-- Table 3 of Mali et al. (2019): the test error of an NSPDA with and without adaptive noise on its
-- weights.
--
--   pushdown scripts/experiments/nspda/table3.lua --tasks palindrome,an_bn
--
-- Trains unfinished runs first; if it is interrupted, start it again to continue.
local here = arg[0]:match('^(.*/)') or ''
local tables = dofile(here .. 'tables.lua')

local tasks = { 'palindrome', 'an_bn', 'an_bn_c_bm_am', 'anm_bn_cm' }
local options, run = tables.start { name = 'nspda/table3', tasks = tasks,
  doc = 'Test error with and without adaptive noise, as Table 3 of Mali et al. (2019).' }

local paper = {
  { 'w/o reg', 'off', { 4.55, 2.99 }, { 1.28, 1.55 }, { 5.51, 4.19 }, { 2.18, 2.00 } },
  { 'w reg', nil, { 0.00, 0.00 }, { 0.06, 0.01 }, { 0.99, 0.00 }, { 0.09, 0.00 } },
}
local cells = tables.cells(tasks, { 'M1', 'M2' }, paper, function(noise, order)
  return { model = tables.nspda[order], hint = 'hint_2', noise = noise }
end)

local kept, rows = tables.run(options, cells)
tables.finish(run, options, kept, rows, { name = 'table3', metric = 'test_error', format = '%.2f',
  row_title = 'regularization', title = 'Test error in percent; M1 second order, M2 third order, Hint #2.',
  others = { { 'train_error', 'train error %' }, { 'epochs', 'epochs' } } })
