-- The recognizers of FLaRe: the strings of a run, the loss of next symbols and of their sets, and the table of hard
-- negatives.
local pd = require 'pushdown'
local csv = require 'pushdown.csv'
local files = require 'pushdown.files'
local json = require 'pushdown.json'
local test = require 'pushdown.test'

local folder = test.folder()

test('published labels are those of roots in double precision', function()
  local paper, language = pd.paper.load 'flare', pd.languages.load 'compute_sqrt'
  local options = pd.tables.merged(paper:defaults(), paper.smoke, { task = 'compute_sqrt', lengths = { 450, 460 },
    strings = 60 })
  for labels, other in pairs { [true] = language.published, [false] = language } do
    options.published_labels = labels
    local set = paper.measures.sets(options).train
    for i, string in ipairs(set:strings()) do test.equal(other:contains(string), set:labels()[i]) end
  end
end)

test('lengths that are no interval are errors', function()
  for given, name in pairs { ['9,3'] = '--lengths', ['5'] = '--test-lengths', ['1,2,3'] = '--first-lengths',
    ['0,2.5'] = '--long-lengths' } do
    local output, status = test.run({ 'flare', '--smoke', name, given, '--run-folder',
      folder .. '/lengths' .. name }, { folder = folder })
    assert(status ~= 0 and output:find(name .. ': expected', 1, true), output)
  end
end)

test('the loss of next symbols and of their sets is the sum of both', function()
  pd.paper.load 'flare'
  local data = pd.languages.load('dyck_2'):sample(40, { 2, 8 }, 3, true)
  local function step(kind, weight)
    local model = pd.model.recognizer { alphabet = data:alphabet(), controller = { kind = 'gru', hidden = 4 },
      next_symbol = true, seed = 3, dtype = 'float64' }
    return pd.train.trainer { model = model, train = data, batch = 10, seed = 1, progress = false,
      objective = { kind = 'recognition_and_' .. kind, weight = weight } }:step().loss
  end
  test.near(step('both', 0.7), step('language_model', 0.7) + step('next_symbols', 0.7) - step('language_model', 0),
    1e-12)
end)

test('the table of hard negatives: floors, means and the best of the seeds, and who is above', function()
  local arguments = { '--smoke', '--tasks', 'reversals', '--models', 'gru,selective_ssm,superposition', '--restarts',
    '2', '--workers', '1', '--folder', folder .. '/grid', '--run-folder', folder .. '/table' }
  local output, status = test.run({ 'flare', 'hard_table', unpack(arguments) },
    { folder = folder, environment = 'OMP_NUM_THREADS=1' })
  assert(status == 0, output)
  local of = {}
  for _, path in ipairs(files.find(folder .. '/grid', 'result%.json$')) do
    local result = json.decode(files.read(folder .. '/grid/' .. path))
    of[result.model] = of[result.model] or {}
    table.insert(of[result.model], 100 * result.hard_accuracy)
    test.equal(result.epochs, 3)  -- one of the first stage, two of the second
  end
  local function mean(model) return (of[model][1] + of[model][2]) / 2 end
  local hard = select(2, csv.read(folder .. '/table/hard.csv'))[1]
  for model, label in pairs { gru = 'GRU', selective_ssm = 'Mamba-like', superposition = 'Superposition' } do
    test.equal(hard[label], ('%.1f (%.1f)'):format(mean(model), math.max(unpack(of[model]))))
  end
  local compared = select(2, csv.read(folder .. '/table/comparison.csv'))[1]
  local without = math.max(mean 'gru', mean 'selective_ssm')
  test.near(tonumber(compared['its mean']), without, 1e-9)
  test.near(tonumber(compared.mean), mean 'superposition', 1e-9)
  test.equal(compared['above both'], mean 'superposition' > math.max(without, tonumber(compared.floor)) and 'yes'
    or 'no')
  -- Noise is for networks that read their old hidden vector, in training alone.
  for model in pairs(of) do
    local text = files.read(('%s/grid/reversals/%s/default/restart-1/config.json'):format(folder, model))
    test.equal(text:find('"noise": 0.1,', 1, true) ~= nil, model ~= 'selective_ssm', model)
  end
end)

test.finish()
