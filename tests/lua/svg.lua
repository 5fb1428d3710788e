-- For tests of pictures: reads SVG.
local M = {}

-- Throws unless `text` is well-formed XML with one root element and no entities besides the five standard ones.
function M.check(text)
  local open, at, roots = {}, 1, 0
  text = text:gsub('^<%?xml.-%?>', '')
  while true do
    local from, to = text:find('<[^>]*>', at)
    local between = text:sub(at, (from or #text + 1) - 1)
    for entity in between:gmatch('&[^;]*;?') do
      assert(entity:match('^&[lgaq][a-z]+;$') or entity == '&#39;', 'entity ' .. entity)
    end
    assert(#open > 0 or between:match('^%s*$'), 'text outside the root: ' .. between)
    assert(not between:find('>', 1, true), 'stray >')
    if not from then break end
    local tag = text:sub(from, to)
    local closing = tag:match('^</([%w]+)>$')
    local name = tag:match('^<([%w]+)')
    if closing then
      assert(table.remove(open) == closing, 'unbalanced ' .. tag)
    else
      assert(name, 'no name in ' .. tag)
      local rest = tag:sub(#name + 2):gsub('^%s*', ''):gsub('/?>$', '')
      rest = rest:gsub('[%w%-:]+="[^"<]*"%s*', '')
      assert(rest == '', 'attributes of ' .. tag)
      if #open == 0 then roots = roots + 1 end
      if not tag:match('/>$') then open[#open + 1] = name end
    end
    at = to + 1
  end
  assert(#open == 0 and roots == 1, 'one root element, all closed')
  assert(not text:lower():find('nan') and not text:find('inf%W'), 'no number is NaN or infinite')
end

-- Returns the coordinate attribute `key` of every element `name` in the text.
function M.attributes(text, name, key)
  local values = {}
  for tag in text:gmatch('<' .. name .. '[^>]*>') do
    values[#values + 1] = tonumber(tag:match(' ' .. key .. '="([^"]*)"'))
  end
  return values
end

-- Returns the coordinate attribute `key` of the text `label`.
function M.label_place(text, label, key)
  for tag, content in text:gmatch('(<text[^>]*>)([^<]*)</text>') do
    if content == label then return tonumber(tag:match(' ' .. key .. '="([^"]*)"')) end
  end
  error('no label ' .. label)
end

return M
