-- An experiment of our own on pd.protocol: its score, its training options, its table, and what is refused.
-- label: long
local csv = require 'pushdown.csv'
local files = require 'pushdown.files'
local json = require 'pushdown.json'
local pd = require 'pushdown'
local test = require 'pushdown.test'

local folder = test.folder()
local here = folder .. '/copy/'
files.make_folder(here)
files.write(here .. 'models.lua', [[
return { { name = 'rnn', label = 'Simple', controller = function(options)
  return { kind = 'elman', hidden = options.hidden } end } }
]])
files.write(here .. 'published.csv', 'task,model,score,source\nreverse_string,Theirs,12.5,a paper\n')
files.write(here .. 'protocol.lua', [[
local pd = require 'pushdown'
return require 'pushdown.protocol'.transducers {
  folder = debug.getinfo(1, 'S').source:match('^@(.*/)'), tasks = { 'reverse_string' },
  title = function(task) return task:upper() end,
  options = { { 'lengths', { 1, 3 }, 'training' }, { 'longest', 5, 'longest' }, { 'valid_pairs', 4, 'pairs' },
    { 'steps', 4, 'updates', may_change = true }, { 'steps_of_an_epoch', 2, 'updates' },
    { 'stop_perplexity', 0, 'never', type = 'number' }, { 'clip', 1, 'norm', type = 'number' },
    { 'hidden', 3, 'units' }, { 'width', 8, 'of a transformer' } },
  quick = {}, smoke = { hidden = 2 },
  pairs = function(options, lengths, one_length)
    return pd.task.chomsky(options.task, { lengths = lengths, one_length = one_length })
  end,
  training = function() return { average = 'strings' } end,
  validate = function() return 0.75, 2 end,
  accuracies = function() return { 0, 0, 0.1, 0.5, 0.75 } end,
  scaled = function(mean, pairs_of) return mean * #pairs_of:target_alphabet():symbols() end,
}
]])
files.write(here .. 'train.lua', [[
require 'pushdown.protocol'.train(dofile((arg[0]:match '^(.*/)') .. 'protocol.lua'), { name = 'copy', doc = 'Trains.',
  task = 'reverse_string', model = 'rnn', batch = 2, y_label = 'accuracy',
  score = function(first, last) return ('mean over %d to %d'):format(first, last) end })
]])
files.write(here .. 'scores.lua', [[
local here = arg[0]:match '^(.*/)'
require 'pushdown.protocol'.scores(dofile(here .. 'protocol.lua'), { name = 'copy', doc = 'Compares.', folder = here,
  restarts = 2, learning_rates = { 1e-3, 2e-3, 4e-3 }, batches = { 2, 2 }, smoke = { restarts = 1 },
  y_label = 'accuracy', score = function(first, last) return ('mean over %d to %d'):format(first, last) end,
  columns = { { name = 'level', of = function() return 7 end } } })
]])

local function run(script, ...) return test.run({ here .. script, ... }, { folder = folder }) end

test('the score is that of the protocol, and a training goes on', function()
  local place = folder .. '/run'
  local output, status = run('train.lua', '--run-folder', place)
  assert(status == 0 and output:find('The score is the mean over 4 to 5.', 1, true), output)
  local result = json.decode(files.read(place .. '/result.json'))
  test.near(result.score, 0.625 * 2, 1e-12)
  test.equal(('%g %g %d'):format(result.valid_accuracy, result.valid_perplexity, result.steps), '0.75 2 4')
  test.equal(select(2, csv.read(place .. '/lengths.csv'))[5].accuracy, '0.75')
  test.equal(json.decode(files.read(place .. '/config.json')).trainer.average, 'strings')
  output, status = run('train.lua', '--run-folder', place, '--steps', '6')
  assert(status == 0 and output:find('Resuming after', 1, true), output)
  test.equal(json.decode(files.read(place .. '/result.json')).steps, 6)
end)

test('the tables compare all settings, beside published numbers', function()
  local place = folder .. '/scores'
  local output, status = run('scores.lua', '--smoke', '--workers', '1', '--run-folder', place)
  assert(status == 0 and output:find('3 runs', 1, true), output)
  local row = select(2, csv.read(place .. '/scores.csv'))[1]
  test.equal(row.level .. ' ' .. row['Theirs (published)'], '7 12.5')
  test.near(tonumber(row.Simple), 125, 1e-9)
  assert(files.read(place .. '/scores.txt'):find('Mean over 4 to 5, in percent', 1, true))
end)

test('what is refused', function()
  local output, status = run('train.lua', '--longest', '3')
  assert(status == 1 and output:find('--longest must be above the training lengths, 3, got 3', 1, true), output)
  test.fails("option 'title' .* is missing", function() pd.protocol.transducers { folder = here, tasks = {} } end)
end)

test.finish()
