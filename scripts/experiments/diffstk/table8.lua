-- Table 8 of Mali et al. (2021): D2, trained on all strings in every epoch, or on strings of rising length
-- first. The models are those of Table 1 and share its runs. All numbers that the paper prints are those of
-- its Table 7.
--
--   pushdown scripts/experiments/diffstk/table8.lua
--
-- Trains unfinished runs first; if it is interrupted, start it again to continue.
local here = arg[0]:match('^(.*/)') or ''
local ablation = dofile(here .. 'ablation.lua')

local function point(_, column)
  -- Leaves out the default, so that these runs are shared with Table 1.
  return { curriculum = column == 2 and 'incremental' or nil }
end

ablation.table(8, 'Order of the strings', { 'sequential', 'incremental' }, point, {
  rnn = { 0.2, 0.4, 0.0, 0.0 },
  lstm = { 1.40, 4.00, 1.00, 3.85 },
  stack_rnn = { 70, 100, 70, 99.95 },
  diffstk_rnn = { 99.99, 100, 97.58, 99.00 },
  diffstk_mrnn = { 100, 100, 97.20, 99.99 },
  diffstk_mirnn = { 98.20, 100, 97.00, 99 },
})
