-- Experiments: command lines, sizes, run folders, and the tables, JSON and files that they are built on.
require 'pushdown'
local test = require 'pushdown.test'
local experiment = require 'pushdown.experiment'
local files = require 'pushdown.files'
local grid_options = require 'pushdown.grid.options'
local json = require 'pushdown.json'
local report = require 'pushdown.report'
local values = require 'pushdown.store.values'

local declaration = {
  name = 'demo', doc = 'A demonstration.',
  options = {
    { 'epochs', 20, 'passes over the data', minimum = 1, maximum = 1000 },
    { 'learning_rate', 0.01, 'step size', type = 'number' },
    { 'stacks', { 'none', 'superposition' }, 'stacks to compare',
      choices = { 'none', 'superposition', 'all' } },
    { 'lengths', { 11, 31 }, 'shortest and longest string' },
    { 'controller', 'lstm', 'the cell' },
    { 'verbose', false, 'say more' },
  },
  quick = { epochs = 5 }, smoke = { epochs = 1, lengths = { 3, 5 } },
}

local function temporary_folder()
  return test.folder() .. '/run'
end

-- Returns the message of a wrong command line.
local function usage(...)
  local ok, problem = pcall(experiment.parse, declaration, { ... })
  assert(not ok and type(problem) == 'table', 'expected a usage error, got ' .. tostring(problem))
  return problem.usage
end

test('defaults, both spellings of values, lists and flags', function()
  local options, size = experiment.parse(declaration, {})
  test.equal(size, 'full')
  test.equal(options.epochs, 20)
  test.equal(options.verbose, false)
  test.equal(table.concat(options.lengths, ' '), '11 31')
  options = experiment.parse(declaration, { '--epochs', '3', '--learning-rate=5e-3', '--learning_rate', '-1',
    '--stacks', 'all,none', '--lengths=2,8,9', '--verbose', '--controller=a=b' })
  test.equal(options.epochs, 3)
  test.equal(options.learning_rate, -1)
  test.equal(table.concat(options.stacks, ' '), 'all none')
  test.equal(options.lengths[3], 9)
  test.equal(options.verbose, true)
  test.equal(options.controller, 'a=b')
  test.equal(experiment.parse(declaration, { '--verbose', '--no-verbose' }).verbose, false)
  test.equal(experiment.parse(declaration, { '--verbose=false' }).verbose, false)
  -- A declaration's default table itself is never passed on.
  options.lengths[1] = 99
  test.equal(declaration.options[4][2][1], 11)
end)

test('the command line wins over the size, the size over the default', function()
  local options, size = experiment.parse(declaration, { '--smoke', '--epochs', '7' })
  test.equal(size, 'smoke')
  test.equal(options.epochs, 7)
  test.equal(options.lengths[2], 5)
  test.equal(experiment.parse(declaration, { '--quick' }).epochs, 5)
end)

test('wrong command lines name the option and the nearest valid one', function()
  test.equal(usage('--epoch', '3'),
    'unknown option --epoch, did you mean --epochs?; --help lists the options')
  assert(usage('--leanring-rate=3'):find('did you mean --learning-rate?', 1, true))
  test.equal(usage('--zzzzzzzzzz'), 'unknown option --zzzzzzzzzz; --help lists the options')
  test.equal(usage('--epochs', 'many'), "option '--epochs' must be an integer, got \"many\"")
  test.equal(usage('--epochs', '2.5'), "option '--epochs' must be an integer, got 2.5")
  test.equal(usage('--epochs', '0'), "option '--epochs' must be between 1 and 1000, got 0")
  test.equal(usage('--epochs'), "option '--epochs' needs a value (integer)")
  test.equal(usage('--epochs', '--verbose'), "option '--epochs' needs a value (integer)")
  -- A seed needs all its digits.
  local seeded = { name = 'seeded', options = { { 'seed', 1, 'seed' }, { 'count', 1, 'number' } } }
  test.equal(experiment.parse(seeded, { '--seed', '9007199254740991', '--count', '1e3' }).seed, 2 ^ 53 - 1)
  for _, text in ipairs { '2.0893350061361e+15', '1e3', '-1', '1.5', '9007199254740994' } do
    local ok, problem = pcall(experiment.parse, seeded, { '--seed', text })
    assert(not ok and problem.usage:find("option '--seed' must be an integer", 1, true), text)
  end
  test.equal(select(2, pcall(experiment.parse, seeded, { '--count', '1e16' })).usage,
    "option '--count' must be an integer, got 1e+16, which is beyond 2^53")
  test.equal(usage('--lengths', '3,x'), "option '--lengths[2]' must be a number, got \"x\"")
  test.equal(usage('--stacks', 'none,gru'),
    "option '--stacks[2]' must be one of 'none', 'superposition' and 'all', got \"gru\"")
  test.equal(usage('--verbose=perhaps'), "option '--verbose' must be true or false, got \"perhaps\"")
  assert(usage('marked'):find("unexpected argument 'marked'", 1, true))
  test.equal(usage('--controller', '--x'),
    "option '--controller' needs a value (text); one like this is written --controller=--x")
end)

