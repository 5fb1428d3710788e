-- One task, one model: trains by the protocol of Delétang et al. (2023) and measures the accuracy of a symbol at every
-- length of the source.
--
--   pushdown scripts/experiments/chomsky/train.lua --task reverse_string --model stack_rnn --learning-rate 1e-3
--
-- Started again on the same --run-folder it goes on where it stopped.
local csv = require 'pushdown.csv'
local experiment = require 'pushdown.experiment'
local protocol = dofile((arg[0]:match('^(.*/)') or '') .. 'protocol.lua')

local options, run = experiment.start {
  name = 'chomsky/train',
  doc = 'Trains one model on one task of Delétang et al. (2023).',
  options = protocol.with_options {
    { 'task', 'reverse_string', 'what is to be done', choices = protocol.tasks },
    { 'model', 'stack_rnn', 'which model', choices = protocol.model_names },
    { 'learning_rate', 1e-3, 'of Adam', minimum = 0, type = 'number' },
    { 'batch', 128, 'pairs in one update', minimum = 1 },
    { 'seed', 1, 'decides parameters and pairs', minimum = 0 },
    { 'restart', 1, 'number of this repeat, for the record', minimum = 1 },
  },
  quick = protocol.quick, smoke = protocol.smoke,
}

local result = protocol.train(options, run)
local title = ('%s, %s'):format(protocol.title(options.task), protocol.models[options.model].label)
local rows = {}
for _, key in ipairs { 'score', 'valid_accuracy', 'valid_perplexity', 'train_perplexity', 'steps', 'parameters',
  'seconds' } do
  rows[#rows + 1] = { (key:gsub('_', ' ')), result[key] }
end
run:table('results', { title = ('%s, learning rate %g, batch %d, seed %d'):format(title, options.learning_rate,
  options.batch, options.seed), columns = { 'figure', { 'value', format = '%.6g' } }, rows = rows,
  note = ('The score is the mean accuracy of a symbol over the lengths %d to %d.'):format(
    protocol.score_lengths(options)) })
local line = { name = protocol.models[options.model].label, x = {}, y = {} }
for i, row in ipairs(select(2, csv.read(run:path 'lengths.csv'))) do
  line.x[i], line.y[i] = tonumber(row.length), 100 * tonumber(row.accuracy)
end
run:lines('lengths', { title = title, x_label = 'length of the source', y_label = 'accuracy of a symbol (%)',
  y_min = 0, y_max = 100, series = { line } })
