-- The examples of the cookbook print what the page shows.
local pd = require 'pushdown'
local test = require 'pushdown.test'
local files = require 'pushdown.files'
local sessions = dofile(pd.root .. '/scripts/tools/sessions.lua')

local shell = assert(os.getenv('PUSHDOWN_BINARY'), 'PUSHDOWN_BINARY names the shell')
local page = files.read(pd.root .. '/docs/cookbook.md')

-- The numbers of a training differ between processors: only the text around them is compared.
local trained = { [7] = true, [8] = true, [9] = true, [10] = true, [11] = true, [12] = true, [13] = true, [14] = true,
  [19] = true, [20] = true, [21] = true }
-- Sections that need something that may not be there.
local function missing(number)
  if number <= 3 and os.execute 'python3 --version > /dev/null 2>&1' ~= 0 then return 'python3' end
  if number == 25 and not files.exists(shell .. '-kernel') then return 'the kernel for notebooks' end
end

test('there are 25 tasks, each with an example, and the list names them all', function()
  local count, list = 0, page:match '\n| From elsewhere.-\n\n'
  for number, title, body in page:gmatch '\n## (%d+)%. ([^\n]*)\n(.-)%f[%z\n]%f[\n%z]' do
    count = count + 1
    test.equal(tonumber(number), count)
    local anchor = (number .. '. ' .. title):lower():gsub('[^%w%- <>]', ''):gsub('[<>]', ''):gsub(' ', '-')
    assert(list:find('(#' .. anchor .. ')', 1, true), anchor .. ' in ' .. list)
    assert(body, title)
  end
  test.equal(count, 25)
  for line in page:gmatch '[^\n]+' do
    if line:find '^pd> ' or line:find '^%.%.%. ' then assert(#line <= 100, line) end
  end
end)

test('the examples print what the page shows', function()
  local problems, entries = {}, 0
  sessions.run(page, shell, function(shown, printed, title)
    local number = tonumber(title:match '^%d+')
    if missing(number) then return end
    entries = entries + 1
    local function problem(text)
      problems[#problems + 1] = ('%s: %s: %s'):format(title, printed.entry, text)
    end
    if #printed.output ~= #shown.output then return problem(table.concat(printed.output, '\n')) end
    for i, line in ipairs(printed.output) do
      local difference = sessions.difference(line, shown.output[i], trained[number] and math.huge or 1e-6)
      if difference then problem(difference) end
    end
  end)
  assert(entries > 100, entries)
  assert(#problems == 0, table.concat(problems, '\n'))
end)

test('a page that shows something else is found out', function()
  local found = {}
  local text = '\n## 1. Sums\n\n```\npd> 1 + 1\n3\npd> 2 * 2\n4\n```\n'
  local made = sessions.run(text, shell, function(shown, printed)
    found[#found + 1] = sessions.difference(printed.output[1], shown.output[1], 1e-6) or 'same'
  end)
  assert(found[1]:find 'expected 3' and found[2] == 'same', found[1])
  test.equal(made, (text:gsub('\n3\n', '\n2\n')))
end)

test.finish()
