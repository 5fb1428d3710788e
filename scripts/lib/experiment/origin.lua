-- Where a run comes from: the commit of the program, the repository of the working folder, the machine.
local files = require 'pushdown.files'
local json = require 'pushdown.json'

local M = {}

-- First line of what a command prints, or nil.
local function said(command)
  local pipe = io.popen(command .. ' 2>/dev/null')
  local line = pipe and pipe:read('*l')
  if pipe then pipe:close() end
  return line ~= '' and line or nil
end

-- The commit of the repository that a folder is in, or nil.
function M.git(folder)
  return said(('git -C %s describe --always --dirty --abbrev=12'):format(files.quoted(folder)))
end

-- The commit of the program whose files lie in `root`: that of its sources, or, where it is installed, the one it was
-- built from, which the installation wrote to the file `commit`; nil if neither is known.
function M.commit(root)
  if not root then return nil end
  if files.exists(root .. '/commit') then return files.read(root .. '/commit'):match('^%S+') end
  return files.exists(root .. '/.git') and M.git(root) or nil
end

-- What the run is made on: host, processor, processors, device, version of LibTorch.
function M.machine(core)
  local text = files.exists '/proc/cpuinfo' and files.read '/proc/cpuinfo' or ''
  local count = select(2, ('\n' .. text):gsub('\nprocessor%s*:', ''))
  return json.ordered({ host = core and core.process.host(), processor = text:match('model name%s*:%s*([^\n]+)'),
    processors = count > 0 and count or nil, device = core and core.session().device,
    torch = core and core.device.status().torch }, { 'host', 'processor', 'processors', 'device', 'torch' })
end

return M
