-- The floors of the languages: how many test strings simple classifiers that learn from the training strings
-- (labelled:floor) classify correctly, on the paper's kind of test set and on hard negatives. A network that is not
-- above them shows no knowledge of the language.
--
--   pushdown scripts/experiments/flare/floors.lua --test-lengths 0,200 --test-strings 1000
local experiment = require 'pushdown.experiment'
local pd = require 'pushdown'
local here = arg[0]:match('^(.*/)') or ''
local protocol = dofile(here .. 'protocol.lua')

local options, run = experiment.start {
  name = 'flare/floors', doc = 'Accuracies of simple classifiers on the languages of the FLaRe benchmark.',
  options = protocol.with_options { { 'tasks', protocol.tasks, 'languages: those made here, or with --data the names '
    .. 'of folders' } },
  quick = protocol.quick, smoke = pd.tables.merged({ tasks = { 'marked_copy', 'parity' } }, protocol.smoke),
}

local rows = {}
for i, task in ipairs(options.tasks) do
  local of_test, of_hard = protocol.floors(pd.tables.merged({ task = task }, options))
  rows[i] = { protocol.title(protocol.name_of(task)), protocol.level(protocol.name_of(task)), 100 - of_test.error,
    of_test.classifier, of_hard and 100 - of_hard.error or '', of_hard and of_hard.classifier or '' }
end
run:table('floors', { title = ('Correctly classified test strings of %d to %d symbols, in percent'):format(
  unpack(options.test_lengths)), columns = { 'language', 'class', { 'floor', format = '%.1f' }, 'classifier',
  { 'hard negatives', format = '%.1f' }, 'its classifier' }, rows = rows })
run:finish { languages = #rows }
