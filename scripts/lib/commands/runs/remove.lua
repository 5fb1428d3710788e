-- `pushdown runs rm`: removes runs from the registry and, with --folders, also their folders.
local ask = require 'pushdown.text.ask'
local files = require 'pushdown.files'
local pd = require 'pushdown'
local plan = require 'pushdown.store.plan'
local runs = require 'pushdown.runs'
local selection = require 'pushdown.runs.selection'
local visible = require 'pushdown.text.visible'

local batch = 100  -- runs whose folders are locked at once
local listed = 10

local function inside(path, folder) return path == folder or path:sub(1, #folder + 1) == folder .. '/' end

-- The reason why a folder must not be removed, or nil. A run folder has the lock of every run and a file that only runs
-- write, or the record of a run and nothing else. A link, or a folder that contains more than this run, stays.
local function objection(folder, registry)
  local kind = pd.file.kind(folder)
  if kind == 'link' then return 'it is a link' end
  if kind ~= 'folder' then return 'it is not a folder' end
  local names = pd.file.list(folder)
  local only_record = #names == 1 and names[1] == 'run.json'
  local ours = false
  for _, name in ipairs { 'run.json', 'experiment.json', 'config.json', 'settings.json', 'result.json',
    'output.log' } do
    ours = ours or pd.file.kind(folder .. '/' .. name) == 'file'
  end
  if not only_record and not (ours and pd.file.kind(folder .. '/run.lock') == 'file') then
    return 'it does not look like a run folder'
  end
  local real = pd.file.real_path(folder)
  if real == '/' or inside(pd.file.real_path '.', real) then return 'this program runs in it' end
  if inside(pd.file.real_path(registry), real) then return 'it contains the registry' end
  local other = files.find(folder, '/run%.lock$')[1] or files.find(folder, '/run%.json$')[1]
  if other then return ('it contains another run: %s'):format(other:match('^(.*)/')) end
end

local function size_text(bytes)
  if bytes < 1e4 then return ('%d bytes'):format(bytes) end
  if bytes < 1e7 then return ('%.0f kB'):format(bytes / 1e3) end
  return bytes < 1e10 and ('%.0f MB'):format(bytes / 1e6) or ('%.1f GB'):format(bytes / 1e9)
end

local count_text = pd.tables.counted

local function title(row)
  return visible.line(('%d  %s%s  %s  %s'):format(row.id, row.grid or row.experiment or '', row.point
    and (' %s, restart %s'):format(row.point, tostring(row.restart)) or '', row.status, row.folder))
end

-- A waiting run also belongs to the process that works on its grid.
local function refuse_running(rows, path)
  local running, at_work = {}, {}
  for _, row in ipairs(runs.find({ status = 'running' }, path)) do at_work[row.grid or ''] = row.grid ~= nil end
  for _, row in ipairs(rows) do
    if row.status == 'running' or row.status == 'waiting' and at_work[row.grid or ''] then
      running[#running + 1] = row.id
    end
  end
  if #running > 0 then
    local numbers = table.concat(running, ', ', 1, math.min(#running, listed)) .. (#running > listed and ', ...' or '')
    local words = #running == 1 and { 'run', 'is', 'waits', 'it' } or { 'runs', 'are', 'wait', 'them' }
    error(('nothing was removed: %s %s %s running, or %s in a running grid; stop %s first, or choose others with '
      .. '--status'):format(words[1], numbers, words[2], words[3], words[4]), 0)
  end
end

-- Removes some runs, and with `forget` also from the plans of their grids. Their folders stay locked meanwhile, so that
-- none of them can start.
local function remove_some(registry, rows, total, forget)
  local held, ids, gone = {}, {}, {}
  for _, row in ipairs(rows) do
    local fine, lock = true, nil
    if row.removable then
      fine, lock = pcall(pd.process.lock, row.folder)
    elseif not pd.process.locked(row.folder) then
      lock = true
    end
    if fine and lock then
      held[#held + 1] = { row = row, lock = lock }
      ids[#ids + 1], gone[#gone + 1] = row.id, row
    else
      local reason = fine and 'another process uses it' or tostring(lock)
      io.stderr:write(visible(('pushdown runs: run %d stays: %s\n'):format(row.id, reason)))
      total.stayed = total.stayed + 1
    end
  end
  total.rows = total.rows + registry:remove(ids)
  for _, one in ipairs(held) do
    if one.row.removable then
      local ok, problem = pcall(pd.file.remove_folder, one.row.folder)
      if ok then
        total.folders = total.folders + 1
      else
        io.stderr:write(visible(('pushdown runs: %s stays: %s\n'):format(one.row.folder, tostring(problem))))
        total.stayed = total.stayed + 1
      end
      one.lock:release()
    end
  end
  if forget then plan.remove(gone) end
end

-- remove(options, path of the registry)
return function(options, path)
  if #options.words == 0 and not selection.filtered(options) then
    selection.fail('which runs? pushdown runs rm ID..., or filters like --status failed')
  end
  local rows = selection.rows(options, path)
  if #rows == 0 then return selection.say_nothing(path, options) end
  refuse_running(rows, path)
  local size, kept = { folders = 0, files = 0, bytes = 0 }, {}
  for _, row in ipairs(rows) do
    if options.folders and pd.file.kind(row.folder) then
      local reason = objection(row.folder, path)
      if reason then
        kept[#kept + 1] = ('%s: %s'):format(row.folder, reason)
      else
        -- Another process may remove it at any moment.
        local there, contents = pcall(pd.file.contents, row.folder)
        row.removable = there
        if there then
          size.folders, size.files, size.bytes = size.folders + 1, size.files + contents.files,
            size.bytes + contents.bytes
        end
      end
    end
  end
  for i, row in ipairs(rows) do
    if i <= listed or options.dry_run then print(title(row)) end
  end
  if #rows > listed and not options.dry_run then print(('... and %d more'):format(#rows - listed)) end
  if #kept > 0 then
    print('These folders stay; only the rows of their runs are removed:\n  ' .. table.concat(kept, '\n  '))
  end
  local what = ('%s from %s'):format(count_text(#rows, 'run'), path)
  if size.folders > 0 then
    what = what .. (' and %s with %s, %s'):format(count_text(size.folders, 'folder'), count_text(size.files, 'file'),
      size_text(size.bytes))
  elseif not options.folders then
    what = what .. ' (their folders stay)'
  end
  if options.dry_run then return print(('Would remove %s.'):format(what)) end
  if not options.yes then
    if not ask.possible() then
      selection.fail('there is no terminal for confirmation: give --yes, or preview with --dry-run')
    end
    if not ask.answer(('Remove %s? [y/N]'):format(what)):match '^y' then return print 'Nothing was removed.' end
  end
  local registry, total = runs.open(path, { must_exist = true }), { rows = 0, folders = 0, stayed = 0 }
  for first = 1, #rows, batch do
    remove_some(registry, { unpack(rows, first, math.min(first + batch - 1, #rows)) }, total, options.folders)
  end
  print(('Removed %s%s.'):format(count_text(total.rows, 'run') .. ' from ' .. path, options.folders
    and (', %s'):format(count_text(total.folders, 'folder')) or ''))
  if total.stayed > 0 then error(('%d could not be removed'):format(total.stayed), 0) end
end
