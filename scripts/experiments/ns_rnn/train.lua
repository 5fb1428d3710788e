-- Trains one model on one task by the protocol of DuSell and Chiang (2020), and measures the parameters
-- of the best epoch on test strings of every length.
--
--   pushdown scripts/experiments/ns_rnn/train.lua --task dyck --model ns --learning-rate 0.005
--   pushdown scripts/experiments/ns_rnn/train.lua --task my_grammar.lua --model superposition
--
-- If it is started again on the same --run-folder, it resumes the run.
local experiment = require 'pushdown.experiment'
local protocol = dofile((arg[0]:match('^(.*/)') or '') .. 'protocol.lua')

local options, run = experiment.start {
  name = 'ns_rnn/train',
  doc = 'Trains one model on one task of DuSell and Chiang (2020).',
  options = protocol.with_options {
    { 'task', 'marked_reversal', 'a grammar: ' .. table.concat(protocol.tasks, ', ') .. ', or a file' },
    { 'model', 'ns', 'the model', choices = protocol.model_names },
    { 'learning_rate', 0.005, 'initial learning rate of Adam', type = 'number' },
    { 'size', 20, 'size of the vectors of superposition and stratification', minimum = 1 },
    { 'vector_size', 3, 'size of the vectors of vrns', minimum = 1 },
    { 'seed', 1, 'random seed of data, parameters and order', minimum = 0 },
    { 'restart', 1, 'number of this restart, for the record', minimum = 1 },
  },
  quick = protocol.quick, smoke = protocol.smoke,
}

local result = protocol.train(options, run)
run:results(result, { 'validation_cross_entropy', 'validation_lower_bound', 'validation_difference',
  'test_cross_entropy', 'test_lower_bound', 'test_difference', 'best_epoch', 'epochs', 'seconds' }, {
  title = ('%s on %s, seed %d'):format(protocol.models[options.model].label,
    protocol.title(options.task), options.seed) })
print('\nEntropies in nats per symbol; test figures by length: ' .. run:path 'test.csv')
print('The lower bound includes the ends of the strings, which the models do not predict, as in the paper.')
