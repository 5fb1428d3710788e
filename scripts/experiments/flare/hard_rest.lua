-- The other twelve languages of FLaRe that have hard negatives (hard.lua), with one seed.
--
--   pushdown scripts/experiments/flare/hard_rest.lua --tasks marked_copy --restarts 3
--
-- Runs that are not finished are trained first; started again it goes on.
local here = arg[0]:match('^(.*/)') or ''

dofile(here .. 'hard.lua') { name = 'flare/hard_rest', restarts = 1,
  doc = 'Recognizers of regular and context-sensitive languages on test strings and hard negatives.',
  tasks = { 'even_pairs', 'repeat_01', 'modular_arithmetic', 'dyck_2_3', 'first', 'marked_copy',
    'missing_duplicate_string', 'odds_first', 'binary_addition', 'binary_multiplication', 'compute_sqrt',
    'bucket_sort' } }
