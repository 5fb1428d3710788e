-- Task: the symbols that may follow. A language model learns a language of Mali et al. (2021), and is right about a
-- string if, after every symbol, each symbol that may follow is more probable than every other one, the end of the
-- string included.
--
-- Options: language = 'd2', 'd3', 'd6' or 'palindrome'. The strings are valid ones of the grammars of
-- the paper, with lengths that are distributed uniformly.
local files = require 'pushdown.files'
local pd = require 'pushdown'
local plot = require 'pushdown.plot'
local paper = pd.paper.load 'diffstk'
local measures = paper.measures

-- A string with deep nesting and many types, for the picture.
local examples = { d2 = '( [ ( ) [ [ ] ] ] ( ) ) [ ]', d3 = '( [ { } ( [ ] ) ] { } ) [ ]',
  d6 = '( [ { < (5 (6 )6 )5 > } ] ( ) ) { }', palindrome = 'a b b a a b a c a b a a b b a' }

local titles = { palindrome = 'Palindromes with a mark' }

return function(options)
  local language = options.language
  if not measures.titles[language] then
    error(("[recipe] the task sets has no language '%s': expected one of %s"):format(tostring(language),
      table.concat(paper.tasks, ', ')), 0)
  end
  local grammar = measures.grammar(paper:defaults { task = language })
  -- Palindromes with a mark have odd lengths, Dyck strings even ones.
  local odd = language == 'palindrome' and 1 or 0
  local task = { title = titles[language] or measures.titles[language], group = 'Mali et al. (2021)', grammar = grammar,
    alphabet = grammar:alphabet() }

  -- Valid strings.
  function task.strings(shortest, longest, count, seed)
    return grammar:sampler { lengths = { shortest, longest } }:dataset(options.smoke and 20 or count, { seed = seed })
  end

  -- The share of the strings of a length that a network is right about.
  function task.ranking(model, length, count)
    return pd.train.evaluate(model, task.strings(length, length, count or 500, 8000000 + length), { grammar = grammar,
      batch = 50 }).next_symbol_ranking
  end

  -- A stage of a trainer: training strings from the shortest ones on, and 500 validation strings, which have the same
  -- lengths or those of `valid`.
  function task.stage(_, longest, stage)
    local valid, seed = stage.valid or { odd, longest }, 1000 * stage.seed + 4 * longest
    return { train = task.strings(odd, longest, stage.strings or 4000, seed), epochs = stage.epochs,
      valid = task.strings(valid[1], valid[2], 500, seed + 1), learning_rate = stage.learning_rate }
  end

  -- A language model with a network of the paper, in which `given` can change the noise on
  -- the state and the number of stacks.
  function task:network(name, given)
    local of = paper.models[name]
    local stack = {}
    for key, value in pairs(of.stack) do stack[key] = value end
    stack.stacks = given.stacks or stack.stacks
    return pd.model.language_model { alphabet = self.alphabet, seed = given.seed, controller = of.controller,
      stack = stack, coupling = of.coupling, noise = given.noise or of.noise, carry_forward = of.carry_forward }
  end

  task.search = { restarts = 4, keep = { 2 }, solved = 1, metric = 'next_symbol_ranking' }

  -- The models of recipes, the first with a number of stacks.
  function task.models(stacks)
    return { { name = 'DiffStk-RNN', network = 'diffstk_rnn', noise = 0.1, stacks = stacks },
      { name = 'Stack-RNN+Softmax', network = 'stack_rnn_softmax', noise = 0.1 },
      { name = 'DiffStk-RNN, noise 0.01', network = 'diffstk_rnn', stacks = stacks },
      { name = 'LSTM', network = 'lstm' } }
  end

  -- A training of such a network with these stages. given: `noise` and `stacks` of the network.
  function task:training(seed, restart, given, list)
    local stages = {}
    for i, stage in ipairs(list) do stages[i] = self:stage(stage[1], pd.tables.merged(stage, { seed = seed })) end
    return { model = self:network(given.network, { noise = given.noise, stacks = given.stacks,
      seed = 1000 * seed + restart }), stages = stages, seed = seed, grammar = grammar, best_by = 'next_symbols',
      decay_patience = 0, stop_patience = 0 }
  end

  task.tests = {}
  for i, test in ipairs { { 102 - odd, 0.99 }, { 160 + odd, 0.95 } } do
    task.tests[i] = { name = ('%d symbols'):format(test[1]), quantity = 'share of strings', above = test[2],
      value = function(model) return task.ranking(model, test[1]) end }
  end
  task.lengths = { trained = 54 + odd, quantity = 'share of strings',
    values = { 20, 40, 54, 80, 102, 120, 160, 190, 220 },
    value = function(model, length) return task.ranking(model, length + odd, 200) end }

  -- For a string, the probabilities of the next symbol and the actions of the stacks, as pictures and as text.
  function task.show(model, run)
    local text, read, symbols = examples[language], { 'start' }, task.alphabet:symbols()
    for symbol in text:gmatch '%S+' do read[#read + 1] = symbol end
    symbols[#symbols + 1] = '<end>'
    local function draw(name, picture)
      picture.x_label, picture.low, picture.high = 'symbol read', 0, 1
      run:picture(name, plot.heat_map(picture))
      files.write(run:path(name .. '.txt'), plot.heat_text(picture))
    end
    draw('next_symbols', { title = task.title .. ': the next symbol', x_labels = read, y_labels = symbols,
      values = model:logits(text):softmax(2):transpose(1, 2):to_table(), value_label = 'probability' })
    if model:options().stack.kind == 'none' then return end
    local rows, names, steps = {}, {}, measures.actions(model, text)
    for k in ipairs(steps[1]) do
      for a, action in ipairs { 'push', 'pop', 'rest' } do
        if steps[1][k][a] then
          names[#names + 1] = #steps[1] > 1 and ('stack %d: %s'):format(k, action) or action
          local row = {}
          for t, step in ipairs(steps) do row[t] = step[k][a] end
          rows[#rows + 1] = row
        end
      end
    end
    table.remove(read, 1)
    draw('stack', { title = task.title .. ': actions of the stack', x_labels = read, y_labels = names, values = rows,
      value_label = 'weight' })
  end
  return task
end
