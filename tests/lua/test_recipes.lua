-- Recipes: what makes one valid, its run, its command, its place in a record, and every recipe of the program at the
-- smallest size.
local pd = require 'pushdown'
local files = require 'pushdown.files'
local recipe = require 'pushdown.recipe'
local test = require 'pushdown.test'

pd.session { log_level = 'off' }
local top = test.folder()

-- Runs the shell in `top`; returns its output and exit status.
local function run(...) return test.run({ '--threads', '1', '--log-level', 'warn', ... }, { folder = top }) end

local has = test.has

-- A recipe whose tests are numbers without any network. It writes a line for every call of trainer.
local text = [[
local pd = require 'pushdown'
local function append(path, line)
  local file = io.open(path, 'a')
  file:write(line)
  file:close()
end
local grammar = pd.grammar.load 'marked_reversal'
local sampler = grammar:sampler { lengths = { 3, 9 } }
local task = { title = 'Toy', group = 'Nobody',
  tests = { { name = 'first', quantity = 'difference', below = 0.5, value = function() return FIRST end },
    { name = 'second', quantity = 'errors', at_most = 0, value = function() return 0 end } },
  lengths = { trained = 9, values = { 9, 11 }, quantity = 'difference', value = function(_, n) return n / 10 end },
  show = function(model, run) append(run:path 'shown.txt', tostring(model)) end }
return { task = task, minutes = 1, models = { { name = 'LSTM', hidden = 4 }, { name = 'Small LSTM', hidden = 2 } },
  search = { restarts = 3, rungs = { 1 }, keep = { 2 } },
  trainer = function(seed, restart, model)
    append('TOP/calls.txt', ('%d %d %s\n'):format(seed, restart, model.name))
    return { model = pd.model.language_model { alphabet = grammar:alphabet(), seed = 10 * seed + restart,
        controller = { kind = 'lstm', hidden = model.hidden } },
      train = sampler:dataset(30, { seed = 1 }), valid = sampler:dataset(20, { seed = 2 }), epochs = 3, seed = seed }
  end }
]]
text = text:gsub('TOP', top)
local function write(name, first) files.write(top .. '/' .. name, (text:gsub('FIRST', first))) end
write('toy.lua', '0.25')
write('hard.lua', '0.5')

test('the command runs a recipe, continues it, and says whether the task is solved', function()
  local output, status = run('recipe', './toy.lua', '--seed', '7')
  test.equal(status, 0)
  has(output, 'seed 7 has solved the task')
  has(output, '< 0.5')
  local folder = top .. '/runs/recipes/toy/lstm/seed-7'
  for _, name in ipairs { 'results.txt', 'lengths.svg', 'lengths.csv', 'curves.svg', 'search.txt', 'experiment.json',
    'metrics.jsonl', 'network.safetensors', 'shown.txt' } do
    assert(files.exists(folder .. '/' .. name), name)
  end
  local result = pd.json.decode(files.read(folder .. '/result.json'))
  test.equal(result.solved, true)
  test.equal(result.value_1, 0.25)
  test.equal(result.restarts, 3)
  -- Two restarts go on after the first epoch.
  test.equal(result.epochs, 1 + 3 + 3)
  test.equal(files.read(top .. '/calls.txt'), '7 1 LSTM\n7 2 LSTM\n7 3 LSTM\n')

  output, status = run('recipe', './toy.lua', '--seed', '7')
  test.equal(status, 0)
  has(output, 'Finished before', files.read(folder .. '/results.txt'))
  output, status = run('recipe', './hard.lua', '--model', 'small_lstm')
  test.equal(status, 0)
  has(output, 'has not solved the task')
  has(files.read(top .. '/calls.txt'), '1 1 Small LSTM\n')
end)

test('the network that is tested is that of the epoch that ended the search, or else the best one', function()
  -- The first epoch is the best one, because of the learning rate.
  local unsteady = text:gsub('FIRST', '1'):gsub('epochs = 3,',
    "epochs = 3, optimizer = { kind = 'sgd', learning_rate = 9 },")
  for which, solved in pairs { last = 2, best = 9 } do
    files.write(top .. '/unsteady.lua', (unsteady:gsub("search = %b{}", ("search = { restarts = 1, solved = 0, " ..
      "metric = function(epoch) return epoch.epoch == %d and 0 or 1 end, better = 'lower' }"):format(solved))))
    local folder = top .. '/unsteady-' .. which
    recipe.run(top .. '/unsteady.lua', { folder = folder })
    local function network(path, options) return pd.model.load(folder .. path, options):parameters() end
    for kind, same in pairs { last = which == 'last', best = which == 'best' } do
      local kept = network('/restart-1', { which = kind })['output.weight']
      local distance = (network('/network.safetensors')['output.weight'] - kept):abs():max():item()
      test.equal(distance == 0, same)
    end
  end
end)

