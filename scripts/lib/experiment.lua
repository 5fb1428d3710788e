-- Experiments: a script declares its options once. It then reads its command line, answers --help and
-- has smaller sizes for a first look and for the tests. Its run folder keeps the full configuration,
-- and the tables and plots that it shows.
--
--   local options, run = experiment.start{
--     name = 'reversal', doc = 'How well does each stack learn marked reversal?',
--     options = { { 'epochs', 20, 'passes over the training strings' },
--                 { 'stacks', { 'none', 'nondeterministic' }, 'stacks to compare' } },
--     quick = { epochs = 5 }, smoke = { epochs = 1 },
--   }
local files = require 'pushdown.files'
local folder_of_run = require 'pushdown.experiment.folder'
local json = require 'pushdown.json'
local pd = require 'pushdown'
local provenance = require 'pushdown.store.provenance'
local record = require 'pushdown.store.record'
local Run = require 'pushdown.experiment.run'
local trim = require 'pushdown.text.trim'
local values = require 'pushdown.store.values'

local wrapped = require 'pushdown.text.wrapped'

local M = {}

local function fail(...) error({ usage = (...):format(select(2, ...)) }, 0) end

local function dashed(name) return '--' .. name:gsub('_', '-') end

-- Joins lists of declared options.
function M.join_options(...)
  local all = {}
  for _, list in ipairs { ... } do
    for _, option in ipairs(list) do all[#all + 1] = option end
  end
  return all
end

local check = pd._options.declare('experiment.start', {
  { 'name', nil, 'name of the experiment, in the registry and in paths', type = 'text', required = true },
  { 'doc', nil, 'what it measures, for --help', type = 'text' },
  { 'options', {}, 'its options as rows: {name, default, doc, type=, choices=, minimum=, maximum=, may_change=}',
    type = 'list of tables' },
  { 'quick', nil, 'options of a smaller run, for a first look', type = 'table' },
  { 'smoke', nil, 'options of a run of a few seconds that only checks that everything works', type = 'table' },
  { 'resumes', true, 'a run in the folder is resumed if its options are the same; false: never' },
  { 'run_folder', true, 'there is a run folder' },
  { 'words', false, 'words that are not options are allowed' },
  { 'part', nil, 'the first word of the command line, if the script has several parts', type = 'text' },
})

-- The declared options in the form of pd.options, and by name. Only the author of a script can make mistakes in a
-- declaration, so they are plain errors.
local function specs_of(declaration)
  check(declaration)
  local rows, own_overwrite = M.join_options(declaration.options or {}), false
  for _, row in ipairs(rows) do own_overwrite = own_overwrite or (row[1] or row.name) == 'overwrite' end
  local function add(row) rows[#rows + 1] = row end
  if declaration.quick then add { 'quick', false, 'a smaller run, for a first look' } end
  if declaration.smoke then add { 'smoke', false, 'a run of a few seconds that only checks that everything works' } end
  if declaration.run_folder ~= false then
    add { 'run_folder', 'runs/' .. declaration.name .. '/DATE-TIME', 'folder for the configuration, tables and plots' }
    if not own_overwrite then add { 'overwrite', false, 'replace the run in the folder', may_change = true } end
  end
  local specs, by_name = pd._options.rows('experiment', rows), {}
  for _, spec in ipairs(specs) do by_name[spec.name] = spec end
  for _, size in ipairs { 'quick', 'smoke' } do
    for name in pairs(declaration[size] or {}) do
      if not by_name[name] then
        error(("[experiment] %s sets '%s', which is not an option"):format(size, name), 0)
      end
    end
  end
  return specs, by_name
end

local function value_of(spec, text)
  local value, problem = pd._options.from_text('experiment', { spec }, text)
  if value == nil then fail('%s', problem) end
  return value
end

local function shown(value)
  if type(value) == 'table' then return table.concat(value, ',') end
  return value == nil and '' or tostring(value)
end

local longest_default = 80

-- A default for --help: of a long list the first items and their number.
local function short_default(value)
  local text = shown(value)
  if type(value) ~= 'table' or #text <= longest_default then return text end
  local count = 1
  while #table.concat(value, ',', 1, count + 1) <= longest_default - 20 do count = count + 1 end
  return ('%s,... (%d in all)'):format(table.concat(value, ',', 1, count), #value)
end

-- experiment.help(declaration, columns) -> the text of --help, with the descriptions wrapped for a terminal with this
-- many columns (by default those of standard output, if it is a terminal).
function M.help(declaration, columns)
  columns = columns or pd.process.columns 'stdout'
  local lines = {}
  -- A command line of words, such as that of `pushdown runs`, has them in its name.
  if declaration.words then lines = { declaration.name .. ' [options]', '' } end
  for line in ((declaration.doc or declaration.name) .. '\n'):gmatch '(.-)\n' do
    lines[#lines + 1] = wrapped(line, columns)
  end
  lines[#lines + 1] = ''
  lines[#lines + 1] = 'Options (name, default, meaning):'
  local width, middle, rows = 0, 0, {}
  for _, spec in ipairs((specs_of(declaration))) do
    local short = spec.short and '-' .. spec.short .. ', ' or ''
    local value = spec.type == 'boolean' and '' or ' ' .. spec.type:match('^%a+'):upper()
    local row = { short .. dashed(spec.name) .. value, short_default(spec.default),
      spec.doc .. (spec.choices and ' (' .. table.concat(spec.choices, ', ') .. ')' or '') }
    width, middle = math.max(width, #row[1]), math.max(middle, #row[2])
    rows[#rows + 1] = row
  end
  rows[#rows + 1] = { '--help', '', 'this text' }
  local margin = width + middle + 6
  -- In a narrow terminal each description gets its own lines.
  local below = columns and columns - margin < 24
  local indent = (' '):rep(below and 6 or margin)
  for _, row in ipairs(rows) do
    local meaning = columns and wrapped(row[3], columns, indent) or indent .. row[3]
    local front = (('  %-' .. width .. 's  %-' .. middle .. 's'):format(row[1], row[2]))
    lines[#lines + 1] = below and trim.right(front) .. '\n' .. meaning or front .. '  ' .. meaning:sub(margin + 1)
  end
  return table.concat(lines, '\n') .. '\n'
end

-- experiment.parse(declaration, arguments) -> options, size, given: reads a command line. options: every
-- declared option by name; size: 'full', 'quick' or 'smoke'; given: the names that were on the command line. Options
-- on the command line override the values of the size, which override the defaults. --help gives
-- options.help = true. Raises {usage = message} if the command line is wrong. With declaration.words = true,
-- words that are not options are allowed and returned as options.words. With run_folder = false there is no
-- such option. An option with a list and repeated = true can be given several times; short = 'o' also allows -o.
-- A word declaration.part at the beginning is skipped.
-- A list is written a,b or, if a text of it has a comma or is empty, as JSON: '["a,b", ""]'. --name= is the empty list.
function M.parse(declaration, arguments)
  local specs, by_name = specs_of(declaration)
  local given, words, at = {}, {}, declaration.part and arguments[1] == declaration.part and 2 or 1
  local names, letters = { 'help' }, { h = 'help' }
  for _, spec in ipairs(specs) do
    names[#names + 1] = spec.name
    if spec.short then letters[spec.short] = spec.name end
  end
  while at <= #arguments do
    local argument = arguments[at]
    local written, text = argument:match('^%-%-([^=]+)=(.*)$')
    written = written or argument:match('^%-%-(.+)$')
    written = written or letters[argument:match('^%-(%a)$') or '']
    if not written and not declaration.words then
      fail("unexpected argument '%s'; options are written --name value", argument)
    end
    local name = (written or ''):gsub('%-', '_')
    if name == 'help' then return { help = true } end
    local spec, off = by_name[name], by_name[name:match('^no_(.+)$') or '']
    if not written then
      words[#words + 1] = argument
    elseif spec and spec.type == 'boolean' then
      given[name] = value_of(spec, text or 'true')
    elseif not spec and off and off.type == 'boolean' and not text then
      given[off.name] = false
    elseif spec then
      if not text then
        at = at + 1
        text = arguments[at]
        if not text or text:match('^%-%-') then
          fail("option '%s' needs a value (%s)%s", dashed(name), spec.type,
            text and spec.type:find 'text' and ('; one like this is written %s=%s'):format(dashed(name), text) or '')
        end
      end
      local value = value_of(spec, text)
      local all = spec.repeated and given[name]
      for _, item in ipairs(all and value or {}) do all[#all + 1] = item end
      given[name] = all or value
    else
      local near = pd._text.nearest(name, names)
      fail("unknown option --%s%s; --help lists the options", written,
        near and ', did you mean ' .. dashed(near) .. '?' or '')
    end
    at = at + 1
  end
  local size = given.smoke and 'smoke' or given.quick and 'quick' or 'full'
  local options = {}
  for _, spec in ipairs(specs) do
    local value = given[spec.name]
    if value == nil and size ~= 'full' then value = declaration[size][spec.name] end
    if value == nil then value = spec.default end
    if type(value) == 'table' then value = json.list { unpack(value) } end
    options[spec.name] = value
  end
  if not given.run_folder then options.run_folder = nil end
  -- experiment.start handles overwrite, unless the script has declared an option of that name.
  if by_name.overwrite and by_name.overwrite.may_change then options.overwrite = nil end
  if declaration.words then options.words = words end
  return options, size, given
end

-- Returns the text of a result that was made with other options than those of this start, and removes the file. A
-- resumed run has no result until it ends again, so that a grid never mistakes the old result for the new one.
local function take_result(run, options)
  local path, same = run:path 'result.json', true
  if not files.exists(path) then return nil end
  for name, value in pairs(options) do same = same and values.same(run.before[name], value) end
  if same then return nil end
  local text = files.read(path)
  assert(os.remove(path))
  return text
end

local function free_folder(name)
  local base = ('runs/%s/%s'):format(name, os.date('%Y%m%d-%H%M%S'))
  local folder, number = base, 1
  while files.exists(folder .. '/experiment.json') do
    number = number + 1
    folder = base .. '-' .. number
  end
  return folder
end

-- Describes the values that are smaller than in the full run: "epochs 1 instead of 20, ...".
local function differences(declaration, options, size, given)
  local parts = {}
  for _, spec in ipairs((specs_of(declaration))) do
    local name = spec.name
    local changed = declaration[size][name] ~= nil and given[name] == nil
    if changed and shown(options[name]) ~= shown(spec.default) then
      parts[#parts + 1] = ('%s %s instead of %s'):format(name, shown(options[name]), shown(spec.default))
    end
  end
  return table.concat(parts, ', ')
end

-- The contents of experiment.json. before: its old contents if the run is resumed. They stay, except for options that
-- may change; provenance.json records every start.
local function configuration(declaration, options, size, arguments, before)
  local names = {}
  for _, spec in ipairs((specs_of(declaration))) do names[#names + 1] = spec.name end
  options = values.storable(options)
  if before then
    local own = before.options
    before.options = json.ordered(options, names)
    return before, own
  end
  local facts = provenance.facts()
  return json.ordered({
    experiment = declaration.name, doc = declaration.doc, size = size,
    options = json.ordered(options, names), command_line = json.list { unpack(arguments) },
    script = arguments[0], started = os.date('!%Y-%m-%dT%H:%M:%SZ'), version = pd.version,
    commit = facts.library, git = facts.git, machine = facts.machine,
  }, { 'experiment', 'doc', 'size', 'options', 'command_line', 'script', 'started', 'version', 'commit', 'git',
    'machine' })
end

local function integer(value)
  return type(value) == 'number' and value == math.floor(value) and value or nil
end

-- The output of --defaults: the default options as JSON for each size of the run, and the names of the options that
-- may change.
local function sizes_of(declaration)
  local sizes = { may_change = json.list {} }
  for _, spec in ipairs((specs_of(declaration))) do
    if spec.may_change then table.insert(sizes.may_change, spec.name) end
  end
  for _, size in ipairs { 'full', 'quick', 'smoke' } do
    if size == 'full' or declaration[size] then
      sizes[size] = M.parse(declaration, size == 'full' and {} or { '--' .. size })
    end
  end
  return json.encode(sizes) .. '\n'
end

local open = io.open

-- Keeps the list of the files that the run writes, also of those that a script makes by io.open.
local function list_written(folder)
  pd.file.keep_written_list(folder)
  function io.open(path, mode)  -- luacheck: ignore 122
    -- An existing file that is only extended or changed belongs to somebody else.
    if type(path) == 'string' and type(mode) == 'string' and (mode:find '^w' or mode:find '^a' and
      not pd.file.kind(path)) then
      pd.file.note_written(path)
    end
    return open(path, mode)
  end
end

-- experiment.start({options}, arguments) -> options, run: reads the command line of a script, and makes and records
-- its run. The type of an option is that of its default: boolean, integer, number, text, list of numbers or list of
-- texts. A run in the folder is resumed only if the options are the same, except for those with may_change = true;
-- --overwrite replaces that run.
-- arguments default to those of the script. The function answers --help, --defaults (all options as JSON, for
-- programs) and wrong command lines itself (exit codes 0, 0 and 2). It makes and locks the run folder, enters the
-- run in the registry (pushdown.runs) and writes experiment.json. run: folder, size, record, path(name),
-- trainer(options), earlier_result(is_enough), table(name, spec), lines(name, spec), finish(result).
function M.start(declaration, arguments)
  arguments = arguments or rawget(_G, 'arg') or {}
  if arguments[declaration.part and 2 or 1] == '--defaults' then
    io.write(sizes_of(declaration))
    os.exit(0)
  end
  local ok, options, size, given = pcall(M.parse, declaration, arguments)
  if not ok then
    if type(options) ~= 'table' then error(options, 0) end
    io.stderr:write(('%s: %s\n'):format(declaration.name, options.usage))
    os.exit(2)
  end
  if options.help then
    io.write(M.help(declaration))
    os.exit(0)
  end
  io.stdout:setvbuf 'line'  -- keeps the order with training messages on stderr, also in a file
  options.run_folder = options.run_folder or free_folder(declaration.name)
  files.make_folder(options.run_folder)
  record.hold(options.run_folder)
  local before = folder_of_run.check(declaration, (specs_of(declaration)), options, size,
    given.overwrite and options.overwrite == nil)
  list_written(options.run_folder)
  local run = setmetatable({ name = declaration.name, folder = options.run_folder, size = size, shown = {} }, Run)
  local kept
  kept, run.before = configuration(declaration, options, size, arguments, before)
  run.earlier = run.before and take_result(run, kept.options)
  local words = pd.process.command_line(arguments)
  run.record = record.record { folder = run.folder, experiment = declaration.name, options = Run.recorded(options),
    command = #words > 0 and record.plain_command(words) or nil, git = kept.git, seed = integer(options.seed),
    restart = integer(options.restart) }
  if not given.run_folder and declaration.resumes ~= false then
    run.record.interrupted = ('A script that can resume continues this run with --run-folder %s'):format(run.folder)
  end
  files.write(run:path('experiment.json'), json.encode(kept, true) .. '\n')
  run.configuration = kept
  folder_of_run.tell_changed(run.folder, provenance.begin(run.folder, 'experiment ' .. declaration.name))
  -- A preset that changes nothing is the full size.
  if size ~= 'full' and next(declaration[size]) then
    local rule = ('*'):rep(78)
    local smaller = differences(declaration, options, size, given)
    local first = ('%s RUN, SMALLER THAN THE FULL ONE: its numbers are not the results.'):format(size:upper())
    if smaller ~= '' then smaller = smaller .. '.' end
    run.smaller = first .. ' ' .. smaller
    print(rule)
    print(first)
    if smaller ~= '' then print(wrapped(smaller, pd.process.columns 'stdout' and 78)) end
    print(rule)
  end
  return options, run
end

return M
