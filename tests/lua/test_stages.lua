-- Training in stages from Lua: metrics and bad input.
local pd = require 'pushdown'
local test = require 'pushdown.test'
local files = require 'pushdown.files'

local scratch = test.folder() .. '/run'
local grammar = pd.grammar.load('marked_reversal')

local function stage(shortest, longest, options)
  local sampler = grammar:sampler { lengths = { shortest, longest } }
  options.train = sampler:dataset(40, { seed = longest })
  options.valid = sampler:dataset(20, { seed = longest + 1 })
  return options
end

local function trainer(stages, options)
  local model = pd.model.language_model { alphabet = grammar:alphabet(), seed = 3,
    controller = { kind = 'lstm', hidden = 5 } }
  return pd.train.trainer(pd.tables.merged({ model = model, stages = stages, seed = 1, progress = false }, options))
end

local function three()
  return { stage(3, 5, { epochs = 2 }), stage(3, 9, { epochs = 1 }), stage(9, 11, { epochs = 2 }) }
end

local function run(t)
  local seen = {}
  for epoch in t:epochs() do seen[#seen + 1] = { epoch.stage, epoch.cross_entropy } end
  return seen
end

test('the stages follow each other, and their epochs add up', function()
  local t = trainer(three(), { run_folder = scratch })
  test.equal(t:options().epochs, 5)
  local seen = run(t)
  local stages = {}
  for k, epoch in ipairs(seen) do stages[k] = epoch[1] end
  test.near(stages, { 1, 1, 2, 3, 3 }, 0)
  test.has(files.read(scratch .. '/metrics.jsonl'), '"stage":2')
  test.equal(t:finished(), '5 of 5 epochs are done')
end)

test('wrong stages are named', function()
  local data = stage(3, 5, {}).train
  for _, case in ipairs {
    { {}, 'expected train, the training set, or stages' },
    { { {} }, 'options.stages[1].train' },
    { { stage(3, 5, {}), stage(3, 5, { epoch = 3 }) }, "unknown option 'epoch', did you mean 'epochs'?" },
    { { stage(3, 5, {}), stage(3, 5, { epochs = 'two' }) }, "stages[2]] option 'epochs' must be an integer" },
    { { stage(3, 5, { accuracy = 1 }) }, 'accuracy needs a recognizer with validation strings' },
    { { { train = data, difference = 0.1 } }, 'difference needs validation strings' },
    { { { train = data, test = data } }, "there is no option 'test' with this model" },
  } do
    test.fails((case[2]:gsub('%p', '%%%0')), function() trainer(case[1]) end)
  end
  test.fails('leave out train, valid and test', function() trainer({ stage(3, 5, {}) }, { train = data }) end)
end)


test.finish()
