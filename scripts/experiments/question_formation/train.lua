-- One task, one model: trains a language model on ambiguous pairs of sentences and measures which rule it follows on
-- pairs that tell the rules apart.
--
--   pushdown scripts/experiments/question_formation/train.lua --task question --model lstm_nd_r --learning-rate 1e-3
--   pushdown scripts/experiments/question_formation/train.lua --data rnn-hierarchical-biases/data --model transformer
--
-- Started again on the same --run-folder it goes on where it stopped.
local experiment = require 'pushdown.experiment'
local suite = require 'pushdown.suite'
local protocol = dofile((arg[0]:match('^(.*/)') or '') .. 'protocol.lua')

local options, run = experiment.start {
  name = 'question_formation/train',
  doc = 'Trains one language model on question formation or tense reinflection.',
  options = protocol.with_options {
    { 'task', 'question', 'what is to be done', choices = protocol.tasks },
    { 'model', 'lstm', 'which model', choices = protocol.model_names },
    { 'learning_rate', 1e-3, 'of Adam at the start', minimum = 0, type = 'number' },
    { 'batch', 32, 'pairs of one length in one update', minimum = 1 },
    { 'seed', 1, 'decides parameters and order', minimum = 0 },
    { 'restart', 1, 'number of this repeat, for the record', minimum = 1 },
  },
  quick = protocol.quick, smoke = protocol.smoke,
}

local result = protocol.train(options, run)
local label = protocol.models[options.model].label
local title = ('%s, %s'):format(protocol.title(options.task), label)
run:results(result, { 'score', 'chosen', 'linear', 'full_match', 'probability', 'log_ratio', 'test_full_match',
  'test_decision', 'valid_loss', 'train_loss', 'best_epoch', 'epochs', 'parameters', 'seconds' }, {
  title = ('%s, learning rate %g, batch %d, seed %d'):format(title, options.learning_rate, options.batch,
    options.seed),
  note = ('The score is the mean %s, on the generalization set.'):format(protocol.scores[options.task]) })
suite.lengths(run, label, { title = title, x_label = 'words of the source',
  y_label = 'probability of the right word (%)' })
