-- The pages of the documentation as help reads them: their sections, and one section as text.
local library = require 'pushdown.prompt.library'
local pd = require 'pushdown'
local wrapped = require 'pushdown.text.wrapped'

local M = {}

-- plain(text) -> the words of a text in lower case with single blanks between them.
function M.plain(text)
  return (text:lower():gsub('[^%w\128-\255]+', ' '):gsub('–', ' '):gsub('^ ', ''):gsub(' $', ''))
end

-- The sections of a page: a list of {heading =, level =, lines = {...}}; one with the whole text if it has no headings.
local function sections_of(path)
  local sections, in_code, current = {}, false, nil
  for _, line in ipairs(library.lines_of(path) or {}) do
    if line:find '^```' then in_code = not in_code end
    local marks, heading = line:match '^(#+) (.*)$'
    if heading and not in_code then
      current = { heading = heading, level = #marks, lines = {} }
      sections[#sections + 1] = current
    elseif current and (in_code or not line:find '^<!%-%-.*%-%->$') then  -- comments are for tools
      current.lines[#current.lines + 1] = line
    end
  end
  return sections
end

-- The text of Markdown without links, emphasis and code marks.
local function shown(text)
  return (text:gsub('!?%[([^%]]*)%]%([^)]*%)', '%1'):gsub('%*%*', ''):gsub('<[^>]+>', ''))
end

-- The paragraphs, list items and rows of tables of lines; code is left out.
local function blocks_of(lines)
  local blocks, last, in_code = {}, nil, false
  for _, line in ipairs(lines) do
    local fence = line:find '^```' ~= nil
    if fence then in_code = not in_code end
    if line:find '^|[%s:|-]*$' then
      blocks[#blocks], last = nil, nil  -- the header of a table
    elseif fence or in_code or not line:find '%S' then
      last = nil
    elseif last and not line:find '^[|<]' and not line:find '^%s*[-*] ' and not line:find '^%d+%. ' then
      blocks[last] = blocks[last] .. ' ' .. line:match '%S.*'
    else
      blocks[#blocks + 1] = line
      last = not line:find '^|' and #blocks or nil
    end
  end
  return blocks
end

-- Splits a paragraph into sentences; a row of a table is one.
local function add_sentences(sentences, block)
  local row = block:match '^| (.*) |$'
  if row then
    sentences[#sentences + 1] = shown(row)
    return
  end
  local rest = shown(block):gsub('^%s*[-*] ', '')
  local first, before = #sentences, ''
  for sentence in (rest .. ' '):gmatch '(.-[.!?]%)?)%s+' do
    before = before .. sentence
    if #before < 30 then
      before = before .. ' '  -- the heading of a paragraph
    else
      sentences[#sentences + 1], before = before, ''
    end
  end
  if #sentences == first then sentences[#sentences + 1] = rest end
end

local function add_section(entries, path, section, weight)
  local sentences = {}
  for _, block in ipairs(blocks_of(section.lines)) do add_sentences(sentences, block) end
  for _, line in ipairs(#sentences == 0 and section.lines or {}) do  -- only code
    if line:find '%S' and not line:find '^```' then sentences[#sentences + 1] = line end
  end
  entries[#entries + 1] = { title = ('%s, "%s"'):format(path, section.heading), name = section.heading,
    body = shown(table.concat(section.lines, ' ')), sentences = sentences, weight = weight }
end

local function add_glossary(entries, path)
  for _, line in ipairs(library.lines_of(path) or {}) do
    local term, meaning = line:match '^| ([^-].-) | (.*) |$'
    if term then
      entries[#entries + 1] = { title = term, name = term, body = shown(meaning), text = shown(meaning), weight = 1.1 }
    end
  end
end

-- CITATION.cff: what it is for, and the titles of the papers.
local function add_citation(entries)
  local lines = library.lines_of(pd.root .. '/CITATION.cff')
  if not lines then return end
  entries[#entries + 1] = { title = 'CITATION.cff', name = 'citation cite bibtex', body = table.concat(lines, ' '),
    text = 'How to cite Pushdown and the papers whose mechanisms you use.', weight = 1 }
end

-- Pages that answer questions count more, and those for developers less.
local weights = { ['docs/faq.md'] = 1.6, ['docs/cookbook.md'] = 0.9, ['README.md'] = 0.9,
  ['docs/architecture.md'] = 0.5, ['docs/extending.md'] = 0.6, ['docs/README.md'] = 0.6 }

-- add(entries): adds the sections of all pages, the terms of the glossary, and the citation; see
-- pushdown.prompt.search.
function M.add(entries)
  local folder = pd.root .. '/docs'
  local paths = { 'README.md' }
  for _, path in ipairs(pd.file.kind(folder) and pd.files.find(folder, '%.md$') or {}) do
    local page = path:find '^results/' == nil and path:find '^adr/' == nil and path ~= 'api.md'
    if page then paths[#paths + 1] = 'docs/' .. path end
  end
  for _, path in ipairs(paths) do
    if path == 'docs/glossary.md' then
      add_glossary(entries, pd.root .. '/' .. path)
    else
      local weight = weights[path] or path:find '^docs/development/' and 0.5 or 1
      for _, section in ipairs(sections_of(pd.root .. '/' .. path)) do add_section(entries, path, section, weight) end
    end
  end
  add_citation(entries)
end

-- The path of a link on a page, from the root on: '../faq.md' on 'docs/reference/stacks.md' is 'docs/faq.md'.
local function target_of(page, link)
  if link:find '^%a+:' or link:find '^#' then return link end
  local path = (page:match '^(.*/)' or '') .. link
  local count
  repeat path, count = path:gsub('[^/]+/%.%./', '', 1) until count == 0
  return path
end

-- The lines of a page for a terminal: paragraphs are wrapped at the width, and links show where they lead.
local function rendered(page, lines, width)
  local out, paragraph, in_code = {}, nil, false
  local function finish()
    if not paragraph then return end
    local text = paragraph:gsub('!%[([^%]]*)%]%([^)]*%)', '%1'):gsub('%[([^%]]*)%]%(([^)]*)%)', function(name, link)
      return ('%s (%s)'):format(name, target_of(page, link))
    end)
    local item = text:match '^%s*[-*] ' or text:match '^%d+%. ' or ''
    out[#out + 1] = wrapped(text, width, text:match '^ *', (' '):rep(#item))
    paragraph = nil
  end
  for _, line in ipairs(lines) do
    local fence = line:find '^```' ~= nil
    local code = in_code or not paragraph and line:find '^    '
    if fence or code or not line:find '%S' or line:find '^[|#<]' then
      finish()
      out[#out + 1] = line
      if fence then in_code = not in_code end
    elseif not paragraph or line:find '^%s*[-*] ' or line:find '^%d+%. ' then
      finish()
      paragraph = line
    else
      paragraph = paragraph .. ' ' .. line:match '%S.*'
    end
  end
  finish()
  return table.concat(out, '\n')
end

-- page(topic, width) -> the text of a page, 'docs/faq.md', or of its section with a heading, 'docs/faq.md, "How do I
-- cite Pushdown?"', as search shows it; nil if there is none.
function M.page(topic, width)
  local path, rest = topic:match '^([%w_./-]+%.%a+)[,#%s]*(.*)$'
  if not path or path:find '%.%.' then return nil end
  local full = pd.root .. '/' .. path
  if not (path:find '%.md$' or path == 'CITATION.cff') or pd.file.kind(full) ~= 'file' then return nil end
  if path == 'CITATION.cff' then return pd.files.read(full) end
  if rest == '' then return rendered(path, library.lines_of(full), width) end
  local wanted, out, level = M.plain(rest), nil, nil
  for _, section in ipairs(sections_of(full)) do
    if out and section.level <= level then break end
    if not out and M.plain(section.heading) == wanted then out, level = {}, section.level end
    if out then
      out[#out + 1] = ('#'):rep(section.level) .. ' ' .. section.heading
      for _, line in ipairs(section.lines) do out[#out + 1] = line end
    end
  end
  return out and rendered(path, out, width) or nil
end

return M
