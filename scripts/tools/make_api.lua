-- Makes docs/api.md from the doc strings of the bindings (pd.docs) and from the comments of the
-- modules in scripts/lib, and the table of controllers in docs/reference/models.md.
--
--   pushdown scripts/tools/make_api.lua [--check]
local pd = require 'pushdown'
local files = require 'pushdown.files'
local options = require 'pushdown.prompt.options'
local generated = dofile(pd.root .. '/scripts/tools/generated.lua')

local out = {}
local function write(...) out[#out + 1] = (...):format(select(2, ...)) end

-- "name(args) -> result  One sentence." as a list entry.
local function entry(doc)
  local signature, sentence = doc:match('^(.-)  +(.*)$')
  if not signature then return '- ' .. doc end
  return ('- `%s`<br>%s'):format(signature, (sentence:gsub('%s*\n%s*', ' ')))
end

-- Owner ("pd.stack", "Tensor") -> list of the names of its members.
local function members_of(docs)
  local members = {}
  for _, name in ipairs(pd.tables.keys(docs)) do
    local owner = name:match('^(.*)[.:][^.:]+$')
    if owner then
      members[owner] = members[owner] or {}
      table.insert(members[owner], name)
    elseif not members[name] then
      members[name] = {}
    end
  end
  return members
end

-- The options of a function, below its entry.
local function write_options(name)
  local parts, further = options.parts(name)
  for _, part in ipairs(parts) do
    if part.title ~= 'Options:' then write('  - %s', part.title) end
    for _, option in ipairs(part.options) do
      local indent = part.title == 'Options:' and '  ' or '    '
      write('%s- `%s` (%s): %s', indent, option.name, options.form(option), option.doc)
    end
  end
  if further then write('  - %s', further) end
end

local function write_members(docs, members, owner)
  for _, name in ipairs(members[owner]) do
    -- A submodule has its own section.
    if not (members[name] and docs[name]) then
      write('%s', entry(docs[name]))
      write_options(name)
    end
  end
  write('')
end

local function write_bindings(docs)
  local members = members_of(docs)
  local modules, classes = {}, {}
  for _, owner in ipairs(pd.tables.keys(members)) do
    local is_module = owner == 'pd' or owner:match('^pd%.')
    table.insert(is_module and modules or classes, owner)
  end
  write('## Modules\n')
  for _, owner in ipairs(modules) do
    write('### %s\n', owner)
    local doc = docs[owner]
    if doc then
      write('%s', doc:match('  ') and entry(doc) or doc)
      write_options(owner)
      write('')
    end
    write_members(docs, members, owner)
  end
  write('## Classes\n')
  for _, owner in ipairs(classes) do
    write('### %s\n', owner)
    if docs[owner] then write('%s\n', docs[owner]) end
    write_members(docs, members, owner)
  end
end

-- The comment that ends on the line before `at`, as text.
local function comment_before(lines, at)
  local from = at
  while from > 1 and lines[from - 1]:match('^%-%-') do from = from - 1 end
  local parts = {}
  for i = from, at - 1 do parts[#parts + 1] = (lines[i]:gsub('^%-%-', '')) end
  return parts
end

-- A comment's paragraphs as Markdown: lines indented by more than one blank are code.
local function prose(comment)
  local text, code = {}, false
  for _, line in ipairs(comment) do
    local set_in = line:match('^  ') ~= nil
    if set_in ~= code then text[#text + 1] = set_in and '\n```' or '```\n' end
    code = set_in
    text[#text + 1] = set_in and line:gsub('^   ?', '') or line:gsub('^ ', '')
  end
  if code then text[#text + 1] = '```' end
  return (table.concat(text, '\n'):gsub('\n\n\n+', '\n\n'):gsub('^\n+', ''))
end

local function write_library(root)
  write('## Library modules for scripts\n')
  write('Load them as `pd.NAME` or `require \'pushdown.NAME\'`. The sources are in `scripts/lib`.\n')
  for _, path in ipairs(files.find(root .. '/scripts/lib', '^[%w_]+%.lua$')) do
    local lines = {}
    for line in (files.read(root .. '/scripts/lib/' .. path) .. '\n'):gmatch('(.-)\n') do
      lines[#lines + 1] = line
    end
    local first = 1
    while lines[first] and lines[first]:match('^%-%-') do first = first + 1 end
    local name = path:gsub('%.lua$', '')
    write('### pd.%s\n', name)
    require('pushdown.' .. name)  -- declares the options of its functions
    write('%s\n', prose(comment_before(lines, first)))
    for i, line in ipairs(lines) do
      local field, arguments = line:match('^function M%.([%a][%w_]*)(%b())')
      if not field then field = line:match('^M%.([%a][%w_]*) = ') end
      local comment = field and comment_before(lines, i)
      if comment and #comment > 0 then
        write('#### %s.%s%s\n', name, field, arguments or '')
        write('%s\n', options.with_names(prose(comment)))
        write_options(('pd.%s.%s'):format(name, field))
        write('')
      end
    end
  end
end

write('<!-- Made by scripts/tools/make_api.lua; `make docs` makes it again. -->')
write('[Documentation](README.md)\n')
write('# API reference\n')
write('Every name that `help` knows. In a signature, `name{...}` takes one table of options. The options of a function')
write('are listed below it.\n')
write_bindings(pd.docs())
write_library(pd.root)
local page = table.concat(out, '\n'):gsub('\n\n\n+', '\n\n'):gsub('[ \t]+\n', '\n')

-- The table of controllers, with the parameters of a layer. None of these sizes is a multiple of another one, so that a
-- size gives its letter.
local letters = { [5] = 'H', [7] = 'I', [11] = 'F' }
local function shape(sizes)
  local words = {}
  for i, n in ipairs(sizes) do
    words[i] = letters[n] or n % 5 == 0 and n / 5 .. 'H' or tostring(n)
  end
  return table.concat(words, ' × ')
end
local function controller_row(kind)
  local text, own, parameters = pd.controller.describe(kind), {}, {}
  for name in text:gmatch '\n  (%S+)' do
    if name ~= 'hidden' and name ~= 'layers' then own[#own + 1] = ('`%s`'):format(name) end
  end
  local factors = text:find '\n  factors ' and 11 or nil
  local model = pd.model.language_model { alphabet = { 'a', 'b', 'c', 'd', 'e', 'f', 'g' }, seed = 1,
    controller = { kind = kind, hidden = 5, factors = factors } }
  for name, tensor in pairs(model:parameters()) do
    name = name:match '^controller%.(.*)_l0$'
    if name then parameters[#parameters + 1] = ('`%s` %s'):format(name, shape(tensor:size())) end
  end
  table.sort(parameters)
  return ('| `%s` | %s | %s | %s |'):format(kind, text:match '^[^:]*: ([^\n]*)%.', table.concat(own, ', '),
    table.concat(parameters, ', '))
end
local rows = {}
for _, kind in ipairs(pd.controller.kinds()) do rows[#rows + 1] = controller_row(kind) end
local models = files.read(pd.root .. '/docs/reference/models.md')
local before, after = models:match '^(.-\n| kind |[^\n]* parameters of a layer |\n|%-%-%-[^\n]*\n).-\n(\n.*)$'

generated({ [pd.root .. '/docs/api.md'] = page .. '\n',
  [pd.root .. '/docs/reference/models.md'] = before .. table.concat(rows, '\n') .. '\n' .. after }, 'make docs')
