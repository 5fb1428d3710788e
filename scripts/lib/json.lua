-- JSON text and Lua values (RFC 8259). Lists and tables with string keys; json.null stands for null.
-- Keys are written in alphabetical order unless a table carries its own order (json.ordered), so
-- that equal values give equal text. Numbers keep all their digits.
local M = {}

M.null = setmetatable({}, { __tostring = function() return 'null' end })

local orders = setmetatable({}, { __mode = 'k' })
local lists = setmetatable({}, { __mode = 'k' })

-- Returns the table; json.encode writes its keys in this order, followed by the other keys, sorted.
function M.ordered(value, keys)
  orders[value] = keys
  return value
end

-- Returns the table; json.encode writes it as a list even if it is empty.
function M.list(value)
  lists[value] = true
  return value
end

local escapes = { ['"'] = '\\"', ['\\'] = '\\\\', ['\b'] = '\\b', ['\f'] = '\\f', ['\n'] = '\\n',
  ['\r'] = '\\r', ['\t'] = '\\t' }

local function quoted(text)
  return '"' .. text:gsub('[%z\1-\31"\\\127]', function(character)
    return escapes[character] or ('\\u%04x'):format(character:byte())
  end) .. '"'
end

local function number_text(value)
  if value ~= value or value == math.huge or value == -math.huge then return 'null' end
  if value == math.floor(value) and math.abs(value) <= 2 ^ 53 then return ('%d'):format(value) end
  for digits = 15, 17 do
    local text = ('%.' .. digits .. 'g'):format(value)
    if tonumber(text) == value then return text end
  end
end

