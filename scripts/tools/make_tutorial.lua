-- Makes docs/tutorial from scripts/tutorial. Comments at the beginning of a line become prose. The rest stays code,
-- followed by its output, which the page keeps from the recorded run of the chapter. Each page begins with a link to
-- the index and ends with links to the neighbouring chapters.
--
--   pushdown scripts/tools/make_tutorial.lua [--check]
--   pushdown scripts/tools/make_tutorial.lua --record NAME [--threads N ...]   runs a chapter and writes its output
local pd = require 'pushdown'
local files = require 'pushdown.files'
local trim = require 'pushdown.text.trim'
local generated = dofile(pd.root .. '/scripts/tools/generated.lua')
local recording = dofile(pd.root .. '/scripts/tools/recording.lua')

local folder = pd.root .. '/scripts/tutorial'
local pages_folder = pd.root .. '/docs/tutorial/'
local recorded = arg[1] == '--record' and assert(arg[2], '--record needs the name of a chapter')

-- The output of the blocks of a chapter.
local function output_of(name, source)
  if name == recorded then return recording.record(('%s/%s.lua'):format(folder, name), { unpack(arg, 3) }) end
  return recording.read(files.read(pages_folder .. name .. '.md'), source)
end

-- The chapter as Markdown, without links to other chapters, and its title.
local function chapter(name, source)
  local printed = output_of(name, source)
  local out, code, block = {}, {}, 0
  local function flush()
    while code[1] and code[1]:match('^%s*$') do table.remove(code, 1) end
    while code[1] and code[#code]:match('^%s*$') do table.remove(code) end
    if #code > 0 then
      block = block + 1
      out[#out + 1] = '\n```lua\n' .. table.concat(code, '\n') .. '\n```\n'
      if printed[block] then out[#out + 1] = 'It prints:\n\n```\n' .. printed[block] .. '```\n' end
    end
    code = {}
  end
  for line in source:gmatch('(.-)\n') do
    local text = line:match('^%-%- ?(.*)$')
    if text then
      flush()
      out[#out + 1] = text
    else
      -- A blank line between two comments separates their paragraphs.
      if #code == 0 and line == '' then out[#out + 1] = '' end
      code[#code + 1] = line
    end
  end
  flush()
  local title = source:match('^%-%- # ([^\n]+)')
  if not title then error(('%s must begin with "-- # Title"'):format(name), 0) end
  local page = table.concat(out, '\n'):gsub('\n\n\n+', '\n\n')
  return trim.right(page), title
end

local chapters = {}
for _, script in ipairs(files.find(folder, '^[%w_]+%.lua$')) do
  local name = script:gsub('%.lua$', '')
  local page, title = chapter(name, files.read(folder .. '/' .. script))
  chapters[#chapters + 1] = { script = script, file = name .. '.md', page = page, title = title }
end

local pages = {}
local index = {
  '<!-- Made by scripts/tools/make_tutorial.lua; `make docs` makes it again. -->',
  '[Documentation](../README.md)\n', '# Tutorial\n',
  'Each chapter is a script whose comments explain it. This command runs a chapter:\n',
  '```\nbuild/release/pushdown scripts/tutorial/NAME.lua\n```\n',
  '`--help` lists the options of the chapter, and `--smoke` runs a small version in seconds.\n',
  '| chapter | script |', '|---|---|',
}
for i, one in ipairs(chapters) do
  local before, after = chapters[i - 1], chapters[i + 1]
  local links = {}
  if before then links[#links + 1] = ('Previous: [%s](%s)'):format(before.title, before.file) end
  if after then links[#links + 1] = ('Next: [%s](%s)'):format(after.title, after.file) end
  pages[pages_folder .. one.file] = table.concat({
    ('<!-- Made from scripts/tutorial/%s; `make docs` makes it again. -->'):format(one.script),
    '[Documentation](../README.md) › [Tutorial](README.md)\n', one.page, '\n---\n', table.concat(links, ' · ') .. '\n',
  }, '\n')
  index[#index + 1] = ('| [%d. %s](%s) | `%s` |'):format(i, one.title, one.file, one.script)
end
pages[pages_folder .. 'README.md'] = table.concat(index, '\n') .. '\n'
generated(pages, 'make docs')
