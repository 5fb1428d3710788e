-- Writes generated pages. With --check it only reports those that are out of date (exit status 1).
local files = require 'pushdown.files'

-- pages: path -> text; command: the command that makes the pages.
return function(pages, command)
  local stale = {}
  for _, path in ipairs(pd.tables.keys(pages)) do
    local same = files.exists(path) and files.read(path) == pages[path]
    if not same then
      stale[#stale + 1] = path
      if arg[1] ~= '--check' then
        files.write(path, pages[path])
        print('wrote ' .. path)
      end
    end
  end
  if arg[1] == '--check' and #stale > 0 then
    io.stderr:write(('out of date, run %s:\n  %s\n'):format(command, table.concat(stale, '\n  ')))
    os.exit(1)
  end
end
