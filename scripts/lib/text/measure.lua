-- Widths of texts in characters, and widths of columns that fit.
local M = {}

-- The number of characters.
function M.length(text) return select(2, text:gsub('[^\128-\191]', '')) end

-- The length of the longest piece of a text that matches a pattern.
local function longest(text, pattern)
  local most = 0
  for piece in text:gmatch(pattern) do most = math.max(most, M.length(piece)) end
  return most
end

function M.longest_line(text) return longest(text, '[^\n]+') end
function M.longest_word(text) return longest(text, '%S+') end

-- The width of a table whose columns have these widths, with two blanks between them.
function M.total(widths)
  local total = -2
  for _, width in ipairs(widths) do total = total + width + 2 end
  return total
end

-- measure.narrow(widths, least, width): narrows the widest columns until the table has at most `width` columns, or each
-- column its least width. Returns whether it fits.
function M.narrow(widths, least, width)
  for _ = width + 1, M.total(widths) do
    local widest
    for k in ipairs(widths) do
      if widths[k] > least[k] and (not widest or widths[k] > widths[widest]) then widest = k end
    end
    if not widest then return false end
    widths[widest] = widths[widest] - 1
  end
  return true
end

return M
