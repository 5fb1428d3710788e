-- Searches for words in all documentation: doc strings, kinds and their options, Lua modules, and the pages of the
-- documentation.
local library = require 'pushdown.prompt.library'
local pd = require 'pushdown'

-- Ignores case, and treats hyphens, underscores and blanks as equal.
local function plain(text) return (text:lower():gsub('[%s_%-–]+', ' ')) end

local function usage_and_sentence(doc)
  local usage, sentence = doc:match '^(.-)  +(.*)$'
  return usage, sentence or doc
end

local function sorted_keys(t)
  local keys = {}
  for key in pairs(t) do if type(key) == 'string' then keys[#keys + 1] = key end end
  table.sort(keys)
  return keys
end

-- Collects everything that is found, names first: lists of {title, text}.
local function finder(topic)
  local wanted, names, others = plain(topic), {}, {}
  local function has(text) return plain(text):find(wanted, 1, true) ~= nil end
  local function add(entry, name, text)
    if has(name) then names[#names + 1] = entry elseif has(text) then others[#others + 1] = entry end
  end
  return has, add, function()
    for _, entry in ipairs(others) do names[#names + 1] = entry end
    return names
  end
end

local function search_docs(docs, add)
  for _, name in ipairs(sorted_keys(docs)) do
    local usage, sentence = usage_and_sentence(docs[name])
    local shown = usage and not usage:match '^%(' and (name:match '^(.*[.])' or '') .. usage or name
    add({ shown, sentence }, name, docs[name])
  end
end

local function search_kinds(kinds, add, has)
  for _, group in ipairs(kinds) do
    for _, name in ipairs(group[2]()) do
      local description = group[3](name)
      local entry = { group[4]:format(name), description:match '^[^\n]*' }
      if not has(name) then
        for line in description:gmatch '\n  ([^\n]*)' do
          if has(line) then entry[2] = line:gsub('%s+', ' ', 1) break end
        end
      end
      add(entry, name, description)
    end
  end
end

local function search_modules(add)
  for _, path in ipairs(pd.files.find(pd.scripts .. '/lib', '^[^/]*%.lua$')) do
    local module = 'pushdown.' .. path:gsub('%.lua$', '')
    local head = library.head(module) or ''
    add({ ("require '%s'"):format(module), library.first_sentence(head) }, module, head)
  end
end

-- Searches the glossary for lines that define a term, and the other pages for sections, each with the matching line.
local function search_pages(add, has)
  local folder = pd.root .. '/docs'
  for _, path in ipairs(pd.files.exists(folder) and pd.files.find(folder, '%.md$') or {}) do
    local page = path:find '^results/' == nil and path:find '^adr/' == nil and path ~= 'api.md'
    local section, taken, in_code = nil, nil, false
    for _, line in ipairs(page and library.lines_of(folder .. '/' .. path) or {}) do
      if line:find '^```' then in_code = not in_code end
      local heading = not in_code and line:match '^#+ (.*)$'
      if heading then section, taken = heading, nil end
      local term, meaning = line:match '^| (.-) | (.*) |$'
      if path == 'glossary.md' and term and has(term) then
        add({ term, meaning }, term, meaning)
      elseif path ~= 'glossary.md' and not in_code and section and taken ~= section and has(line) then
        taken = section
        local text = line:gsub('^#+ ', ''):gsub('^| (.*) |$', '%1')
        add({ ('docs/%s, "%s"'):format(path, section), text }, section, line)
      end
    end
  end
end

-- search(docs, kinds, topic) -> list of {title, text}. docs: pd.docs(); kinds: the objects that have kinds, see
-- pushdown.prompt.description.
return function(docs, kinds, topic)
  local has, add, found = finder(topic)
  search_docs(docs, add)
  search_kinds(kinds, add, has)
  search_modules(add)
  search_pages(add, has)
  return found()
end
