-- Trains one language model on the sentences of a text by the protocol of Merrill et al. (2019), section 3, and
-- measures the perplexity of the test part. With --agreement it also measures the agreement with the number of verbs.
--
--   pushdown scripts/experiments/syntax/language_model.lua --data wiki.txt --model stack_u1
--   pushdown scripts/experiments/syntax/language_model.lua --data en_ewt.conllu --agreement en_ewt.conllu
--
-- The text can be larger than memory. If it is started again on the same --run-folder, it resumes the run.
local experiment = require 'pushdown.experiment'
local protocol = dofile((arg[0]:match('^(.*/)') or '') .. 'protocol.lua')

local options, run = protocol.start({
  name = 'syntax/language_model',
  doc = 'Trains one language model on sentences, as section 3 of Merrill et al. (2019).',
  options = experiment.join_options({
    { 'task', 'text', 'the task', choices = { 'text' } },
    { 'model', 'stack_u1', 'the model', choices = protocol.model_names },
  }, protocol.text_options, protocol.options, {
    { 'seed', 1, 'random seed of parameters and the order of the sentences', minimum = 0 },
    { 'restart', 1, 'number of this restart, for the record', minimum = 1 },
  }),
  quick = protocol.quick, smoke = protocol.smoke,
}, { 'data' })

local result = protocol.train_language_model(options, run)
local columns, row = { { 'train', format = '%.2f' }, { 'test', format = '%.2f' }, 'sentences', 'words', 'vocabulary' },
  { result.train_perplexity, result.test_perplexity, result.train_sentences, result.train_words, result.vocabulary }
if result.agreement then
  columns[6], columns[7] = { 'agreement %', format = '%.2f' }, 'verbs'
  row[6], row[7] = result.agreement, result.agreement_examples
end
run:table('results', {
  title = ('%s, seed %d: perplexity per word, ends of sentences included, after epoch %d'):format(
    protocol.models[options.model].label, options.seed, result.best_epoch or result.epochs),
  columns = columns, rows = { row } })
