-- `pushdown runs gather`: adds finished runs to a record.
local gather = require 'pushdown.record.gather'
local selection = require 'pushdown.runs.selection'

-- gather(options)
return function(options)
  if #options.words == 0 then selection.fail('gather needs folders with runs') end
  if not options.into then selection.fail('gather needs --into FILE, the record') end
  if not options.into:find('%.csv$') then
    selection.fail("--into needs a name that ends in .csv, got '%s'", options.into)
  end
  local found = gather { folders = options.words, into = options.into, replace = options.replace,
    commit = options.commit, torch = options.torch }
  for _, text in ipairs(found.differing) do
    print((options.replace and 'replaced' or 'NOT REPLACED') .. ', recorded and new: ' .. text)
  end
  local reasons = {}
  for reason, count in pairs(found.refused) do
    reasons[#reasons + 1] = ('%d not recorded: %s'):format(count, reason)
  end
  table.sort(reasons)
  for _, text in ipairs(reasons) do print(text) end
  print(('%s: %d added, %d replaced, %d recorded before'):format(options.into, found.added, found.replaced,
    found.known))
  if #found.differing > 0 and not options.replace then
    error(('%d runs differ from the record; --replace takes the new ones'):format(#found.differing), 0)
  end
end
