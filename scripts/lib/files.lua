-- Files and folders for scripts: whole-file reading and writing, making folders, finding files.
local M = {}

-- `text` quoted for the shell.
function M.quoted(text) return "'" .. text:gsub("'", "'\\''") .. "'" end
local quoted = M.quoted

-- Makes the folder and those above it. An error says which and why.
function M.make_folder(path)
  local pipe, reason = io.popen('mkdir -p -- ' .. quoted(path) .. ' 2>&1')
  local said = pipe and pipe:read('*a'):gsub('%s+$', '') or reason
  if pipe then pipe:close() end
  if said ~= '' then error(("[files.make_folder] cannot make the folder '%s': %s"):format(path, said), 0) end
end

-- Whether there is something of that path that can be read.
function M.exists(path)
  local file = io.open(path, 'rb')
  if file then file:close() end
  return file ~= nil
end

-- The whole content of a file, as it is.
function M.read(path)
  local file, reason = io.open(path, 'rb')
  if not file then error(("[files.read] cannot read '%s': %s"):format(path, reason), 0) end
  local text, trouble = file:read('*a')
  file:close()
  if not text then error(("[files.read] cannot read '%s': %s"):format(path, trouble), 0) end
  return text
end

-- Writes beside the file first and renames, so that a reader sees the old text or the new one.
function M.write(path, text)
  local temporary = path .. '.part'
  local file, reason = io.open(temporary, 'wb')
  if not file then error(("[files.write] cannot write '%s': %s"):format(path, reason), 0) end
  -- A short text is written when the file is closed: on a full disk that is what fails.
  local done, trouble = file:write(text)
  local closed, late = file:close()
  if done and not closed then done, trouble = nil, late end
  if done then done, trouble = os.rename(temporary, path) end
  if not done then
    os.remove(temporary)
    error(("[files.write] cannot write '%s': %s"):format(path, trouble), 0)
  end
end

-- Paths, from `folder` on, of the files in it and below whose path matches the Lua pattern, sorted.
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
  -- The shell itself ends where it cannot start a program.
  if not whole then
    error(("[files.find] cannot list the folder '%s': %s"):format(folder, reason or 'no process can be started'), 0)
  end
  table.sort(paths)
  return paths
end

return M
