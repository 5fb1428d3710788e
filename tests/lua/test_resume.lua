-- A training that stops and goes on has the numbers of one that does not, bit for bit: in the same process, and from a
-- folder. tests/lua/test_kills.lua stops trainings at any moment.
-- label: long
local pd = require 'pushdown'
local test = require 'pushdown.test'
local defined = dofile(pd.root .. '/tests/lua/defined.lua')
local trainings = dofile(pd.root .. '/tests/lua/trainings.lua')
local kinds = trainings.kinds

-- Trainings by name: the options of each, which are made anew for each trainer.
local all = {}
local function add(name, make, more)
  all[#all + 1] = { name, function() return pd.tables.merged(make(), { epochs = 2 }, more) end }
end

for _, kind in ipairs(pd.train.optimizers()) do
  add('strings by ' .. kind, kinds.language_model, { optimizer = { kind = kind, learning_rate = 0.01 },
    annealing = { kind = 'warmup', updates = 15 }, bound = 'string', train = trainings.strings(3, 9, 40, 1) })
end
for _, kind in ipairs(pd.train.learning_algorithms()) do
  add('recognition by ' .. kind, kinds.second_order, { learning = kind, noise = { share = 0.2, first_epoch = 2 },
    annealing = { kind = 'stochastic', spread = 0.3 }, epochs = 3 })
end
for _, kind in ipairs { 'transducer', 'running_text', 'transformer' } do add(kind, kinds[kind]) end
all[#all + 1] = { 'stages', kinds.stages }
add('a curriculum', kinds.second_order, { curriculum = { kind = 'incremental' }, epochs = 4 })
add('parts in Lua', function()
  return { model = defined.model { controller = { kind = 'lua_lstm', hidden = 4 } }, train = defined.train,
    valid = defined.valid }
end)
add('an objective in Lua', function()
  return { model = defined.recognizer(), train = defined.labelled, objective = 'lua_stepwise' }
end)
local folder = test.folder()
pd.file.write(folder .. '/text.txt', ('The cat saw the dog .\nA dog ran .\nthe cats run\n'):rep(10))
local sentences = pd.task.sentences(folder .. '/text.txt', { folder = folder .. '/sentences', shares = { 0.7, 0.3 } })
add('sentences', function()
  return { train = sentences.train, valid = sentences.test, batch = 4, model = pd.model.language_model {
    alphabet = sentences.train:alphabet(), embedding = 4, seed = 1, controller = { kind = 'lstm', hidden = 8 } } }
end)

for _, one in ipairs(all) do
  local name, options = unpack(one)
  test(name, function()
    local whole, stopped = trainings.trainer(options()), trainings.trainer(options())
    for _ in whole:epochs() do end
    local wanted = trainings.fingerprint(whole)
    local place, updates = test.folder() .. '/run', math.floor(0.6 * whole:updates())
    for _ = 1, updates do stopped:step() end
    stopped:save(place)
    local resumed = pd.train.resume(place, { progress = false })
    test.equal(resumed:updates(), updates)
    for _, trainer in ipairs { stopped, resumed } do
      for _ in trainer:epochs() do end
      -- The folder that was saved has the lines of its continuation.
      local got = trainings.fingerprint(trainer):gsub('line %d[^\n]*\n', '')
      assert(got == wanted, trainer == resumed and 'from the folder' or 'in the process')
    end
    local loaded = pd.model.load(place, { which = 'last' }):parameters()
    for key, parameter in pairs(whole:model():parameters()) do test.near(loaded[key], parameter, 0) end
  end)
end

test.finish()
