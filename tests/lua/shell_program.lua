-- For tests that run the program `pushdown` and look at its standard output and standard error.
local files = require 'pushdown.files'
local test = require 'pushdown.test'

local M = {}

-- A temporary folder.
M.folder = test.folder()

-- Returns the path of a new file in the folder.
function M.write(name, text)
  local path = M.folder .. '/' .. name
  files.write(path, text)
  return path
end

-- Runs the program with these words and with `input` (by default nothing). options: as of test.run. Returns its
-- standard output, standard error and exit status.
function M.run(words, input, options)
  local given = pd.tables.merged({ input = input and M.write('stdin', input), errors = M.folder .. '/stderr' }, options)
  local output, status = test.run(words, given)
  return output, files.read(given.errors), status
end

return M
