-- A paper of our own: its training, its score and options, its tables, and what is refused.
-- label: long
local csv = require 'pushdown.csv'
local files = require 'pushdown.files'
local json = require 'pushdown.json'
local pd = require 'pushdown'
local test = require 'pushdown.test'

local folder = test.folder()
files.make_folder(folder .. '/copying')
files.write(folder .. '/copying/published.csv', 'task,model,score,source\nreverse_string,Theirs,12.5,a paper\n')
files.write(folder .. '/copying.lua', [[
local pd = require 'pushdown'
local models = { { name = 'rnn', label = 'Simple', controller = function(options)
  return { kind = 'elman', hidden = options.hidden } end } }
local train, score = pd.paper.transducers {
  doc = 'Trains.', task = 'reverse_string', model = 'rnn', models = models, batch = 2,
  pairs = function(options, lengths, one_length)
    return pd.task.chomsky(options.task, { lengths = lengths, one_length = one_length })
  end,
  training = function() return { average = 'strings' } end,
  validate = function() return 0.75, 2 end,
  accuracies = function() return { 0, 0, 0.1, 0.5, 0.75 } end,
  scaled = function(mean, pairs_of) return mean * #pairs_of:target_alphabet():symbols() end,
  score = function(first, last) return ('mean over %d to %d'):format(first, last) end,
}
return (pd.paper.new {
  name = 'copying', models = models, train = train, tasks = { 'reverse_string' },
  title = function(task) return task:upper() end,
  options = { { 'lengths', { 1, 3 }, 'training' }, { 'longest', 5, 'longest' }, { 'valid_pairs', 4, 'pairs' },
    { 'steps', 4, 'updates', may_change = true }, { 'steps_of_an_epoch', 2, 'updates' },
    { 'stop_perplexity', 0, 'never', type = 'number' }, { 'clip', 1, 'norm', type = 'number' },
    { 'hidden', 3, 'units' }, { 'width', 8, 'of a transformer' } },
  smoke = { hidden = 2 },
  lengths = { x_label = 'length', y_label = 'accuracy' },
  tables = {
    scores = pd.paper.scores { doc = 'Compares.', restarts = 2, score = score,
      choose = { 'valid_accuracy', 'valid_perplexity' },
      searched = pd.paper.rates_and_batches({ 1e-3, 2e-3, 4e-3 }, { 2, 2 }),
      columns = { { name = 'level', of = function() return 7 end } } },
    cells = { doc = 'Cells.', columns = 'columns', restarts = 1, settings = pd.paper.with_defaults(OWN, { hidden = 2 }),
      make = function(paper, options, run)
        local list = {}
        for _, steps in ipairs { 2, 4 } do
          list[#list + 1] = { task = 'reverse_string', row = 'Simple', column = steps .. ' updates',
            point = { model = 'rnn', steps = steps } }
        end
        local kept, rows = paper:cells(options, list)
        local lines = {}
        for i, cell in ipairs(kept) do lines[i] = { cell.column, (pd.paper.statistics(cell, 'steps')), cell.name } end
        run:table('cells', { columns = { 'column', 'steps', 'setting' }, rows = lines })
        paper:keep_runs(run, rows, 'cells', { 'steps', 'parameters' })
      end },
  },
})
]])
local path = folder .. '/copying.lua'
local text = files.read(path):gsub('OWN', "{ { 'hidden', 3, 'units' } }")
files.write(path, text)

local function run(...) return test.run({ './copying.lua', ... }, { folder = folder }) end

test('the score is that of the paper, and a training goes on', function()
  local place = folder .. '/run'
  local output, status = run('--run-folder', place)
  assert(status == 0 and output:find('The score is the mean over 4 to 5.', 1, true), output)
  local result = json.decode(files.read(place .. '/result.json'))
  test.near(result.score, 0.625 * 2, 1e-12)
  test.equal(('%g %g %d'):format(result.valid_accuracy, result.valid_perplexity, result.steps), '0.75 2 4')
  test.equal(select(2, csv.read(place .. '/lengths.csv'))[5].accuracy, '0.75')
  test.equal(json.decode(files.read(place .. '/config.json')).trainer.average, 'strings')
  output, status = run('--run-folder', place, '--steps', '6')
  assert(status == 0 and output:find('Resuming after', 1, true), output)
  test.equal(json.decode(files.read(place .. '/result.json')).steps, 6)
end)

test('the tables compare all settings, beside published numbers', function()
  local place = folder .. '/scores'
  local output, status = run('scores', '--smoke', '--workers', '1', '--run-folder', place)
  assert(status == 0 and output:find('3 runs', 1, true), output)
  local row = select(2, csv.read(place .. '/scores.csv'))[1]
  test.equal(row.level .. ' ' .. row['Theirs (published)'], '7 12.5')
  test.near(tonumber(row.Simple), 125, 1e-9)
  assert(files.read(place .. '/scores.txt'):find('Mean over 4 to 5, in percent', 1, true))
  -- A table is a run of its own, with its name in the command line.
  local made = json.decode(files.read(place .. '/experiment.json'))
  test.equal(made.experiment .. ' ' .. made.command_line[1], 'copying/scores scores')
  test.equal(made.options.folder, 'runs/copying/smoke_grid')
end)

test('the cells of a table are chosen by the beginnings of their names, and its own defaults reach the trainings',
  function()
    local place = folder .. '/cells'
    local output, status = run('cells', '--columns', '4', '--workers', '1', '--run-folder', place)
    assert(status == 0, output)
    local rows = select(2, csv.read(place .. '/cells.csv'))
    test.equal(#rows, 1)
    test.equal(rows[1].steps .. ' ' .. rows[1].setting, '4 model=rnn,steps=4')
    local all = select(2, csv.read(place .. '/cells-runs.csv'))
    test.equal(#all, 1)
    local name, seed = 'copying/reverse_string', tonumber(all[1].seed)
    test.equal(seed, pd.grid.seed(name, 'model=rnn,steps=4', 1))
    local of_run = json.decode(files.read(folder
      .. '/runs/copying/grid/reverse_string/model=rnn,steps=4/restart-1/experiment.json'))
    test.equal(('%s %d'):format(of_run.experiment, of_run.options.hidden), 'copying/train 2')
    output, status = run('cells', '--rows', 'nothing')
    assert(status == 1 and output:find('--tasks, --rows and --columns select no cell', 1, true), output)
  end)

test('a paper that is loaded runs nothing, and gives the options of its training', function()
  local paper = pd.paper.load(path)
  test.equal(table.concat(paper.model_names, ' ') .. ' ' .. paper.models.rnn.label, 'rnn Simple')
  test.equal(paper:defaults({ task = 'other' }).task .. paper:defaults().steps, 'other4')
  test.fails("no option 'hiden' is declared", function() pd.paper.with_defaults({ { 'hidden', 3 } }, { hiden = 2 }) end)
end)

test('what is refused', function()
  local output, status = run('--longest', '3')
  assert(status == 1 and output:find('--longest must be above the training lengths, 3, got 3', 1, true), output)
  output, status = run('scors')
  assert(status == 2 and output:find("there is no table 'scors', did you mean 'scores'?", 1, true), output)
  test.fails("option 'title' .* is missing", function() pd.paper.new { name = 'a', tasks = {}, models = {} } end)
  test.fails("choose: the name 'number' does not say which values are better", function()
    pd.paper.scores { doc = 'a', restarts = 1, choose = { 'number' }, score = 'a' }
  end)
end)

test.finish()
