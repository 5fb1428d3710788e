-- described(text) -> the options listed in a description (the result of pd.stack.describe and similar functions), in
-- order: {name=, form= ('integer', "'none' and 'soft'", 'Dataset', ...), choices= (list of permitted texts), doc=}. The
-- tensors of pd.stack.simulate at the end of a stack's description are not options.
return function(text)
  local options = {}
  text = text:gsub('\npd%.stack%.simulate{.*$', '')
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
