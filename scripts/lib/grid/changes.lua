-- Finds runs of a grid that were made or begun differently from how the grid would make them now: with other options,
-- another script, or other input files. Lists them before anything runs, and then accepts them or makes them again.
local ask = require 'pushdown.text.ask'
local declared_of = require 'pushdown.record.declared'
local folder_of_run = require 'pushdown.experiment.folder'
local json = require 'pushdown.json'
local options_of = require 'pushdown.grid.options'
local pd = require 'pushdown'
local provenance = require 'pushdown.store.provenance'
local store = require 'pushdown.store.folder'
local values = require 'pushdown.store.values'

local M = {}

local listed = 12  -- number of runs shown by name

local function fail(...) error('[grid.run] ' .. (...):format(select(2, ...)), 0) end

-- The options that the script declares; empty if it is not an experiment.
local function declared_by(script)
  local ok, declared = pcall(declared_of, script)
  return ok and declared or { full = {}, may_change = {} }
end

-- Returns the differences between the options of a run and those that the grid wants, as a list of texts; and whether
-- the script can resume the run with the changed options. made: the options in its experiment.json.
local function changed_options(run, made, result)
  local texts, goes_on = {}, false
  local function compare(key, wanted)
    local was = made and made[key]
    if was == nil and (key == 'seed' or key == 'restart') then was = result and result[key] end
    if was == json.null then was = nil end
    if not made and was == nil then return end
    if was == nil and (key == 'seed' or key == 'restart') then return end
    -- An option that is newer than the run had its default then.
    if was == nil then was = declared_by(run.script).full[key] end
    if was ~= nil and values.same(was, wanted) then return end
    if made and declared_by(run.script).may_change[key] then
      goes_on = true
    else
      texts[#texts + 1] = ('%s was %s and is %s now'):format(key, values.shown(was), values.shown(wanted))
    end
  end
  for _, key in ipairs(options_of.keys(run.options)) do compare(key, run.options[key]) end
  compare('seed', run.seed)
  compare('restart', run.restart)
  local flags = options_of.flags(run.flags)
  for _, key in ipairs(options_of.keys(flags)) do compare(key, flags[key]) end
  for _, size in ipairs { 'quick', 'smoke' } do
    if made and made[size] ~= nil and not flags[size] and run.options[size] == nil then compare(size, false) end
  end
  return texts, goes_on
end

local hashes = {}

local function script_hash(path)
  hashes[path] = hashes[path] or pd.file.sha256(path)
  return hashes[path]
end

-- The files that have changed since the run was made, as a list of texts. Runs of older versions have no such record.
local function changed_files(run)
  local kept = provenance.read(run.folder)
  local start = kept and kept.starts[#kept.starts]
  local texts, script = {}, nil
  for _, input in ipairs(start and start.inputs or {}) do
    if not script and input.role == 'script' then
      script = input
      if input.sha256 ~= script_hash(run.script) then texts[1] = ('%s has changed'):format(run.script) end
    end
  end
  for _, change in ipairs(start and provenance.changed(start) or {}) do
    if change.input ~= script then texts[#texts + 1] = ('%s %s'):format(change.path, change.why) end
  end
  return texts
end

-- changes.of(run) -> two lists of texts: the options, and the files that the run read, in which the run in a folder
-- differs from the grid. Both are empty if there is no run or nothing differs. The third result tells whether the
-- script can resume the run with changed options, such as more epochs.
function M.of(run)
  local result = store.result(run.folder)
  local kept = store.read_json(run.folder .. '/experiment.json')
  if not result and not kept then return {}, {} end
  local options, goes_on = changed_options(run, kept and (kept.options or {}), result)
  return options, changed_files(run), goes_on
end

-- The result in the run folder, or nil; also nil if the script has to resume the run with changed options. Raises an
-- error if the result was made with other options, unless the run is `accepted`.
function M.finished_result(run)
  local result = store.result(run.folder)
  if not result or run.accepted then return result end
  local options, other, goes_on = M.of(run)
  local text = options[1] or other[1]
  if text then
    error(('[grid.run] %s holds a result that was made with other options or inputs: %s; choose another folder, or '
      .. 'remove its result.json'):format(run.folder, text), 0)
  end
  return not goes_on and result or nil
end

local function title(run) return ('%s %s restart %d'):format(run.grid, run.point, run.restart) end

local function list_of(changed)
  local lines = {}
  for i, one in ipairs(changed) do
    if i <= listed then
      lines[i] = ('  %s%s: %s'):format(title(one.run), one.finished and '' or ' (not finished)',
        table.concat(one.texts, ', '))
    end
  end
  if #changed > listed then lines[#lines + 1] = ('  ... and %d more'):format(#changed - listed) end
  return table.concat(lines, '\n')
end

-- Decides what to do with changed runs: 'accept' or 'rerun'.
local function decision(changed, given, total)
  local what = ('%d of %d runs differ from how this grid would make them now:\n%s'):format(#changed, total,
    list_of(changed))
  if given then
    print(what)
    return given
  end
  if not ask.possible() then
    fail("%s\n--accept-changed takes them as they are, --rerun-changed makes them again (in Lua changed = 'accept' or "
      .. "'rerun'); another folder keeps both", what)
  end
  print(what)
  local answer = ask.answer 'Accept them as they are (a), make them again (r), or stop (s)?'
  if answer:match '^a' then return 'accept' end
  if answer:match '^r' then return 'rerun' end
  fail 'stopped; nothing was changed'
end

-- The note about accepted runs in the tables.
local function note_of(accepted, total)
  if #accepted == 0 then return nil end
  return ('%d of %d runs were made with other options or another script: %s.'):format(#accepted, total,
    table.concat(accepted, '; ', 1, math.min(#accepted, 4)) .. (#accepted > 4 and '; ...' or ''))
end

-- changes.settle(list, given) -> note for tables, or nil. given: 'accept' takes finished changed runs as they are,
-- 'rerun' removes them, nil asks the user (an error without a terminal). Unfinished runs that were begun with other
-- options always start again.
function M.settle(list, given)
  local changed = {}
  for _, run in ipairs(list) do
    if not run.recorded then
      local options, other = M.of(run)
      if #options + #other > 0 then
        local texts = {}
        for _, part in ipairs { options, other } do
          for _, text in ipairs(part) do texts[#texts + 1] = text end
        end
        changed[#changed + 1] = { run = run, texts = texts, options = #options > 0,
          finished = store.result(run.folder) ~= nil }
      end
    end
  end
  if #changed == 0 then return nil end
  local accept, accepted = decision(changed, given, #list) == 'accept', {}
  for _, one in ipairs(changed) do
    if accept and one.finished then
      one.run.accepted = true
      accepted[#accepted + 1] = ('%s (%s)'):format(title(one.run), table.concat(one.texts, ', '))
    elseif not accept or one.options then
      local lock = pd.process.lock(one.run.folder)
      if not lock then fail('%s: another process uses this folder', one.run.folder) end
      folder_of_run.clear(one.run.folder)
      lock:release()
      print(('%s starts again from the beginning'):format(title(one.run)))
    end
  end
  return note_of(accepted, #list)
end

return M
