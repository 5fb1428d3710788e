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

-- ---- Kinds: what functions such as pd.stack.describe describe ----

-- 'a stack' -> 'Stacks', 'a kind of pairs' -> 'Kinds of pairs'
local function heading_of(one)
  local noun, rest = one.of:gsub('^an? ', ''):match '^(.-)( of .*)$'
  noun = noun or one.of:gsub('^an? ', '')
  return noun:sub(1, 1):upper() .. noun:sub(2) .. 's' .. (rest or '')
end

-- The functions that describe kinds, with {heading =, names = set of kinds, option =}.
local described = {}
for _, one in ipairs(pd.texts()) do
  if one.of and one.of ~= 'a grammar' then
    local names = {}
    for _, name in ipairs(one.texts()) do names[name] = true end
    described[#described + 1] = { heading = heading_of(one), names = names, list = one.texts(), call = one.call,
      name = one.name, option = one.option }
  end
end

table.sort(described, function(a, b) return a.heading < b.heading end)

local function link_to(one) return ('[%s](#%s)'):format(one.heading, one.heading:lower():gsub(' ', '-')) end

-- A sentence about the options that depend on the kind, with a link to the kinds of the function.
local function further_options(name, further)
  for _, option in ipairs(pd.options(name)) do
    for _, one in ipairs(option.of and described or {}) do
      if one.names[option.of[1]] then return ('%s; %s lists them.'):format(further:gsub('%.$', ''), link_to(one)) end
    end
  end
  return further
end

-- The kinds whose option this is, as a text to append to its description.
local function of_kinds(option)
  for _, one in ipairs(described) do
    if one.option == option.name and not option.choices and option.type ~= 'integer' then
      return ('; see %s'):format(link_to(one))
    end
  end
  return ''
end

-- The rows of a description: lines '  name  form: meaning', up to the next title; those that `seen` has are left out.
local function rows_of(lines, seen)
  local rows = {}
  for line in lines:gmatch '[^\n]+' do
    local option, text = line:match '^  (%S+)%s+(.*)$'
    if option and not seen[option] then
      local form, meaning = text:match '^(.-): (.*)$'
      local function cell(part) return (part:gsub('|', '\\|')) end
      rows[#rows + 1] = ('| `%s` | %s | %s |'):format(option, cell(form or ''), cell(meaning or text))
      seen[option] = true
    end
  end
  return rows
end

local function write_table(first, rows)
  if #rows > 0 then write('| %s | values | meaning |\n|---|---|---|\n%s\n', first, table.concat(rows, '\n')) end
end

local function write_kinds()
  write('## Kinds\n')
  write('The options of each kind. A kind is chosen by its name, or by a table of its name and its options, such as')
  write("`{ kind = 'superposition', size = 5 }`.\n")
  for _, one in ipairs(described) do
    write('### %s\n', one.heading)
    write('`%s(name)` describes one%s.\n', one.name, one.option and ('; the option `%s` chooses one'):format(one.option)
      or '')
    for _, name in ipairs(one.list) do
      local text, seen = one.call(name), {}
      write('#### %s\n', name)
      local sentence = text:match '^[^\n]*':gsub('^' .. name:gsub('%p', '%%%0') .. ': ', '')
      write('%s%s\n', sentence:sub(1, 1):upper() .. sentence:sub(2), sentence:find '%.$' and '' or '.')
      local own, title, further = text:match '^[^\n]*(.-)\n(%S[^\n]*)\n(.*)$'
      write_table('option', rows_of(own or text:match '^[^\n]*\n?(.*)$', seen))
      local rows = title and rows_of(further, seen) or {}
      if #rows > 0 then write('`%s` %s:\n', title:match '^(.-}) (.*)$') end
      write_table('tensor', rows)
    end
  end
end

-- The options of a function, below its entry.
local function write_options(name)
  local parts, further = options.parts(name)
  for _, part in ipairs(parts) do
    if part.title ~= 'Options:' then write('  - %s', part.title) end
    for _, option in ipairs(part.options) do
      local indent = part.title == 'Options:' and '  ' or '    '
      write('%s- `%s` (%s): %s', indent, option.name, options.form(option), option.doc
        .. of_kinds(option))
    end
  end
  if further then write('  - %s', further_options(name, further)) end
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
  write_kinds()
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
local letters = { [1] = 'R', [5] = 'H', [7] = 'I', [11] = 'F', [13] = 'N', [16] = '3H + K', [22] = '4H + 2K',
  [27] = 'R + 2N' }
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
  local factors, states = text:find '\n  factors ' and 11 or nil, text:find '\n  states ' and 13 or nil
  local model = pd.model.language_model { alphabet = { 'a', 'b', 'c', 'd', 'e', 'f', 'g' }, seed = 1,
    controller = { kind = kind, hidden = 5, factors = factors, states = states } }
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
