-- The command `pushdown runs`: shows the registry and the measurements of its runs, and removes runs from it.
local experiment = require 'pushdown.experiment'
local pd = require 'pushdown'
local runs = require 'pushdown.runs'
local selection = require 'pushdown.runs.selection'
local subcommand = require 'pushdown.commands.subcommand'

local M = {}

local fail = selection.fail

local formats = { { 'csv', false, 'comma-separated values with all digits' },
  { 'json', false, 'JSON with all data' } }
local latex = { { 'latex', false, 'a table for LaTeX (booktabs)' } }

local commands, names = {}, {}  -- by name; in the order of the overview

-- command(usage, module, line, doc, lists of options...): declares `pushdown runs NAME ...`, which the module in
-- commands/runs carries out. `line` is its line in the overview.
local function command(usage, module, line, doc, ...)
  local options, name = experiment.join_options(...), usage:match '^%a+'
  options[#options + 1] = selection.registry_option
  commands[name] = { module = module, line = line, words = usage ~= name, declaration = { doc = doc, options = options,
    name = 'pushdown runs ' .. usage, words = true, run_folder = false } }
  names[#names + 1] = name
end

command('list', 'list', 'lists runs, by grid, option, result, state, time',
  'Lists runs, the newest first.', selection.with_filters {
  { 'sort', nil, 'sort by this column, option or result (newest first)', type = 'text' },
  { 'descending', false, 'sort the largest first' },
  { 'limit', nil, 'largest number of runs to show', type = 'integer', minimum = 1 },
  { 'columns', {}, 'columns, options and results to show', repeated = true },
}, formats, latex)

command('show ID...', 'list', 'shows all data of a run',
  'Shows all data of a run.', {}, formats)

command('compare [ID...]', 'compare', 'compares runs side by side, or the points of a grid',
  'Compares runs side by side, or the points of a grid '
  .. '(--grid) by mean and standard deviation\nover their restarts.', selection.with_filters {
    { 'metric', {}, 'results to compare; the first one orders the points of a grid', repeated = true },
    { 'spread', 'deviation', 'shown with a mean: the sample standard deviation, or half the width of its 95 % '
      .. 'confidence interval', choices = { 'deviation', 'interval' } },
    { 'better', nil, 'which values are better, if the name of the metric does not say it', type = 'text',
      choices = { 'lower', 'higher' } },
    { 'test', nil, 'a test of each point of a grid against the best one; auto: wilcoxon if the points share their '
      .. 'seeds, else mann_whitney', type = 'text', choices = { 'auto', 'mann_whitney', 'wilcoxon', 'bootstrap' } },
    { 'against', nil, 'the point that the others are tested against, in place of the best one', type = 'text' },
  }, formats, latex)

command('plot [ID...]', 'plot', 'draws metrics over epochs, with bands over restarts',
  'Draws metrics of every epoch. The restarts of a point are one line, their mean, with '
  .. 'a band.', selection.with_filters {
    { 'metric', {}, 'metrics to draw (the most informative one)', repeated = true },
    { 'x', 'epoch', 'horizontal axis', choices = { 'epoch', 'update', 'seconds' } },
    { 'each', false, 'draw every run by itself, without means' },
    { 'log_x', false, 'logarithmic horizontal axis' },
    { 'log_y', false, 'logarithmic vertical axis' },
    { 'output', nil, 'write a picture instead of text: SVG, PDF or PNG, by file extension', type = 'text',
      short = 'o' },
    { 'spread', 'deviation', 'bands of one sample deviation, of the 95 % confidence interval of the mean, or from '
      .. 'the least to the greatest', choices = { 'deviation', 'interval', 'range' } },
    { 'title', nil, 'title of the picture', type = 'text' },
  })

command('rm [ID...]', 'remove', 'removes runs and, on request, their folders',
  'Removes runs from the registry. Their folders stay unless --folders is given. Runs '
  .. 'that are running\nare refused.', selection.with_filters {
    { 'folders', false, 'also remove the run folders with everything in them' },
    { 'dry_run', false, 'only print what would be removed' },
    { 'yes', false, 'do not ask for confirmation' },
  })

command('export [ID...]', 'export', 'writes runs or their epochs as CSV or JSON',
  'Writes runs with all their options and results as columns, or their epochs.',
  selection.with_filters {
    { 'history', false, 'one line for every epoch of every run' },
    { 'output', nil, 'the file; its extension .json or .csv selects the format (standard output)', type = 'text',
      short = 'o' },
    { 'tensorboard', nil, 'in place of that: an event file for every run, in this folder of logs', type = 'text' },
    { 'wandb', nil, 'in place of that: an offline run of Weights & Biases for every run, in this folder',
      type = 'text' },
  }, formats)

command('reproduce RUN', 'reproduce', 'repeats a run and tells whether its numbers are the same',
  'Repeats a run, given by its number or folder, in a new folder with its '
  .. 'original inputs,\nand compares all numbers. Exits with status 1 if they differ.', {
    { 'folder', nil, 'the new folder (RUN-again-1)', type = 'text' },
    { 'yes', false, "do not ask before the run's own command is started" },
  })

command('note ID [TEXT]', 'annotate', 'sets or prints the note of a run',
  'Sets the note of a run. Without a text, prints it.', {
  { 'remove', false, 'remove the note' },
})

command('tag ID... +TAG -TAG', 'annotate', 'adds and removes tags of runs, which filters select',
  'Adds tags to runs (+TAG or TAG) and removes them (-TAG). Without a tag, lists '
  .. 'the tags of runs.\nA tag has no blanks and no commas.', selection.with_filters {})

command('index [FOLDER...]', 'index', 'makes the registry again from run folders',
  'Enters the runs in folders in the registry, with the records in their folders '
  .. '(run.json).\nWithout a folder: those beside the registry.', {})

command('gather FOLDER...', 'gather', 'adds finished runs to a record from which grids can continue',
  'Adds the finished runs of grids to a record, which the table scripts read with '
  .. '--recorded.', {
    { 'into', nil, 'the record, a CSV file: docs/results/<paper>/runs.csv', type = 'text' },
    { 'replace', false, 'replace runs that have other numbers in the record' },
    { 'commit', nil, 'the commit of runs that have not recorded it', type = 'text' },
    { 'torch', nil, 'the version of LibTorch of runs that have not recorded it', type = 'text' },
  })

local function action_of(name)
  local module = require('pushdown.commands.runs.' .. commands[name].module)
  return type(module) == 'table' and module[name] or module
end

local function overview()
  local lines = { 'The record of runs: every grid and every script that uses pd.experiment.', '' }
  for _, name in ipairs(names) do lines[#lines + 1] = ('  pushdown runs %-10s %s'):format(name, commands[name].line) end
  lines[#lines + 1] = '\nEach command lists its options with --help. pushdown report makes a page.\n'
  return table.concat(lines, '\n')
end

-- command.run(words) -> exit status: 0, 1 for an error, 2 for a wrong command line.
function M.run(words)
  local name = words[1]
  if name == nil or name == '--help' or name == '-h' or name == 'help' then
    io.write(overview())
    return 0
  end
  local found = commands[name]
  return subcommand('runs', function()
    if not found then
      local near = pd._text.nearest(name, names)
      fail("unknown command '%s'%s; the commands are %s and %s", name, near and (", did you mean '%s'?"):format(near)
        or '', table.concat(names, ', ', 1, #names - 1), names[#names])
    end
    local options = experiment.parse(found.declaration, { unpack(words, 2) })
    if options.help then return io.write(experiment.help(found.declaration)) end
    if not found.words and #options.words > 0 then fail("unexpected argument '%s'", options.words[1]) end
    local given = {}
    for _, format in ipairs { 'csv', 'json', 'latex' } do
      if options[format] then given[#given + 1] = '--' .. format end
    end
    if #given > 1 then fail('%s exclude each other', table.concat(given, ' and ')) end
    action_of(name)(options, options.registry or runs.path(), pd.process.columns 'stdout')
  end)
end

return M
