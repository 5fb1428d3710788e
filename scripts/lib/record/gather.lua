-- Adds finished runs to a record.
local files = require 'pushdown.files'
local folder_of = require 'pushdown.record.folder'
local record = require 'pushdown.record'

-- gather{folders =, into =, replace =, commit =, torch =} -> {added =, known =, replaced =, differing = texts,
-- refused = {[reason] = count}}. folders: folders with run folders in them at any depth; into: path of the record. A
-- run that the record has with other numbers stays as it is unless `replace` is true. commit, torch: values for runs
-- without them.
return function(given)
  local kept = record.open(given.into)
  local found = { added = 0, known = 0, replaced = 0, differing = {}, refused = {} }
  for _, top in ipairs(given.folders) do
    for _, path in ipairs(files.find(top, 'result%.json$')) do
      local folder = (top .. '/' .. path):gsub('/result%.json$', '')
      if folder_of.is_one(folder) then
        local entry, keys = folder_of.read(folder, given)
        local before = entry and kept:same(entry)
        local difference = before and record.difference(before, entry)
        if not entry then
          found.refused[keys] = (found.refused[keys] or 0) + 1
        elseif before and not difference then
          found.known = found.known + 1
        else
          if difference then table.insert(found.differing, folder .. ': ' .. difference) end
          if not before or given.replace then
            local what = before and 'replaced' or 'added'
            found[what] = found[what] + 1
            folder_of.complete(entry, folder)
            kept:put(entry, keys)
          end
        end
      end
    end
  end
  if found.added + found.replaced > 0 then kept:save() end
  return found
end
