-- One classifier that tells from the words before a verb whether it is singular or plural (Linzen et al. 2016), as
-- section 3 of Merrill et al. (2019): trains until the validation examples are told no better, and measures the
-- test examples, all and by attractors.
--
--   pushdown scripts/experiments/syntax/number_prediction.lua --data numpred --model stack_u1
--   pushdown scripts/experiments/syntax/number_prediction.lua --data en_ewt.conllu --split 8,1,1
--
-- Started again on the same --run-folder it goes on where it stopped.
local experiment = require 'pushdown.experiment'
local protocol = dofile((arg[0]:match('^(.*/)') or '') .. 'protocol.lua')

local options, run = protocol.start({
  name = 'syntax/number_prediction',
  doc = 'Trains one classifier of the number of verbs, as section 3 of Merrill et al. (2019).',
  options = experiment.join_options({
    { 'task', 'number', 'what is learned', choices = { 'number' } },
    { 'model', 'stack_u1', 'which model', choices = protocol.model_names },
  }, protocol.number_options, protocol.options, {
    { 'data_seed', 1, 'decides how data that are not in parts are split', minimum = 0 },
    { 'seed', 1, 'decides parameters and the order of the examples', minimum = 0 },
    { 'restart', 1, 'number of this repeat, for the record', minimum = 1 },
  }),
  quick = protocol.quick, smoke = protocol.smoke,
}, { 'data' })

local result = protocol.train_classifier(options, run)
local rows = { { 'all', result.test_examples, result.test_accuracy } }
for count = 0, 5 do
  local accuracy = result['accuracy_' .. count]
  if accuracy then rows[#rows + 1] = { count, result['examples_' .. count], accuracy } end
end
run:table('results', {
  title = ('%s, seed %d: %% of the test examples correctly classified, epoch %d (validation %.2f)'):format(
    protocol.models[options.model].label, options.seed, result.best_epoch, result.valid_accuracy),
  columns = { 'attractors', { 'examples', align = 'right' }, { 'accuracy', format = '%.2f' } }, rows = rows })
