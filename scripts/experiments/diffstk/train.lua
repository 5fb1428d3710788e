-- Trains one model on one language by the protocol of Mali et al. (2021), and measures the parameters of the best
-- epoch on longer strings.
--
--   pushdown scripts/experiments/diffstk/train.lua --task d2 --model diffstk_rnn
--   pushdown scripts/experiments/diffstk/train.lua --task palindrome --model diffstk_mrnn --decision last
--
-- If it is started again on the same --run-folder, it resumes the run.
local experiment = require 'pushdown.experiment'
local protocol = dofile((arg[0]:match('^(.*/)') or '') .. 'protocol.lua')

local options, run = experiment.start {
  name = 'diffstk/train',
  doc = 'Trains one model on one language of Mali et al. (2021).',
  options = protocol.with_options {
    { 'task', 'd2', 'the language', choices = protocol.tasks },
    { 'model', 'diffstk_rnn', 'the model', choices = protocol.model_names },
    { 'curriculum', 'sequential', 'order of the strings', choices = { 'sequential', 'incremental' } },
    { 'noise', 'own', 'standard deviation of the noise on the state; own: that of the model' },
    { 'carry_forward', 'own', 'carry-forward of the state while the stack does nothing; own: that of the model',
      choices = { 'own', 'none', 'soft', 'counter' } },
    { 'seed', 1, 'random seed of parameters, order and noise', minimum = 0 },
    { 'restart', 1, 'number of this restart, for the record', minimum = 1 },
  },
  quick = protocol.quick, smoke = protocol.smoke,
}

local result = protocol.train(options, run)
local rows = {}
for _, name in ipairs(protocol.set_names(options)) do
  local row = { name }
  for _, measure in ipairs(protocol.measures) do row[#row + 1] = result[name .. '_' .. measure] or 'NA' end
  rows[#rows + 1] = row
end
local columns = { 'strings' }
for _, measure in ipairs(protocol.measures) do
  columns[#columns + 1] = { protocol.measure_titles[measure], format = '%.2f', align = 'right' }
end
run:table('results', {
  title = ('%s on %s, seed %d: correctly classified strings in percent, epoch %d'):format(
    protocol.models[options.model].label, protocol.titles[options.task], options.seed, result.best_epoch),
  columns = columns, rows = rows })
