-- The command `pushdown report`: one page about runs, points or a whole grid, as a file or followed in a browser.
local command = require 'pushdown.commands.shared.command'
local live = require 'pushdown.report.live'
local page = require 'pushdown.report.page'

local function note(reason)
  if reason then io.stderr:write(('pushdown report: the curves are still pictures: %s\n'):format(reason)) end
end

return command.new(page.declaration, math.huge, function(options, given)
  if not options.live then
    if given.port then command.fail '--port needs --live' end
    local said, reason = page.write(options)
    note(reason)
    return print(said)
  end
  if given.output then command.fail '--live writes no file: leave out --output' end
  local opened = live.open(options)
  note(opened.reason)
  print(opened.address)
  print(('A browser on this machine follows the runs there, now %s. Ctrl-C ends it.'):format(opened.counts))
  io.stdout:flush()
  opened:serve()
end)
