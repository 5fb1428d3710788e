-- The options of pd.grid.run as rows, which searches pass on, and those of scripts that run grids (pd.grid.options).
local join = require 'pushdown.experiment'.join_options

local M = {}

-- Of a grid.
M.grid = {
  { 'name', nil, 'name of the grid, in the registry and in tables', type = 'text', required = true },
  { 'script', nil, 'path of the script to train, also relative to the root of the program', type = 'text',
    required = true },
  { 'folder', nil, 'folder of the run folders', type = 'text', required = true },
  { 'points', nil, 'the points, each a table of options of the script', type = 'list of tables', required = true },
  { 'fixed', nil, 'options of all points', type = 'table' },
  { 'restarts', 1, 'number of restarts of each point, or a list of their numbers such as {2, 5}',
    type = 'integer or list of integers', minimum = 1 },
  { 'flags', {}, 'words added to every command line' },
  { 'seeds', 'own', 'own: every run has its own seed; shared: restarts with the same number have the same seed, at all '
    .. 'points and in all grids with this option', choices = { 'own', 'shared' } },
}

local executor = {
  { 'executor', 'local', 'where the runs are made: in local processes or Slurm tasks', choices = { 'local', 'slurm' },
    may_change = true },
  { 'slurm', {}, 'options of sbatch for every task, such as partition=long and time=12:00:00', repeated = true,
    may_change = true },
  { 'throttle', 0, 'concurrent Slurm tasks; 0: no limit', minimum = 0, may_change = true },
}
local missing = { 'missing', 'train', 'unfinished runs: train them, or leave them out of the results',
  choices = { 'train', 'leave' }, may_change = true }

-- Of a call, which can have several grids.
M.call = join({ { 'workers', nil, 'concurrent processes; the default: one for each core', type = 'integer',
  minimum = 1 } }, executor, {
  { 'registry', nil, 'path of the registry', type = 'text' },
  { 'recorded', nil, 'a record (pushdown.record) whose runs count as finished; rows.note then gives their number',
    type = 'text' },
  missing,
  { 'changed', nil, 'runs made with other options, or whose script or other inputs have changed since: accept finished '
    .. 'ones as they are (rows.note names them), or make them again; by default the user is asked, and without a '
    .. 'terminal this is an error', type = 'text', choices = { 'accept', 'rerun' } },
  { 'failures', 'error', 'failed runs: an error once all runs have ended, or only their number as rows.failed',
    choices = { 'error', 'report' } },
  { 'progress', true, 'show the live view' },
  { 'enough', nil, 'is called with the rows whenever a run has ended; if it returns true, the other runs are stopped',
    type = 'function' },
})

-- Of a script that runs grids.
M.script = join({ { 'workers', 0, 'concurrent processes; 0: one for each core', minimum = 0, may_change = true } },
  executor, {
    { 'recorded', '', 'a record of runs (CSV) whose runs count as finished; none: all are trained here',
      may_change = true },
    missing,
    { 'accept_changed', false, 'accept finished runs that were made with other options or another script',
      may_change = true },
    { 'rerun_changed', false, 'make such runs again', may_change = true },
  })

return M
