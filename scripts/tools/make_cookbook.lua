-- Runs the examples of docs/cookbook.md again and puts into the page what they print now.
--
--   pushdown scripts/tools/make_cookbook.lua
local files = require 'pushdown.files'
local pd = require 'pushdown'
local sessions = dofile(pd.root .. '/scripts/tools/sessions.lua')

local path = pd.root .. '/docs/cookbook.md'
local page = sessions.run(files.read(path), pd.process.executable(), function(_, printed, title)
  print(('%s: %s'):format(title, (printed.entry:match '^[^\n]*')))
end)
files.write(path, page)
