-- Searches for words in all documentation: doc strings, kinds and their options, Lua modules, and the pages of the
-- documentation.
local library = require 'pushdown.prompt.library'
local pd = require 'pushdown'
local tables = require 'pushdown.tables'

-- Ignores case, and treats hyphens, underscores and blanks as equal.
local function plain(text) return (text:lower():gsub('[%s_%-–]+', ' ')) end

local function usage_and_sentence(doc)
  local usage, sentence = doc:match '^(.-)  +(.*)$'
  return usage, sentence or doc
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
  for _, name in ipairs(tables.keys(docs, 'string')) do
    local usage, sentence = usage_and_sentence(docs[name])
    local shown = usage and not usage:match '^%(' and (name:match '^(.*[.])' or '') .. usage or name
    add({ shown, sentence }, name, docs[name])
  end
end

local function search_kinds(kinds, add, has)
  for _, group in ipairs(kinds) do
    for _, name in ipairs(group.texts()) do
      local description = group.call(name)
      local entry = { ("%s '%s'"):format(group.name, name), description:match '^[^\n]*' }
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

-- The paragraphs, list items and rows of tables of a page: a list of {section=, text=, heading=}. A
-- heading begins its section.
local function blocks_of(path)
  local blocks, section, last, in_code = {}, nil, nil, false
  for _, line in ipairs(library.lines_of(path) or {}) do
    if line:find '^```' then in_code = not in_code end
    local heading = not in_code and line:match '^#+ (.*)$'
    if heading then section = heading end
    if in_code or not line:find '%S' or line:find '^```' then
      last = nil
    elseif last and not heading and not line:find '^[|<]' and not line:find '^%s*[-*] ' and not line:find '^%d+%. ' then
      last.text = last.text .. ' ' .. line:match '%S.*'
    elseif section then
      last = { section = section, text = heading or line, heading = heading ~= nil }
      blocks[#blocks + 1] = last
      if heading or line:find '^|' then last = nil end
    end
  end
  return blocks
end

-- The first sentence that `has` accepts, or the text if there is none or it is a row of a table.
local function excerpt(text, has)
  text = text:gsub('!?%[([^%]]*)%]%([^)]*%)', '%1')
  local row = text:match '^| (.*) |$'
  if row then return row end
  local rest = text:gsub('^%s*[-*] ', '')
  for sentence in (rest .. ' '):gmatch '(.-[.!?]%)?)%s+' do
    if has(sentence) then return sentence end
  end
  return rest
end

-- Searches the glossary for lines that define a term, and the other pages for sections, each with the first sentence
-- that matches.
local function search_pages(add, has)
  local folder = pd.root .. '/docs'
  for _, path in ipairs(pd.files.exists(folder) and pd.files.find(folder, '%.md$') or {}) do
    local page = path:find '^results/' == nil and path:find '^adr/' == nil and path ~= 'api.md'
    local taken
    local blocks = page and blocks_of(folder .. '/' .. path) or {}
    for i, block in ipairs(blocks) do
      local term, meaning = block.text:match '^| (.-) | (.*) |$'
      if path == 'glossary.md' then
        if term and has(term) then add({ term, meaning }, term, meaning) end
      elseif taken ~= block.section and has(block.text) then
        taken = block.section
        -- A heading that matches is followed by the first sentence of its section.
        local following = block.heading and blocks[i + 1]
        local shown = following and following.section == taken and excerpt(following.text, function() return true end)
          or excerpt(block.text, has)
        add({ ('docs/%s, "%s"'):format(path, block.section), shown }, block.section, block.text)
      end
    end
  end
end

local M = {}

-- search.find(docs, kinds, topic) -> list of {title, text}. docs: pd.docs(); kinds: the functions that describe
-- something by its name, as in pd.texts().
function M.find(docs, kinds, topic)
  local has, add, found = finder(topic)
  search_docs(docs, add)
  search_kinds(kinds, add, has)
  search_modules(add)
  search_pages(add, has)
  return found()
end

-- search.terms() -> the terms that the glossary defines.
function M.terms()
  local terms = {}
  for _, line in ipairs(library.lines_of(pd.root .. '/docs/glossary.md') or {}) do
    terms[#terms + 1] = line:match '^| ([^-].-) | .* |$'
  end
  return terms
end

return M
