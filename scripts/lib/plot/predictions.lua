-- What a language model predicts, as values that print themselves as bars: the distribution of the next symbol and the
-- surprisals of a string.
local bars_text = require 'pushdown.plot.bars_text'
local pd = require 'pushdown'
local trim = require 'pushdown.text.trim'

local M = {}

local most = 24  -- rows of a distribution

local function drawn(title, names, numbers, greatest)
  local text = bars_text { title = title, categories = names, series = { { y = numbers } }, y_max = greatest,
    format = '%.4f' }
  return trim.right(text)
end

-- predictions.next(names, probabilities, title) -> a table of the probabilities by name.
function M.next(names, probabilities, title)
  local shares = {}
  for i, name in ipairs(names) do shares[name] = probabilities[i] end
  local function text()
    local order, shown, numbers, rest = {}, {}, {}, 0
    for i in ipairs(names) do order[i] = i end
    table.sort(order, function(a, b)
      if probabilities[a] ~= probabilities[b] then return probabilities[a] > probabilities[b] end
      return a < b
    end)
    for place, i in ipairs(order) do
      if place > most then
        rest = rest + probabilities[i]
      else
        shown[place], numbers[place] = names[i], probabilities[i]
      end
    end
    local lines = drawn(title, shown, numbers, 1)
    return #names > most and ('%s\n%d more, %.4f together'):format(lines, #names - most, rest) or lines
  end
  return setmetatable(shares, { __tostring = text, __index = function(_, name)
    local near = pd._text.nearest(tostring(name), names)
    error(("[model.next] the model has no symbol '%s'%s"):format(tostring(name),
      near and (", did you mean '%s'?"):format(near) or ''), 2)
  end })
end

-- predictions.surprisal(names, numbers, title) -> a list of rows {symbol =, surprisal =}, and their sum as `total`.
function M.surprisal(names, numbers, title)
  local rows = { total = 0 }
  for i, name in ipairs(names) do
    rows[i] = { symbol = name, surprisal = numbers[i] }
    rows.total = rows.total + numbers[i]
  end
  return setmetatable(rows, {
    __tostring = function() return ('%s\n%.4f nats in all'):format(drawn(title, names, numbers), rows.total) end,
    -- The options of plot.lines.
    chart = function()
      return { series = { { y = numbers } }, x_names = names, x_label = 'symbol', y_label = title }
    end,
  })
end

return M
