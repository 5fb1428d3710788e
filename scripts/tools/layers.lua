-- Checks the dependencies of the source tree in its #include lines: base is below everything, a layer
-- depends only on the layers below it, only the bindings include Lua, and one header of the core
-- includes LibTorch.
-- tests/lua/test_layers.lua checks the tree with it.
local files = require 'pushdown.files'

local M = {}

-- The layers directly below each layer; the layers below those are also permitted.
M.below = {
  base = {},
  tensor = { 'base' },
  record = { 'base' },
  grammar = { 'base', 'kernel' },
  pda = { 'grammar' },
  kernel = { 'base' },
  array = { 'tensor', 'kernel' },
  recurrence = { 'array' },
  stack = { 'recurrence' },
  controller = { 'recurrence' },
  model = { 'stack', 'controller', 'pda' },
  task = { 'tensor', 'grammar', 'pda' },
  train = { 'model', 'task' },
  analysis = { 'train' },
}

-- Files that may include LibTorch's own headers, besides those in the folder tensor.
M.torch_headers = { ['src/recurrence/device/cuda_device.cpp'] = true }

-- Files of the bindings that may call Lua by lua_call and lua_pcall: no bound function runs around these calls.
M.lua_callers = {
  ['bindings/binder/script_call.h'] = true,
  ['bindings/binder/bind.cpp'] = true,
  ['bindings/session/sandbox.cpp'] = true,
}

local function visible(layer, seen)
  seen = seen or {}
  if not seen[layer] then
    seen[layer] = true
    for _, lower in ipairs(M.below[layer] or {}) do visible(lower, seen) end
  end
  return seen
end

local function without_comments(text)
  return (text:gsub('/%*.-%*/', ' '):gsub('//[^\n]*', ''))
end

local function includes_of(text)
  local list = {}
  for line in (text .. '\n'):gmatch('(.-)\n') do
    local quoted = line:match('^%s*#%s*include%s*"([^"]+)"')
    local angled = line:match('^%s*#%s*include%s*<([^>]+)>')
    if quoted or angled then list[#list + 1] = { name = quoted or angled, angled = angled ~= nil } end
  end
  return list
end

local function is_torch(name)
  return name:match('^ATen/') or name:match('^torch/') or name:match('^c10/')
end

local function is_lua(name)
  return name:match('^lua[%w]*%.h') or name:match('^lauxlib') or name:match('^lualib')
end

-- Returns whether the file includes LibTorch, itself or through the project's own headers.
local function reaches_torch(path, sources, seen)
  if seen[path] or not sources[path] then return false end
  seen[path] = true
  for _, include in ipairs(includes_of(sources[path])) do
    if is_torch(include.name) then return true end
    for _, folder in ipairs { 'src/', '' } do
      if reaches_torch(folder .. include.name, sources, seen) then return true end
    end
  end
  return false
end

-- M.violations(sources) -> list of messages. sources: path ("src/stack/stack.h") -> text.
function M.violations(sources)
  local found = {}
  for _, path in ipairs(pd.tables.keys(sources)) do
    local function report(message, ...) found[#found + 1] = path .. ': ' .. message:format(...) end
    local layer = path:match('^src/([^/]+)/')
    local binding = path:match('^bindings/')
    local code = without_comments(sources[path])
    if layer and not M.below[layer] then
      report("the folder '%s' is not a layer; add it to scripts/tools/layers.lua and docs/architecture.md",
        layer)
    end
    for _, include in ipairs(includes_of(code)) do
      local name = include.name
      local other = name:match('^([^/]+)/')
      if layer then
        if is_lua(name) then report('the core must not include a Lua header, got %s', name) end
        if other == 'bindings' then report('the core must not include the bindings, got %s', name) end
        if other == 'src' then report('expected a path relative to src, got %s', name) end
        if M.below[other] and not include.angled and not visible(layer)[other] then
          report('%s must not include %s, got %s', layer, other, name)
        end
      end
      -- The bindings call single operators whose headers are not all in tensor/torch.h.
      local single_operator = not layer and name:match('^ATen/') and name ~= 'ATen/ATen.h'
      local allowed = layer == 'tensor' or M.torch_headers[path] or single_operator
      if is_torch(name) and not allowed then
        report('only the folder tensor may include LibTorch, got %s', name)
      end
    end
    if layer and (code:find('std::cout') or code:find('std::cerr') or code:find('spdlog')
      or code:find('%f[%w_]f?printf%s*%(') or code:find('fmt::print')) then
      report('the core must not print')
    end
    local bound = binding and not path:match('^bindings/shell/') and not path:match('^bindings/notebook/')
    if bound and not M.lua_callers[path] and code:find('%f[%w_]lua_p?call%s*%(') then
      report('bound functions call Lua by call_lua or try_lua, which restore the floating-point setting')
    end
    local kernel = path:match('%.isa%.cpp$') or path:match('%.cuh?$')
    if kernel and reaches_torch(path, sources, {}) then report('kernels must not include LibTorch') end
    if binding and path:match('^bindings/shell/') and reaches_torch(path, sources, {}) then
      report('the shell starts without LibTorch, so it must not include it')
    end
  end
  return found
end

-- The C++ sources of a tree: path -> text.
function M.sources(root)
  local sources = {}
  for _, folder in ipairs { 'src', 'bindings' } do
    for _, path in ipairs(files.find(root .. '/' .. folder, '%.[ch]p?p?$')) do
      sources[folder .. '/' .. path] = files.read(root .. '/' .. folder .. '/' .. path)
    end
    for _, path in ipairs(files.find(root .. '/' .. folder, '%.cuh?$')) do
      sources[folder .. '/' .. path] = files.read(root .. '/' .. folder .. '/' .. path)
    end
  end
  return sources
end

return M
