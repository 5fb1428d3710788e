-- Files and folders for scripts: reads and writes whole files, makes folders, finds files.
local pd = require 'pushdown'

local M = {}

-- A text or a number, quoted for the shell.
function M.quoted(text) return "'" .. tostring(text):gsub("'", "'\\''") .. "'" end

-- Makes the folder and the folders above it. An error names the folder and the reason.
function M.make_folder(path) pd.file.make_folder(path) end

-- Returns whether the path is a file or folder that can be read.
function M.exists(path) return pd.file.can_read(path) end

-- The whole content of a file, unchanged. Pipes and devices are refused.
function M.read(path) return pd.file.read(path) end

-- Writes a temporary file and renames it, so that a reader sees either the old text or the new one.
function M.write(path, text) pd.file.write(path, text) end

-- The sorted paths, relative to `folder`, of all files in and below it whose path matches the Lua pattern.
function M.find(folder, pattern)
  local paths = {}
  for _, path in ipairs(pd.file.files(folder)) do
    if path:match(pattern or '') then paths[#paths + 1] = path end
  end
  return paths
end

return M
