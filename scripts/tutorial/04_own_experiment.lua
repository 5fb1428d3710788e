-- # An experiment of your own
--
-- Which stack helps most on a language of your choice? This chapter is an experiment that answers
-- the question, and a template for your own. It has options, a run folder, and a table and a plot
-- at the end. You can stop it at any moment and resume it later.
local pd = require 'pushdown'
local experiment = require 'pushdown.experiment'
local files = require 'pushdown.files'
local plot = require 'pushdown.plot'

-- ## Options
--
-- Each option has a name, a default and one line of documentation. They define `--help`, the
-- parsing of the command line, and messages such as "unknown option --epoch, did you mean
-- --epochs?". `quick` and `smoke` are smaller sizes of the same experiment.
local options, run = experiment.start {
  name = 'compare_stacks',
  doc = 'How far from the bound does the same LSTM come with each of the stacks?',
  options = {
    { 'grammar', 'dyck', 'name of a grammar or path of a grammar file' },
    { 'stacks', { 'none', 'superposition', 'nondeterministic' }, 'kinds of stacks',
      choices = pd.stack.kinds() },
    { 'lengths', { 10, 30 }, 'shortest and longest string' },
    { 'strings', 2000, 'training strings' },
    { 'epochs', 10, 'passes over the training strings', minimum = 1 },
    { 'learning_rate', 0.01, 'of Adam' },
    { 'seed', 1, 'decides data and parameters' },
  },
  quick = { strings = 500, epochs = 4 },
  smoke = { strings = 40, epochs = 1, lengths = { 4, 8 } },
}

-- ## The data
local grammar = pd.grammar.load(options.grammar)
local sampler = grammar:sampler { lengths = options.lengths }
local train = sampler:dataset(options.strings, { seed = options.seed })
local valid = sampler:dataset(math.ceil(options.strings / 5), { seed = options.seed + 1 })

-- ## Training and resuming
--
-- Every training has its own folder below the run folder. A checkpoint in it means that an earlier
-- run was interrupted by Ctrl-C, by `kill` or by a power cut. `pd.train.resume` then continues from
-- the checkpoint, and the results are those of a run without interruption. Try it: press Ctrl-C in
-- the middle, then start the script again with the `--run-folder` that it prints. A run continues
-- only with the same options: after a first look with `--quick`, give another folder, or
-- `--overwrite`.
local settings = { nondeterministic = { states = 2, symbols = 3 }, superposition = { size = 5 },
  stratification = { size = 5 } }

local function trainer_for(kind)
  local folder = run:path(kind)
  if files.exists(folder .. '/checkpoints/last.safetensors') then
    print(kind .. ': going on where the run before stopped')
    return pd.train.resume(folder, { progress = false })
  end
  local stack = { kind = kind }
  for name, value in pairs(settings[kind] or {}) do stack[name] = value end
  return pd.train.trainer {
    model = pd.model.language_model {
      alphabet = grammar:alphabet(), controller = { kind = 'lstm', hidden = 20 }, stack = stack,
      seed = options.seed,
    },
    train = train, valid = valid, epochs = options.epochs,
    optimizer = { kind = 'adam', learning_rate = options.learning_rate },
    seed = options.seed, run_folder = folder, progress = false,
  }
end

local rows, histories = {}, {}
for _, kind in ipairs(options.stacks) do
  local trainer = trainer_for(kind)
  for epoch in trainer:epochs() do
    print(('%s, epoch %d: %.4f nats above the bound')
      :format(kind, epoch.epoch, epoch.cross_entropy_difference))
  end
  local history = trainer:history()
  local best = math.huge
  for _, epoch in ipairs(history) do best = math.min(best, epoch.cross_entropy_difference) end
  rows[#rows + 1] = { kind, history[#history].lower_bound, best }
  histories[#histories + 1] = { name = kind, history = history }
end

-- ## The results
--
-- `run:lines` and `run:table` print the results and save them. The folder now contains
-- `experiment.json` with every option, `curves.svg`, `results.txt`, `.md`, `.csv` and `.tex`, and a
-- folder for each training. `index.html` shows pictures and tables on one page. If `rsvg-convert`
-- is installed, there are also `curves.pdf` and `curves.png`.
--
-- ![The cross-entropy difference of each stack, one run each](pictures/04_curves.svg)
run:lines('curves', plot.learning_curves(histories, grammar:name()))
run:table('results', {
  columns = { 'stack', { 'lower bound', format = '%.4f' },
    { 'best cross-entropy difference', format = '%.4f' } },
  rows = rows,
})
print('\nNats per symbol, on validation strings. Kept in ' .. run.folder)
