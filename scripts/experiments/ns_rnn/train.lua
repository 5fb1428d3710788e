-- One task, one model: trains by the protocol of Dusell and Chiang (2020) and measures the best
-- epoch's parameters on test strings of every length.
--
--   pushdown scripts/experiments/ns_rnn/train.lua --task dyck --model ns --learning-rate 0.005
--   pushdown scripts/experiments/ns_rnn/train.lua --task my_grammar.lua --model superposition
--
-- Started again on the same --run-folder it goes on where it stopped.
local experiment = require 'pushdown.experiment'
local protocol = dofile((arg[0]:match('^(.*/)') or '') .. 'protocol.lua')

local options, run = experiment.start {
  name = 'ns_rnn/train',
  doc = 'Trains one model on one task of Dusell and Chiang (2020).',
  options = protocol.with_options {
    { 'task', 'marked_reversal', 'a grammar: ' .. table.concat(protocol.tasks, ', ') .. ', or a file' },
    { 'model', 'ns', 'which model', choices = protocol.model_names },
    { 'learning_rate', 0.005, 'of Adam at the start', type = 'number' },
    { 'size', 20, 'size of the vectors of superposition and stratification', minimum = 1 },
    { 'vector_size', 3, 'size of the vectors of vrns', minimum = 1 },
    { 'seed', 1, 'decides data, parameters and order', minimum = 0 },
    { 'restart', 1, 'number of this restart, for the record', minimum = 1 },
  },
  quick = protocol.quick, smoke = protocol.smoke,
}

local result = protocol.train(options, run)
local rows = {}
for _, key in ipairs { 'validation_cross_entropy', 'validation_lower_bound', 'validation_difference',
  'test_cross_entropy', 'test_lower_bound', 'test_difference', 'best_epoch', 'epochs', 'seconds' } do
  rows[#rows + 1] = { (key:gsub('_', ' ')), result[key] }
end
run:table('results', {
  title = ('%s on %s, seed %d'):format(protocol.models[options.model].label,
    protocol.title(options.task), options.seed),
  columns = { 'figure', { 'value', format = '%.6g' } }, rows = rows })
print('\nEntropies in nats per symbol; test figures by length: ' .. run:path 'test.csv')
