-- Checks the dependencies of the modules in scripts/lib: a module requires those of its own layer and of the layers
-- below it, wherever in the file it does so, and no modules require each other in a circle.
-- tests/lua/test_layers.lua checks the library with it.
local files = require 'pushdown.files'
local tables = require 'pushdown.tables'

local M = {}

-- The layers from the lowest on: the modules, with the folders of their names, and the layers directly below.
M.layers = {
  { name = 'base', below = {},
    modules = { 'csv', 'data', 'files', 'grammar', 'json', 'languages', 'published', 'tables', 'test', 'text' } },
  { name = 'statistics', modules = { 'statistics' }, below = { 'base' } },
  { name = 'plot', modules = { 'plot', 'analysis' }, below = { 'statistics' } },
  { name = 'store', modules = { 'store' }, below = { 'base' } },
  { name = 'runs', modules = { 'runs' }, below = { 'store', 'statistics' } },
  { name = 'experiment', modules = { 'experiment' }, below = { 'runs', 'plot' } },
  { name = 'grid', modules = { 'grid', 'record', 'search' }, below = { 'experiment' } },
  { name = 'paper', modules = { 'paper', 'recipe' }, below = { 'grid' } },
  { name = 'report', modules = { 'report' }, below = { 'experiment' } },
  { name = 'mirror', modules = { 'mirror' }, below = { 'runs' } },
  { name = 'commands', modules = { 'commands' }, below = { 'paper', 'report', 'mirror' } },
  { name = 'prompt', modules = { 'prompt', 'help', 'notebook' }, below = { 'commands' } },
}

local layer_of, visible = {}, {}  -- by module; by layer: the layers that it may use
for _, layer in ipairs(M.layers) do
  for _, module in ipairs(layer.modules) do layer_of[module] = layer.name end
  visible[layer.name] = { [layer.name] = true }
  for _, lower in ipairs(layer.below) do
    for name in pairs(visible[lower]) do visible[layer.name][name] = true end
  end
end

-- The code without comments, with the number of its text in place of every string, and the list of these texts.
local function without_strings(source)
  local out, texts, at = {}, {}, 1
  while at <= #source do
    local dashes, level = source:match('^(%-?%-?)%[(=*)%[', at)
    local is_long = level and dashes ~= '-'
    local quote = source:match('^["\']', at)
    if is_long then
      local first, last = source:find(']' .. level .. ']', at, true)
      if dashes == '' then texts[#texts + 1] = source:sub(at, first) end
      out[#out + 1] = dashes == '' and ('"%d"'):format(#texts) or ''
      at = last + 1
    elseif source:find('^%-%-', at) then
      at = source:find('\n', at, true) or #source + 1
    elseif quote then
      local last = at
      repeat last = source:find('[\\' .. quote .. ']', last + 1)
        local escaped = source:sub(last, last) == '\\'
        if escaped then last = last + 1 end
      until not escaped
      texts[#texts + 1] = source:sub(at + 1, last - 1)
      out[#out + 1] = ('"%d"'):format(#texts)
      at = last + 1
    else
      local stop = source:find('[-["\']', at + 1) or #source + 1
      out[#out + 1] = source:sub(at, stop - 1)
      at = stop
    end
  end
  return table.concat(out), texts
end

-- The modules that a source requires, 'runs/layout' or 'runs/' if the rest of the name is computed; and whether all its
-- calls of require could be read.
local function required(source, sources)
  local code, texts = without_strings(source)
  local found, calls = {}, select(2, code:gsub('%f[%w_]require%s*=', ''):gsub('%f[%w_]require%f[^%w_]', ''))
  for number, joined in code:gmatch '%f[%w_]require%s*%(?%s*"(%d+)"(%s*%.?%.?)' do
    local text = texts[tonumber(number)]
    local name = text:match '^pushdown%.(.*)$'
    if name then found[#found + 1] = (name:gsub('%.', '/')) end
    if not joined:find '%.%.' or name then calls = calls - 1 end
  end
  for name in code:gmatch '%f[%w_]pd%.([%a_][%w_]*)' do
    if sources[name .. '.lua'] then found[#found + 1] = name end
  end
  return found, calls == 0
end

-- The circles of a graph, as texts, each from its first module in the alphabet on.
local function circles(graph, names)
  local found, state, path = {}, {}, {}
  local function visit(name)
    state[name], path[#path + 1] = 'open', name
    for _, next_name in ipairs(graph[name]) do
      if state[next_name] == 'open' then
        local first = #path
        while path[first] ~= next_name do first = first - 1 end
        found[#found + 1] = table.concat(path, ' -> ', first) .. ' -> ' .. next_name .. ': modules require each other'
      elseif not state[next_name] and graph[next_name] then
        visit(next_name)
      end
    end
    state[name], path[#path] = 'done', nil
  end
  for _, name in ipairs(names) do
    if not state[name] then visit(name) end
  end
  return found
end

-- M.violations(sources) -> list of messages. sources: path ("runs/layout.lua") -> text.
function M.violations(sources)
  local found, names, graph = {}, {}, {}
  for path in pairs(sources) do names[#names + 1] = path:match '^(.*)%.lua$' end
  table.sort(names)
  for _, name in ipairs(names) do
    local function report(message, ...) found[#found + 1] = ('%s.lua: '):format(name) .. message:format(...) end
    local layer = layer_of[name:match '^[^/]+']
    if not layer then
      report 'the module belongs to no layer; add it to scripts/tools/library_layers.lua and docs/architecture.md'
    end
    local wanted, readable = required(sources[name .. '.lua'], sources)
    if not readable then report 'require takes a text, which may end in a computed name' end
    graph[name] = {}
    for _, other in ipairs(wanted) do
      local lower = layer_of[other:match '^[^/]+']
      if layer and lower and not visible[layer][lower] then
        report('%s must not require %s, got %s', layer, lower, (other:gsub('/', '.')))
      end
      for _, module in ipairs(names) do
        if module == other or other:find '/$' and module:sub(1, #other) == other then
          table.insert(graph[name], module)
        end
      end
    end
  end
  for _, circle in ipairs(circles(graph, names)) do found[#found + 1] = circle end
  return found
end

-- M.violations_of_scripts(sources) -> list of messages. sources: path ("recipes/copy.lua", "experiments/nspda.lua") ->
-- text. A paper loads files of its own folder only, which NAME and NAME_MORE share. A recipe loads none: it takes from
-- pd.paper.load what it needs of a paper.
function M.violations_of_scripts(sources)
  local found = {}
  for _, path in ipairs(tables.keys(sources)) do
    local kind, name = path:match '^(%w+)/([%w_]+)'
    local code, texts = without_strings(sources[path])
    local own = kind == 'experiments' and name
    for argument in code:gmatch '%f[%w_]dofile%f[^%w_]([^\n]*)' do
      local text = texts[tonumber(argument:match '"(%d+)"')] or ''
      local folder = text:match '([%w_]+)/[%w_]+%.lua$'
      if not own or folder and not (own .. '_'):find('^' .. folder .. '_') then
        found[#found + 1] = ('scripts/%s: %s must not load files of %s'):format(path, own and 'a paper' or 'a recipe',
          own and 'another' or 'a paper')
      end
    end
  end
  return found
end

-- The sources below a folder of scripts: path -> text.
function M.sources(root, folder)
  local sources, top = {}, ('%s/scripts/%s'):format(root, folder or 'lib')
  for _, path in ipairs(files.find(top, '%.lua$')) do
    sources[(folder and folder .. '/' or '') .. path] = files.read(top .. '/' .. path)
  end
  return sources
end

return M
