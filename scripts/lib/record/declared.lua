-- declared(script) -> {full =, quick =, smoke =, may_change = {[name] = true}}: all options of a script of
-- pushdown.experiment with their defaults, and with --quick and --smoke if it has these sizes. Options that only tell
-- where and which a run is are left out. may_change: options that may differ when a run is resumed. Asks the script
-- itself, once.
local files = require 'pushdown.files'
local json = require 'pushdown.json'
local pd = require 'pushdown'

local known = {}

return function(script)
  if not known[script] then
    local words = { pd.process.executable(), '--threads', '1', script, '--defaults' }
    for i, word in ipairs(words) do words[i] = files.quoted(word) end
    local pipe = assert(io.popen(table.concat(words, ' ') .. ' 2>&1'))
    local text = pipe:read('*a')
    pipe:close()
    local ok, sizes = pcall(json.decode, text)
    if not ok then error(('[record] %s --defaults: expected JSON, got %s'):format(script, text), 0) end
    local may_change = {}
    for _, name in ipairs(sizes.may_change or {}) do may_change[name] = true end
    sizes.may_change = may_change
    for _, options in pairs(sizes) do
      for _, name in ipairs { 'seed', 'restart', 'run_folder', 'quick', 'smoke' } do options[name] = nil end
    end
    known[script] = sizes
  end
  return known[script]
end
