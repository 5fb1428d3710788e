-- Every training and every table of the papers runs in its smallest size and writes the promised files. A grammar of
-- the user's own goes through training, grid and figures. label: long
local pd = require 'pushdown'
local test = require 'pushdown.test'
local files = require 'pushdown.files'
local json = require 'pushdown.json'

local top = test.folder()

-- Runs a paper in `top`; returns its output and exit status.
local function run(...) return test.run({ ... }, { folder = top }) end

-- Papers and tables that read external data, and arguments that give them small data instead.
local corpus = top .. '/corpus.txt'
files.write(corpus, ('the cat saw the dog\na dog ran\nthe end of the cat\n'):rep(12))
local numbers, trees = top .. '/numbers.txt', top .. '/trees.mrg'
files.write(numbers, ('VBZ\tthe cat\nVBP\tthe dogs of the cat\nVBZ\ta dog\nVBP\tthe cats\n'):rep(12))
files.write(trees, '( (S (NP (DT the) (NN cat)) (VP (VBD saw) (NP (DT the) (NN dog)))) )\n( (S (NN dog) (VBD ran)) )\n')
local treebank = top .. '/bank.conllu'
files.write(treebank, '1\tCats\tcat\tNOUN\tNNS\tNumber=Plur\t2\tnsubj\t_\t_\n'
  .. '2\tsee\tsee\tVERB\tVBP\tNumber=Plur|Tense=Pres|VerbForm=Fin\t0\troot\t_\t_\n'
  .. '3\tdogs\tdog\tNOUN\tNNS\tNumber=Plur\t2\tobj\t_\t_\n\n')
local trained, of_words = top .. '/trained', { '--data', corpus }
local few_examples = { '--data', numbers, '--split', '2,1,1' }
local further = { diffstk_words = of_words, ['diffstk_words table5'] = of_words, syntax = of_words,
  ['syntax table1'] = of_words, syntax_number = few_examples, ['syntax_number table2'] = few_examples,
  ['syntax table3'] = { '--data', corpus, '--trees', trees },
  ['syntax parse'] = { '--run', trained, '--trees', trees },
  ['syntax figures'] = { '--run', trained, '--trees', trees, '--treebank', treebank } }

do
  local output, status = run('syntax', '--smoke', '--data', corpus, '--run-folder', trained)
  assert(status == 0, output)
end

