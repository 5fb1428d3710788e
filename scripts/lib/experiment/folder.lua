-- The folder of an experiment's run: checks whether this start may resume the run in it, and clears it for another run.
local files = require 'pushdown.files'
local json = require 'pushdown.json'
local pd = require 'pushdown'
local provenance = require 'pushdown.store.provenance'
local values = require 'pushdown.store.values'

local M = {}

-- The contents of experiment.json in the folder, or nil. Another program's file of that name is an error: --overwrite
-- must not remove what lies beside it.
function M.kept(folder)
  local path = folder .. '/experiment.json'
  if not files.exists(path) then return nil end
  local ok, kept = pcall(function() return json.decode(files.read(path)) end)
  if not ok or type(kept) ~= 'table' or type(kept.options) ~= 'table' or type(kept.experiment) ~= 'string' then
    error(('[experiment] %s is not the configuration of a run: move it away, or choose another --run-folder')
      :format(path), 0)
  end
  return kept
end

-- M.differences(kept, specs, options, size) -> list of texts, "epochs was 5 and is 20 now": the options in which this
-- start differs from the run that `kept` describes. An option that is newer than the run had its default then.
function M.differences(kept, specs, options, size)
  local list = {}
  local function compare(name, was, now)
    if not values.same(was, now) then
      list[#list + 1] = ('%s was %s and is %s now'):format(name, values.shown(was), values.shown(now))
    end
  end
  if kept.size and kept.size ~= size then compare('size', kept.size, size) end
  for _, spec in ipairs(specs) do
    local name = spec.name
    if not spec.may_change and name ~= 'run_folder' and name ~= 'quick' and name ~= 'smoke' and name ~= 'overwrite' then
      local was = kept.options[name]
      if was == nil or was == json.null then was = spec.default end
      compare(name, was, options[name])
    end
  end
  return list
end

-- Files that every run writes. Of a run of a version that kept no list, only these are removed.
local always = { 'result.json', 'provenance.json', 'experiment.json' }

-- Files of every start: the lock, the log of the process, and the record with the number of starts and the note.
local stays = { ['run.lock'] = true, ['output.log'] = true, ['run.json'] = true }

-- Removes the files that the run has written, and the folders that are empty then. The files of others, those of every
-- start and the folders of other runs stay.
function M.clear(folder)
  local top, own, places = pd.file.real_path(folder), {}, {}
  local last = top .. '/experiment.json'
  -- The folder of a file, if it is still where it was: below the run's folder, not behind a link, and of no other run.
  local function place_of(path)
    local place = path:match '^(.*)/[^/]*$'
    local at = top
    for part in (place or ''):gmatch '[^/]+' do
      at = at .. '/' .. part
      if pd.file.kind(at) ~= 'folder' or files.exists(at .. '/run.lock') then return nil end
      if not places[at] then
        places[at] = true
        places[#places + 1] = at
      end
    end
    return at
  end
  local function add(path)
    local place, name = place_of(path), files.name(path)
    if not place or place == top and stays[name] then return end
    own[place] = own[place] or {}
    own[place][name] = true
  end
  for _, path in ipairs(always) do add(path) end
  for _, path in ipairs(pd.file.written_list(folder)) do add(path) end
  for place, names in pairs(own) do
    for _, name in ipairs(pd.file.list(place)) do
      -- A killed process leaves NAME.PROCESS.tmp.
      local written = names[name] or names[name:match '^(.*)%.%d+%.tmp$']
      local path = place .. '/' .. name
      if written and path ~= last and pd.file.kind(path) ~= 'folder' then assert(os.remove(path)) end
    end
  end
  table.sort(places, function(a, b) return #a > #b end)
  for _, place in ipairs(places) do
    if #pd.file.list(place) == 0 then assert(os.remove(place)) end
  end
  -- With these two, a call that was killed before can be made again.
  for _, path in ipairs { last, top .. '/.written' } do assert(os.remove(path) or not pd.file.kind(path)) end
end

-- M.check(declaration, specs, options, size, overwrite) -> the old contents of experiment.json, or nil. Raises an error
-- if the options differ; with `overwrite` it removes the files of the run in the folder instead.
function M.check(declaration, specs, options, size, overwrite)
  local folder = options.run_folder
  if overwrite then
    if M.kept(folder) then M.clear(folder) end
    return nil
  end
  local kept = M.kept(folder)
  if not kept then return nil end
  if declaration.resumes == false and kept.experiment == declaration.name then
    error(('[experiment] %s holds a run, and %s cannot resume; choose another --run-folder, or give --overwrite to '
      .. 'replace that run'):format(folder, declaration.name), 0)
  end
  if kept.experiment ~= declaration.name then
    error(("[experiment] %s holds a run of '%s', this is '%s'; choose another --run-folder, or give --overwrite to "
      .. 'replace that run'):format(folder, tostring(kept.experiment), declaration.name), 0)
  end
  local differences = M.differences(kept, specs, options, size)
  if #differences > 0 then
    error(('[experiment] %s holds a run with other options: %s; choose another --run-folder, or give --overwrite to '
      .. 'replace that run'):format(folder, table.concat(differences, ', ')), 0)
  end
  return kept
end

-- Warns about inputs that have changed since the run began. before: the earlier starts of the run.
function M.tell_changed(folder, before)
  if not before[1] then return end
  local names = {}
  for _, change in ipairs(provenance.changed(before[#before])) do
    names[#names + 1] = ('%s %s'):format(change.path, change.why)
  end
  if #names > 0 then
    pd.log.warn(('the run in %s began with other inputs: %s; provenance.json records both'):format(folder,
      table.concat(names, ', ')))
  end
end

return M
