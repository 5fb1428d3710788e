-- checked(functions) -> wrappers of the functions of pushdown.plot. They refuse unknown options and wrong values before
-- they draw, and remember the drawn picture for the prompt.
local options_of = require 'pushdown.plot.options'
local originals = require 'pushdown.plot.originals'
local pd = require 'pushdown'
local picture = require 'pushdown.plot.picture'

-- The function that draws the same picture as text.
local as_text = { lines = 'text', curves = 'text', bars = 'bars_text', heat_map = 'heat_text',
  strengths = 'strengths_text', word_strengths = 'word_strengths_text', histograms = 'histograms_text',
  strength_distributions = 'strength_distributions_text', by_length = 'by_length_text' }

local function shown(value)
  return type(value) == 'string' and ("'%s'"):format(value) or type(value) == 'number' and ('%g'):format(value)
    or type(value)
end

local function is_finite(value) return type(value) == 'number' and value - value == 0 end
local function is_whole(value) return is_finite(value) and value == math.floor(value) end
local function is_text(value) return type(value) == 'string' or is_finite(value) end
local function is_table(value) return type(value) == 'table' end

-- Whether `fits` holds for all elements of a list.
local function is_list_of(value, fits)
  if not is_table(value) then return false end
  for place, one in pairs(value) do
    if type(place) ~= 'number' or not fits(one) then return false end
  end
  return true
end

local function is_reference(value)
  return is_finite(value) or is_table(value) and is_finite(value.value) and (value.name == nil or is_text(value.name))
end

local a_reference = 'a number or {value = a number, name = a text}'

-- The types of options: what is expected, and the test of a value.
local expected = {
  text = { 'a text', is_text },
  number = { 'a number', is_finite },
  size = { 'a number above 0', function(value) return is_finite(value) and value > 0 end },
  whole = { 'a whole number of at least 0', function(value) return is_whole(value) and value >= 0 end },
  count = { 'a whole number of at least 1', function(value) return is_whole(value) and value >= 1 end },
  cells = { 'a whole number from 1 to 10000', function(value)
    return is_whole(value) and value >= 1 and value <= 10000
  end },
  range = { '{lowest, highest} with 0 <= lowest <= highest', function(value)
    return is_list_of(value, is_whole) and #value == 2 and value[1] >= 0 and value[1] <= value[2]
  end },
  boolean = { 'true or false', function(value) return type(value) == 'boolean' end },
  list = { 'a list', is_table },
  texts = { 'a list of texts', function(value) return is_list_of(value, is_text) end },
  rows = { 'a list of tables', function(value) return is_list_of(value, is_table) end },
  row = { '{name = a text, texts = a list of texts}', function(value)
    return is_table(value) and (value.name == nil or is_text(value.name)) and is_list_of(value.texts, is_text)
  end },
  reference = { a_reference, is_reference },
  references = { a_reference .. ', or a list of those', function(value)
    return is_reference(value) or is_list_of(value, is_reference)
  end },
  format = { "a format of one number such as '%.2f'", function(value)
    return type(value) == 'string' and (pcall(string.format, value, 1))
  end },
  strengths = { 'the result of model:strengths(...) or pd.stack.strengths{...}', function(value)
    return is_table(value) and type(value.strengths) == 'userdata' and pd.doc_name(value.strengths) == 'Tensor'
  end },
  object = { 'a table or an object', function(value) return is_table(value) or type(value) == 'userdata' end },
  any = { 'a value', function() return true end },
}

local check_options

-- An error message about an option that takes objects of classes and perhaps texts, or nil.
local function wrong_class(value, form, name)
  local classes = is_table(form.class) and form.class or { form.class }
  if form.text and type(value) == 'string' then return nil end
  local class = type(value) == 'userdata' and pd.doc_name(value) or shown(value)
  for _, permitted in ipairs(classes) do
    if class == permitted then return nil end
  end
  return ('%s must be of the class %s%s, got %s'):format(name, table.concat(classes, ' or '),
    form.text and ' or a name' or '', class)
end

-- An error message about the value of an option, or nil.
local function wrong(value, form, name)
  if type(form) == 'string' and expected[form] then
    local what, fits = unpack(expected[form])
    return not fits(value) and ('%s must be %s, got %s'):format(name, what, shown(value)) or nil
  elseif form == 'numbers' then
    if not is_table(value) then return ('%s must be a list of numbers, got %s'):format(name, shown(value)) end
    for place, one in pairs(value) do
      if type(one) ~= 'number' or type(place) ~= 'number' then
        return ('%s must be a list of numbers, got %s at %s'):format(name, shown(one), shown(place))
      end
    end
  elseif form.class then
    return wrong_class(value, form, name)
  elseif form.each then
    if not is_table(value) then return ('%s must be a list, got %s'):format(name, shown(value)) end
    for place, one in pairs(value) do
      if type(place) ~= 'number' then return ('%s must be a list, got the key %s in it'):format(name, shown(place)) end
      if not is_table(one) then
        return ('%s[%d] must be a table of options, got %s'):format(name, place, shown(one))
      end
      local problem = check_options(one, form.each, ('%s[%d]'):format(name, place))
      if problem then return problem end
    end
  else
    for _, choice in ipairs(form) do
      if value == choice then return nil end
    end
    local near = type(value) == 'string' and pd._text.nearest(value, form)
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
      local near = pd._text.nearest(tostring(key), names)
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
      local ok, drawn = pcall(f, spec)
      -- The message of a check gets the position of the call.
      if not ok then error(drawn, type(drawn) == 'string' and drawn:find '^%[plot' and 2 or 0) end
      local text = functions[as_text[name]]
      if not name:find 'text$' then picture.remember(drawn, text and function() return text(spec) end, spec.path) end
      return drawn
    end
    if options then originals[checked[name]] = f end
  end
  return checked
end
