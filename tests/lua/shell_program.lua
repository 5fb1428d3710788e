-- For tests that run the program `pushdown`.
local files = require 'pushdown.files'

local M = {}

M.path = assert(os.getenv('PUSHDOWN_BINARY'), 'PUSHDOWN_BINARY names the shell')

M.quoted = files.quoted

-- A temporary folder, until M.remove().
M.folder = os.tmpname()
os.remove(M.folder)
files.make_folder(M.folder)

function M.remove() os.execute('rm -r ' .. M.quoted(M.folder)) end

-- Returns the path of a new file in the folder.
function M.write(name, text)
  local path = M.folder .. '/' .. name
  files.write(path, text)
  return path
end

-- Runs a command line of the shell with `input` (by default nothing). Returns its standard output, standard error and
-- exit status.
function M.run(arguments, input)
  local words = { M.quoted(M.path) }
  for _, word in ipairs(arguments) do words[#words + 1] = M.quoted(word) end
  local errors = M.folder .. '/stderr'
  local source = input and M.quoted(M.write('stdin', input)) or '/dev/null'
  local pipe = assert(io.popen(('%s < %s 2> %s; echo "exit $?"'):format(table.concat(words, ' '), source,
    M.quoted(errors))))
  local output, status = pipe:read('*a'):match('^(.*)exit (%d+)\n$')
  pipe:close()
  return output, files.read(errors), tonumber(status)
end

return M
