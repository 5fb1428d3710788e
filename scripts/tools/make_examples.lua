-- Runs the examples of pages again and puts into the pages what they print now.
--
--   pushdown scripts/tools/make_examples.lua [PAGE ...]
--
-- Pages are paths in the repository; default: all pages with examples.
local files = require 'pushdown.files'
local pd = require 'pushdown'
local sessions = dofile(pd.root .. '/scripts/tools/sessions.lua')

for _, name in ipairs(#arg > 0 and arg or sessions.pages()) do
  local path = pd.root .. '/' .. name
  local old = files.read(path)
  local page = sessions.run(old, pd.process.executable(), function(_, printed, section)
    print(('%s: %s: %s'):format(name, section.title, (printed.entry:match '^[^\n]*')))
  end)
  if page ~= old then
    files.write(path, page)
    print('wrote ' .. name)
  end
end
