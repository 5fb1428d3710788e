-- Prepares SVG pictures of runs for a page that is one document: removes everything that could run, load or style
-- something outside the picture, and makes its ids unique.
local M = {}

local function set(text)
  local names = {}
  for name in text:gmatch('%S+') do names[name] = true end
  return names
end

local elements = set [[svg g a path rect circle ellipse line polyline polygon text tspan title desc defs clipPath
  linearGradient radialGradient stop marker pattern use symbol]]

local geometry = set [[x y x1 y1 x2 y2 cx cy r rx ry d points width height transform viewBox preserveAspectRatio dx dy
  rotate textLength lengthAdjust pathLength offset gradientUnits gradientTransform spreadMethod fx fy refX refY
  markerWidth markerHeight markerUnits orient patternUnits patternTransform patternContentUnits clipPathUnits]]

local paint = set [[fill fill-opacity fill-rule stroke stroke-width stroke-opacity stroke-dasharray stroke-dashoffset
  stroke-linecap stroke-linejoin stroke-miterlimit opacity color font-family font-size font-weight font-style
  font-variant text-anchor dominant-baseline alignment-baseline baseline-shift letter-spacing word-spacing
  text-decoration clip-path clip-rule marker-start marker-mid marker-end stop-color stop-opacity visibility display
  vector-effect shape-rendering text-rendering paint-order]]

-- An HTML parser reads the content of these as HTML again, so only text is allowed in them.
local text_only = set 'title desc'

-- Escapes markup characters; keeps entities that XML defines.
local function text_of(text)
  text = text:gsub('[%z\1-\8\11\12\14-\31]', '')
  text = text:gsub('&(#?%w*;?)', function(name)
    local known = name:match('^#%d+;$') or name:match('^#x%x+;$')
      or ({ ['amp;'] = true, ['lt;'] = true, ['gt;'] = true, ['quot;'] = true, ['apos;'] = true })[name]
    return (known and '&' or '&amp;') .. name
  end)
  return (text:gsub('<', '&lt;'):gsub('>', '&gt;'))
end

local named = { amp = '&', lt = '<', gt = '>', quot = '"', apos = "'" }

-- The decoded value of an attribute, or nil if it has entities other than the five of XML, so that nothing can hide
-- from the checks below.
local function value_of(text)
  local odd = false
  text = text:gsub('&([^;&]*;?)', function(name)
    local character = named[name:match('^(%a+);$') or '']
    odd = odd or not character
    return character
  end)
  return not odd and not text:find('%c') and text or nil
end

local function safe_value(value, prefix)
  if value:lower():find('url', 1, true) or value:find('\\', 1, true) then
    local id = value:match("^%s*url%(%s*[\"']?#([%w_.:-]+)[\"']?%s*%)%s*$")
    return id and 'url(#' .. prefix .. id .. ')' or nil
  end
  if value:find('[<>]') or value:lower():find('expression', 1, true) then return nil end
  return value
end

-- Calls add(name, value) for each declaration in a style. Every permitted property also exists as an attribute, and a
-- page without style attributes needs no permission for them.
local function visit_style(style, prefix, add)
  for part in style:gmatch('[^;]+') do
    local name, first = part:match('^%s*([%a-]+)%s*:%s*()')
    local last = name and #part
    while last and last >= first and part:find('^%s', last) do last = last - 1 end
    local value = name and paint[name] and last >= first and safe_value(part:sub(first, last), prefix)
    if value then add(name, value) end
  end
end

