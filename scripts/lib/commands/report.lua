-- The command `pushdown report`: one page about runs, points or a whole grid, as a file or followed in a browser.
local experiment = require 'pushdown.experiment'
local live = require 'pushdown.report.live'
local page = require 'pushdown.report.page'
local selection = require 'pushdown.runs.selection'
local subcommand = require 'pushdown.commands.subcommand'

local M = {}

local function note(reason)
  if reason then io.stderr:write(('pushdown report: the curves are still pictures: %s\n'):format(reason)) end
end

-- command.run(words) -> exit status: 0, 1 for an error, 2 for a wrong command line.
function M.run(words)
  return subcommand('report', function()
    local options, _, given = experiment.parse(page.declaration, words)
    if options.help then return io.write(experiment.help(page.declaration)) end
    if not options.live then
      if given.port then selection.fail '--port needs --live' end
      local said, reason = page.write(options)
      note(reason)
      return print(said)
    end
    if given.output then selection.fail '--live writes no file: leave out --output' end
    local opened = live.open(options)
    note(opened.reason)
    print(opened.address)
    print(('A browser on this machine follows the runs there, now %s. Ctrl-C ends it.'):format(opened.counts))
    io.stdout:flush()
    opened:serve()
  end)
end

return M
