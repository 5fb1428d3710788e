-- brackets(deepest) -> a function that says whether a list of symbols is a string of balanced brackets of two types
-- that are at most this deep.
local closing = { ['('] = ')', ['['] = ']' }

return function(deepest)
  return function(symbols)
    local open = {}
    for _, symbol in ipairs(symbols) do
      if closing[symbol] then
        if #open == deepest then return false end
        table.insert(open, closing[symbol])
      elseif table.remove(open) ~= symbol then
        return false
      end
    end
    return #open == 0
  end
end
