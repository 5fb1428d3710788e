-- checked(functions) -> wrappers of the functions of pushdown.plot. They refuse unknown options and wrong values before
-- they draw, and remember the drawn picture for the prompt.
local nearest = require 'pushdown.nearest'
local options_of = require 'pushdown.plot.options'
local originals = require 'pushdown.originals'
local picture = require 'pushdown.prompt.picture'

-- The function that draws the same picture as text.
local as_text = { lines = 'text', curves = 'text', bars = 'bars_text', heat_map = 'heat_text',
  strengths = 'strengths_text', word_strengths = 'word_strengths_text', histograms = 'histograms_text',
  strength_distributions = 'strength_distributions_text', by_length = 'by_length_text' }

local function shown(value)
  return type(value) == 'string' and ("'%s'"):format(value) or type(value) == 'number' and ('%g'):format(value)
    or type(value)
end

local function is_number(value) return type(value) == 'number' end
local function is_object(value) return type(value) == 'table' or type(value) == 'userdata' end

local expected = {
  text = { 'a text', function(value) return type(value) == 'string' or is_number(value) end },
  number = { 'a number', is_number },
  size = { 'a number above 0', function(value) return is_number(value) and value > 0 and value < math.huge end },
  count = { 'a whole number of at least 1', function(value)
    return is_number(value) and value >= 1 and value == math.floor(value) and value < math.huge
  end },
  boolean = { 'true or false', function(value) return type(value) == 'boolean' end },
  list = { 'a list', function(value) return type(value) == 'table' end },
  object = { 'a table or an object', is_object },
  any = { 'a value', function() return true end },
}

local check_options

-- An error message about the value of an option, or nil.
local function wrong(value, form, name)
  if type(form) == 'string' and expected[form] then
    local what, fits = unpack(expected[form])
    return not fits(value) and ('%s must be %s, got %s'):format(name, what, shown(value)) or nil
  elseif form == 'numbers' then
    if type(value) ~= 'table' then return ('%s must be a list of numbers, got %s'):format(name, shown(value)) end
    for place, one in pairs(value) do
      if not is_number(one) or not is_number(place) then
        return ('%s must be a list of numbers, got %s at %s'):format(name, shown(one), shown(place))
      end
    end
  elseif form.each then
    if type(value) ~= 'table' then return ('%s must be a list, got %s'):format(name, shown(value)) end
    for place, one in pairs(value) do
      if not is_number(place) then return ('%s must be a list, got the key %s in it'):format(name, shown(place)) end
      if type(one) ~= 'table' then
        return ('%s[%d] must be a table of options, got %s'):format(name, place, shown(one))
      end
      local problem = check_options(one, form.each, ('%s[%d]'):format(name, place))
      if problem then return problem end
    end
  else
    for _, choice in ipairs(form) do
      if value == choice then return nil end
    end
    local near = type(value) == 'string' and nearest(value, form)
    return ("%s must be one of '%s', got %s%s"):format(name, table.concat(form, "', '"), shown(value),
      near and (", did you mean '%s'?"):format(near) or '')
  end
end

function check_options(given, options, where)
  local names = {}
  for name in pairs(options) do names[#names + 1] = name end
  table.sort(names)
  local keys = {}
  for key in pairs(given) do keys[#keys + 1] = key end
  table.sort(keys, function(a, b) return tostring(a) < tostring(b) end)
  for _, key in ipairs(keys) do
    if not options[key] then
      local near = nearest(tostring(key), names)
      return ("unknown option '%s'%s%s; the options are %s"):format(tostring(key), where and ' of ' .. where or '',
        near and (", did you mean '%s'?"):format(near) or '', table.concat(names, ', '))
    end
    local problem = wrong(given[key], options[key], (where and where .. '.' or '') .. key)
    if problem then return problem end
  end
end

return function(functions)
  local checked = {}
  for name, f in pairs(functions) do
    local options = options_of[name]
    checked[name] = not options and f or function(spec)
      if type(spec) ~= 'table' then
        error(('[plot.%s] expected a table of options, got %s'):format(name, shown(spec)), 2)
      end
      local problem = check_options(spec, options)
      if problem then error(('[plot.%s] %s'):format(name, problem), 2) end
      local drawn = f(spec)
      local text = functions[as_text[name]]
      if not name:find 'text$' then picture.remember(drawn, text and function() return text(spec) end, spec.path) end
      return drawn
    end
    if options then originals[checked[name]] = f end
  end
  return checked
end
