-- Tables of recognizers with and without a stack on languages with hard negatives, all trained in the same way with
-- some hard negatives among the training strings, and measured on the paper's kind of test strings and on hard
-- negatives (scripts/lib/languages/labelled.lua). Simple classifiers, the floors, learn from the same strings.
local pd = require 'pushdown'
local plot = require 'pushdown.plot'
local scores = require 'pushdown.paper.scores'
local statistics = require 'pushdown.statistics'

-- The protocol of the tables, the same for all networks and languages.
local defaults = { lengths = { 0, 40 }, first_lengths = { 0, 20 }, long_lengths = { 0, 80 }, test_lengths = { 0, 200 },
  strings = 3000, near = 3000, valid_strings = 300, valid_near = 300, test_strings = 500, hard_strings = 500,
  validation = 'long', loss = 'recognition+lm', loss_weight = 10, learning_rate = 0.01, rate_after = 0.5,
  batch_symbols = 0, clip = 0, first_epochs = 7, epochs = 4, patience = 0, controller = 'gru', noise = 0.1, dropout = 0,
  parameter_budget = 0, hidden = 24, recurrent_layers = 1, embedding = false, initial_state = 'zero', layers = 2,
  heads = 4, vector_states = 1, vector_symbols = 2 }
local quick = { strings = 800, near = 400, first_epochs = 4, epochs = 2, test_strings = 100, hard_strings = 100,
  test_lengths = { 0, 80 }, valid_strings = 300, restarts = 1 }
local smoke = { near = 8, valid_near = 4, first_lengths = { 0, 6 }, first_epochs = 1, restarts = 1,
  tasks = { 'dyck_2', 'reversals' }, models = { 'gru', 'selective_ssm', 'superposition' } }

local function make(training, paper, options, run)
  local found = scores.settings(paper, options, { searched = {}, also = {}, choose = { 'valid_loss' },
    published_of = function()
      return pd.paper.published(paper:published_path(options), options.choices, options.tasks)
    end })

  -- {score =, hard_accuracy =} of a cell: {mean =, best =, n =}, in percent; nil without a finished run.
  local function cell(task, model, key)
    local setting, values = (found.chosen[task] or {})[model], {}
    for _, row in ipairs(setting and setting.runs or {}) do values[#values + 1] = row.result[key] end
    if #values == 0 then return nil end
    local mean, _, _, best = statistics(values)
    return { mean = 100 * mean, best = 100 * best, n = #values }
  end

  local tests = { { key = 'score', name = 'official', title = 'test strings as in the paper', floor = {} },
    { key = 'hard_accuracy', name = 'hard', title = 'strings of the language and hard negatives in equal numbers',
      floor = {} } }
  local classifiers = {}  -- those of the floors on hard negatives
  for _, task in ipairs(options.tasks) do
    local of_test, of_hard = training.floors(pd.tables.merged({ task = task }, options))
    tests[1].floor[task], tests[2].floor[task] = 100 - of_test.error, of_hard and 100 - of_hard.error or ''
    classifiers[task] = of_hard and of_hard.classifier or ''
  end

  for _, test in ipairs(tests) do
    local columns, rows = { 'language', { 'floor', format = '%.1f' } }, {}
    local published = test.key == 'score' and found.published or { models = {} }
    for _, model in ipairs(options.models) do columns[#columns + 1] = paper.models[model].label end
    for _, model in ipairs(published.models) do columns[#columns + 1] = model .. ' (published)' end
    for i, task in ipairs(options.tasks) do
      rows[i] = { paper.title(task), test.floor[task] }
      for _, model in ipairs(options.models) do
        local of = cell(task, model, test.key)
        local text = of and (options.restarts == 1 and '%.1f' or '%.1f (%.1f)'):format(of.mean, of.best) or ''
        if of and of.n < options.restarts then text = ('%s, n = %d'):format(text, of.n) end
        table.insert(rows[i], text)
      end
      for _, model in ipairs(published.models) do
        local score = published.scores[model][task]
        table.insert(rows[i], score and ('%g'):format(score) or '')
      end
    end
    run:table(test.name, { columns = columns, rows = rows, note = found.rows.note,
      title = ('Correctly classified %s, %d to %d symbols, in percent, seeds: %d. Mean (best)'):format(test.title,
        options.test_lengths[1], options.test_lengths[2], options.restarts) })
  end

  -- The best mean on hard negatives of the networks with a stack, or of those without.
  local function best_of(task, with_stack)
    local best = { mean = -1, label = '' }
    for _, model in ipairs(options.models) do
      local of = (paper.models[model].stack ~= nil) == with_stack and cell(task, model, 'hard_accuracy')
      if of and of.mean > best.mean then best = { mean = of.mean, label = paper.models[model].label } end
    end
    return best
  end

  local rows, above, series = {}, 0, {}
  for i, task in ipairs(options.tasks) do
    local without, with, floor = best_of(task, false), best_of(task, true), tests[2].floor[task]
    local is_above = with.mean > without.mean and (floor == '' or with.mean > floor)
    above = above + (is_above and 1 or 0)
    rows[i] = { paper.title(task), floor, classifiers[task], without.label,
      without.mean >= 0 and without.mean or '', with.label, with.mean >= 0 and with.mean or '',
      is_above and 'yes' or 'no' }
  end
  run:table('comparison', { title = ('The best networks on hard negatives: a stack is above both in %d of %d languages')
    :format(above, #rows), columns = { 'language', { 'floor', format = '%.1f' }, 'its classifier',
    'best without a stack', { 'its mean', format = '%.1f' }, 'best with a stack', { 'mean', format = '%.1f' },
    'above both' }, rows = rows, note = found.rows.note })

  local titles = {}
  for i, task in ipairs(options.tasks) do titles[i] = paper.title(task) end
  for k, model in ipairs(options.models) do
    series[k] = { name = paper.models[model].label, y = {} }
    for i, task in ipairs(options.tasks) do
      local of = cell(task, model, 'hard_accuracy')
      series[k].y[i] = of and of.mean or 0 / 0
    end
  end
  run:picture('hard-negatives', plot.bars { categories = titles, series = series, width = 900, y_min = 40, y_max = 100,
    y_label = 'correctly classified (%)', title = 'Hard negatives, mean of the seeds' })
  paper:finish(run, found.rows, { above = above })
end

-- hard(training, settings, spec) -> the table of a paper. settings: the options of a training; spec: doc, tasks and
-- restarts, the default number of seeds.
return function(training, settings, spec)
  local all = {}
  for _, list in ipairs { training.tasks, training.beyond } do
    for _, task in ipairs(list) do all[#all + 1] = task end
  end
  return { doc = spec.doc, tasks = spec.tasks, choices = all, models = 'all', restarts = spec.restarts, folder = 'hard',
    grid = 'flare/hard', options = { scores.published_option }, settings = pd.paper.with_defaults(settings, defaults),
    quick = quick, smoke = smoke, make = function(paper, options, run)
      options.choices = all
      make(training, paper, options, run)
    end }
end
