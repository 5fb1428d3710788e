-- One language, one model: trains a recognizer by the protocol of Butoi et al. (2025) and measures it on long strings.
--
--   pushdown scripts/experiments/flare/train.lua --task dyck_2_3 --model lstm --learning-rate 1e-3
--   pushdown scripts/experiments/flare/train.lua --data flare --task odds-first --model rns
--
-- Started again on the same --run-folder it goes on where it stopped.
local experiment = require 'pushdown.experiment'
local suite = require 'pushdown.suite'
local protocol = dofile((arg[0]:match('^(.*/)') or '') .. 'protocol.lua')

local options, run = experiment.start {
  name = 'flare/train',
  doc = 'Trains one recognizer on one language of the FLaRe benchmark (Butoi et al. 2025).',
  options = protocol.with_options(experiment.join_options({
    { 'task', 'parity', ('the language: %s, of the benchmark; %s; or a folder in that of --data'):format(
      table.concat(protocol.tasks, ', '), table.concat(protocol.beyond, ', ')) },
    { 'model', 'lstm', 'which model', choices = protocol.model_names },
  }, protocol.run_options, {
    { 'seed', 1, 'decides parameters and order', minimum = 0 },
    { 'restart', 1, 'number of this repeat, for the record', minimum = 1 },
  })),
  quick = protocol.quick, smoke = protocol.smoke,
}

local result = protocol.train(options, run)
local title = ('%s, %s'):format(protocol.title(options.task), protocol.models[options.model].label)
run:results(result, { 'score', 'hard_accuracy', 'valid_short_accuracy', 'valid_long_accuracy', 'valid_loss',
  'train_accuracy', 'train_loss', 'best_epoch', 'epochs', 'parameters', 'seconds' }, {
  title = ('%s, learning rate %g, %d symbols an update, seed %d'):format(title, options.learning_rate,
    options.batch_symbols, options.seed),
  note = 'The score is the share of correctly classified test strings.' })
suite.lengths(run, protocol.models[options.model].label, { title = title, x_label = 'length of the test strings',
  y_label = 'correctly classified strings (%)' })
