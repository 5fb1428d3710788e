-- The command `pushdown report`: one page about runs, points or a whole grid.
local experiment = require 'pushdown.experiment'
local page = require 'pushdown.report.page'
local subcommand = require 'pushdown.commands.subcommand'

local M = {}

-- command.run(words) -> exit status: 0, 1 for an error, 2 for a wrong command line.
function M.run(words)
  return subcommand('report', function()
    local options = experiment.parse(page.declaration, words)
    if options.help then return io.write(experiment.help(page.declaration)) end
    local said, reason = page.write(options)
    if reason then io.stderr:write(('pushdown report: the curves are still pictures: %s\n'):format(reason)) end
    print(said)
  end)
end

return M
