-- Files and folders for scripts: reads and writes whole files, makes folders, finds files.
local pd = require 'pushdown'

local M = {}

-- `text` quoted for the shell.
function M.quoted(text) return "'" .. text:gsub("'", "'\\''") .. "'" end
local quoted = M.quoted

-- Makes the folder and the folders above it. An error names the folder and the reason.
function M.make_folder(path)
  local pipe, reason = io.popen('mkdir -p -- ' .. quoted(path) .. ' 2>&1')
  local said = pipe and pipe:read('*a'):gsub('%s+$', '') or reason
  if pipe then pipe:close() end
  if said ~= '' then error(("[files.make_folder] cannot make the folder '%s': %s"):format(path, said), 0) end
end

-- Returns whether the path is a file or folder that can be read.
function M.exists(path) return pd.file.can_read(path) end

-- The whole content of a file, unchanged. Pipes and devices are refused.
function M.read(path) return pd.file.read(path) end

-- Writes a temporary file and renames it, so that a reader sees either the old text or the new one.
function M.write(path, text) pd.file.write(path, text) end

-- The sorted paths, relative to `folder`, of all files in and below it whose path matches the Lua pattern.
function M.find(folder, pattern)
  local pipe, reason = io.popen(('if cd -- %s 2>/dev/null; then find . -type f; fi; echo end'):format(quoted(folder)))
  local paths, whole = {}, false
  for line in pipe and pipe:lines() or function() end do
    local path = line:gsub('^%./', '')
    if line == 'end' then
      whole = true
    elseif path:match(pattern or '') then
      paths[#paths + 1] = path
    end
  end
  if pipe then pipe:close() end
  -- The shell itself ends if it cannot start a program.
  if not whole then
    error(("[files.find] cannot list the folder '%s': %s"):format(folder, reason or 'no process can be started'), 0)
  end
  table.sort(paths)
  return paths
end

return M
