-- Makes docs/tutorial from scripts/tutorial: comments that begin a line become prose, the rest
-- stays code.
--
--   pushdown scripts/tools/make_tutorial.lua [--check]
local pd = require 'pushdown'
local files = require 'pushdown.files'
local generated = dofile(pd.root .. '/scripts/tools/generated.lua')

local folder = pd.root .. '/scripts/tutorial'

-- The chapter as Markdown and its title.
local function chapter(name, source)
  local out, code = {}, {}
  local function flush()
    while code[1] and code[1]:match('^%s*$') do table.remove(code, 1) end
    while code[1] and code[#code]:match('^%s*$') do table.remove(code) end
    if #code > 0 then out[#out + 1] = '\n```lua\n' .. table.concat(code, '\n') .. '\n```\n' end
    code = {}
  end
  for line in source:gmatch('(.-)\n') do
    local text = line:match('^%-%- ?(.*)$')
    if text then
      flush()
      out[#out + 1] = text
    else
      -- A blank line between two comments parts their paragraphs.
      if #code == 0 and line == '' then out[#out + 1] = '' end
      code[#code + 1] = line
    end
  end
  flush()
  local title = source:match('^%-%- # ([^\n]+)')
  if not title then error(('%s must begin with "-- # Title"'):format(name), 0) end
  local page = table.concat(out, '\n'):gsub('\n\n\n+', '\n\n')
  return ('<!-- Made from scripts/tutorial/%s; `make docs` makes it again. -->\n%s\n'):format(
    name, (page:gsub('%s+$', ''))), title
end

local pages = {}
local index = {
  '<!-- Made by scripts/tools/make_tutorial.lua; `make docs` makes it again. -->', '# Tutorial\n',
  'Each chapter is a script that can be run: `build/release/pushdown scripts/tutorial/NAME.lua`.\n',
}
for _, name in ipairs(files.find(folder, '^[%w_]+%.lua$')) do
  local base = name:gsub('%.lua$', '')
  local page, title = chapter(name, files.read(folder .. '/' .. name))
  pages[pd.root .. '/docs/tutorial/' .. base .. '.md'] = page
  index[#index + 1] = ('- [%s](%s.md)'):format(title, base)
end
pages[pd.root .. '/docs/tutorial/README.md'] = table.concat(index, '\n') .. '\n'
generated(pages, 'make docs')
