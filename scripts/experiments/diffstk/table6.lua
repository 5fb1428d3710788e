-- Table 6 of Mali et al. (2021): D2, with and without noise on the state, without carry-forward. All models
-- use the noise of DiffStk-RNN.
--
--   pushdown scripts/experiments/diffstk/table6.lua
--
-- Trains unfinished runs first; if it is interrupted, start it again to continue.
local here = arg[0]:match('^(.*/)') or ''
local ablation = dofile(here .. 'ablation.lua')

local function point(_, column)
  return { noise = column == 1 and tostring(ablation.noise) or '0', carry_forward = 'none' }
end

ablation.table(6, 'Noise on the state', { 'with noise', 'without' }, point, {
  rnn = { 0.2, 0.4, 0.0, 0.0 },
  lstm = { 1.40, 4.00, 1.00, 3.85 },
  stack_rnn = { 70, 100, 70, 99.95 },
  diffstk_rnn = { 99.99, 100, 97.58, 99.00 },
  diffstk_mrnn = { 99.00, 100, 97.20, 99.99 },
  diffstk_mirnn = { 97.25, 99, 97.00, 99 },
})
