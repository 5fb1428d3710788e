-- Trains one model on one language by the protocol of Mali et al. (2019), and measures the parameters of
-- the best epoch on longer strings.
--
--   pushdown scripts/experiments/nspda/train.lua --task palindrome --model nspda_3
--   pushdown scripts/experiments/nspda/train.lua --task an_bn --model lstm
--   pushdown scripts/experiments/nspda/train.lua --task an_bn --model nspda_3 --hint none
--
-- If it is started again on the same --run-folder, it resumes the run.
local experiment = require 'pushdown.experiment'
local protocol = dofile((arg[0]:match('^(.*/)') or '') .. 'protocol.lua')

local options, run = experiment.start {
  name = 'nspda/train',
  doc = 'Trains one model on one language of Mali et al. (2019).',
  options = protocol.with_options {
    { 'task', 'palindrome', 'a language: ' .. table.concat(protocol.tasks, ', '), choices = protocol.tasks },
    { 'model', 'nspda_3', 'the model', choices = protocol.model_names },
    { 'hint', 'own', 'hint that is inserted before training; own: the one that the paper gives this model',
      choices = { 'own', 'none', 'hint_1', 'hint_2', 'whole', 'dead_states', 'dead_neuron' } },
    { 'noise', 'own', 'adaptive noise on the weights', choices = { 'own', 'on', 'off' } },
    { 'learning', 'own', 'learning algorithm', choices = { 'own', 'bptt', 'tbptt', 'rtrl', 'uoro' } },
    { 'curriculum', 'two_stage', 'order of the strings', choices = { 'two_stage', 'incremental', 'sequential' } },
    { 'seed', 1, 'random seed of data, parameters and order', minimum = 0 },
    { 'restart', 1, 'number of this restart, for the record', minimum = 1 },
  },
  quick = protocol.quick, smoke = protocol.smoke,
}

local result = protocol.train(options, run)
local rows = {}
for _, key in ipairs { 'converged', 'epochs', 'characters', 'train_error', 'validation_error', 'test_error',
  'seconds' } do
  rows[#rows + 1] = { (key:gsub('_', ' ')), tostring(result[key]) }
end
run:table('results', {
  title = ('%s on %s, seed %d'):format(protocol.models[options.model].label,
    protocol.titles[options.task], options.seed),
  columns = { 'figure', 'value' }, rows = rows })
print('\nErrors in percent of the strings.')
