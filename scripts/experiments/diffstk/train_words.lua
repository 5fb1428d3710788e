-- Trains one language model of words by the protocol of Mali et al. (2021), section 4.2, and measures the perplexity
-- with the parameters of the best epoch.
--
--   pushdown scripts/experiments/diffstk/train_words.lua --data ptb --model diffstk_mrnn
--
-- If it is started again on the same --run-folder, it resumes the run.
local words = dofile((arg[0]:match('^(.*/)') or '') .. 'words.lua')

local names = {}
for name, model in pairs(words.models) do names[model.row] = name end

local options, run = words.start {
  name = 'diffstk/train_words',
  doc = 'Trains one language model on the words of a corpus, as section 4.2 of Mali et al. (2021).',
  options = words.with_options {
    { 'task', 'words', 'the task', choices = { 'words' } },
    { 'model', 'diffstk_rnn', 'the model', choices = names },
    { 'seed', 1, 'random seed of parameters and noise', minimum = 0 },
    { 'restart', 1, 'number of this restart, for the record', minimum = 1 },
  },
  quick = words.quick, smoke = words.smoke,
}

local result = words.train(options, run)
run:table('results', {
  title = ('%s, seed %d: perplexity, epoch %d'):format(words.models[options.model].label, options.seed,
    result.best_epoch),
  columns = { { 'valid', format = '%.2f' }, { 'test', format = '%.2f' } },
  rows = { { result.valid_perplexity, result.test_perplexity } } })
