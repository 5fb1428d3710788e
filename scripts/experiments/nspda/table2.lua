-- Table 2 of Mali et al. (2019): the number of characters that an NSPDA without hints reads until it
-- converges, if it is trained on all strings at once, by incremental learning, or in two stages.
--
--   pushdown scripts/experiments/nspda/table2.lua --tasks palindrome
--
-- Trains unfinished runs first; if it is interrupted, start it again to continue.
local here = arg[0]:match('^(.*/)') or ''
local tables = dofile(here .. 'tables.lua')

local tasks = { 'palindrome', 'an_bn', 'an_bn_c_bm_am', 'anm_bn_cm' }
local options, run = tables.start { name = 'nspda/table2', tasks = tasks,
  doc = 'Characters to convergence by training method, as Table 2 of Mali et al. (2019).' }

local paper = {
  { 'Standard', 'sequential', { '5699', '5912' }, { '> 200000', '> 210000' }, { '> 240000', '> 233000' },
    { '> 320000', '> 315000' } },
  { 'IL', 'incremental', { '2678', '2552' }, { '108200', '104556' }, { '192001', '192551' }, { '222171', '222144' } },
  { '2-IL', 'two_stage', { '2001', '2199' }, { '9899', '10001' }, { '130192', '129998' }, { '177189', '177190' } },
}
local cells = tables.cells(tasks, { 'M1', 'M2' }, paper, function(curriculum, order)
  -- Leaves out the default, so that these runs are shared with table 1.
  return { model = tables.nspda[order], hint = 'none', curriculum = curriculum ~= 'two_stage' and curriculum or nil }
end)

local kept, rows = tables.run(options, cells)
tables.finish(run, options, kept, rows, { name = 'table2', metric = 'characters', format = '%.0f',
  row_title = 'train method', title = 'Characters to convergence; M1 second order, M2 third order, without hints.',
  others = { { 'test_error', 'test error %' } } })
