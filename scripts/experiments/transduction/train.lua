-- Trains one model on one task by the protocol of Grefenstette et al. (2015), and measures it on sources of the
-- training lengths and on longer ones.
--
--   pushdown scripts/experiments/transduction/train.lua --task reversal --model stack --learning-rate 1e-3
--   pushdown scripts/experiments/transduction/train.lua --task copy --model queue --hidden 64 --memory 32
--
-- If it is started again on the same --run-folder, it resumes the run. For a model with a memory it also shows how the
-- model uses the memory on one pair: strengths.svg.
local experiment = require 'pushdown.experiment'
local pd = require 'pushdown'
local here = arg[0]:match('^(.*/)') or ''
local protocol = dofile(here .. 'protocol.lua')

local options, run = experiment.start {
  name = 'transduction/train',
  doc = 'Trains one model on one task of Grefenstette et al. (2015).',
  options = protocol.with_options {
    { 'task', 'reversal', 'the task', choices = protocol.tasks },
    { 'model', 'stack', 'the model', choices = protocol.model_names },
    { 'learning_rate', 1e-3, 'learning rate of RMSProp', minimum = 0, type = 'number' },
    { 'seed', 1, 'random seed of parameters and pairs', minimum = 0 },
    { 'restart', 1, 'number of this restart, for the record', minimum = 1 },
  },
  quick = protocol.quick, smoke = protocol.smoke,
}

local result = protocol.train(options, run)
run:table('results', {
  title = ('%s, %s, learning rate %g, seed %d: parameters after %d batches, training perplexity %.4f'):format(
    protocol.titles[options.task], protocol.labels[options.model], options.learning_rate, options.seed,
    result.best_batches, result.perplexity),
  columns = { 'sources', { 'coarse', format = '%.3f' }, { 'fine', format = '%.3f' } },
  rows = {
    { ('training, length %d to %d'):format(unpack(options.lengths)), result.train_coarse, result.train_fine },
    { ('test, length %d to %d'):format(unpack(options.test_lengths)), result.test_coarse, result.test_fine },
  } })
local curves = dofile(here .. 'curves.lua')
local title = protocol.titles[options.task] .. ', ' .. protocol.labels[options.model]
run:lines('perplexity', { title = title, x_label = 'batches', y_label = 'average training perplexity', x_log = true,
  y_log = true, series = { curves.series(curves.read(run.folder), 'perplexity', 'training') } })
local accuracies = curves.accuracies(run.folder)
if #accuracies[1].x > 0 then
  run:lines('accuracy', { title = title, x_label = 'batches', y_label = 'accuracy (%)', y_max = 100,
    series = accuracies })
end

if options.model:find('^lstm') then return end
-- Draws the learned algorithm on a short pair.
local shortest = options.lengths[1]
local pair = protocol.pairs(options, { shortest, shortest + 1 }):draw(1, { seed = options.seed })[1]
local picture = { run = pd.model.load(run.folder):strengths(pair.source, pair.target), title = title,
  path = run:path 'strengths.svg' }
print('\n' .. pd.plot.strengths_text(picture))
pd.plot.strengths(picture)
