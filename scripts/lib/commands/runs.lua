-- The command `pushdown runs`: shows the registry and the measurements of its runs, and removes runs from it.
local command = require 'pushdown.commands.shared.command'
local experiment = require 'pushdown.experiment'
local pd = require 'pushdown'
local runs = require 'pushdown.runs'
local selection = require 'pushdown.runs.selection'

local formats = { { 'csv', false, 'comma-separated values with all digits' },
  { 'json', false, 'JSON with all data' } }
local latex = { { 'latex', false, 'a table for LaTeX (booktabs)' } }

local commands, usages = {}, {}  -- by name; in the order of the overview

local function act(name, module, options)
  local given = {}
  for _, format in ipairs { 'csv', 'json', 'latex' } do
    if options[format] then given[#given + 1] = '--' .. format end
  end
  if #given > 1 then command.fail('%s exclude each other', table.concat(given, ' and ')) end
  local action = require('pushdown.commands.runs.' .. module)
  if type(action) == 'table' then action = action[name] end
  action(options, options.registry or runs.path(), pd.process.columns 'stdout')
end

-- declare(usage, module, doc, lists of options...): declares `pushdown runs NAME ...`, which a module of commands/runs
-- carries out.
local function declare(usage, module, doc, ...)
  local options, name = experiment.join_options(...), usage:match '^%a+'
  options[#options + 1] = selection.registry_option
  usages[#usages + 1] = { name = 'pushdown runs ' .. usage, doc = doc }
  commands[name] = command.new({ name = 'pushdown runs ' .. usage, doc = doc, options = options },
    usage ~= name and math.huge or 0, function(given) act(name, module, given) end)
end

declare('list', 'list', 'Lists runs, the newest first.', selection.with_filters {
  { 'sort', nil, 'sort by this column, option or result (newest first)', type = 'text' },
  { 'descending', false, 'sort the largest first' },
  { 'limit', nil, 'largest number of runs to show', type = 'integer', minimum = 1 },
  { 'columns', {}, 'columns, options and results to show', repeated = true },
}, formats, latex)

declare('show ID...', 'list', 'Shows all data of a run.', {}, formats)

declare('compare [ID...]', 'compare', 'Compares runs side by side, or the points of a grid '
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

declare('plot [ID...]', 'plot', 'Draws metrics of every epoch. The restarts of a point are one line, their mean, with '
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

declare('rm [ID...]', 'remove', 'Removes runs from the registry. Their folders stay unless --folders is given. Runs '
  .. 'that are running\nare refused.', selection.with_filters {
    { 'folders', false, 'also remove the run folders with everything in them' },
    { 'dry_run', false, 'only print what would be removed' },
    { 'yes', false, 'do not ask for confirmation' },
  })

declare('export [ID...]', 'export', 'Writes runs with all their options and results as columns, or their epochs.',
  selection.with_filters {
    { 'history', false, 'one line for every epoch of every run' },
    { 'output', nil, 'the file; its extension .json or .csv selects the format (standard output)', type = 'text',
      short = 'o' },
    { 'tensorboard', nil, 'in place of that: an event file for every run, in this folder of logs', type = 'text' },
    { 'wandb', nil, 'in place of that: an offline run of Weights & Biases for every run, in this folder',
      type = 'text' },
  }, formats)

declare('reproduce RUN', 'reproduce', 'Repeats a run, given by its number or folder, in a new folder with its '
  .. 'original inputs,\nand compares all numbers. Exits with status 1 if they differ.', {
    { 'folder', nil, 'the new folder (RUN-again-1)', type = 'text' },
    { 'yes', false, "do not ask before the run's own command is started" },
  })

declare('note ID [TEXT]', 'annotate', 'Sets the note of a run. Without a text, prints it.', {
  { 'remove', false, 'remove the note' },
})

declare('tag ID... +TAG -TAG', 'annotate', 'Adds tags to runs (+TAG or TAG) and removes them (-TAG). Without a tag, '
  .. 'lists the tags of runs.\nA tag has no blanks and no commas.', selection.with_filters {})

declare('index [FOLDER...]', 'index', 'Enters the runs in folders in the registry, with the records in their folders '
  .. '(run.json).\nWithout a folder: those beside the registry.', {})

declare('gather FOLDER...', 'gather', 'Adds the finished runs of grids to a record, which the table scripts read with '
  .. '--recorded.', {
    { 'into', nil, 'the record, a CSV file: docs/results/<paper>/runs.csv', type = 'text' },
    { 'replace', false, 'replace runs that have other numbers in the record' },
    { 'commit', nil, 'the commit of runs that have not recorded it', type = 'text' },
    { 'torch', nil, 'the version of LibTorch of runs that have not recorded it', type = 'text' },
  })

local M = { declaration = { name = 'pushdown runs COMMAND',
  doc = 'Lists, shows, compares, draws, repeats and exports the recorded runs.' } }

local function overview()
  local lines = { 'The record of runs: every grid and every script that uses pd.experiment.', '' }
  for _, one in ipairs(usages) do lines[#lines + 1] = command.line(one, pd.process.columns 'stdout' or 100) end
  lines[#lines + 1] = '\nEach command lists its options with --help. pushdown report makes a page.\n'
  return table.concat(lines, '\n')
end

function M.run(words)
  local name = words[1]
  if name == nil or name == '--help' or name == '-h' or name == 'help' then
    io.write(overview())
    return 0
  end
  if commands[name] then return commands[name].run { unpack(words, 2) } end
  return command.status('runs', function() command.pick(commands, name) end)
end

return M
