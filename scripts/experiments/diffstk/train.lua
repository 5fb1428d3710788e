-- One language, one model: trains by the protocol of Mali et al. (2021) and measures the best epoch's
-- parameters on longer strings.
--
--   pushdown scripts/experiments/diffstk/train.lua --task d2 --model diffstk_rnn
--   pushdown scripts/experiments/diffstk/train.lua --task palindrome --model diffstk_mrnn --decision last
--
-- Started again on the same --run-folder it goes on where it stopped.
local experiment = require 'pushdown.experiment'
local protocol = dofile((arg[0]:match('^(.*/)') or '') .. 'protocol.lua')

local options, run = experiment.start {
  name = 'diffstk/train',
  doc = 'Trains one model on one language of Mali et al. (2021).',
  options = protocol.with_options {
    { 'task', 'd2', 'the language', choices = protocol.tasks },
    { 'model', 'diffstk_rnn', 'which model', choices = protocol.model_names },
    { 'curriculum', 'sequential', 'order of the strings', choices = { 'sequential', 'incremental' } },
    { 'noise', 'own', 'deviation of the noise on the state; own: as the model has it' },
    { 'carry_forward', 'own', 'of the state while the stack does nothing; own: as the model has it',
      choices = { 'own', 'none', 'soft', 'counter' } },
    { 'seed', 1, 'decides parameters, order and noise', minimum = 0 },
    { 'restart', 1, 'number of this repeat, for the record', minimum = 1 },
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
