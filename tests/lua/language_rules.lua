-- The languages of pd.languages by other means: rules on a string without blanks, in ordinary numbers and patterns.
-- Each rule of a language of FLaRe was compared with the labels of the published strings (rycolab/flare, 13,000 to
-- 18,010 of each language; those with binary numbers up to 60 symbols) and gives all of them.
local function count(text, symbol) return select(2, text:gsub(symbol, '')) end

-- The lowest digit is the first one.
local function number(digits)
  local sum = 0
  for i = #digits, 1, -1 do sum = 2 * sum + tonumber(digits:sub(i, i)) end
  return sum
end

local function with_mark(image)
  return function(text)
    local first, second = text:match '^([^#]*)#([^#]*)$'
    return first ~= nil and second == image(first)
  end
end

local function with_sign(sign, compute)
  return function(text)
    local x, y, z = text:match('^([01]+)' .. sign .. '([01]+)=([01]+)$')
    return x ~= nil and compute(number(x), number(y)) == number(z)
  end
end

-- Whether a text is empty after these pairs of brackets have been removed as long as there are any.
local function cancels(text, ...)
  local before
  repeat
    before = text
    for _, pair in ipairs { ... } do text = text:gsub(pair, '') end
  until text == before
  return text == ''
end

return {
  even_pairs = function(text) return text:sub(1, 1) == text:sub(-1) end,
  repeat_01 = function(text) return text:gsub('01', '') == '' end,
  parity = function(text) return count(text, '1') % 2 == 1 end,
  cycle_navigation = function(text)
    local moves, place = text:match '^(%a*)(%d)$'
    return moves ~= nil and (count(moves, 'right') - count(moves, 'left')) % 5 == tonumber(place)
  end,
  -- Lua computes one operation after the other from the left: none has precedence.
  modular_arithmetic = function(text)
    local formula, value = text:match '^(%d[-+*%d]*)=(%d)$'
    local left = 1
    while formula and left == 1 do
      formula, left = formula:gsub('^%d[-+*]%d', function(one) return loadstring('return (' .. one .. ') % 5')() end)
    end
    return formula ~= nil and formula == value
  end,
  dyck_2_3 = function(text)
    local depth, deepest = 0, 0
    for bracket in text:gmatch '.' do
      depth = depth + (bracket:find '[(%[]' and 1 or -1)
      deepest = math.max(deepest, depth)
    end
    return cancels(text, '%(%)', '%[%]') and deepest <= 3
  end,
  first = function(text) return text:sub(1, 1) == '1' end,
  majority = function(text) return count(text, '1') > count(text, '0') end,
  marked_reversal = with_mark(string.reverse),
  unmarked_reversal = function(text) return #text % 2 == 0 and text == text:reverse() end,
  stack_manipulation = function(text)
    local stack, actions, left = text:match '^([01]*)([^#]-)#([01]*)$'
    if not stack or actions:gsub('PUSH[01]', ''):gsub('POP', '') ~= '' then return false end
    for action in actions:gsub('PUSH', ''):gsub('POP', '-'):gmatch '.' do
      if action == '-' and stack == '' then return false end
      stack = action == '-' and stack:sub(1, -2) or stack .. action
    end
    return left == stack:reverse()
  end,
  marked_copy = with_mark(function(first) return first end),
  odds_first = with_mark(function(first) return (first:gsub('(.).?', '%1')) .. (first:gsub('.(.?)', '%1')) end),
  bucket_sort = with_mark(function(first)
    local symbols = {}
    for symbol in first:gmatch '.' do symbols[#symbols + 1] = symbol end
    table.sort(symbols)
    return table.concat(symbols)
  end),
  missing_duplicate_string = function(text)
    local whole, missing = text:gsub('_', '1')
    return missing == 1 and #text % 2 == 0 and whole:sub(1, #text / 2) == whole:sub(#text / 2 + 1)
  end,
  binary_addition = with_sign('%+', function(x, y) return x + y end),
  binary_multiplication = with_sign('×', function(x, y) return x * y end),
  compute_sqrt = function(text)
    local x, z = text:match '^([01]+)=([01]+)$'
    return x ~= nil and math.floor(math.sqrt(number(x))) == number(z)
  end,

  dyck_2 = function(text) return cancels(text, '%(%)', '%[%]') end,
  -- Every innermost reversal is a mark, or a mark between two equal symbols.
  reversals = function(text)
    local before
    repeat
      before = text
      text = text:gsub('0#0', '#'):gsub('1#1', '#')
    until text == before
    return text:find '^#*$' ~= nil
  end,
  -- Lua computes the value of a formula, too.
  formulas = function(text)
    local formula, value = text:match '^([^=]+)=([01])$'
    local rest, before = formula or ''
    repeat
      before = rest
      rest = rest:gsub('%([01]and[01]%)', '1'):gsub('%([01]or[01]%)', '1')
    until rest == before
    if not rest:find '^[01]$' then return false end
    local names = { ['0'] = ' false ', ['1'] = ' true ' }
    return (assert(loadstring('return ' .. formula:gsub('%d', names)))() and '1' or '0') == value
  end,
  shuffle_dyck = function(text)
    return text ~= '' and cancels(text:gsub('[^()]', ''), '%(%)') and cancels(text:gsub('[^%[%]]', ''), '%[%]')
      and cancels(text:gsub('[^{}]', ''), '{}')
  end,
}
