-- Trains one classifier that decides from the words before a verb whether it is singular or plural (Linzen et al.
-- 2016), as in section 3 of Merrill et al. (2019). Trains until the accuracy on the validation examples stops
-- improving, and measures the test examples, all together and by attractors.
--
--   pushdown scripts/experiments/syntax/number_prediction.lua --data numpred --model stack_u1
--   pushdown scripts/experiments/syntax/number_prediction.lua --data en_ewt.conllu --split 8,1,1
--
-- If it is started again on the same --run-folder, it resumes the run.
local experiment = require 'pushdown.experiment'
local protocol = dofile((arg[0]:match('^(.*/)') or '') .. 'protocol.lua')

local options, run = protocol.start({
  name = 'syntax/number_prediction',
  doc = 'Trains one classifier for the number of verbs, as section 3 of Merrill et al. (2019).',
  options = experiment.join_options({
    { 'task', 'number', 'the task', choices = { 'number' } },
    { 'model', 'stack_u1', 'the model', choices = protocol.model_names },
  }, protocol.number_options, protocol.options, {
    { 'data_seed', 1, 'random seed for splitting data that are not in parts', minimum = 0 },
    { 'seed', 1, 'random seed of parameters and the order of the examples', minimum = 0 },
    { 'restart', 1, 'number of this restart, for the record', minimum = 1 },
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
