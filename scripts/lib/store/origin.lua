-- The origin of a run: the commit of the program, the repository of the working folder, the machine.
local files = require 'pushdown.files'
local json = require 'pushdown.json'
local pd = require 'pushdown'

local M = {}

-- The commit of the repository that contains a folder, as `git describe` names it, or nil.
function M.git(folder)
  local state = pd.file.repository(folder)
  return state and state.description
end

-- The commit of the program whose files are in `root`: that of its sources, or, for an installed program, the commit in
-- the file `commit`, which the installation wrote. Nil if neither is known.
function M.commit(root)
  if not root then return nil end
  if files.exists(root .. '/commit') then return files.read(root .. '/commit'):match('^%S+') end
  return files.exists(root .. '/.git') and M.git(root) or nil
end

-- The machine of this run: host, processor, processors, device, version of LibTorch.
function M.machine()
  local text = files.exists '/proc/cpuinfo' and files.read '/proc/cpuinfo' or ''
  local count = select(2, ('\n' .. text):gsub('\nprocessor%s*:', ''))
  return json.ordered({ host = pd.process.host(), processor = text:match('model name%s*:%s*([^\n]+)'),
    processors = count > 0 and count or nil, device = pd.session().device,
    torch = pd.device.status().torch }, { 'host', 'processor', 'processors', 'device', 'torch' })
end

return M
