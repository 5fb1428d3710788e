-- The data that a record keeps of a run besides the numbers of its result, by script. Runs of other scripts cannot be
-- recorded.
--
-- curve: the first of these metrics that was measured, over the epochs; the decimals of its numbers; and the largest
-- number of epochs that is kept. file: a small CSV file of the run folder that tables and figures read; its columns
-- with their decimals (false: a text); and the rows that are kept, a function of row and number (none: all). grid: the
-- name of the grid of a result, if all runs have a place in some grid, also those that are made by hand, whose seeds
-- differ from those of the grid.
return {
  ['ns_rnn/train'] = {
    curve = { metrics = { 'cross_entropy_difference', 'cross_entropy' }, decimals = 4, points = 200 },
    file = { name = 'test.csv', columns = { { 'length', 0 }, { 'symbols', 0 }, { 'cross_entropy_difference', 4 } } },
  },
  ['nspda/train'] = { curve = { metrics = { 'train_accuracy' }, decimals = 3, points = 130 } },
  ['diffstk/train'] = {
    file = { name = 'lengths.csv', columns = { { 'set', false }, { 'shortest', 0 }, { 'longest', 0 }, { 'strings', 0 },
      { 'right_mean', 0 }, { 'right_last', 0 }, { 'right_every', 0 } },
      keep = function(row) return row.set == 'test' or row.set == 'curve' end },
  },
  -- Perplexity falls fast in the first batches; of the later ones, those with measured accuracies are kept.
  ['transduction/train'] = {
    file = { name = 'training.csv', columns = { { 'batches', 0 }, { 'perplexity', 3 }, { 'train_coarse', 3 },
      { 'train_fine', 3 }, { 'test_coarse', 3 }, { 'test_fine', 3 } },
      keep = function(row, number) return number <= 10 or row.train_fine ~= '' end },
  },
  ['chomsky/train'] = {
    file = { name = 'lengths.csv', columns = { { 'length', 0 }, { 'accuracy', 4 } } },
  },
  ['state_tracking/train'] = {
    file = { name = 'lengths.csv', columns = { { 'length', 0 }, { 'accuracy', 4 } } },
  },
  ['optimum/train'] = {
    file = { name = 'lengths.csv', columns = { { 'length', 0 }, { 'accuracy', 4 } } },
  },
  ['question_formation/train'] = {
    file = { name = 'lengths.csv', columns = { { 'length', 0 }, { 'accuracy', 4 }, { 'pairs', 0 } } },
  },
  ['recipes/train'] = {
    grid = function(result) return ('recipes/%s/%s'):format(result.recipe, result.model) end,
    curve = { metrics = { 'cross_entropy_difference', 'set_accuracy', 'coarse', 'accuracy', 'cross_entropy' },
      decimals = 4, points = 150 },
    file = { name = 'lengths.csv', columns = { { 'length', 0 }, { 'value', 4 } } },
  },
  ['flare/train'] = {
    file = { name = 'lengths.csv', columns = { { 'length', 1 }, { 'accuracy', 4 }, { 'strings', 0 } } },
  },
}
