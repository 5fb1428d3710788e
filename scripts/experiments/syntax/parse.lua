-- Induces trees from a language model that was never trained on trees (Merrill et al. 2019, section 5): the strengths
-- of its stack are syntactic distances, Algorithm 1 turns them into trees, and unlabelled F1 compares these with a
-- treebank.
local files = require 'pushdown.files'
local json = require 'pushdown.json'
local pd = require 'pushdown'
local plot = require 'pushdown.plot'
local here = debug.getinfo(1, 'S').source:match('^@(.*/)') or ''
local analysis = dofile(here .. 'analysis.lua')

local function make(_, options, run)
  local model, settings, words = analysis.trained(options.run)
  local gold = {}
  for _, tree in ipairs(pd.tree.read(options.trees)) do
    local fits = options.max_length == 0 or tree:size() <= options.max_length
    if fits and (options.first == 0 or #gold < options.first) then gold[#gold + 1] = tree end
  end
  local shown = os.time()
  local induced = analysis.parse(model, settings, words, gold, options.first_lower, function(done)
    if os.time() - shown >= 10 then
      shown = os.time()
      print(('%d of %d sentences parsed'):format(done, #gold))
    end
  end)
  pd.tree.save(induced, run:path 'induced.txt')
  pd.tree.save(gold, run:path 'gold.txt')

  local label = analysis.networks.model_of[settings.model].label
  local parsers = { { label, induced } }
  for _, kind in ipairs { 'right', 'left', 'balanced', 'random' } do
    parsers[#parsers + 1] = { kind, pd.tree.baseline(gold, kind, kind == 'random' and { seed = options.seed } or {}) }
  end
  local result = { model = settings.model, sentences = #gold }
  local order = { 'model', 'sentences' }
  for _, preset in ipairs(options.presets) do
    local rows, score = {}, nil
    for _, parser in ipairs(parsers) do
      local one = pd.tree.score(parser[2], gold, { preset = preset })
      score = score or one
      local found = one:to_table()
      rows[#rows + 1] = { parser[1], found.f1, found.precision, found.recall, found.sentences }
      local key = ('%s_%s'):format(preset, parser[1] == label and 'model' or parser[1])
      result[key], order[#order + 1] = found.f1, key
    end
    run:table('f1_' .. preset, {
      title = 'Unlabelled F1: ' .. analysis.score_settings(score),
      columns = { 'parser', { 'F1', format = '%.2f' }, { 'precision', format = '%.2f' }, { 'recall', format = '%.2f' },
        { 'sentences', align = 'right' } }, rows = rows })
    local lines = {}
    for name, entry in pairs(score:labels()) do
      lines[#lines + 1] = { name, entry.gold, entry.found, 100 * entry.found / entry.gold }
    end
    table.sort(lines, function(a, b) return a[2] ~= b[2] and a[2] > b[2] or a[2] == b[2] and a[1] < b[1] end)
    run:table('labels_' .. preset, { title = ('Gold phrases that %s found, by label'):format(label),
      columns = { 'label', { 'phrases', align = 'right' }, { 'found', align = 'right' }, { '%', format = '%.1f' } },
      rows = lines })
  end

  local drawn = 0
  for i, tree in ipairs(gold) do
    if drawn < options.pictures and tree:size() >= 3 and tree:size() <= options.picture_length then
      drawn = drawn + 1
      local binary = tree:binarized()
      run:picture('tree' .. drawn, plot.tree { tree = induced[i], gold = binary })
      local text = induced[i]:text { gold = binary }
      files.write(run:path('tree' .. drawn .. '.txt'), text)
      print()
      io.write(text)
    end
  end
  run:finish(json.ordered(result, order))
end

return {
  doc = 'Trees from the strengths of a language model, and their F1, as section 5 of Merrill et al. (2019).',
  required = { 'run', 'trees' }, trains = false, make = make,
  options = {
    { 'run', '', 'the run folder of a language model of `pushdown syntax`, with a stack; required' },
    { 'trees', '', 'gold trees in brackets: a file, a folder of *.mrg, or a pattern; required' },
    { 'presets', { 'merrill', 'htut' }, 'ways of computing F1, see docs/reference/trees.md',
      choices = { 'merrill', 'htut', 'none' } },
    { 'first_lower', true, 'the model reads the first word of a sentence in lower case' },
    { 'max_length', 0, 'longer sentences are left out; 0: no limit', minimum = 0 },
    { 'first', 0, 'number of sentences to parse, from the first one; 0: all', minimum = 0 },
    { 'pictures', 5, 'number of sentences whose tree is drawn beside the gold one', minimum = 0 },
    { 'picture_length', 15, 'greatest length of these sentences', minimum = 2 },
    { 'seed', 1, 'random seed of the random trees', minimum = 0 },
  },
  quick = { first = 200 }, smoke = { first = 5, pictures = 1 },
}