local function keys_of(value)
  local keys, known = {}, {}
  for _, key in ipairs(orders[value] or {}) do
    if value[key] ~= nil then
      keys[#keys + 1] = key
      known[key] = true
    end
  end
  local others = {}
  for key in pairs(value) do
    if type(key) ~= 'string' then
      error(('[json.encode] a table key must be text, got %s'):format(tostring(key)), 0)
    end
    if not known[key] then others[#others + 1] = key end
  end
  table.sort(others)
  for _, key in ipairs(others) do keys[#keys + 1] = key end
  return keys
end

local function encode(value, indent, seen)
  local kind = type(value)
  if value == nil or value == M.null then return 'null' end
  if kind == 'string' then return quoted(value) end
  if kind == 'number' then return number_text(value) end
  if kind == 'boolean' then return tostring(value) end
  if kind ~= 'table' then return quoted(tostring(value)) end
  if seen[value] then error('[json.encode] the table contains itself', 0) end
  seen[value] = true
  local parts, text = {}, nil
  local deeper = indent and indent .. '  '
  if #value > 0 or lists[value] then
    local flat = true
    for i = 1, #value do
      flat = flat and type(value[i]) ~= 'table'
      parts[i] = encode(value[i], deeper, seen)
    end
    if flat or not indent then text = '[' .. table.concat(parts, indent and ', ' or ',') .. ']' end
    text = text or '[\n' .. deeper .. table.concat(parts, ',\n' .. deeper) .. '\n' .. indent .. ']'
  else
    for i, key in ipairs(keys_of(value)) do
      parts[i] = quoted(key) .. (indent and ': ' or ':') .. encode(value[key], deeper, seen)
    end
    if not indent or #parts == 0 then text = '{' .. table.concat(parts, ',') .. '}' end
    text = text or '{\n' .. deeper .. table.concat(parts, ',\n' .. deeper) .. '\n' .. indent .. '}'
  end
  seen[value] = nil
  return text
end

-- json.encode(value, pretty) -> text; pretty: indented by two blanks. NaN and infinities become null,
-- and other objects their tostring.
function M.encode(value, pretty) return encode(value, pretty and '' or nil, {}) end

local function utf8_character(code)
  local char, floor = string.char, math.floor
  if code < 0x80 then return char(code) end
  if code < 0x800 then return char(0xC0 + floor(code / 64), 0x80 + code % 64) end
  if code < 0x10000 then
    return char(0xE0 + floor(code / 4096), 0x80 + floor(code / 64) % 64, 0x80 + code % 64)
  end
  return char(0xF0 + floor(code / 262144), 0x80 + floor(code / 4096) % 64,
    0x80 + floor(code / 64) % 64, 0x80 + code % 64)
end

local unescapes = { b = '\b', f = '\f', n = '\n', r = '\r', t = '\t', ['"'] = '"', ['\\'] = '\\',
  ['/'] = '/' }

local deepest = 256  -- as in the core

-- json.decode(text, exact) -> value. Raises "[json.decode] line 3: ..." if the text is not JSON. exact: an integer
-- beyond 2^53, of which a number does not keep all digits, is an error, too.
function M.decode(text, exact)
  local at, depth = 1, 0
  local function fail(expected, got)
    local line = 1 + select(2, text:sub(1, at - 1):gsub('\n', ''))
    got = got or at > #text and 'the end' or "'" .. text:sub(at, at + 9):match('^[^\n]*') .. "'"
    error(('[json.decode] line %d: expected %s, got %s'):format(line, expected, got), 0)
  end
  local function skip() at = text:find('[^ \t\r\n]', at) or #text + 1 end
  local function take(character)
    skip()
    if text:sub(at, at) ~= character then return false end
    at = at + 1
    return true
  end
  local function string_value()
    local parts = {}
    while true do
      local stop = text:find('[%z\1-\31"\\]', at)
      if not stop then
        at = #text + 1
        fail('a closing quote')
      end
      parts[#parts + 1] = text:sub(at, stop - 1)
      at = stop
      local character = text:sub(at, at)
      if character == '"' then
        at = at + 1
        return table.concat(parts)
      elseif character ~= '\\' then
        fail('a closing quote')
      end
      local escape = text:sub(at + 1, at + 1)
      if escape == 'u' then
        local code = tonumber(text:match('^%x%x%x%x', at + 2) or fail('four hexadecimal digits'), 16)
        if code >= 0xDC00 and code <= 0xDFFF then fail('a high surrogate before a low one') end
        at = at + 6
        if code >= 0xD800 and code < 0xDC00 then
          local low = tonumber(text:match('^\\u(%x%x%x%x)', at) or fail('a low surrogate'), 16)
          if low < 0xDC00 or low > 0xDFFF then fail('a low surrogate') end
          code = 0x10000 + (code - 0xD800) * 1024 + (low - 0xDC00)
          at = at + 6
        end
        parts[#parts + 1] = utf8_character(code)
      else
        parts[#parts + 1] = unescapes[escape] or fail('an escape')
        at = at + 2
      end
    end
  end
  local value
  local function inner_value()
    if depth == deepest then fail(('lists and tables nested at most %d deep'):format(deepest)) end
    depth = depth + 1
    local inner = value()
    depth = depth - 1
    return inner
  end
  local function list_value()
    local list = M.list {}
    if take(']') then return list end
    repeat list[#list + 1] = inner_value() until not take(',')
    if not take(']') then fail("',' or ']'") end
    return list
  end
  local function table_value()
    local result, keys = {}, {}
    if take('}') then return result end
    repeat
      if not take('"') then fail('a key') end
      local key = string_value()
      if not take(':') then fail("':'") end
      result[key] = inner_value()
      keys[#keys + 1] = key
    until not take(',')
    if not take('}') then fail("',' or '}'") end
    return M.ordered(result, keys)
  end
  function value()
    if take('{') then return table_value() end
    if take('[') then return list_value() end
    if take('"') then return string_value() end
    for word, meaning in pairs { ['true'] = true, ['false'] = false, null = M.null } do
      if text:sub(at, at + #word - 1) == word then
        at = at + #word
        return meaning
      end
    end
    local digits = text:match('^-?%d+%.?%d*[eE]?[+-]?%d*', at)
    local plain = digits and (digits:match('^-?0[%.eE]') or digits:match('^-?0$') or digits:match('^-?[1-9]'))
    if not plain or digits:match('%.$') or digits:match('%.[eE]') or not tonumber(digits) then
      fail('a value')
    end
    local whole = exact and digits:match '^%-?(%d+)$'
    if whole and tonumber(whole) >= 2 ^ 53 and whole ~= '9007199254740992' then
      fail('an integer from -2^53 to 2^53', digits:sub(1, 40))
    end
    at = at + #digits
    return tonumber(digits)
  end
  local result = value()
  skip()
  if at <= #text then fail('the end') end
  return result
end

return M
