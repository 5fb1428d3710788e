-- Question formation and tense reinflection: of every model on every task, whether it follows the hierarchical rule on
-- pairs that training does not have, by random search over learning rate and batch.
--
--   pushdown scripts/experiments/question_formation/scores.lua --tasks question --models lstm,lstm_nd_r,transformer_nd
--   pushdown scripts/experiments/question_formation/scores.lua --data rnn-hierarchical-biases/data --samples 10
--
-- Runs that are not finished are trained first; started again it goes on.
local pd = require 'pushdown'
local experiment = require 'pushdown.experiment'
local suite = require 'pushdown.suite'
local here = arg[0]:match('^(.*/)') or ''
local protocol = dofile(here .. 'protocol.lua')

local quick = pd.tables.merged({ samples = 2, restarts = 1, folder = 'runs/question_formation/quick_grid' },
  protocol.quick)
local smoke = pd.tables.merged({ samples = 1, restarts = 1, batches = { 4, 4 },
  folder = 'runs/question_formation/smoke_grid', models = { 'lstm_sup_r', 'lstm_nd', 'transformer_sup_nd' } },
  protocol.smoke)

local options, run = experiment.start {
  name = 'question_formation/scores',
  doc = 'Question formation and tense reinflection: which rule models follow (DuSell and Cotterell 2025).',
  options = protocol.with_options(suite.options { tasks = protocol.tasks, models = protocol.model_names, restarts = 5,
    folder = 'runs/question_formation/grid', searched = {
      { 'learning_rates', { 1e-5, 1e-3 }, 'all are tried; of two numbers, the interval of a logarithmic search' },
      { 'batches', { 16, 64 }, 'lowest and highest number of pairs in one update, logarithmic' } } }),
  quick = quick, smoke = smoke,
}

local choose, labels, published = { 'valid_loss' }, {}, here .. 'published.csv'
for name, model in pairs(protocol.models) do labels[name] = model.label end
local also = {
  { key = 'probability', name = 'probability', measure = 'probability',
    title = 'Probability of the whole right target on the generalization set' },
  { key = 'full_match', name = 'full_match', title = 'Whole targets that greedy decoding gets right, generalization '
    .. 'set' },
  { key = 'linear', name = 'linear', title = 'Pairs of the generalization set whose most probable word is that of the '
    .. 'linear rule' },
  { key = 'test_full_match', name = 'test', title = 'Whole targets that greedy decoding gets right, test set of the '
    .. 'kind of training' },
}
local keys = {}
for i, more in ipairs(also) do keys[i] = more.key end
local found = suite.train { name = 'question_formation', script = here .. 'train.lua', options = options,
  published = published, measure = 'score', known = protocol.tasks, settings = protocol.options, choose = choose,
  also = keys, searched = {
    { name = 'learning_rate', interval = 'learning_rates', kind = 'log_uniform' },
    { name = 'batch', interval = 'batches', kind = 'log_integers' } } }
if options.published ~= 'none' then
  for _, more in ipairs(also) do
    if more.measure then
      more.published = suite.published(options.published == 'paper' and published or options.published, protocol.tasks,
        options.tasks, nil, more.measure)
    end
    more.measure = nil
  end
end
suite.finish { run = run, found = found, options = options, labels = labels, title = protocol.title, choose = choose,
  score = 'Mean probability of the right word where the rules differ, generalization set', also = also,
  x_label = 'words of the source', y_label = 'probability of the right word (%)' }
