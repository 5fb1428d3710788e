-- The options of functions that make several kinds of objects, as help shows them: by_kind['pd.train.trainer']() ->
-- list of {title =, lines = {...}}. The options that all kinds share come first, then those of each kind.
local pd = require 'pushdown'

-- The lines of a description after its first line, and the first line.
local function read(text)
  local lines = {}
  for line in text:gmatch '\n  ([^\n]*)' do lines[#lines + 1] = line end
  return lines, text:match '^[^\n]*'
end

-- kinds: list of {title, description}.
local function grouped(kinds)
  local count, parts, common = {}, {}, {}
  for i, kind in ipairs(kinds) do
    parts[i] = { title = kind[1], lines = read(kind[2]) }
    for _, line in ipairs(parts[i].lines) do count[line] = (count[line] or 0) + 1 end
  end
  for _, line in ipairs(parts[1].lines) do
    if count[line] == #kinds then common[#common + 1] = line end
  end
  for i = #parts, 1, -1 do
    local own = {}
    for _, line in ipairs(parts[i].lines) do
      if count[line] < #kinds then own[#own + 1] = line end
    end
    parts[i].lines = own
    if #own == 0 then table.remove(parts, i) end
  end
  table.insert(parts, 1, { title = 'Options:', lines = common })
  return parts
end

local function by_architecture(describe)
  return function()
    local kinds = {}
    for _, name in ipairs(pd.model.architectures()) do
      local ok, text = pcall(describe, name)
      if ok then kinds[#kinds + 1] = { ("Options of architecture = '%s':"):format(name), text } end
    end
    return grouped(kinds)
  end
end

local trainers = {
  { 'language_model', 'a language model, on strings' }, { 'text', 'a language model, on a running text' },
  { 'recognizer', 'a recognizer' }, { 'transducer', 'a transducer' },
}

return {
  ['pd.train.trainer'] = function()
    local kinds = {}
    for i, one in ipairs(trainers) do kinds[i] = { ('Options for %s:'):format(one[2]), pd.train.describe(one[1]) } end
    return grouped(kinds)
  end,
  ['pd.model.language_model'] = by_architecture(pd.model.describe),
  ['pd.model.recognizer'] = by_architecture(pd.model.describe_recognizer),
  ['pd.model.transducer'] = by_architecture(pd.model.describe_transducer),
}
