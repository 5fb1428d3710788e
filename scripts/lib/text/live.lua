-- The live view of a search or a grid, see bindings/session/live.h.
local pd = require 'pushdown'

local M = {}

local plain

local function printed(...)
  pd._live.hide()
  plain(...)
  io.stdout:flush()
end

-- live.during(title, action): calls action() with one view for everything that it trains. print removes the block
-- first, so that its lines stay above it.
function M.during(title, action)
  local outer = print == printed
  if not outer then plain, print = print, printed end  -- luacheck: ignore
  local ok, message = pcall(pd._live.during, title or '', action)
  if not outer and print == printed then print = plain end  -- luacheck: ignore
  if not ok then error(message, 0) end
end

return M