-- The permitted attributes: their names in order, and name -> value; nil if the markup is not well formed.
local function attributes_of(text, prefix)
  local names, values, at = {}, {}, 1
  -- If there are several values, the last one of a style counts, else the first one.
  local function add(name, value, of_style)
    if not values[name] then names[#names + 1] = name end
    if of_style or not values[name] then values[name] = value end
  end
  while true do
    at = text:find('%S', at)
    if not at then break end
    local name, quote, stop = text:match('^([%a_:][%w_:.-]*)%s*=%s*(["\'])()', at)
    local close = name and text:find(quote, stop, true)
    if not close then return nil end
    local value = value_of((text:sub(stop, close - 1):gsub('[\t\r\n]', ' ')))
    at = close + 1
    if value and name == 'id' and value:match('^[%w_.:-]+$') then
      value = prefix .. value
    elseif value and (name == 'href' or name == 'xlink:href') and value:match('^#[%w_.:-]+$') then
      name, value = 'href', '#' .. prefix .. value:sub(2)
    elseif value and name == 'style' then
      visit_style(value, prefix, function(property, of_property) add(property, of_property, true) end)
      value = nil
    elseif not value or not geometry[name] and not paint[name] then
      value = nil
    else
      value = safe_value(value, prefix)
    end
    if value then add(name, value, false) end
  end
  return names, values
end

local function attributes_text(names, values)
  local kept = {}
  for _, name in ipairs(names) do
    local value = values[name]
    if value then
      kept[#kept + 1] = (' %s="%s"'):format(name, (value:gsub('&', '&amp;'):gsub('"', '&quot;'):gsub('<', '&lt;')))
    end
  end
  return table.concat(kept)
end

-- The text without its parts from `first` to `last`; nil if one has no end. Takes linear time for any text.
local function without(text, first, last)
  local kept, at = {}, 1
  while true do
    local start = text:find(first, at, true)
    if not start then break end
    local _, stop = text:find(last, start + #first, true)
    if not stop then return nil end
    kept[#kept + 1] = text:sub(at, start - 1)
    at = stop + 1
  end
  kept[#kept + 1] = text:sub(at)
  return table.concat(kept)
end

-- A length as a number, or nil if it is not a number.
local function number_of(text)
  local number = tonumber((text or ''):match '^%s*([%d.]+)[pxt]*%s*$')
  return number and number > 0 and number < math.huge and number or nil
end

-- The attributes of the root as text, and its width; nil if it has no size. The root gets a viewBox instead of width
-- and height, so that it fills the place that the page gives it.
local function root_of(names, values)
  local wide, high = number_of(values.width), number_of(values.height)
  local box = '^%s*%-?[%d.]+[%s,]+%-?[%d.]+[%s,]+([%d.]+)[%s,]+([%d.]+)%s*$'
  local box_width, box_height = (values.viewBox or ''):match(box)
  box_width, box_height = number_of(box_width), number_of(box_height)
  if not box_width or not box_height then
    if not wide or not high then return nil end
    if not values.viewBox then names[#names + 1] = 'viewBox' end
    values.viewBox = ('0 0 %g %g'):format(wide, high)
  end
  values.width, values.height = nil, nil
  return ' xmlns="http://www.w3.org/2000/svg" role="img"' .. attributes_text(names, values), wide or box_width
end

-- pictures.cleaned(svg, prefix) -> SVG for an HTML page, title, width; or nil and the problem. Keeps only the elements
-- and attributes listed above and references within the picture. All ids begin with `prefix`.
function M.cleaned(svg, prefix)
  svg = without(svg:gsub('^\239\187\191', ''), '<?', '?>')
  svg = svg and without(svg, '<!--', '-->')
  if not svg then return nil, 'it is not well formed' end
  if svg:find('<!ENTITY', 1, true) then return nil, 'it declares entities' end
  local doctype = svg:find('<!DOCTYPE', 1, true)
  local after = doctype and svg:find('>', doctype, true)
  if after then
    if svg:sub(doctype, after):find('[', 1, true) then return nil, 'it declares entities' end
    svg = svg:sub(1, doctype - 1) .. svg:sub(after + 1)
  end
  if svg:find('<!', 1, true) or svg:find('<?', 1, true) then return nil, 'it has sections that are not elements' end
  local out, open, skipped, at = {}, {}, nil, 1
  local title, in_title, width, finished = {}, false, nil, false
  while true do
    local start = svg:find('<', at, true)
    local stop = start and svg:find('>', start, true)
    local closing, name, rest
    if start then
      local inner = stop and svg:sub(start + 1, stop - 1)
      if not inner or inner:find('<', 1, true) then return nil, 'it is not well formed' end
      closing, name, rest = inner:match('^(/?)([%a_][%w_:.-]*)(.*)$')
      if not name then return nil, 'it is not well formed' end
    end
    local between = svg:sub(at, (start or #svg + 1) - 1)
    if not skipped and #open > 0 then
      out[#out + 1] = text_of(between)
      if in_title then title[#title + 1] = between end
    elseif not skipped and between:find('%S') then
      return nil, 'it has text outside of its elements'
    end
    if not start then break end
    at = stop + 1
    name = name:gsub('^svg:', '')
    local alone = rest:match('/%s*$') ~= nil
    rest = rest:gsub('/%s*$', '')
    if closing == '/' then
      if open[#open] ~= name then return nil, 'it is not well formed' end
      open[#open] = nil
      if skipped and #open < skipped then
        skipped = nil
      elseif not skipped then
        out[#out + 1] = '</' .. (name == 'a' and 'g' or name) .. '>'
      end
      if name == 'title' then in_title = false end
      finished = #open == 0
    else
      if finished or #open == 0 and name ~= 'svg' then return nil, 'its root is not one svg' end
      local root = #open == 0
      if not skipped and (not elements[name] or text_only[open[#open]]) then
        if not alone then skipped = #open + 1 end
      elseif not skipped then
        local names, values = attributes_of(rest, prefix)
        if not names then return nil, 'it is not well formed' end
        local attributes
        if root then
          attributes, width = root_of(names, values)
          if not attributes then return nil, 'it has no size' end
        else
          attributes = attributes_text(names, values)
        end
        if name == 'title' and #open == 1 and #title == 0 then in_title = not alone end
        out[#out + 1] = '<' .. (name == 'a' and 'g' or name) .. attributes .. (alone and '/>' or '>')
      end
      if not alone then open[#open + 1] = name end
      if alone and root then finished = true end
    end
  end
  if #open > 0 or not finished then return nil, 'it is not whole' end
  local text = table.concat(title):gsub('&lt;', '<'):gsub('&gt;', '>'):gsub('&quot;', '"'):gsub('&#39;', "'")
    :gsub('&amp;', '&')
  return table.concat(out), text ~= '' and text or nil, width
end

return M
