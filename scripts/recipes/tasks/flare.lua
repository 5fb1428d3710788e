-- A language of the FLaRe benchmark (Butoi et al. 2025): labelled strings as the paper draws them, tested on longer
-- ones and on hard negatives of the same lengths (scripts/lib/languages/labelled.lua).
--   options: language; trained (40), the longest training string; longest (500), the longest test string
local pd = require 'pushdown'
local plot = require 'pushdown.plot'
pd.paper.load 'flare'  -- defines the objectives

-- Seeds of the test strings, far from those of training. A set uses its seed and up to 1,000 that follow.
local of_test = { strings = 2 ^ 41, negatives = 2 ^ 41 + 1000, lengths = 2 ^ 41 + 2000 }

-- What the network expects while it reads a string, as a heat map: the probabilities of the next symbol and, after the
-- end, that of the answer `valid`.
local function draw_reading(network, string, title)
  local alphabet, next_symbols = network:alphabet():symbols(), network:next_symbols(string):to_table()
  local scores, read, labels, values = network:scores(string):to_table(), {}, { unpack(alphabet) }, {}
  for word in string:gmatch '%S+' do read[#read + 1] = word end
  labels[#labels + 1] = '<end>'
  for row = 1, #labels do
    values[row] = {}
    for i = 1, #read do values[row][i] = next_symbols[i][row] end
  end
  read[#read + 1], labels[#labels + 1] = '<end>', 'valid'
  values[#labels] = { [#read] = 1 / (1 + math.exp(-scores[#scores])) }
  return plot.heat_map { title = title, values = values, x_labels = read, y_labels = labels, low = 0, high = 1,
    x_label = 'symbol read', y_label = 'next symbol', value_label = 'probability' }
end

return function(options)
  local language, smoke = pd.languages.load(options.language), options.smoke
  local trained = options.trained or 40
  local longest, of_a_test = smoke and 12 or options.longest or 500, smoke and 10 or 1000

  local regular = language.level == 'regular'
  local task = { title = language.title .. ', FLaRe' .. (regular and ' (regular)' or ''), regular = regular,
    group = 'Butoi et al. (2025)' }

  -- A stage of a trainer with strings of these lengths. stage: its other keys, and seed; strings, of the paper's
  -- sampling; near (0), strings more, half of which are hard negatives; validated, their longest length in validation.
  function task.stage(_, shortest, longest_of_stage, stage)
    local function set(lengths, seed, count, near)
      if smoke then count, near, lengths = 12, near > 0 and 4 or 0, { shortest, math.min(8, lengths[2]) } end
      local sets = { language:sample(count, lengths, seed) }
      if near > 0 then sets[2] = language:hard_negatives(near, lengths, seed + 1000, 0.5) end
      return language:join(sets)
    end
    local seed = 1000000 * stage.seed + 10000 * longest_of_stage
    stage.train = set({ shortest, longest_of_stage }, seed, stage.strings, stage.near or 0)
    stage.valid = set({ shortest, stage.validated or longest_of_stage }, seed + 2000, 300, 300)
    stage.seed, stage.strings, stage.near, stage.validated = nil, nil, nil, nil
    return stage
  end

  -- A recognizer that also predicts the next symbol; given: options of the model.
  function task.model(_, given)
    given.alphabet, given.next_symbol = language:alphabet(), true
    return pd.model.recognizer(given)
  end

  task.search = { restarts = 4, rungs = { 8 }, keep = { 1 }, metric = 'label_cross_entropy' }

  -- The models of recipes, with stacks of vectors of this size.
  task.models = pd.recipe.vector_stacks

  -- A training. given: hidden, learning_rate, stages, each {shortest, longest, ...} as for task.stage. The loss is the
  -- paper's, of the label and of the next symbols of valid strings.
  function task:training(seed, restart, model, given)
    local stages = {}
    for i, stage in ipairs(given.stages) do
      local one = pd.tables.merged(stage, { seed = seed })
      one[1], one[2] = nil, nil
      stages[i] = self:stage(stage[1], stage[2], one)
    end
    return { seed = 1000 * seed + restart, stages = stages, best_by = 'label_cross_entropy', stop_accuracy = 0,
      stop_patience = 0, decay_patience = 5, decay_factor = 0.5,
      objective = { kind = 'recognition_and_language_model', weight = 10 },
      optimizer = { kind = 'adam', learning_rate = given.learning_rate },
      model = self:model { stack = model.stack, noise = 0.1, seed = 1000 * seed + restart,
        controller = { kind = model.controller or 'gru', hidden = given.hidden } } }
  end

  local function accuracy(network, set) return pd.train.evaluate(network, set, { batch = 20 }).accuracy end
  task.tests = {
    { name = ('lengths 0 to %d'):format(longest), quantity = 'accuracy', above = 0.99, value = function(network)
      return accuracy(network, language:sample(of_a_test, { 0, longest }, of_test.strings))
    end },
    { name = ('hard negatives of lengths 0 to %d'):format(longest), quantity = 'accuracy', above = 0.99,
      value = function(network)
        return accuracy(network, language:hard_negatives(of_a_test, { 0, longest }, of_test.negatives, 1))
      end },
  }
  -- By length: strings of the language and hard negatives in equal numbers.
  task.lengths = { trained = trained, quantity = 'accuracy', values = {}, value = function(network, length)
    local seed = of_test.lengths + 1000 * length
    return accuracy(network, language:hard_negatives(of_a_test / 5, { length - 9, length }, seed, 0.5))
  end }
  function task.show(network, run)
    local set = language:hard_negatives(2, { 14, 17 }, 1, 0.5)
    local labels = set:labels()
    for i, string in ipairs(set:strings()) do
      local name = labels[i] and 'valid' or 'invalid'
      run:picture('reading-' .. name, draw_reading(network, string, ('%s: reading %s string'):format(language.title,
        labels[i] and 'a valid' or 'an invalid')))
    end
  end
  for i = 1, smoke and 1 or 8 do task.lengths.values[i] = smoke and 10 or trained / 2 * i end
  return task
end
