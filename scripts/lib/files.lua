-- Files and folders for scripts: reads and writes whole files, makes folders, finds files.
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

-- Returns whether the path exists and can be read.
function M.exists(path)
  local file = io.open(path, 'rb')
  if file then file:close() end
  return file ~= nil
end

-- The reason of a failure without the path that Lua puts in front of it.
local function without(path, reason)
  return reason:sub(1, #path + 2) == path .. ': ' and reason:sub(#path + 3) or reason
end

-- The whole content of a file, unchanged.
function M.read(path)
  local file, reason = io.open(path, 'rb')
  if not file then error(("[files.read] cannot read '%s': %s"):format(path, without(path, reason)), 0) end
  local text, trouble = file:read('*a')
  file:close()
  if not text then error(("[files.read] cannot read '%s': %s"):format(path, trouble), 0) end
  return text
end

-- Writes a temporary file and renames it, so that a reader sees either the old text or the new one.
function M.write(path, text)
  local temporary = path .. '.part'
  local file, reason = io.open(temporary, 'wb')
  if not file then error(("[files.write] cannot write '%s': %s"):format(path, without(temporary, reason)), 0) end
  -- A short text is only written when the file is closed; on a full disk, closing fails.
  local done, trouble = file:write(text)
  local closed, late = file:close()
  if done and not closed then done, trouble = nil, late end
  if done then done, trouble = os.rename(temporary, path) end
  if not done then
    os.remove(temporary)
    error(("[files.write] cannot write '%s': %s"):format(path, trouble), 0)
  end
end

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
