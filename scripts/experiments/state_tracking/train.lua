-- One task, one model: trains on short strings and measures the accuracy of the answer at every length.
--
--   pushdown scripts/experiments/state_tracking/train.lua --task s3 --model deltanet_negative --learning-rate 1e-3
--
-- Started again on the same --run-folder it goes on where it stopped.
local experiment = require 'pushdown.experiment'
local suite = require 'pushdown.suite'
local protocol = dofile((arg[0]:match('^(.*/)') or '') .. 'protocol.lua')

local options, run = experiment.start {
  name = 'state_tracking/train',
  doc = 'Trains one model on one task of state tracking.',
  options = protocol.with_options {
    { 'task', 's3', 'what is to be done', choices = protocol.tasks },
    { 'model', 'deltanet_negative', 'which model', choices = protocol.model_names },
    { 'learning_rate', 1e-3, 'of Adam', minimum = 0, type = 'number' },
    { 'batch', 64, 'pairs in one update', minimum = 1 },
    { 'seed', 1, 'decides parameters and pairs', minimum = 0 },
    { 'restart', 1, 'number of this repeat, for the record', minimum = 1 },
  },
  quick = protocol.quick, smoke = protocol.smoke,
}

local result = protocol.train(options, run)
local title = ('%s, %s'):format(protocol.title(options.task), protocol.models[options.model].label)
run:results(result, { 'score', 'valid_accuracy', 'valid_perplexity', 'train_perplexity', 'steps', 'parameters',
  'seconds' }, {
  title = ('%s, learning rate %g, batch %d, seed %d'):format(title, options.learning_rate, options.batch,
    options.seed),
  note = ('The score is the scaled accuracy, 0 for guesses and 1 for no errors, over the lengths %d to %d.'):format(
    options.lengths[2] + 1, options.longest) })
suite.lengths(run, protocol.models[options.model].label, { title = title, x_label = 'length of the source',
  y_label = 'accuracy of the answer (%)' })
