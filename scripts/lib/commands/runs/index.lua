-- `pushdown runs index`: makes the registry, or a part of it, again from run folders.
local pd = require 'pushdown'
local runs = require 'pushdown.runs'
local selection = require 'pushdown.runs.selection'
local visible = require 'pushdown.text.visible'

-- index(options, path of the registry)
return function(options, path)
  if not path then selection.fail('PUSHDOWN_REGISTRY is off: name a file with --registry') end
  local folders = options.words
  if #folders == 0 then folders = { path:match '^(.+)/[^/]*$' or '.' } end
  for _, folder in ipairs(folders) do
    local kind = pd.file.kind(folder) and pd.file.kind(pd.file.real_path(folder))
    if kind ~= 'folder' then
      error(kind and ("'%s' is a file; expected a folder with runs"):format(folder)
        or ("there is no folder '%s'"):format(folder), 0)
    end
  end
  local count, refused = runs.index(folders, path)
  for _, reason in ipairs(refused) do io.stderr:write(visible(('pushdown runs: %s\n'):format(reason))) end
  print(('%s: %d run%s of %s'):format(path, count, count == 1 and '' or 's', table.concat(folders, ', ')))
  if #refused > 0 then error(('%d left out'):format(#refused), 0) end
end