test('a grid writes command lines that are read as its options', function()
  local declared = { name = 'words', options = { { 'names', { 'x' }, 'names' }, { 'text', '', 'a text' },
    { 'numbers', { 1 }, 'numbers' }, { 'seed', 1, 'seed' }, { 'restart', 1, 'restart' } } }
  local lists = { { 'a', 'b' }, { 'a,b', 'c' }, {}, { '' }, { '', '' }, { '[]' }, { '["a"]', ',' }, { '--x' } }
  for _, names in ipairs(lists) do
    for _, text in ipairs { '', '--', '--text', '-e', 'a=b', '["a"]' } do
      local given = { names = names, text = text, numbers = { 0.5, -2 } }
      local words = grid_options.command { script = 'the script', options = given, seed = 7, restart = 2,
        folder = 'runs/x', flags = {} }
      local first = 1
      while words[first] ~= 'the script' do first = first + 1 end
      local read = experiment.parse(declared, { unpack(words, first + 1) })
      test.equal(json.encode(json.list(read.names)), json.encode(json.list(names)))
      test.equal(read.text, text)
      test.equal(json.encode(read.numbers), '[0.5,-2]')
      test.equal(read.seed, 7)
    end
  end
  assert(not values.same({ 'a,b' }, { 'a', 'b' }) and values.same({ 0.001 }, '1e-3') and values.same({}, ''))
end)

