-- The provenance of a run's numbers. Every run folder has provenance.json. For every start of the run it records the
-- program and its build, the machine, the command line, and the scripts, grammars, hints and data files that were read,
-- with their SHA-256. The folder `inputs` has their texts, so that `pushdown runs reproduce` can repeat a run after
-- they have changed.
local files = require 'pushdown.files'
local json = require 'pushdown.json'
local origin = require 'pushdown.store.origin'
local pd = require 'pushdown'
local tables = require 'pushdown.tables'

local M = {}

local function path_of(folder) return folder .. '/provenance.json' end

local fixed  -- facts that do not change during this process

-- provenance.facts() -> {program, library, root, machine, git, working_directory} of this process.
function M.facts()
  fixed = fixed or { program = pd.build(), library = origin.commit(pd.root), root = pd.root,
    machine = origin.machine(), git = origin.git '.', working_directory = pd.file.real_path '.' }
  return fixed
end

-- The name of a text in the folder `inputs`.
local function copy_name(input)
  local name = files.name(input.path):gsub('[^%w._-]', '_')
  return ('inputs/%s-%s'):format(input.sha256:sub(1, 12), name)
end

-- Whether the folder of the copies is a link, through which other files could be written or removed.
local function is_linked(folder) return pd.file.kind(folder .. '/inputs') == 'link' end

-- Returns the inputs that the program has read and saves their texts in the folder.
local function keep_inputs(folder)
  if is_linked(folder) then error(("[provenance] '%s/inputs' is a link: expected a folder"):format(folder), 0) end
  local list = json.list {}
  for _, input in ipairs(pd.file.inputs()) do
    local copy = input.text and copy_name(input)
    if copy and not files.exists(folder .. '/' .. copy) then
      files.make_folder(folder .. '/inputs')
      pd.file.write(folder .. '/' .. copy, input.text)
    end
    list[#list + 1] = json.ordered({ role = input.role, path = input.path, bytes = input.bytes, sha256 = input.sha256,
      copy = copy, note = not input.sha256 and 'the file changed after it was read' or nil },
      { 'role', 'path', 'bytes', 'sha256', 'copy', 'note' })
  end
  return list
end

local order = { 'started', 'finished', 'command_line', 'working_directory', 'seed', 'program', 'library', 'git',
  'machine', 'root', 'inputs' }

local function this_start(folder)
  local start = tables.merged({ started = os.date '!%Y-%m-%dT%H:%M:%SZ',
    command_line = json.list(pd.process.command_line()), seed = pd.session().stream_seed,
    inputs = keep_inputs(folder) }, M.facts())
  return json.ordered(start, order)
end

local function write(folder, provenance)
  pd.file.write(path_of(folder), json.encode(json.ordered(provenance, { 'run', 'starts' }), true) .. '\n')
end

local function is_text(value) return type(value) == 'string' end
local function is_text_or_absent(value) return value == nil or value == json.null or type(value) == 'string' end

-- Whether each item of a list is a table whose fields satisfy these tests.
local function all_have(list, fields)
  if type(list) ~= 'table' then return false end
  for _, item in ipairs(list) do
    for name, sound in pairs(fields) do
      if type(item) ~= 'table' or not sound(item[name]) then return false end
    end
  end
  return true
end

local fields_of_an_input = { role = is_text, path = is_text, sha256 = is_text_or_absent, copy = is_text_or_absent }
local fields_of_a_start = {
  working_directory = is_text, root = is_text_or_absent,
  seed = function(seed) return seed == nil or type(seed) == 'number' and seed >= 0 and seed % 1 == 0 end,
  command_line = function(words)
    for _, word in ipairs(type(words) == 'table' and words or {}) do
      if not is_text(word) then return false end
    end
    return type(words) == 'table'
  end,
  inputs = function(inputs) return inputs == nil or all_have(inputs, fields_of_an_input) end,
}

-- provenance.read(folder) -> {run =, starts = {...}}, or nil if there is no readable provenance.json. The folder may
-- come from somebody else, so the types of the fields are checked.
function M.read(folder)
  if not files.exists(path_of(folder)) then return nil end
  local ok, provenance = pcall(function() return json.decode(files.read(path_of(folder))) end)
  local sound = ok and type(provenance) == 'table' and all_have(provenance.starts, fields_of_a_start)
    and #provenance.starts > 0
  return sound and provenance or nil
end

-- provenance.remove(folder): removes provenance.json and the copies that it names.
function M.remove(folder)
  for _, start in ipairs((M.read(folder) or { starts = {} }).starts) do
    for _, input in ipairs(type(start.inputs) == 'table' and start.inputs or {}) do
      local copy = type(input.copy) == 'string' and input.copy:match '^inputs/[%w._-]+$'
      if copy and not is_linked(folder) then os.remove(folder .. '/' .. copy) end
    end
  end
  os.remove(path_of(folder))
  os.remove(folder .. '/inputs')  -- fails unless it is empty
end

local current = {}  -- by folder: the entry of this process

-- provenance.begin(folder, run) -> the earlier starts. Records that this process starts or resumes the run. run: the
-- identity of the run, a text; the record of another run in the folder is replaced.
function M.begin(folder, run)
  local before = M.read(folder)
  if not before or before.run ~= run then
    M.remove(folder)
    before = { starts = json.list {} }
  end
  local starts = json.list { unpack(before.starts) }
  local provenance = { run = run, starts = starts }
  starts[#starts + 1] = this_start(folder)
  write(folder, provenance)
  current[folder] = provenance
  return before.starts
end

local function change(folder, action)
  local provenance = current[folder]
  if not provenance then return end
  action(provenance.starts[#provenance.starts])
  write(folder, provenance)
end

-- provenance.update(folder): records the files that were read since the run began.
function M.update(folder) change(folder, function(start) start.inputs = keep_inputs(folder) end) end

-- provenance.finish(folder): records that the run has ended.
function M.finish(folder) change(folder, function(start) start.finished = os.date '!%Y-%m-%dT%H:%M:%SZ' end) end

-- ---- Inputs that have changed ----

local hashes = {}  -- of files, by path

local function hash_of(path)
  if hashes[path] == nil then
    local read, digest = pcall(pd.file.sha256, path)
    hashes[path] = read and digest
  end
  return hashes[path]
end

-- The path from which an input of a run would be read now; the program's own files come from this installation.
local function path_now(path, root)
  if type(root) == 'string' and path:sub(1, #root + 1) == root .. '/' then return pd.root .. path:sub(#root + 1) end
  return path
end

-- provenance.changed(start) -> the inputs of a start that are no longer the same, as a list of {path =, role =,
-- why = 'has changed' or 'is gone'}. Entries typed at a prompt are not files and are left out.
function M.changed(start)
  local list = {}
  for _, input in ipairs(start.inputs or {}) do
    local path = path_now(input.path, start.root)
    local now = input.role ~= 'entries' and input.path ~= 'stdin' and input.sha256 and hash_of(path)
    if now == false and input.role ~= 'entries' and input.path ~= 'stdin' and input.sha256 then
      list[#list + 1] = { path = path, role = input.role, why = 'is gone', input = input }
    elseif now and now ~= input.sha256 then
      list[#list + 1] = { path = path, role = input.role, why = 'has changed', input = input }
    end
  end
  return list
end

return M
