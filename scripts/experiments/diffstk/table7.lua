-- Table 7 of Mali et al. (2021): D2, with noise on the state and carry-forward, and without both. The paper
-- says "with and without noise as well as carry forwarding state", and its second column is that of Table 6.
-- Each model uses its own carry-forward; models without it have only noise.
--
--   pushdown scripts/experiments/diffstk/table7.lua
--
-- Trains unfinished runs first; if it is interrupted, start it again to continue.
local here = arg[0]:match('^(.*/)') or ''
local ablation = dofile(here .. 'ablation.lua')

local function point(model, column)
  if column == 2 then return { noise = '0', carry_forward = 'none' } end
  return { noise = tostring(ablation.noise), carry_forward = ablation.carry(model) }
end

ablation.table(7, 'Noise on the state and carry-forward', { 'with changes', 'without' }, point, {
  rnn = { 0.2, 0.4, 0.0, 0.0 },
  lstm = { 1.40, 4.00, 1.00, 3.85 },
  stack_rnn = { 70, 100, 70, 99.95 },
  diffstk_rnn = { 99.99, 100, 97.58, 99.00 },
  diffstk_mrnn = { 100, 100, 97.20, 99.99 },
  diffstk_mirnn = { 98.20, 100, 97.00, 99 },
})