-- The command lines of all papers: the words before the options.
local commands = { 'all', 'pushdown_layers' }
for _, name in ipairs(files.scripts()) do
  if not name:find '/' and name ~= 'all' and name ~= 'pushdown_layers' then
    commands[#commands + 1] = name
    local parts = pd.tables.keys(pd.paper.load(name).tables)
    for _, part in ipairs(parts) do commands[#commands + 1] = name .. ' ' .. part end
  end
end
assert(#commands > 40, #commands)

for _, command in ipairs(commands) do
  test(command, function()
    local words = pd.tables.matches(command, '%S+')
    local function go(...)
      local all = { unpack(words) }
      for _, word in ipairs { ... } do all[#all + 1] = word end
      return run(unpack(all))
    end
    local help, status = go '--help'
    test.equal(status, 0)
    assert(help:find('--smoke', 1, true) and help:find('--quick', 1, true), help)
    local folder = top .. '/' .. command:gsub(' ', '.')
    local output
    output, status = go('--smoke', '--run-folder', folder, unpack(further[command] or {}))
    assert(status == 0, output)
    assert(output:find('SMOKE RUN, SMALLER THAN THE FULL ONE', 1, true), output)
    for _, name in ipairs { '/experiment.json', '/result.json' } do assert(files.exists(folder .. name), name) end
    output, status = go '--smok'
    assert(status == 2 and output:find('did you mean --smoke?', 1, true), output)
  end)
end

test('a table that is not there, and data that are not given', function()
  local output, status = run('nspda', 'table11')
  assert(status == 2 and output:find("there is no table 'table11', did you mean 'table1'?", 1, true), output)
  output, status = run('syntax', 'table3', '--data', corpus)
  assert(status == 2 and output:find('syntax/table3: --trees is required: gold trees in brackets', 1, true), output)
end)

test('programmed networks classify every string correctly', function()
  local folder = top .. '/programmed'
  local output, status = run('nspda', 'table5', '--n', '60', '--positives', '100', '--negatives', '100',
    '--run-folder', folder)
  assert(status == 0, output)
  test.equal(json.decode(files.read(folder .. '/result.json')).wrong, 0)
end)

test('cells with the same setting share their runs', function()
  local grid = top .. '/shared'
  local output, status = run('nspda', 'table1', '--smoke', '--folder', grid, '--rows', 'NSPDA w/ Hint #2',
    '--columns', 'W2')
  assert(status == 0, output)
  output, status = run('nspda', 'table6', '--smoke', '--folder', grid, '--rows', 'UORO', '--columns', 'M2')
  assert(status == 0, output)
  local found = files.find(grid, 'result%.json$')
  test.equal(#found, 1)
  output, status = run('nspda', 'table6', '--smoke', '--folder', grid, '--rows', 'nobody')
  assert(status ~= 0 and output:find('select no cell of the table', 1, true), output)
end)

test('the readings of the protocol are options', function()
  local function config_of(...)
    local folder = test.folder() .. '/run'
    local output, status = run('nspda', '--smoke', '--run-folder', folder, ...)
    assert(status == 0, output)
    local config = json.decode(files.read(folder .. '/config.json'))
    return config
  end
  local config = config_of('--model', 'second_order')
  test.equal(config.trainer.learning.kind, 'uoro')
  test.equal(config.trainer.learning.estimate, 'string')
  test.equal(config.model.options.evaluation_passes, 1)
  test.equal(config_of('--model', 'second_order', '--learning', 'bptt').trainer.learning.kind, 'bptt')
  config = config_of('--model', 'stack', '--memory-in-passes', 'moves', '--carry', 'last', '--evaluation-passes', '2',
    '--stage-end', 'last_open', '--second-rate', 'reached')
  test.equal(config.model.options.memory_in_passes, 'moves')
  test.equal(config.model.options.evaluation_passes, 2)
  test.equal(config.trainer.curriculum.stage_end, 'last_open')
  test.equal(config.trainer.annealing.afterwards, 'reached')
  config = config_of('--model', 'nspda_3', '--noise-change', 'add', '--inhibition', '--estimate', 'batch')
  test.equal(config.trainer.noise.change, 'add')
  test.equal(config.trainer.learning.estimate, 'batch')
end)

local grammar = [[
name 'own_grammar'
unambiguous()
start 'S'
rule("S -> 'a' S 'b'", 0.6)
rule("S -> 'a' 'b'", 0.4)
]]

test('one training writes its figures, and can be resumed', function()
  local folder = top .. '/one'
  local output, status = run('ns_rnn', '--smoke', '--model', 'vrns', '--run-folder', folder)
  assert(status == 0, output)
  local result = json.decode(files.read(folder .. '/result.json'))
  test.equal(result.epochs, 2)
  assert(result.validation_difference > -1 and result.test_cross_entropy > 0)
  local rows = select(2, files.read(folder .. '/test.csv'):gsub('\n', '\n'))
  test.equal(rows, 6)  -- a header, and the odd lengths from 7 to 15
  output = run('ns_rnn', '--smoke', '--model', 'vrns', '--run-folder', folder)
  assert(output:find('Finished before', 1, true), output)
  output, status = run('ns_rnn', '--smoke', '--model', 'vrns', '--epochs', '3', '--run-folder', folder)
  assert(status == 0 and output:find('Resuming after epoch 2', 1, true), output)
  output, status = run('ns_rnn', '--smoke', '--model', 'ns', '--run-folder', folder)
  assert(status ~= 0 and output:find('model was vrns and is ns now', 1, true), output)
end)

test("a grammar of one's own goes through grid and figures", function()
  files.write(top .. '/own_grammar.lua', grammar)
  for _, script in ipairs { 'grid', 'figure4', 'figure5' } do
    local folder = top .. '/own-' .. script
    local output, status = run('ns_rnn', script, '--smoke', '--tasks', 'own_grammar.lua',
      '--models', 'superposition,ns', '--run-folder', folder)
    assert(status == 0, output)
    assert(files.read(folder .. '/' .. script .. '.csv'):find('own', 1, true))
  end
  local picture = files.read(top .. '/own-figure4/figure4-own_grammar.svg')
  for _, part in ipairs { '</svg>', 'epoch', 'nats per symbol', 'JM', 'NS', 'own grammar' } do
    assert(picture:find(part, 1, true), part)
  end
  local csv = files.read(top .. '/own-figure5/figure5.csv')
  assert(csv:match('^task,model,setting,restarts,length,mean_difference,standard_deviation\n'), csv)
end)

test('invalid options are reported', function()
  local output, status = run('ns_rnn', 'grid', '--smoke', '--models', 'ns,gpt')
  assert(status == 2 and output:find("option '--models[2]' must be one of 'lstm', ", 1, true), output)
  output, status = run('ns_rnn', '--smoke', '--task', 'no_such_language')
  assert(status ~= 0 and output:find('no_such_language', 1, true), output)
end)

test.finish()
