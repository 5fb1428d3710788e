-- The examples of every page run and print what the page shows.
-- Arguments, if any, are the pages to test, as paths in the repository.
-- label: long
local pd = require 'pushdown'
local test = require 'pushdown.test'
local files = require 'pushdown.files'
local sessions = dofile(pd.root .. '/scripts/tools/sessions.lua')

local shell = test.program

local pages = #arg > 0 and arg or sessions.pages()

-- Numbers that depend on a training differ between processors.
local function tolerance(section)
  local trained = section.text:find(':epochs()', 1, true) or section.text:find(':run()', 1, true)
  return trained and math.huge or 1e-6
end

-- Returns what a section needs and the machine does not have, or nil.
local found = {}
local function succeeds(command)
  if found[command] == nil then found[command] = os.execute(command .. ' > /dev/null 2>&1') == 0 end
  return found[command]
end
local function missing(section)
  local text = section.text
  if text:find '%$ python3 ' and not succeeds 'python3 --version' then return 'python3' end
  if text:find '%$ python3 %S*run_model%.py' and not succeeds 'python3 -c "import numpy"' then return 'numpy' end
  if text:find '%$ pushdown kernel' and not files.exists(shell .. '-kernel') then return 'the kernel for notebooks' end
end

-- Returns the differences between the output of the examples of a page and the output on the page, and the number of
-- entries.
local function differences(page)
  local problems, entries = {}, 0
  sessions.run(page, shell, function(shown, printed, section)
    if missing(section) then return end
    entries = entries + 1
    local function problem(text)
      problems[#problems + 1] = ('%s: %s: %s'):format(section.title, printed.entry, text)
    end
    if #printed.output ~= #shown.output then return problem(table.concat(printed.output, '\n')) end
    for i, line in ipairs(printed.output) do
      local difference = sessions.difference(line, shown.output[i], tolerance(section))
      if difference then problem(difference) end
    end
  end)
  return problems, entries
end

-- The reason why a page does not begin as a reference page must, or nil.
local function wrong_opening(page)
  local purpose, line = sessions.opening(page)
  if not purpose then return 'the page must begin with a sentence of purpose' end
  if not line then return 'the page must have a recorded session before its first section' end
  if line > 40 then return 'the first recorded session begins on line ' .. line .. ': expected 40 or less' end
end

test('few scripts do not run, each for a reason', function()
  local count = 0
  for _, name in ipairs(sessions.pages()) do
    local page = files.read(pd.root .. '/' .. name)
    for _, reason in ipairs(sessions.left_out(page)) do
      count = count + 1
      assert(#reason > 10, name)
    end
  end
  assert(count <= 4, count .. ' scripts do not run')
end)

for _, name in ipairs(pages) do
  test('the examples print what ' .. name .. ' shows', function()
    local page = files.read(pd.root .. '/' .. name)
    if name:find '^docs/reference/[^/]+$' then test.equal(wrong_opening(page), nil) end
    for line in page:gmatch '[^\n]+' do
      if line:find '^pd> ' or line:find '^%.%.%. ' or line:find '^%$ ' then assert(#line <= 100, line) end
    end
    local problems = differences(page)
    assert(#problems == 0, table.concat(problems, '\n'))
  end)
end

test('a page with another output is detected', function()
  local text = '# Sums\n\nAdds.\n\n```\npd> 1 + 1\n3\npd> 2 * 2\n4\n```\n\n## 1. More\n\n```\n$ echo 1 2\n1 2\n3\n```\n'
  local made = sessions.run(text, shell)
  test.equal(made, (text:gsub('\n3\n', '\n2\n', 1):gsub('\n3\n', '\n')))
  local problems, entries = differences(text)
  test.equal(entries, 3)
  test.equal(#problems, 2)
  assert(problems[1]:find 'Sums: 1 %+ 1: expected 3' and problems[2] == '1. More: echo 1 2: 1 2', problems[1])
  test.equal(#differences(made), 0)
end)

test('a script that fails or prints something else is detected', function()
  local text = '# A\n\nB.\n\n```lua\n-- a.lua\nerror "no"\n```\n\n```lua\nprint(1)\n```\n\n'
    .. '```lua\nprint(1)\n--> 2\n```\n\n' .. '```lua\nlocal x = nothing.here\n```\n\n'
    .. '<!-- not run: tested -->\n\n```lua\nerror "no"\n```\n'
  local problems, entries = differences(text)
  test.equal(entries, 3)
  test.equal(#problems, 2)
  test.has(problems[1], 'A: print(1): expected 2')
  test.has(problems[2], "global 'nothing'")
  test.equal(table.concat(sessions.left_out(text)), 'tested')
end)

test('a reference page without a session at its top is detected', function()
  local session = '```\npd> 1 + 1\n2\n```\n'
  test.equal(wrong_opening('[Up](x)\n\n# Sums\n\nAdds.\n\n```lua\n-- a.lua\n```\n\n' .. session), nil)
  assert(wrong_opening('\n# Sums\n\n' .. session):find 'sentence')
  assert(wrong_opening('\n# Sums\n\nAdds.\n\n## More\n\n' .. session):find 'before its first section')
  assert(wrong_opening('\n# Sums\n\nAdds.\n' .. ('\n'):rep(50) .. session):find 'line 5%d')
end)

test.finish()
