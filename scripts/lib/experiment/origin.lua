-- The origin of a run: the commit of the program, the repository of the working folder, the machine.
local files = require 'pushdown.files'
local json = require 'pushdown.json'

local M = {}

-- The first line of a command's output, or nil.
local function said(command)
  local pipe = io.popen(command .. ' 2>/dev/null')
  local line = pipe and pipe:read('*l')
  if pipe then pipe:close() end
  return line ~= '' and line or nil
end

-- The commit of the repository that contains a folder, or nil.
function M.git(folder)
  return said(('git -C %s describe --always --dirty --abbrev=12'):format(files.quoted(folder)))
end

-- The commit of the program whose files are in `root`: that of its sources, or, for an installed program, the commit in
-- the file `commit`, which the installation wrote. Nil if neither is known.
function M.commit(root)
  if not root then return nil end
  if files.exists(root .. '/commit') then return files.read(root .. '/commit'):match('^%S+') end
  return files.exists(root .. '/.git') and M.git(root) or nil
end

-- The machine of a run: host, processor, processors, device, version of LibTorch.
function M.machine(core)
  local text = files.exists '/proc/cpuinfo' and files.read '/proc/cpuinfo' or ''
  local count = select(2, ('\n' .. text):gsub('\nprocessor%s*:', ''))
  return json.ordered({ host = core and core.process.host(), processor = text:match('model name%s*:%s*([^\n]+)'),
    processors = count > 0 and count or nil, device = core and core.session().device,
    torch = core and core.device.status().torch }, { 'host', 'processor', 'processors', 'device', 'torch' })
end

return M
