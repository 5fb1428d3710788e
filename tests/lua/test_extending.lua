-- The blocks of code in docs/extending.md are the files and the changes with which its examples extend the program. The
-- changes fit the files of the tree, and no example touches more files than it should.
--   test_extending.lua [build [TESTS]]
-- With `build` the examples are made in a copy of the tree and of the build folder, which is built and tested. TESTS is
-- a regular expression for the names of the tests to run, as of `ctest -R`.
-- slow: build
local pd = require 'pushdown'
local test = require 'pushdown.test'
local files = require 'pushdown.files'

-- The most files of each example: new files, edited files, and how many of both are tests.
local most = {
  ['A stack'] = { 2, 2, 1 }, ['A controller'] = { 1, 2, 1 }, ['An operation that is recorded'] = { 0, 2, 1 },
  ['A kind of transduction'] = { 1, 1, 0 }, ['An objective'] = { 1, 1, 0 }, ['An option'] = { 0, 1, 0 },
  ['A kind of picture'] = { 1, 1, 0 }, ['A command'] = { 2, 0, 1 },
}

local function lines_of(text) return pd.tables.matches(text:gsub('\n$', '') .. '\n', '(.-)\n') end

-- The examples in the order of the page: the heading, new files (path -> text) and changes (path -> list of hunks). A
-- hunk is a list of lines that begin with ' ', '-' or '+', as in a patch without line numbers.
local function examples_of(page)
  local examples, heading, block = {}, nil, nil
  for _, line in ipairs(lines_of(page)) do
    if line:find '^```' then
      local first = block and block[1] or ''
      local new, edited = first:match '^[/-][/-] ([%w_/]+/[%w_]+%.%w+)$', first:match '^%-%-%- ([%w_/]+%.%w+)$'
      if new or edited then
        local example = examples[#examples]
        if not example or example.heading ~= heading then
          example = { heading = heading, new = {}, edited = {} }
          examples[#examples + 1] = example
        end
        if new then
          example.new[new] = table.concat(block, '\n') .. '\n'
        else
          local hunks = { {} }
          for i = 2, #block do
            if block[i] == '@@' then hunks[#hunks + 1] = {} else table.insert(hunks[#hunks], block[i]) end
          end
          example.edited[edited] = hunks
        end
      end
      block = not block and {} or nil
    elseif block then
      block[#block + 1] = line
    else
      heading = line:match '^##+ (.*)' or heading
    end
  end
  return examples
end

-- Whether a line of a file is that of a hunk, which may end in … for the rest of the line.
local function same(line, expected)
  local start = expected:match '^(.*)…$'
  return line == expected or line ~= nil and start ~= nil and line:sub(1, #start) == start
end

-- The lines of a file after a hunk. Its old lines must be at one place of the file.
local function changed(path, lines, hunk)
  local old = {}
  for _, line in ipairs(hunk) do if line:sub(1, 1) ~= '+' then old[#old + 1] = line:sub(2) end end
  local found = {}
  for at = 1, #lines - #old + 1 do
    local fits = true
    for i, line in ipairs(old) do fits = fits and same(lines[at + i - 1], line) end
    if fits then found[#found + 1] = at end
  end
  if #found ~= 1 then error(('%s has %d times the lines\n%s'):format(path, #found, table.concat(old, '\n')), 0) end
  local result, at = {}, found[1]
  for i = 1, at - 1 do result[i] = lines[i] end
  for _, line in ipairs(hunk) do
    local mark = line:sub(1, 1)
    if mark == '+' then result[#result + 1] = line:sub(2) end
    if mark == ' ' then result[#result + 1] = lines[at] end
    if mark ~= '+' then at = at + 1 end
  end
  for i = at, #lines do result[#result + 1] = lines[i] end
  return result
end

-- The files that the examples write: path -> text.
local function written(examples, root)
  local texts = {}
  for _, example in ipairs(examples) do
    for path, text in pairs(example.new) do
      assert(not files.exists(root .. '/' .. path), path .. ' exists')
      texts[path] = text
    end
    for path, hunks in pairs(example.edited) do
      local lines = lines_of(texts[path] or files.read(root .. '/' .. path))
      for _, hunk in ipairs(hunks) do lines = changed(path, lines, hunk) end
      texts[path] = table.concat(lines, '\n') .. '\n'
    end
  end
  return texts
end

local examples = examples_of(files.read(pd.root .. '/docs/extending.md'))

test('the examples fit the tree and touch few files', function()
  written(examples, pd.root)
  print(('%-32s %4s %7s %6s'):format('files of an example', 'new', 'edited', 'tests'))
  for _, example in ipairs(examples) do
    local counts = { 0, 0, 0 }
    for i, paths in ipairs { example.new, example.edited } do
      for path in pairs(paths) do
        counts[i] = counts[i] + 1
        if path:find '^tests/' then counts[3] = counts[3] + 1 end
      end
    end
    print(('%-32s %4d %7d %6d'):format(example.heading, unpack(counts)))
    test.equal(table.concat(counts, ' '), table.concat(assert(most[example.heading], example.heading), ' '))
    most[example.heading] = nil
  end
  test.equal(next(most), nil)
end)

-- Runs a command with its output on the terminal.
local function run(command) assert(os.execute(command) == 0, command) end

if arg[1] == 'build' then
  test('the examples can be built and pass the tests', function()
    local root, q = pd.root, files.quoted
    local build = assert(os.getenv 'PUSHDOWN_BUILD_DIR', 'PUSHDOWN_BUILD_DIR names the build folder')
    local inside = assert(build:sub(1, #root + 1) == root .. '/' and build:sub(#root + 2))
    local copy = build:match '^(.*)/' .. '/extending'
    run(('rm -rf %s && mkdir -p %s'):format(q(copy), q((copy .. '/' .. inside):match '^(.*)/')))
    run(('cd %s && git ls-files -z --cached --others --exclude-standard | '
      .. 'tar --null --ignore-failed-read -cf - -T - 2>/dev/null | tar -xf - -C %s'):format(q(root), q(copy)))
    for path, text in pairs(written(examples, copy)) do files.write(copy .. '/' .. path, text) end
    -- The build folder has absolute paths. Where the system permits, the copy is mounted in place of the tree.
    local place = copy
    local function here(command)
      local line = ('cd %s && %s'):format(q(place), command)
      if place == root then
        line = ('unshare -rm sh -c %s'):format(q(('mount --bind %s %s && %s'):format(q(copy), q(root), line)))
      end
      run('unset PUSHDOWN_BINARY PUSHDOWN_BUILD_DIR; ' .. line)
    end
    if os.execute(('unshare -rm mount --bind %s %s 2>/dev/null'):format(q(copy), q(root))) == 0 then
      place = root
      run(('cp -a %s %s'):format(q(build), q(copy .. '/' .. inside)))
    else
      here('cmake --preset release -B ' .. q(inside))
    end
    here('cmake --build ' .. q(inside))
    here(q(inside .. '/pushdown') .. ' scripts/tools/make_api.lua')
    here(q(inside .. '/pushdown') .. ' scripts/tools/make_tutorial.lua --record 03_stacks')
    here(("ctest --test-dir %s -LE 'slow|single' -E '^lua_extending$' -R %s --output-on-failure")
      :format(q(inside), q(arg[2] or '.')))
    run('rm -rf ' .. q(copy))
  end)
end

test.finish()
