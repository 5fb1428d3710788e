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

-- The last part of a path.
function M.name(path) return path:match '^.*/(.*)$' or path end

-- The sorted paths, relative to `folder`, of all files in and below it whose path matches the Lua pattern.
function M.find(folder, pattern)
  local paths = {}
  for _, path in ipairs(pd.file.files(folder)) do
    if path:match(pattern or '') then paths[#paths + 1] = path end
  end
  return paths
end

-- The names of the experiments and chapters: 'ns_rnn', 'tutorial/02_grammar'.
function M.scripts()
  local names = {}
  for _, place in ipairs { { 'experiments', '' }, { 'tutorial', 'tutorial/' } } do
    for _, path in ipairs(M.find(pd.scripts .. '/' .. place[1], '^[%w_]+%.lua$')) do
      names[#names + 1] = place[2] .. path:gsub('%.lua$', '')
    end
  end
  return names
end

-- The path of a script: of a file, or of a script of the program with its name, such as 'ns_rnn', or its path, such
-- as 'scripts/experiments/ns_rnn.lua'. The ending may be absent. Returns nil and a message if there is none.
function M.script(name)
  local file = name:gsub('%.lua$', '') .. '.lua'
  local places, anywhere = { name, file }, not name:find '^%.*/'
  if anywhere then
    for _, folder in ipairs { pd.root, pd.scripts, pd.scripts .. '/experiments' } do
      places[#places + 1] = folder .. '/' .. file
    end
  end
  for _, path in ipairs(places) do
    if pd.file.kind(pd.file.real_path(path)) == 'file' then return path end
  end
  local near = pd._text.nearest(name, M.scripts())
  return nil, ("there is no script '%s'%s%s"):format(name, anywhere and ' here and none in ' .. pd.scripts or '',
    near and (", did you mean '%s'?"):format(near) or '')
end

return M