test('a recipe can be shown, and wrong names are errors that name the right ones', function()
  local output = run('recipe', './toy.lua', '--show')
  has(output, 'small_lstm')
  has(output, 'second, errors ≤ 0')
  local status
  output, status = run('recipe', './toy.lua', '--model', 'elman')
  test.equal(status, 1)
  has(output, "toy has no model 'elman'; its models are lstm, small_lstm")
  output, status = run('recipe', 'unmarked_reversl')
  test.equal(status, 1)
  has(output, "did you mean 'unmarked_reversal'?")
  output, status = run('recipe', './nothing.lua')
  test.equal(status, 1)
  has(output, "there is no file './nothing.lua'")
  output, status = run('recipe', './toy.lua', 'more')
  test.equal(status, 2)
  has(output, "unexpected argument 'more'")
  test.fails("unknown option 'seeds'", function() recipe.run('unmarked_reversal', { seeds = 1 }) end)
end)

test('a recipe that is not complete is an error that names the key', function()
  local function fails(message, change, to)
    files.write(top .. '/wrong.lua', (text:gsub('FIRST', '1'):gsub(change, to)))
    test.fails(message, function() recipe.load(top .. '/wrong.lua') end)
  end
  fails("wrong.lua%] unknown option 'minute', did you mean 'minutes'%?", 'minutes = 1', 'minute = 1')
  fails("wrong.lua%] option 'minutes' .* is missing", 'minutes = 1, ', '')
  fails("wrong.lua%] option 'minutes' must be a number, got \"1\"", 'minutes = 1', "minutes = '1'")
  fails('wrong.lua: test 1 needs name, value, and one of below, above and at_most', 'below = 0.5, ', '')
  fails('wrong.lua: group of the task must be a string', "group = 'Nobody',", '')
  fails('wrong.lua: models%[2%] has no name', "name = 'Small LSTM', ", '')
  files.write(top .. '/wrong.lua', 'local x = 1')
  test.fails('expected a table as its result, got a nil', function() recipe.load(top .. '/wrong.lua') end)
end)

test('the table counts all seeds, of the control too', function()
  -- The control is the LSTM, after the model of the recipe.
  for name, first in pairs { toy = '0.25', hard = '0.5' } do
    files.write(('%s/%s.lua'):format(top, name), (text:gsub('FIRST', first):gsub("models = { (%b{}), (%b{}) }",
      'models = { %2, %1 }')))
  end
  local function table_of(models)
    local output, status = run('recipes', 'table', '--recipes', 'toy.lua,hard.lua', '--models', models, '--restarts',
      '2', '--workers', '1', '--folder', 'grid', '--run-folder', 'table-' .. models)
    assert(status == 0, output)
    return pd.csv.read(('%s/table-%s/table.csv'):format(top, models))
  end
  for models, controls in pairs { first = 0, control = 2 } do
    local header, rows = table_of(models)
    has(table.concat(header, ' '), 'LSTM best LSTM mean LSTM solved')
    test.equal(#rows, 2)
    for _, row in ipairs(rows) do
      local value, solved = row.recipe == 'toy' and '0.25' or '0.5', row.recipe == 'toy' and '2 of 2' or '0 of 2'
      test.equal(table.concat({ row.model, row.best, row.mean, row.solved }, ' '),
        table.concat({ 'Small LSTM', value, value, solved }, ' '))
      test.equal(row['LSTM mean'], controls > 0 and value or '')
      test.equal(row['LSTM solved'], controls > 0 and solved or '')
    end
  end
  has(files.read(top .. '/table-control/models.csv'), 'Toy,LSTM,"difference, first",< 0.5,0.5,0.5,0 of 2')
  for _, name in ipairs { 'what_learns_what.svg', 'toy-lengths.svg', 'hard-curves.svg' } do
    assert(files.exists(top .. '/table-control/' .. name), name)
  end
  has(files.read(top .. '/table-control/what_learns_what.svg'), '2/2')
end)

for _, name in ipairs(recipe.names()) do
  test(name .. ': the smallest run of every model, in less than 40 lines', function()
    local one = recipe.load(name, { smoke = true })
    local _, lines = files.read(one.path):gsub('\n', '')
    assert(lines < 40, lines)
    for _, model in ipairs(one.models) do
      local output, status = run('recipe', name, '--smoke', '--model', recipe.slug(model.name))
      assert(status == 0, output)
    end
  end)
end

test.finish()
