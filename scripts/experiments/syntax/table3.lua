-- Table 3 of Merrill et al. (2019): unlabelled F1 of the trees that language models have in their stacks. The paper
-- uses section 23 of the Wall Street Journal, which is not part of this program.
--
--   pushdown scripts/experiments/syntax/table3.lua --data wiki.txt --trees wsj/23
--
-- Trains unfinished runs first and shares those of table1.lua; if it is interrupted, start it again to continue.
local cells = require 'pushdown.cells'
local pd = require 'pushdown'
local protocol = dofile((arg[0]:match('^(.*/)') or '') .. 'protocol.lua')
local statistics = require 'pushdown.statistics'

local paper = { stack_u1 = 31.2, stack_d1 = 16.0, right = 13.1, left = 7.3 }

local options, run = protocol.start({ name = 'syntax/table3',
  doc = 'F1 of trees from the strengths of language models, as Table 3 of Merrill et al. (2019).',
  options = protocol.table_options {
    { 'trees', '', 'gold trees in brackets: a file, a folder of *.mrg, or a pattern; required' },
    { 'first_lower', true, 'the models read the first word of a sentence in lower case' },
    { 'random_trees', 5, 'number of draws of random trees', minimum = 1 },
  },
  quick = pd.tables.merged(protocol.quick, { folder = 'runs/syntax/text_quick' }),
  smoke = pd.tables.merged(protocol.smoke, { folder = 'runs/syntax/text_smoke', rows = { 'Stack (u = 1)' },
    random_trees = 2 }),
}, { 'data', 'trees' })

-- Read before the runs, so that errors in the trees are reported at once.
local gold = pd.tree.read(options.trees)
local kept, rows, text = protocol.train_cells({ 'stack_u1', 'stack_d1' }, options)

local presets, lines, sentences = { 'merrill', 'htut' }, {}, 0
local function add(name, printed, sets)
  local line = { name, printed or 'NA' }
  for _, preset in ipairs(presets) do
    local values = {}
    for i, trees in ipairs(sets) do
      local score = pd.tree.score(trees, gold, { preset = preset }):to_table()
      values[i], sentences = score.f1, score.sentences
    end
    local mean, deviation = statistics(values)
    line[#line + 1], line[#line + 2] = mean or 'NA', deviation or 'NA'
  end
  line[#line + 1] = #sets
  lines[#lines + 1] = line
end
for _, cell in ipairs(kept) do
  local sets = {}
  for i, one in ipairs(cell.runs) do
    local model, settings, words = protocol.trained(one.folder)
    sets[i] = protocol.parse(model, settings, words, gold, options.first_lower)
    pd.tree.save(sets[i], run:path(('trees-%s-%d.txt'):format(cell.point.model, i)))
  end
  add(cell.row, paper[cell.point.model], sets)
end
for _, kind in ipairs { 'right', 'left', 'balanced' } do add(kind, paper[kind], { pd.tree.baseline(gold, kind) }) end
local random = {}
for i = 1, options.random_trees do random[i] = pd.tree.baseline(gold, 'random', { seed = i }) end
add('random', nil, random)

local columns = { 'parser', { 'paper', format = '%.1f', align = 'right' } }
for _, preset in ipairs(presets) do
  columns[#columns + 1] = { 'F1 ' .. preset, format = '%.2f', align = 'right' }
  columns[#columns + 1] = { 'deviation', format = '%.2f', align = 'right' }
end
columns[#columns + 1] = 'sets'
run:table('table3', { title = ('Unlabelled F1 of %d sentences; models of %d training sentences (%d words)'):format(
  sentences, text.train:size(), text.train:word_count()), columns = columns, rows = lines })
local bars = { categories = {}, series = { { name = 'here', y = {} } }, title = 'Unlabelled F1, merrill',
  y_label = 'F1 %', y_min = 0 }
for i, line in ipairs(lines) do
  if type(line[3]) == 'number' then
    bars.categories[#bars.categories + 1], bars.series[1].y[i] = line[1], line[3]
  end
end
run:picture('table3', require 'pushdown.plot'.bars(bars))
for _, preset in ipairs(presets) do
  print(protocol.score_settings(pd.tree.score(gold, gold, { preset = preset })))
end
print(('The paper\'s numbers are for other sentences. Trees, all runs and settings: %s'):format(run.folder))
cells.finish(run, rows, 'table3', { 'parameters', 'epochs', 'seconds', 'train_perplexity', 'test_perplexity' })
