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

local function declare(name, doc, ...)
  local options = experiment.join_options(...)
  options[#options + 1] = selection.registry_option
  return { name = 'pushdown runs ' .. name, doc = doc, options = options, words = true, run_folder = false }
end

local commands = {
  list = declare('list', 'Lists runs, the newest first.', selection.with_filters {
    { 'sort', nil, 'sort by this column, option or result (newest first)', type = 'text' },
    { 'descending', false, 'sort the largest first' },
    { 'limit', nil, 'largest number of runs to show', type = 'integer', minimum = 1 },
    { 'columns', {}, 'columns, options and results to show', repeated = true },
  }, formats, latex),
  show = declare('show ID...', 'Shows all data of a run.', {}, formats),
  compare = declare('compare [ID...]', 'Compares runs side by side, or the points of a grid '
    .. '(--grid) by mean and standard deviation\nover their restarts.', selection.with_filters {
      { 'metric', {}, 'results to compare; the first one orders the points of a grid', repeated = true },
      { 'spread', 'deviation', 'shown with a mean: the sample standard deviation, or half the width of its 95 % '
        .. 'confidence interval', choices = { 'deviation', 'interval' } },
      { 'test', nil, 'a paired test of each point of a grid against the best one', type = 'text',
        choices = { 'wilcoxon', 'bootstrap' } },
      { 'against', nil, 'the point that the others are tested against', type = 'text' },
    }, formats, latex),
  plot = declare('plot [ID...]', 'Draws metrics of every epoch. The restarts of a point are one line, their mean, with '
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
    }),
  rm = declare('rm [ID...]', 'Removes runs from the registry. Their folders stay unless --folders is given. Runs '
    .. 'that are running\nare refused.', selection.with_filters {
      { 'folders', false, 'also remove the run folders with everything in them' },
      { 'dry_run', false, 'only print what would be removed' },
      { 'yes', false, 'do not ask for confirmation' },
    }),
  reproduce = declare('reproduce RUN', 'Repeats a run, given by its number or folder, in a new folder with its '
    .. 'original inputs,\nand compares all numbers. Exits with status 1 if they differ.', {
      { 'folder', nil, 'the new folder (RUN-again-1)', type = 'text' },
      { 'yes', false, "do not ask before the run's own command is started" },
    }),
  note = declare('note ID [TEXT]', 'Sets the note of a run. Without a text, prints it.', {
    { 'remove', false, 'remove the note' },
  }),
  tag = declare('tag ID... +TAG -TAG', 'Adds tags to runs (+TAG or TAG) and removes them (-TAG). Without a tag, lists '
    .. 'the tags of runs.\nA tag has no blanks and no commas.', selection.with_filters {}),
  index = declare('index [FOLDER...]', 'Enters the runs in folders in the registry, with the records in their folders '
    .. '(run.json).\nWithout a folder: those beside the registry.', {}),
  gather = declare('gather FOLDER...', 'Adds the finished runs of grids to a record, which the table scripts read with '
    .. '--recorded.', {
      { 'into', nil, 'the record, a CSV file: docs/results/<paper>/runs.csv', type = 'text' },
      { 'replace', false, 'replace runs that have other numbers in the record' },
      { 'commit', nil, 'the commit of runs that have not recorded it', type = 'text' },
      { 'torch', nil, 'the version of LibTorch of runs that have not recorded it', type = 'text' },
    }),
  export = declare('export [ID...]', 'Writes runs with all their options and results as columns, or their epochs.',
    selection.with_filters {
      { 'history', false, 'one line for every epoch of every run' },
      { 'output', nil, 'the file; its extension .json or .csv selects the format (standard output)', type = 'text',
        short = 'o' },
      { 'tensorboard', nil, 'in place of that: an event file for every run, in this folder of logs', type = 'text' },
      { 'wandb', nil, 'in place of that: an offline run of Weights & Biases for every run, in this folder',
        type = 'text' },
    }, formats),
}

local modules = { list = 'list', show = 'list', compare = 'compare', plot = 'plot', rm = 'remove', export = 'export',
  gather = 'gather', index = 'index', reproduce = 'reproduce', note = 'annotate', tag = 'annotate' }
local names = { 'list', 'show', 'compare', 'plot', 'rm', 'export', 'reproduce', 'note', 'tag', 'index', 'gather' }
local without_words = { list = true }

local function action_of(name)
  local module = require('pushdown.commands.runs.' .. modules[name])
  return type(module) == 'table' and module[name] or module
end

local overview = [[
The record of runs: every grid and every script that uses pd.experiment.

  pushdown runs list       lists runs, by grid, option, result, state, time
  pushdown runs show       shows all data of a run
  pushdown runs compare    compares runs side by side, or the points of a grid
  pushdown runs plot       draws metrics over epochs, with bands over restarts
  pushdown runs rm         removes runs and, on request, their folders
  pushdown runs export     writes runs or their epochs as CSV or JSON
  pushdown runs reproduce  repeats a run and tells whether its numbers are the same
  pushdown runs note       sets or prints the note of a run
  pushdown runs tag        adds and removes tags of runs, which filters select
  pushdown runs index      makes the registry again from run folders
  pushdown runs gather     adds finished runs to a record from which grids can continue

Each command lists its options with --help. pushdown report makes a page.
]]

-- command.run(words) -> exit status: 0, 1 for an error, 2 for a wrong command line.
function M.run(words)
  local name = words[1]
  if name == nil or name == '--help' or name == '-h' or name == 'help' then
    io.write(overview)
    return 0
  end
  local declaration = commands[name]
  return subcommand('runs', function()
    if not declaration then
      local near = pd._text.nearest(name, names)
      fail("unknown command '%s'%s; the commands are %s and %s", name, near and (", did you mean '%s'?"):format(near)
        or '', table.concat(names, ', ', 1, #names - 1), names[#names])
    end
    local options = experiment.parse(declaration, { unpack(words, 2) })
    if options.help then return io.write(experiment.help(declaration)) end
    if without_words[name] and #options.words > 0 then fail("unexpected argument '%s'", options.words[1]) end
    local given = {}
    for _, format in ipairs { 'csv', 'json', 'latex' } do
      if options[format] then given[#given + 1] = '--' .. format end
    end
    if #given > 1 then fail('%s exclude each other', table.concat(given, ' and ')) end
    action_of(name)(options, options.registry or runs.path(), pd.process.columns 'stdout')
  end)
end

return M