test('help shows every option with default and doc', function()
  assert(experiment.parse(declaration, { '--epochs', '3', '--help' }).help)
  for _, columns in ipairs { 60, 80, 120 } do
    local wrapped, words, plain = experiment.help(declaration, columns), {}, {}
    for line in wrapped:gmatch '[^\n]+' do
      assert(#line <= columns or not line:match '^%s*(.*)$':find ' ', line)
    end
    -- The same words in the same order.
    for word in wrapped:gmatch '%S+' do words[#words + 1] = word end
    for word in experiment.help(declaration):gmatch '%S+' do plain[#plain + 1] = word end
    test.equal(table.concat(words, ' '), table.concat(plain, ' '))
  end
  local text = experiment.help(declaration)
  for _, option in ipairs(declaration.options) do
    assert(text:find('--' .. option[1]:gsub('_', '-'), 1, true), option[1])
    assert(text:find(option[3], 1, true), option[3])
  end
  assert(text:find('11,31', 1, true) and text:find('--smoke', 1, true) and text:find('--run-folder', 1, true))
end)

test('help of a command shows the words that it takes, and its description fits', function()
  local text = experiment.help({ name = 'pushdown squares ID...', doc = ('word '):rep(30):sub(1, -2), words = true,
    run_folder = false, options = {} }, 60)
  assert(text:find('^pushdown squares ID%.%.%. %[options%]\n\nword'), text)
  for line in text:gmatch '[^\n]+' do assert(#line <= 60, line) end
end)

test('help shortens the defaults of long lists', function()
  local items = {}
  for i = 1, 40 do items[i] = 'item_number_' .. i end
  local text = experiment.help { name = 'long', options = { { 'items', items, 'many' },
    { 'few', { 'a', 'b' }, 'some' } } }
  assert(text:find('item_number_1,item_number_2,item_number_3,item_number_4,... (40 in all)  many', 1, true), text)
  assert(text:find('a,b  ', 1, true), text)
end)

test('mistakes of a declaration are found at once', function()
  local function parse(given) return function() experiment.parse(given, {}) end end
  test.fails("%[experiment.start%] option 'name' .* is missing", parse {})
  test.fails("unknown option 'smoek', did you mean 'smoke'%?", parse { name = 'x', smoek = {} })
  test.fails("smoke sets 'b', which is not an option", parse { name = 'x', options = {}, smoke = { b = 1 } })
end)

test('a run keeps its configuration, tables and plots', function()
  local folder = temporary_folder() .. '/with a blank'
  local options, run = experiment.start(declaration, { '--epochs', '2', '--run-folder', folder })
  test.equal(options.run_folder, folder)
  local kept = json.decode(files.read(folder .. '/experiment.json'))
  test.equal(kept.experiment, 'demo')
  test.equal(kept.size, 'full')
  test.equal(kept.options.epochs, 2)
  test.equal(kept.options.learning_rate, 0.01)
  test.equal(kept.options.lengths[2], 31)
  test.equal(kept.command_line[1], '--epochs')
  run:table('results', { columns = { 'model', 'loss' }, rows = { { 'lstm', 0.5 } } })
  test.equal(files.read(folder .. '/results.csv'), 'model,loss\nlstm,0.5\n')
  assert(files.read(folder .. '/results.md'):find('| lstm  |  0.5 |', 1, true))
  run:lines('curves', { title = 'a < b', series = { { y = { 1, 2 } } } })
  assert(files.read(folder .. '/curves.svg'):find('<svg', 1, true))
  local page = files.read(folder .. '/index.html')
  for _, part in ipairs { '<!DOCTYPE html>', '<td>lstm</td><td class="number">0.5</td>', 'a &lt; b</text>',
    '<td>learning_rate</td><td>0.01</td>', '--epochs 2 --run-folder', '</html>' } do
    assert(page:find(part, 1, true), part)
  end
  assert(not page:find('<?xml', 1, true) and not page:find('class="smaller"', 1, true))
  assert(not page:find('https?://') or page:gsub('http://www.w3.org/2000/svg', ''):find('https?://') == nil,
    'nothing from outside')
  test.equal(#files.find(folder, '%.tmp$'), 0)
  test.fails('cannot make the folder', experiment.start, declaration, { '--run-folder', '/proc/nothing/here' })
end)

test('a table as text, Markdown and CSV', function()
  local made = report.table { columns = { 'name', { 'loss', format = '%.2f' }, 'n' },
    rows = { { 'a|b', 0.126, 3 }, { name = 'λ', n = 1e15 }, { 'say "x", y', 0 / 0, 0.1 } } }
  test.equal(made:text(), [[
name        loss                 n
----------------------------------
a|b         0.13                 3
λ                 1000000000000000
say "x", y     –               0.1
]])
  assert(made:markdown():find('| a\\|b       | 0.13 |', 1, true), made:markdown())
  test.equal(made:csv(), 'name,loss,n\na|b,0.126,3\nλ,,1e+15\n"say ""x"", y",,0.1\n')
  test.fails("option 'columns' .* is missing", function() report.table { rows = {} } end)
end)

test('a wide table breaks the names of its columns and its texts', function()
  local made = report.table { columns = { 'hint', { 'best accuracy', format = '%.1f' }, 'ended because' },
    rows = { { 'none', 58.7, 'all epochs are done' }, { 'mine', 100, 'done' } } }
  test.equal(made:text(30), [[
             best  ended
hint     accuracy  because
------------------------------
none         58.7  all epochs
                   are done
mine        100.0  done
]])
  test.equal(made:text(100), made:text())
  -- Words stay whole, even if the table is then too wide.
  assert(made:text(5):find('accuracy  because', 1, true), made:text(5))
end)

test('a table as LaTeX', function()
  local made = report.table { title = 'Results', columns = { 'model_name', { 'loss', format = '%.2f' }, 'p' },
    rows = { { 'a & b_c #1 {50%} ~x^2 \\ $', -0.126, '1e-05' }, { 'λ', 0.5, '0.4 ± 0.1' } }, note = 'Two runs.' }
  test.equal(made:latex(), [[
% Results
\begin{tabular}{lrl}
\toprule
model\_name                                                                      &    loss & p \\
\midrule
a \& b\_c \#1 \{50\%\} \textasciitilde{}x\textasciicircum{}2 \textbackslash{} \$ & $-$0.13 & 1$\cdot 10^{-5}$ \\
$\lambda$                                                                        &    0.50 & 0.4 $\pm$ 0.1 \\
\bottomrule
\end{tabular}
% Two runs.
]])
  local folder = temporary_folder()
  files.make_folder(folder)
  made:save(folder .. '/t')
  test.equal(files.read(folder .. '/t.tex'), made:latex())
  -- If LaTeX is installed, it accepts the table.
  if os.execute 'command -v pdflatex > /dev/null 2>&1' == 0 then
    files.write(folder .. '/page.tex', '\\documentclass{article}\\usepackage{booktabs,amsmath}\n\\begin{document}\n'
      .. made:latex():gsub('λ', 'l') .. '\\end{document}\n')
    test.succeeds(test.command(('cd %s && pdflatex -halt-on-error page.tex'):format(files.quoted(folder))))
    assert(files.exists(folder .. '/page.pdf'))
  end
end)

test('JSON: what is written is read back', function()
  local value = { text = 'a"b\\c\n\1é', list = { 1, 2.5, { deep = true } }, zero = 0, none = json.null,
    empty = json.list {}, tiny = 5e-324, third = 1 / 3, large = 2 ^ 52 + 1, no = false }
  for _, pretty in ipairs { false, true } do
    local back = json.decode(json.encode(value, pretty))
    for key, expected in pairs(value) do
      if type(expected) ~= 'table' then test.equal(back[key], expected) end
    end
    test.equal(back.list[3].deep, true)
    test.equal(back.none, json.null)
    test.equal(#back.empty, 0)
  end
  test.equal(json.encode({ b = 1, a = { 1, 'x' }, c = json.list {} }), '{"a":[1,"x"],"b":1,"c":[]}')
  test.equal(json.encode(json.ordered({ b = 1, a = 2, c = 3 }, { 'c', 'b' })), '{"c":3,"b":1,"a":2}')
  test.equal(json.encode { 1 / 0, 0 / 0 }, '[null,null]')
  test.equal(json.decode '"\\u00e9\\ud83d\\ude00\\/"', 'é😀/')
  test.equal(json.decode ' [ -0.5e1 ,1E+2 ] '[2], 100)
  -- Writing keeps the order of the text.
  test.equal(json.encode(json.decode '{"z":1,"a":[]}'), '{"z":1,"a":[]}')
end)

test('a damaged result of an earlier start counts as none, and is named', function()
  local folder = temporary_folder()
  files.make_folder(folder)
  files.write(folder .. '/result.json', '{"loss":\n')
  test.ended(0,
    { folder .. '/result.json cannot be read: line 2: expected', 'the run counts as unfinished', '\nnil\n' },
    test.run { '-e', ("print(setmetatable({ folder = '%s' }, require 'pushdown.experiment.run')"
    .. ':earlier_result())'):format(folder) })
end)

test('JSON: anything else is refused with its place', function()
  for _, text in ipairs { '', '{', '[1,]', '{"a" 1}', '{a:1}', '01', '1.', '.5', '+1', 'tru', 'nan', '"\\x"',
    '"\\ud800"', '"\n"', '[1] 2', '"abc', '{"a":1,}', '[1 2]' } do
    test.fails('^%[json.decode%] line %d+: expected ', function() json.decode(text) end)
  end
  test.fails('line 3', function() json.decode '[1,\n2,\n}' end)
  local loop = {}
  loop[1] = loop
  test.fails('contains itself', function() json.encode(loop) end)
  test.fails('key must be text', function() json.encode { [0.5] = 1 } end)
end)

test('a run that has shown nothing prints its folder and its result', function()
  local script = test.folder() .. '/quiet.lua'
  files.write(script, [[
local options, run = pd.experiment.start { name = 'quiet', smoke = {}, options = { { 'show', false, 'a table' } } }
if options.show then run:table('numbers', { columns = { 'n' }, rows = { { 7 } } }) end
run:finish { loss = 0.12345678, seed = 123456789, words = { 1 }, name = 'x' }
]])
  local folder = test.folder() .. '/run'
  test.equal(test.run { script, '--run-folder', folder }, folder .. ': loss 0.123457, name x, seed 123456789\n')
  local shown = test.run { script, '--run-folder', folder .. '-2', '--show' }
  assert(shown:find('7', 1, true) and not shown:find('loss', 1, true), shown)
end)

test.finish()
