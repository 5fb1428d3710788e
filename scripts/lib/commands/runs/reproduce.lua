-- `pushdown runs reproduce`: repeats a run in a new folder, with the scripts and other inputs that it had, and compares
-- all numbers.
--
-- A run of a script is started with its own command line. Copies replace inputs that have changed since
-- (PUSHDOWN_INPUTS, see bindings/session/input_path.h). The folder may come from somebody else, and its command line
-- can contain any program, so the command is shown first and needs a confirmation. A training that was started at a
-- prompt, or by a script without pd.experiment, is repeated from its folder alone: configuration, data and the
-- checkpoint before its first update.
local ask = require 'pushdown.text.ask'
local compare = require 'pushdown.runs.numbers'
local files = require 'pushdown.files'
local layout = require 'pushdown.runs.layout'
local pd = require 'pushdown'
local provenance = require 'pushdown.store.provenance'
local runs = require 'pushdown.runs'
local selection = require 'pushdown.runs.selection'
local visible = require 'pushdown.text.visible'

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

-- The file of a run folder with this relative path, or nil if there is none. Through a link, a folder of somebody else
-- could name any file.
local function file_of(folder, name)
  local above = name:match '^(.*)/[^/]*$'
  if above and pd.file.kind(folder .. '/' .. above) ~= 'folder' then return nil end
  return pd.file.kind(folder .. '/' .. name) == 'file' and folder .. '/' .. name or nil
end

-- Whether a path is absolute and has no dots, as the program records paths: below a folder of copies, it stays there.
local function is_plain(path)
  return path:sub(1, 1) == '/' and not (path .. '/'):find '/%.?%.?/' and not path:find '%z'
end

-- The copies that replace inputs which have changed since, as a list of {path =, text =, why =}. Raises an error for an
-- input without a copy, because its old text is not known.
local function saved_copies(folder, start)
  local copies, missing = {}, {}
  for _, change in ipairs(provenance.changed(start)) do
    local name = type(change.input.copy) == 'string' and change.input.copy
    if not is_plain(change.path) then
      fail("%s: the path '%s' of an input is not absolute, or leaves the folder of the copies", folder, change.path)
    end
    if name and not name:match '^inputs/[%w._-]+$' then
      fail("%s: the copy '%s' of an input is not in the folder 'inputs'", folder, name)
    end
    local copy = name and file_of(folder, name)
    if copy then
      local text = files.read(copy)
      if pd.file.sha256_of_text(text) ~= change.input.sha256 then
        fail('%s is not the input that the run read: its SHA-256 differs', copy)
      end
      copies[#copies + 1] = { path = change.path, text = text, why = change.why }
    else
      missing[#missing + 1] = ('%s %s'):format(change.path, change.why)
    end
  end
  if #missing > 0 then
    fail('the run cannot be repeated: %s, and the run folder has no copy', table.concat(missing, ', '))
  end
  return copies
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

-- Shows the command and returns whether it may run. It has all rights of the user.
local function confirmed(words, directory, copies, yes)
  print(('The run is repeated with its own command, in %s:'):format(visible.line(directory)))
  print('  ' .. visible.line(layout.shell_words(words)))
  for _, copy in ipairs(copies) do
    print(('Using the saved copy of %s, which %s since.'):format(visible.line(copy.path), copy.why))
  end
  if yes then return true end
  if not ask.possible() then
    selection.fail('the command has all your rights, and there is no terminal for confirmation: give --yes if you '
      .. 'trust this run folder')
  end
  return ask.answer 'The command has all your rights. Run it? [y/N]':match '^y' ~= nil
end

-- Starts the command line of the run again. Returns whether it ran.
local function run_script(folder, start, target, yes)
  if pd.file.kind(start.working_directory) ~= 'folder' then
    fail('the run was started in %s, which no longer exists', start.working_directory)
  end
  local copies = saved_copies(folder, start)
  local words = { pd.process.executable() }
  -- Without --seed the session has drawn a seed.
  local seeded = false
  for _, word in ipairs(start.command_line) do seeded = seeded or word == '--seed' or word:match '^%-%-seed=' end
  if not seeded and start.seed then
    words[#words + 1] = '--seed'
    words[#words + 1] = ('%d'):format(start.seed)
  end
  for _, word in ipairs(words_of(start, target)) do words[#words + 1] = word end
  if not confirmed(words, start.working_directory, copies, yes) then return false end
  local place = pd.file.temporary_folder()
  for _, copy in ipairs(copies) do
    files.make_folder((place .. copy.path:gsub('/[^/]*$', '')))
    files.write(place .. copy.path, copy.text)
  end
  for i, word in ipairs(words) do words[i] = files.quoted(word) end
  local status = os.execute(('cd -- %s && env -u PUSHDOWN_RUN_LOCK %s %s'):format(files.quoted(start.working_directory),
    #copies > 0 and 'PUSHDOWN_INPUTS=' .. files.quoted(place) or '', table.concat(words, ' ')))
  pd.file.remove_folder(place)
  if status ~= 0 and status ~= true then fail('the run failed this time; its folder is %s', target) end
  return true
end

-- Trains from the files of a run folder alone, for the same number of epochs.
local function train_again(folder, target)
  local initial = file_of(folder, 'checkpoints/initial.safetensors')
  if not initial then
    fail('%s has no checkpoints/initial.safetensors: the run began elsewhere, or with an older version', folder)
  end
  files.make_folder(target .. '/checkpoints')
  for _, part in ipairs { 'data', 'definitions' } do
    if pd.file.kind(folder .. '/' .. part) == 'folder' then
      files.make_folder(target .. '/' .. part)
      for _, name in ipairs(pd.file.list(folder .. '/' .. part)) do
        local file = file_of(folder, part .. '/' .. name)
        if not file then fail('%s/%s/%s is not a file of the run', folder, part, name) end
        files.write(('%s/%s/%s'):format(target, part, name), files.read(file))
      end
    end
  end
  files.write(target .. '/checkpoints/initial.safetensors', files.read(initial))
  files.write(target .. '/checkpoints/last.safetensors', files.read(initial))
  files.write(target .. '/config.json', files.read(file_of(folder, 'config.json')
    or fail('%s has no config.json', folder)))
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
  print(('Repeating %s in %s'):format(visible.line(folder), visible.line(target)))
  local different = differences(start)
  if files.exists(folder .. '/experiment.json') then
    if not run_script(folder, start, target, options.yes) then return print 'Nothing was run.' end
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
