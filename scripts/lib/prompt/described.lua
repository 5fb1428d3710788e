-- described(text) -> the options that a description lists (what pd.stack.describe and its like return), in order:
-- {name=, form= ('integer', "'none' and 'soft'", 'Dataset', ...), choices= (the texts it may be, or none), doc=}.
return function(text)
  local options = {}
  for name, rest in text:gmatch '\n  ([%a_][%w_]*) +([^\n]*)' do
    local form, doc = rest:match '^(.-), default .-: (.*)$'
    if not form then form, doc = rest:match '^(.-), required: (.*)$' end
    if not form then form, doc = rest:match '^(.-), optional: (.*)$' end
    local choices = {}
    for choice in (form or ''):gmatch "'([^']*)'" do choices[#choices + 1] = choice end
    options[#options + 1] = { name = name, form = form or '', choices = choices, doc = doc or rest }
  end
  return options
end
