-- reload(line): loads a library of scripts/lib or a module of the user's again, with the parts of it in its folder. The
-- tables of before stay and get the new functions, so that everything that has them uses the new code. If a file is
-- wrong, nothing changes.
local pd = require 'pushdown'

local load_module = rawget(_G, 'require')  -- for the names that the user gives

-- The path of a module's file, or nil.
local function path_of(name)
  local part = name:match '^pushdown%.(.+)$'
  local own = part and ('%s/lib/%s.lua'):format(pd.scripts, (part:gsub('%.', '/')))
  if own then return pd.file.can_read(own) and own or nil end
  return (package.searchpath(name, package.path))
end

local function known_names()
  local names = {}
  for name in pairs(package.loaded) do
    if path_of(name) then names[#names + 1] = (name:gsub('^pushdown%.', '')) end
  end
  for _, file in ipairs(pd.file.list(pd.scripts .. '/lib')) do names[#names + 1] = file:match '^([%w_]+)%.lua$' end
  table.sort(names)
  return names
end

-- The full name of the module that is meant.
local function full_name(given)
  local name = given:gsub('^pd%.', ''):gsub('^pushdown%.', '')
  if path_of('pushdown.' .. name) then return 'pushdown.' .. name end
  if path_of(given) then return given end
  if type(rawget(pd, name)) == 'table' then
    error((':reload: pd.%s is a part of the core, which is compiled; only libraries in Lua can be loaded again')
      :format(name), 0)
  end
  local near = pd._text.nearest(name, known_names())
  error((":reload: there is no library or module '%s'%s; expected a library of pd, such as plot, or a module that "
    .. 'require finds'):format(given, near and (", did you mean '%s'?"):format(near) or ''), 0)
end

-- The loaded modules with this name or in its folder, sorted.
local function loaded_parts(name)
  local found = {}
  for other in pairs(package.loaded) do
    if other == name or other:sub(1, #name + 1) == name .. '.' then found[#found + 1] = other end
  end
  table.sort(found)
  return found
end

-- Gives the table `old` the content of the table `new`.
local function replace_content(old, new)
  for key in pairs(old) do rawset(old, key, nil) end
  for key, value in pairs(new) do rawset(old, key, value) end
  setmetatable(old, getmetatable(new))
end

local function load_again(name, parts)
  local before = {}
  for _, part in ipairs(parts) do before[part], package.loaded[part] = package.loaded[part], nil end
  local fine, problem = pcall(function()
    load_module(name)
    for _, part in ipairs(parts) do load_module(part) end
  end)
  for _, part in ipairs(parts) do
    local old, new = before[part], package.loaded[part]
    if not fine then
      package.loaded[part] = old
    elseif type(old) == 'table' and type(new) == 'table' then
      replace_content(old, new)
      package.loaded[part] = old
    end
  end
  if not fine then error((':reload: %s was not changed: %s'):format(name, tostring(problem)), 0) end
end

return function(line)
  local given = line:match '^%s*(%S+)%s*$'
  if not given then error(':reload needs the name of a library or a module, as in :reload plot', 0) end
  local name = full_name(given)
  local path, parts = path_of(name), loaded_parts(name)
  if package.loaded[name] == nil then
    load_module(name)
    return print(('%s was not loaded yet, and is now (%s).'):format(name, path))
  end
  load_again(name, parts)
  local short = name:match '^pushdown%.([%w_]+)$'
  if short and rawget(pd, short) ~= nil then rawset(pd, short, package.loaded[name]) end
  print(('Loaded %s again (%s)%s.'):format(name, path,
    #parts > 1 and (', with %d parts of it'):format(#parts - 1) or ''))
end
