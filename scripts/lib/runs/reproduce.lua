-- `pushdown runs reproduce`: repeats a run in a new folder, with the scripts and other inputs that it had, and compares
-- all numbers.
--
-- A run of a script is started with its own command line. Copies replace inputs that have changed since
-- (PUSHDOWN_INPUTS, see bindings/session/input_path.h). A training that was started at a prompt, or by a script without
-- pd.experiment, is repeated from its folder alone: configuration, data and the checkpoint before its first update.
local compare = require 'pushdown.runs.numbers'
local files = require 'pushdown.files'
local pd = require 'pushdown'
local provenance = require 'pushdown.provenance'
local runs = require 'pushdown.runs'
local selection = require 'pushdown.runs.selection'

local function fail(...) error((...):format(select(2, ...)), 0) end

-- The folder of a run, given as its number in the registry or as a folder.
local function folder_of(word, path)
  if pd.file.kind(word) == 'folder' then return pd.file.real_path(word) end
  if not word:match '^%d+$' then fail("there is no run folder '%s'", word) end
  return selection.numbered({ tonumber(word) }, path)[1].folder
end

-- A new folder beside the old one.
local function new_folder(folder)
  local number = 1
  while pd.file.kind(('%s-again-%d'):format(folder, number)) do number = number + 1 end
  return ('%s-again-%d'):format(folder, number)
end

-- The differences between the programs and machines of then and now, as a list of texts.
local function differences(start)
  local texts, now = {}, provenance.facts()
  local function add(name, was, is)
    if was ~= nil and was ~= is then texts[#texts + 1] = ('%s was %s, is %s'):format(name, was, tostring(is)) end
  end
  for _, key in ipairs { 'commit', 'compiler', 'torch', 'blas', 'instruction_set', 'cuda' } do
    add(key, (start.program or {})[key], now.program[key])
  end
  add('commit of the scripts', start.library, now.library)
  add('processor', (start.machine or {}).processor, now.machine.processor)
  return texts
end

-- Puts copies of the changed inputs below `place`, by their paths. Raises an error for an input without a copy, because
-- its old text is not known.
local function restore_inputs(folder, start, place)
  local changed, missing = provenance.changed(start), {}
  for _, change in ipairs(changed) do
    local copy = type(change.input.copy) == 'string' and folder .. '/' .. change.input.copy
    if copy and files.exists(copy) then
      local target = place .. change.path
      files.make_folder((target:gsub('/[^/]*$', '')))
      files.write(target, files.read(copy))
    else
      missing[#missing + 1] = ('%s %s'):format(change.path, change.why)
    end
  end
  if #missing > 0 then
    fail('the run cannot be repeated: %s, and the run folder has no copy', table.concat(missing, ', '))
  end
  for _, change in ipairs(changed) do
    print(('Using the saved copy of %s, which %s since.'):format(change.path, change.why))
  end
  return #changed > 0
end

-- The words of the command line without the program and without the options that chose the folder.
local function words_of(start, target)
  local words, at, list = {}, 2, start.command_line
  local left_out = { exit_with_parent = 2, run_folder = 2, overwrite = 1 }  -- words that these take
  while at <= #list do
    local name, value = list[at]:match '^%-%-([^=]+)(=?)'
    local count = left_out[(name or ''):gsub('%-', '_')]
    if not count then words[#words + 1] = list[at] end
    at = at + (count and value == '' and count or 1)
  end
  words[#words + 1] = '--run-folder'
  words[#words + 1] = target
  return words
end

-- Starts the command line of the run again.
local function run_script(folder, start, target)
  if pd.file.kind(start.working_directory) ~= 'folder' then
    fail('the run was started in %s, which no longer exists', start.working_directory)
  end
  local place = os.tmpname()
  os.remove(place)
  files.make_folder(place)
  local restored = restore_inputs(folder, start, place)
  local words = { 'cd', files.quoted(start.working_directory), '&& env -u PUSHDOWN_RUN_LOCK',
    restored and 'PUSHDOWN_INPUTS=' .. files.quoted(place) or '', files.quoted(pd.process.executable()) }
  -- Without --seed the session has drawn a seed.
  local seeded = false
  for _, word in ipairs(start.command_line) do seeded = seeded or word == '--seed' or word:match '^%-%-seed=' end
  if not seeded and start.seed then words[#words + 1] = ('--seed %d'):format(start.seed) end
  for _, word in ipairs(words_of(start, target)) do words[#words + 1] = files.quoted(word) end
  local status = os.execute(table.concat(words, ' '))
  pd.file.remove_folder(place)
  if status ~= 0 and status ~= true then fail('the run failed this time; its folder is %s', target) end
end

-- Trains from the files of a run folder alone, for the same number of epochs.
local function train_again(folder, target)
  local initial = folder .. '/checkpoints/initial.safetensors'
  if not files.exists(initial) then
    fail('%s has no checkpoints/initial.safetensors: the run began elsewhere, or with an older version', folder)
  end
  files.make_folder(target .. '/checkpoints')
  for _, part in ipairs { 'data', 'definitions' } do
    if pd.file.kind(folder .. '/' .. part) == 'folder' then
      files.make_folder(target .. '/' .. part)
      for _, name in ipairs(pd.file.list(folder .. '/' .. part)) do
        files.write(('%s/%s/%s'):format(target, part, name), files.read(('%s/%s/%s'):format(folder, part, name)))
      end
    end
  end
  files.write(target .. '/checkpoints/initial.safetensors', files.read(initial))
  files.write(target .. '/checkpoints/last.safetensors', files.read(initial))
  files.write(target .. '/config.json', files.read(folder .. '/config.json'))
  local count = #runs.history(folder)
  local trainer, done = pd.train.resume(target), 0
  for _ in trainer:epochs() do
    done = done + 1
    if done >= count then break end
  end
end

-- reproduce(options, path of the registry)
return function(options, path)
  if #options.words ~= 1 then
    selection.fail('which run? pushdown runs reproduce ID, or the folder of a run')
  end
  local folder = folder_of(options.words[1], path)
  local kept = provenance.read(folder)
  if not kept then
    fail('%s has no provenance.json that can be read: the run was made by an older version', folder)
  end
  local target = options.folder and pd.file.real_path(options.folder) or new_folder(folder)
  if pd.file.kind(target) then fail('%s already exists; name a new folder with --folder', target) end
  local start = kept.starts[1]
  print(('Repeating %s in %s'):format(folder, target))
  local different = differences(start)
  if files.exists(folder .. '/experiment.json') then
    run_script(folder, start, target)
  else
    train_again(folder, target)
  end
  local found = compare(folder, target)
  for _, text in ipairs(found.different) do print('  ' .. text) end
  if #found.missing > 0 then print('Missing in the new run: ' .. table.concat(found.missing, ', ')) end
  if found.count == 0 then fail('%s has no numbers to compare', folder) end
  if #found.different + #found.missing == 0 then
    print(('The numbers are the same: %s.'):format(found.text))
    return
  end
  if #different > 0 then print('Then and now: ' .. table.concat(different, '; ')) end
  fail('%d of %s differ', found.unequal, found.text)
end
