-- Six context-free languages with hard negatives, three of FLaRe and three of ours (hard.lua).
--
--   pushdown scripts/experiments/flare/hard_table.lua --tasks dyck_2 --models gru,rns --restarts 1
--
-- Runs that are not finished are trained first; started again it goes on.
local here = arg[0]:match('^(.*/)') or ''

dofile(here .. 'hard.lua') { name = 'flare/hard_table', restarts = 3,
  doc = 'Recognizers of context-free languages on test strings and hard negatives.',
  tasks = { 'marked_reversal', 'unmarked_reversal', 'stack_manipulation', 'dyck_2', 'reversals', 'formulas' } }
