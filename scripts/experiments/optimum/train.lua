-- One task, one model: trains on a few strings and measures the distance to the optimum on far longer ones.
--
--   pushdown scripts/experiments/optimum/train.lua --task an_bn_cn_100 --model counters_recipe
--
-- A training takes seconds to a minute. A finished one is not repeated in the same --run-folder.
local experiment = require 'pushdown.experiment'
local suite = require 'pushdown.suite'
local protocol = dofile((arg[0]:match('^(.*/)') or '') .. 'protocol.lua')

local options, run = experiment.start {
  name = 'optimum/train',
  doc = 'Trains one model on one task and measures its distance to the optimum.',
  options = protocol.with_options {
    { 'task', 'an_bn_100', 'a language and the number of its training strings', choices = protocol.tasks },
    { 'model', 'counters_recipe', 'which network, trained by the plain protocol or by the recipe',
      choices = protocol.model_names },
    { 'hidden', 16, 'hidden units', minimum = 1 },
    { 'seed', 1, 'decides the parameters and the order of the strings', minimum = 0 },
    { 'restart', 1, 'number of this repeat, for the record', minimum = 1 },
  },
  quick = protocol.quick, smoke = protocol.smoke,
}

local result = protocol.train(options, run)
local title = ('%s, %s'):format(protocol.title(options.task), protocol.models[options.model].label)
run:results(result, { 'difference', 'optimum', 'cross_entropy', 'score', 'right_share', 'reach', 'largest',
  'valid_loss', 'train_difference', 'parameters', 'updates', 'seconds' }, {
  title = ('%s, %d hidden units, seed %d'):format(title, options.hidden, options.seed),
  note = 'Cross-entropies are in bits per symbol. The score is the accuracy at the steps that are no matter of '
    .. 'chance.' })
suite.lengths(run, protocol.models[options.model].label, { title = title, x_label = 'size of the string',
  y_label = 'strings right at all steps (%)' })
