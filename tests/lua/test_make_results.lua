-- The tables of docs/results are made from the files in run folders.
local pd = require 'pushdown'
local test = require 'pushdown.test'
local results = dofile(pd.root .. '/scripts/tools/make_results.lua')

local left = [[
| model | paper | ours: mean | deviation | epochs |
|-------|------:|-----------:|----------:|-------:|
| RNN   |  78.2 |      11.35 |        NA |    385 |
| LSTM  |    NA |       9.00 |      0.25 |     NA |
]]

test('columns are chosen, renamed and joined with their deviations', function()
  local columns = results.columns ' | model | ours: mean ± = test error % | epochs'
  test.equal(results.select(left, columns), [[
| model | test error % | epochs |
|---|---|---|
| RNN | 11.35 | 385 |
| LSTM | 9.00 ± 0.25 |  |]])
end)

test('a wrong column is an error that names the valid ones', function()
  test.fails("no column 'modell'; the columns are model,", function()
    results.select(left, results.columns '| modell')
  end)
  test.fails("'paper' is not followed by a deviation", function() results.select(left, results.columns '| paper ±') end)
  test.fails('there is no table', function() results.select('nothing', results.columns '| model') end)
end)

test('only the text between the comments is replaced', function()
  local page = 'before\n<!-- table: a/b.lua | model | paper ± -->\nold\n<!-- end of table -->\nafter % 1\n'
  local filled = results.filled(page, function(script, columns)
    return ('%s has %d columns, 5 %%'):format(script, #columns)
  end)
  test.equal(filled, (page:gsub('old', '\na/b.lua has 2 columns, 5 %%\n')))
  test.equal(results.filled(filled, function() return 'old' end), (page:gsub('old', '\nold\n')))
end)

test('the last table of a page', function()
  test.equal(results.last_table '| a |\n|---|\n| 1 |\n\ntext\n\n| b |\n|---|\n| 2 |\n| 3 |\n\nend\n',
    '| b |\n|---|\n| 2 |\n| 3 |')
  test.equal(results.last_table 'text\n', '')
end)

test('every result of a table or figure of a paper is one of five words', function()
  local words, found = { agrees = true, partly = true, no = true, inconclusive = true, ['not run'] = true }, 0
  for _, page in ipairs { 'ns_rnn', 'diffstk', 'transduction', 'syntax', 'nspda' } do
    local text = results.last_table(pd.file.read(('%s/docs/results/%s.md'):format(pd.root, page)))
    for word in results.select(text, results.columns '| result'):gsub('^.-\n.-\n', ''):gmatch '| ([^|]-) |' do
      assert(words[word], ('%s: %s'):format(page, word))
      found = found + 1
    end
  end
  test.equal(found, 42)
end)

test('a text is replaced as a whole', function()
  local page = 'a\n<!-- text: a/b:c -->\nold\n<!-- end of text -->\nb\n'
  test.equal(results.filled(page, function(script, columns) return script .. tostring(columns) .. '\n' end),
    (page:gsub('old', '\na/b:cnil\n')))
end)

test('an entry of all.lua is a table with options', function()
  local list = 'name  core-hours  paper\n---\na-small  0.5  a scores --tasks x --steps 3\nb  ?  b t,u\n'
  local name, arguments = results.entry(list, 'a-small')
  test.equal(name, 'a/scores')
  test.equal(arguments, '--tasks x --steps 3')
  test.equal((results.entry(list, 'b')), 'b/t')
  test.fails("no entry 'c'", function() results.entry(list, 'c') end)
end)

test('the pictures of a page with the comment are those that it shows as SVG', function()
  local list = results.pictures('![a](x/a.svg)\n<!-- pictures: one/two -->\n![b c](x/b-c.svg) ![d](d.png) '
    .. '[e](e.svg)')
  test.equal(#list, 2)
  test.equal(list[1].path .. ' ' .. list[2].path, 'x/a.svg x/b-c.svg')
  test.equal(list[2].script, 'one/two')
  test.equal(#results.pictures '![a](x/a.svg)', 0)
end)
test.finish()
