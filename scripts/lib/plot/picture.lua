-- The prompt's view of a picture: a small text plot if there is one, and the location of the SVG.
local trim = require 'pushdown.text.trim'

local M = {}

-- The last pictures drawn, with functions that draw them as text. A prompt shows a picture right after it was drawn.
local most, drawn = 8, {}

-- remember(svg, text, path): `text` is a function that draws the same picture as text, or nil; `path`: its file.
function M.remember(svg, text, path)
  table.insert(drawn, 1, { svg = svg, text = text, path = path })
  drawn[most + 1] = nil
end

local function size_of(svg)
  local tag = svg:match '<svg[^>]*>'
  local width, height = tag:match 'width="([%d.]+)"', tag:match 'height="([%d.]+)"'
  return width and height and ('%s x %s pixels'):format(width, height) or 'SVG'
end

-- shown(svg) -> the text for the prompt.
function M.shown(svg)
  local known = {}
  for _, one in ipairs(drawn) do
    if one.svg == svg then known = one break end
  end
  local ok, text = pcall(known.text or error)
  local where = known.path and ('saved as %s'):format(known.path)
    or "not saved; to save it, pass path = 'NAME.svg' or call pd.files.write('NAME.svg', _)"
  return ('%s(a picture of %s, %s)'):format(ok and trim.right(text) .. '\n' or '', size_of(svg), where)
end

return M
