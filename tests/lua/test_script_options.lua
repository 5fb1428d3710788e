-- Options that functions and scripts in Lua declare as rows (pd._options).
local library = require 'pushdown.prompt.library'
local pd = require 'pushdown'
local test = require 'pushdown.test'

local call = pd._options.declare('a.call', {
  { 'count', 1, 'a number', minimum = 0 },
  { 'some', nil, 'texts or one number', type = 'number or list of texts or integers' },
  { 'alphabet', nil, 'symbols', type = 'Alphabet or function' },
}, {
  { 'series', {}, 'lines', type = 'list of tables', inside = {
    { 'colour', 'red', 'of the line', choices = { 'red', 'blue' } },
    { 'y', nil, 'the values', type = 'list of numbers', required = true },
  } },
})

test('values stay as they are, and the others are the defaults', function()
  local series, alphabet = { { y = { 0 / 0, 1 / 0 } } }, function() end
  local options = call { series = series, alphabet = alphabet, some = { 'a', 2 } }
  assert(options.series == series and options.alphabet == alphabet and options.some[2] == 2)
  test.equal(options.count, 1)
  assert(call().series ~= call().series)
  assert(call { alphabet = pd.grammar.load 'marked_reversal':alphabet() }.alphabet)
end)

test('messages name the place, what was expected and what was given', function()
  for _, case in ipairs {
    { { cout = 1 }, "test_script_options.lua:%d+: %[a%.call%] unknown option 'cout', did you mean 'count'%?; "
      .. "the options are 'count', 'some', 'alphabet' and 'series'" },
    { { lr = 1 }, "unknown option 'lr'" },
    { { count = 1.5 }, "option 'count' must be an integer, got 1.5" },
    { { count = 2 ^ 60 }, 'beyond 2%^53' }, { { count = 0 / 0 }, "option 'count' must be an integer, got %-?nan" },
    { { count = -1 }, "option 'count' must be at least 0, got %-1" },
    { { count = '1' }, "option 'count' must be an integer, got \"1\"" },
    { { some = true }, "option 'some' must be a number or a list of texts or integers, got true" },
    { { some = { 1, {} } }, "option 'some%[2%]' must be a text or an integer, got a table" },
    { { some = { a = 1 } }, "option 'some' must be a number or a list of texts or integers, got the key \"a\"" },
    { { alphabet = pd.tensor { 1 } }, "option 'alphabet' must be an Alphabet or a function, got a Tensor" },
    { { 1 }, 'options must be a table with named entries, got the key 1' },
    { { series = { 3 } }, "option 'series%[1%]' must be a table, got 3" },
    { { series = { { y = { 1, 'b' } } } }, "option 'series%[1%].y%[2%]' must be a number, got \"b\"" },
    { { series = { {} } }, "option 'series%[1%].y' %(the values%) is missing" },
    { { series = { { y = {}, color = 'red' } } }, "unknown option 'series%[1%].color', did you mean 'colour'%?" },
    { { series = { { y = {}, colour = 'rde' } } },
      "must be one of 'red' and 'blue', got \"rde\"; did you mean 'red'%?" },
  } do
    test.fails(case[2], function() call(case[1]) end)
  end
  test.fails('%[a.call%] expected a table of options, got 3', function() call(3) end)
end)

test('wrong rows are errors', function()
  local function declared(row) return function() pd._options.declare('a.wrong', { row }) end end
  test.fails("%[a.wrong%] the type of option 'a' must be one of 'boolean', .*, got \"real\"",
    declared { 'a', 1, 'x', type = 'real' })
  test.fails("option 'a' needs a line of documentation", declared { 'a', 1 })
  test.fails("option 'a' needs a default or a type", declared { 'a', nil, 'x' })
  test.fails("option 'a' must be at least 0, got %-1", declared { 'a', -1, 'x', minimum = 0 })
  test.fails("option 1 has no entry 'minimun', did you mean 'minimum'%?", declared { 'a', 1, 'x', minimun = 0 })
  test.fails("two options are called 'a'", pd._options.declare, 'a.wrong', { { 'a', 1, 'x' }, { 'a', 2, 'x' } })
end)

test('texts of a command line', function()
  local function read(row, text) return pd._options.from_text('demo', { row }, text) end
  test.equal(read({ 'rate', 0.1, 'x' }, '1e3'), 1000)
  test.equal(read({ 'verbose', false, 'x' }, 'true'), true)
  test.equal(table.concat(read({ 'lengths', { 1 }, 'x' }, '3,4'), ' '), '3 4')
  test.equal(table.concat(read({ 'names', {}, 'x' }, 'a,3'), ' '), 'a 3')
  local function items(text) return pd.json.encode(pd.json.list(read({ 'names', { 'x' }, 'x' }, text))) end
  test.equal(items '', '[]')
  test.equal(items '[]', '[]')
  test.equal(items '["a,b", "c", ""]', '["a,b","c",""]')
  test.equal(items '[,(', '["[","("]')
  test.equal(items '[a],[1]', '["[a]","[1]"]')
  test.equal(items 'a,', '["a",""]')
  test.equal(table.concat(read({ 'lengths', { 1 }, 'x' }, '["3", "4"]'), ' '), '3 4')
  test.equal(select(2, read({ 'lengths', { 1 }, 'x' }, '["a"]')), "option '--lengths[1]' must be a number, got \"a\"")
  test.equal(select(2, read({ 'all_names', 1, 'x' }, 'a')), "option '--all-names' must be an integer, got \"a\"")
end)

-- Completion and help use pd.options, which loads the module of a function.
test('functions of the library tell their options', function()
  local function names(name, list)
    local found = {}
    for i, option in ipairs(library.options(name, list)) do found[i] = option.name end
    return table.concat(found, ' ')
  end
  test.equal(pd.options 'pd.recipe.run'[2].name, 'seed')
  test.equal(pd.options 'pd.recipe.no_such', nil)
  test.equal(names 'pd.grid.random', 'count seed options')
  test.equal(pd.options 'pd.grid.random'[1].required, true)
  assert(names 'pd.search.run':find('^folder restarts .* make together .* script'))
  test.equal(names 'pd.report.table', 'columns rows title note')
  test.equal(pd.options('pd.a.call')[4].inside[1].choices[2], 'blue')
  local help = require 'pushdown.prompt.description'(pd.grid.random)
  assert(help:find('grid.random{count=, seed=, options=}', 1, true), help)
  assert(help:find('count (integer, required, at least 1)', 1, true), help)
end)

test.finish()
