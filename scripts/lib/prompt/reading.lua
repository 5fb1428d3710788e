-- Reads an unfinished Lua text for completion: which calls and tables are open at its end, which key is being
-- given a value, and whether a string is open. The text need not be correct.
local keywords = {}
for word in ('and break do else elseif end false for function if in local nil not or repeat return then true '
  .. 'until while goto'):gmatch('%S+') do
  keywords[word] = true
end

-- The end of the string that begins at `at`, and its content; nothing if the string is open.
local function closed_string(text, at)
  local level = text:match('^%[(=*)%[', at)
  if level then
    local first = at + #level + 2
    local last, stop = text:find(']' .. level .. ']', first, true)
    return stop, last and text:sub(first, last - 1), first
  end
  local quote, i = text:sub(at, at), at + 1
  while i <= #text do
    local c = text:sub(i, i)
    if c == quote or c == '\n' then return i, text:sub(at + 1, i - 1), at + 1 end
    i = i + (c == '\\' and 2 or 1)
  end
  return nil, nil, at + 1
end

-- reading(text) -> nil inside a comment, else
--   frame    the innermost open bracket: {open = '(', '{', '[' or '', callee = the name in front of it or nil, parent =
--            the frame around it, parent_key = the key it is the value of there, key = the key whose value comes now,
--            keys = {name = true or its string}, strings = {by number of the argument}, argument = its number now}
--   word     the name that the text ends in, with dots and colons: 'pd.stack.si'; or ''
--   fresh    the word can be a key of a table
--   quoted   start of an open string's content; `called` is its callee, if it is an argument without brackets
return function(text)
  local frame = { open = '', keys = {}, strings = {}, argument = 1 }
  local at, name, word, last = 1, nil, '', ''
  while at <= #text do
    local c = text:sub(at, at)
    local stop
    word = ''
    if c:find '%s' then
      stop = at
    elseif text:find('^%-%-', at) then
      if text:find('^%-%-%[=*%[', at) then stop = closed_string(text, at + 2) else stop = text:find('\n', at, true) end
      if not stop then return nil end
    elseif c:find '["\']' or text:find('^%[=*%[', at) then
      local value, first
      stop, value, first = closed_string(text, at)
      if not stop then return { frame = frame, word = '', fresh = false, quoted = first, called = name } end
      if frame.open == '{' and frame.key then frame.keys[frame.key] = value end
      frame.strings[frame.argument] = value
      name, last = nil, 's'
    elseif c:find '[%a_\128-\255]' then
      local found = text:match('^[%w_\128-\255.:]+', at)
      stop = at + #found - 1
      if keywords[found] then name = nil else name = found end
      word, last = found, last == '{' and '{word' or last == ',' and ',word' or 'w'
    elseif c:find '%d' then
      stop = at + #text:match('^[%w.]+', at) - 1
      name, last = nil, 'n'
    else
      stop = at
      if c:find '[({%[]' then
        frame = { open = c, callee = name, parent = frame, parent_key = frame.key, keys = {}, strings = {},
          argument = 1 }
      elseif c:find '[)}%]]' then
        frame = frame.parent or frame
      elseif c == ',' or c == ';' then
        frame.key, frame.argument = nil, frame.argument + 1
      elseif c == '=' and text:sub(at + 1, at + 1) ~= '=' and last:find 'word$' and frame.open == '{' then
        frame.key = name
        if name then frame.keys[name] = true end
      end
      name, last = nil, c == ';' and ',' or c
    end
    at = stop + 1
  end
  local fresh = frame.open == '{' and not word:find '[.:]' and (last == '{' or last == ',' or last:find 'word$' ~= nil
    and word ~= '')
  return { frame = frame, word = word, fresh = fresh }
end
