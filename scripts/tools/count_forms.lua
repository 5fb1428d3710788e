-- Counts the forms in which a thing exists, and the places that a new thing touches, and prints them beside their bars:
--   luajit scripts/tools/count_forms.lua
-- Checks that each function of the paths in docs/architecture.md calls the next one, and that the files of its reading
-- order exist, and fails otherwise.
local function lines_of(command)
  local pipe, lines = assert(io.popen(command)), {}
  for line in pipe:lines() do lines[#lines + 1] = line end
  pipe:close()
  return lines
end

local function text_of(path)
  local file = assert(io.open(path), path .. ': no such file')
  local text = file:read '*a'
  file:close()
  return text
end

local generated = "':!docs/results' ':!docs/tutorial' ':!docs/api.md'"

-- The files that contain a match of a regular expression.
local function files_with(expression, places)
  return lines_of(("git grep -lP '%s' -- %s %s"):format(expression, places, generated))
end

local function matches(expression, places)
  return lines_of(("git grep -hP '%s' -- %s"):format(expression, places))
end

local function count_lines()
  local count = 0
  for _, path in ipairs(lines_of('git ls-files -- . ' .. generated)) do
    for _ in io.lines(path) do count = count + 1 end
  end
  return count
end

-- The body of each definition of a function in a C++ file; `name` may name its class, too.
local function bodies(text, name)
  local found, from = {}, 1
  local plain = name:match '[%w_]+$'
  while true do
    local first, last = text:find('%f[%w_]' .. plain .. '%f[^%w_]%s*%b()', from)
    if not first then return found end
    local brace = text:match('^[^;{}]*(){', last + 1)
    if brace then found[#found + 1] = text:match('%b{}', brace) end
    from = last + 1
  end
end

-- The rows `function | file` of a table under a heading of docs/architecture.md.
local function path_of(heading)
  local rows, inside = {}, false
  for line in io.lines 'docs/architecture.md' do
    if line:find '^#' then inside = line == '### ' .. heading end
    local name, file = line:match '^| `([%w_:]+)` | `([%w_/.]+)` |$'
    if inside and name then rows[#rows + 1] = { name = name, file = 'src/' .. file } end
  end
  return rows
end

local broken = 0
local function check_path(heading)
  local rows = path_of(heading)
  for i, row in ipairs(rows) do
    local all = table.concat(bodies(text_of(row.file), row.name), '\n')
    local called = rows[i + 1] and rows[i + 1].name:match '[%w_]+$'
    if all == '' or called and not all:find('%f[%w_]' .. called .. '%f[^%w_]') then
      io.stderr:write(('docs/architecture.md, %s: %s of %s %s\n'):format(heading, row.name, row.file,
        all == '' and 'is not defined there' or 'does not call ' .. called))
      broken = broken + 1
    end
  end
  return #rows
end

local rows = {
  { 'files that name the stack with kernels `tape`', 12,
    #files_with([[[\x22\x27\x60]tape[\x22\x27\x60]|stack/tape]],
      -- On the other pages "tape" is what a pass keeps.
      "src bindings tests docs ':!docs/architecture.md' ':!docs/glossary.md' ':!tests/bench/main.cpp'") },
  { 'functions from an epoch to the loop, CPU', 18, check_path 'Functions from an epoch to the loop' },
  { 'functions from an epoch to the loop, device', 22, check_path 'Functions from an epoch to the loop on a device' },
  { 'virtual functions of a network that compute a gradient or say how', 1,
    #matches([[virtual (Tensor log_prob|[\w:<>]*(Route|Losses|DirectPassPtr|HigherOrderNetwork|StepPlanPtr)\b)]],
      'src/model/network.h') },
  { 'returns of {}, nullptr, nullopt in model and recurrence', nil,
    #matches([[return (\{\}|nullptr|std::nullopt);]], 'src/model src/recurrence') },
  { 'classes named Pass', 2, #matches([[^ *class \w*Pass\b.*\{]], 'src') },
  { 'scripts of experiments that train or score', nil,
    #lines_of "git ls-files 'scripts/experiments/*/train*.lua' 'scripts/experiments/*/scores.lua'" },
  { 'lines without results and generated pages', nil, count_lines() },
}
-- The files of the table under "Reading order" exist.
local inside = false
for line in io.lines 'docs/architecture.md' do
  if line:find '^#' then inside = line == '## Reading order' end
  local path = inside and line:match '^| %d+ | `([%w_/.]+)` |'
  if path and not io.open(path) then
    io.stderr:write('docs/architecture.md, Reading order: there is no ' .. path .. '\n')
    broken = broken + 1
  end
end
for _, row in ipairs(rows) do
  local bar = row[2] and ('bar %d%s'):format(row[2], row[3] > row[2] and ', missed' or '') or ''
  print(('%-62s %7d  %s'):format(row[1], row[3], bar))
end
os.exit(broken == 0 and 0 or 1)
