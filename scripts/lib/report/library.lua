-- The chart library dygraphs, which a page includes completely.
local files = require 'pushdown.files'
local pd = require 'pushdown'

local M = {}

-- The location in Debian's libjs-dygraphs.
local folder, copyright = '/usr/share/javascript/dygraphs/', '/usr/share/doc/libjs-dygraphs/copyright'

local function first(paths)
  for _, path in ipairs(paths) do
    if files.exists(path) then return path end
  end
end

local function read(path)
  local beside = path:match('^.*/') or ''
  local text = files.read(path)
  local version = text:find('Dygraph', 1, true) and text:match('VERSION%s*=%s*"([%d.]+)"')
  if not version then error(("'%s' is not dygraphs"):format(path), 0) end
  local licence = first { beside .. 'LICENSE.txt', beside .. '../LICENSE.txt', copyright }
  if not licence then error(("the licence of '%s' is missing: expected %sLICENSE.txt"):format(path, beside), 0) end
  -- Without the source map, which a page cannot load.
  return { script = text:gsub('\n//# sourceMappingURL=[^\n]*', ''), licence = files.read(licence), version = version }
end

-- library.find() returns dygraphs as {script =, licence =, version =}, or nil and the reason. The environment variable
-- PUSHDOWN_DYGRAPHS names its file or is 'off'; a file that cannot be used is an error. The default is the system's, or
-- the copy in a Python package.
function M.find()
  local named = os.getenv 'PUSHDOWN_DYGRAPHS'
  if named == 'off' then return nil, 'PUSHDOWN_DYGRAPHS is off' end
  if named == '' then named = nil end
  local path = named
    or first { folder .. 'dygraph.min.js', folder .. 'dygraph.js', pd.root .. '/dygraphs/dygraph.min.js' }
  if not path then return nil, 'the chart library dygraphs was not found (Debian: libjs-dygraphs)' end
  local ok, found = pcall(read, path)
  if ok then return found end
  if named then error('PUSHDOWN_DYGRAPHS: ' .. found, 0) end
  return nil, found
end

return M
