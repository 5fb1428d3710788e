-- visible(text) -> the text as a terminal may show it: control characters, which could move its cursor or rename its
-- window, become \027 with their number. Tabs and line ends stay. visible.line(text) is for names and values: there,
-- tabs and line ends become numbers, too.
local pd = require 'pushdown'

local M = {}

function M.line(text) return pd._text.visible(text, true) end

local function lines(text) return pd._text.visible(text) end

local raw_write  -- io.write outside of visible.only

-- visible.only(f): calls f, and makes what it writes by print and io.write visible.
function M.only(f)
  local outer, print_before = raw_write, print
  local function write(...)
    local texts = { ... }
    for i, text in ipairs(texts) do texts[i] = lines(tostring(text)) end
    return raw_write(unpack(texts))
  end
  raw_write = io.write
  rawset(io, 'write', write)
  rawset(_G, 'print', function(...)
    local texts = {}
    for i = 1, select('#', ...) do texts[i] = tostring((select(i, ...))) end
    write(table.concat(texts, '\t') .. '\n')
  end)
  local ok, problem = pcall(f)
  rawset(io, 'write', raw_write)
  rawset(_G, 'print', print_before)
  raw_write = outer
  if not ok then error(problem, 0) end
end

-- visible.data(text): writes data for other programs, such as CSV: unchanged to a file or a pipe, visible to a
-- terminal.
function M.data(text) (raw_write or io.write)(pd.process.columns 'stdout' and lines(text) or text) end

return setmetatable(M, { __call = function(_, text) return lines(text) end })
