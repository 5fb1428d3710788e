-- pd.search in one process: which restarts go on, what ends a search, continuing after a stop, and bad input.
local pd = require 'pushdown'
local files = require 'pushdown.files'
local json = require 'pushdown.json'
local search = require 'pushdown.search'
local test = require 'pushdown.test'

pd.session { log_level = 'off' }
local has = test.has
local function new_folder() return test.folder() .. '/run' end

local grammar = pd.grammar.load('marked_reversal')
local sampler = grammar:sampler { lengths = { 3, 9 } }
local train, valid = sampler:dataset(40, { seed = 1 }), sampler:dataset(20, { seed = 2 })
local valid_bound = sampler:lower_bound(valid)
local longer = grammar:sampler { lengths = { 9, 11 } }:dataset(20, { seed = 3 })

local epochs = 4
local function make(restart, folder, more)
  local options = pd.tables.merged({ train = train, valid = valid, epochs = epochs, seed = 1, progress = false,
    run_folder = folder, optimizer = { kind = 'adam', learning_rate = 0.01 },
    model = pd.model.language_model { alphabet = grammar:alphabet(), seed = restart, controller = { kind = 'lstm',
    hidden = 4 } } }, more)
  if options.stages then options.train, options.valid, options.epochs = nil, nil, nil end
  return pd.train.trainer(options)
end

-- The value of every restart after every epoch, from separate trainings.
local restarts = 5
local values = {}
for restart = 1, restarts do
  values[restart] = {}
  for epoch in make(restart):epochs() do
    values[restart][epoch.epoch] = epoch.best_cross_entropy - epoch.lower_bound
  end
end

-- The restarts that are among the best `kept` of these at an epoch.
local function best_of(field, epoch, kept)
  local list = {}
  for _, restart in ipairs(field) do list[#list + 1] = restart end
  table.sort(list, function(a, b) return values[a][epoch] < values[b][epoch] end)
  for k = #list, kept + 1, -1 do list[k] = nil end
  return list
end

local function set(list)
  local found = {}
  for _, restart in ipairs(list) do found[restart] = true end
  return found
end

local function run(options)
  return search.run(pd.tables.merged({ folder = new_folder(), restarts = restarts, make = make, rungs = { 1, 3 } },
    options))
end

test('the model of the best restart has the parameters to which the value belongs', function()
  local function measured(found) return found.trainer:evaluate(valid).cross_entropy end
  local function eager(restart, folder)
    return make(restart, folder, { epochs = 12, optimizer = { kind = 'adam', learning_rate = 0.1 } })
  end
  local found = run { make = eager, restarts = 2, rungs = {} }
  test.near(measured(found) - valid_bound, found.value, 1e-12)
  local history = found.trainer:history()
  assert(history[#history].best_epoch < #history, 'the last epoch is worse')
  found = run { make = eager, restarts = 2, rungs = {}, metric = 'cross_entropy' }
  test.equal(measured(found), found.value)
end)

test('the best restarts go on and the best of the last ones is returned', function()
  for _, case in ipairs { { nil, { 2, 1 } }, { { 3, 2 }, { 3, 2 } } } do
    local found = run { keep = case[1] }
    local first = best_of({ 1, 2, 3, 4, 5 }, 1, case[2][1])
    local second = best_of(first, 3, case[2][2])
    local winner = best_of(second, epochs, 1)[1]
    first, second = set(first), set(second)
    test.equal(found.restart, winner)
    test.equal(found.value, values[winner][epochs])
    test.equal(found.solved, false)
    test.equal(found.trainer:epochs() ~= nil and #found.trainer:history(), epochs)
    local left = {}
    for _, row in ipairs(found.rows) do left[row.restart] = row.dropped or 0 end
    for restart = 1, restarts do
      test.equal(left[restart], not first[restart] and 1 or not second[restart] and 3 or 0)
    end
    test.equal(pd.model.load(found.folder):log_probability('0 # 0') < 0, true)
  end
end)

test('groups of restarts train one after the other, and the search ends with the first that is solved', function()
  -- Reached by restart 3 or later alone: two groups of two have to train.
  local order = best_of({ 1, 2, 3, 4, 5 }, epochs, 5)
  local bar, first = nil, nil
  for restart = 1, restarts do
    if restart > 2 and values[restart][epochs] < math.min(values[1][epochs], values[2][epochs]) then
      bar, first = values[restart][epochs], restart
      break
    end
  end
  local found = run { rungs = {}, together = 2, solved = bar }
  test.equal(found.solved, first ~= nil)
  test.equal(found.restart, first or order[1])
  for _, row in ipairs(found.rows) do
    local begun = first == nil or row.restart <= first + first % 2
    test.equal(row.epochs > 0, begun)
    if row.restart <= 2 then test.equal(row.epochs, epochs) end
  end
  -- In groups and all side by side, the same restarts go on.
  test.equal(run({ together = 2 }).restart, run().restart)
  test.fails("option 'together' must be at least 1, got 0", function() run { together = 0 } end)
end)

test('a search continues after a stop as if nothing had happened', function()
  local whole = run()
  for _, stop in ipairs { 1, 5, 6, 9, 10 } do  -- of 5 + 2 * 2 + 1 epochs
    local folder, calls = new_folder(), 0
    -- Stands for an interrupt: the epoch is trained and its checkpoint written.
    local function metric(epoch)
      calls = calls + 1
      if calls == stop then error 'stopped' end
      return epoch.best_cross_entropy - epoch.lower_bound
    end
    test.fails('stopped', function() run { folder = folder, metric = metric, better = 'lower' } end)
    local again = run { folder = folder }
    test.equal(again.restart, whole.restart)
    test.equal(again.value, whole.value)
    for k, row in ipairs(again.rows) do
      test.equal(row.dropped, whole.rows[k].dropped)
      test.equal(row.value, whole.rows[k].value)
    end
  end
  test.equal(run { folder = (whole.folder:gsub('/restart%-%d+$', '')) }.restart, whole.restart)
end)

test('a solved restart ends the search', function()
  local first = best_of({ 1, 2, 3, 4, 5 }, 1, 1)[1]
  local found = run { solved = values[first][1] }
  test.equal(found.restart, first)
  test.equal(found.solved, true)
  test.equal(#found.trainer:history(), 1)
  -- With stages, only the last one counts.
  local stages = { { train = train, valid = valid, epochs = 2 }, { train = train, valid = longer, epochs = 1 } }
  local staged = run { rungs = {}, solved = 1000,
    make = function(restart, folder) return make(restart, folder, { stages = stages }) end }
  test.equal(staged.solved, true)
  test.equal(#staged.trainer:history(), 3)
end)

test('every restart is in the table', function()
  local folder = new_folder()
  local found = run { folder = folder }
  local lines = pd.csv.decode(files.read(folder .. '/search.csv'))
  test.equal(#lines, restarts + 1)
  test.equal(table.concat(lines[1], ' '), 'restart epochs value outcome')
  test.equal(lines[1 + found.restart][4], 'best')
  test.equal(files.read(folder .. '/search.csv'), found.table:csv())
  test.equal(#json.decode(files.read(folder .. '/search.json')).restarts, restarts)
end)

test('another number decides, and one in `keep` goes on', function()
  local found = run { restarts = 4, rungs = { 1 }, keep = 4, metric = 'cross_entropy', better = 'higher' }
  local worst = best_of({ 1, 2, 3, 4 }, 1, 4)[4]
  test.equal(found.restart, worst)
  test.equal(found.value, found.trainer:history()[epochs].cross_entropy)
  for _, row in ipairs(found.rows) do test.equal(row.dropped, row.restart ~= worst and 1 or nil) end
  test.equal(run { metric = 'cross_entropy', better = 'higher', solved = 0.1 }.solved, true)
  test.equal(run { metric = 'cross_entropy', better = 'higher', solved = 100 }.solved, false)
  test.fails("epoch 1 of restart 1 has no number 'loss'", function() run { metric = 'loss' } end)
end)

-- The search waits after its first epoch, until there is a file 'go'.
local script = [[
local sampler = pd.grammar.load 'marked_reversal':sampler { lengths = { 3, 9 } }
local train, valid = sampler:dataset(40, { seed = 1 }), sampler:dataset(20, { seed = 2 })
local pool = pd.process.pool()
local found = pd.search.run { folder = 'searched', restarts = 3, rungs = { 1 }, better = 'lower',
  metric = function(epoch)
    io.open('trained', 'w'):close()
    while not pd.files.exists 'go' do pool:wait(0.05) end
    return epoch.cross_entropy
  end,
  make = function(restart, folder)
    return pd.train.trainer { train = train, valid = valid, epochs = 3, seed = 1, run_folder = folder,
      model = pd.model.language_model { alphabet = sampler:grammar():alphabet(), seed = restart,
        controller = { kind = 'elman', hidden = 3 }, stack = 'none' } }
  end }
print(('FOUND %d %.17g'):format(found.restart, found.value))
]]

test('after Ctrl-C the message tells how to go on', function()
  local folder = new_folder()
  files.make_folder(folder)
  files.write(folder .. '/search.lua', script)
  local command = ('cd %s && PUSHDOWN_REGISTRY=off exec %s search.lua'):format(folder, test.program)
  local pool = pd.process.pool()
  local process = pool:start { command = { '/bin/sh', '-c', command }, output = folder .. '/output' }
  test.wait_until('an epoch is trained', function() return files.exists(folder .. '/trained') end)
  process:signal 'interrupt'
  test.wait_until('the search has ended', function() return process:poll() end)
  test.equal(process:poll().code, 130)
  local said = files.read(folder .. '/output')
  assert(said:find("pd.search.run with the same options continues the search in 'searched'", 1, true), said)
  files.write(folder .. '/go', '')
  local continued = test.command(command .. ' 2>/dev/null')
  os.execute(('rm -r %s/searched'):format(folder))
  test.equal(continued, (test.command(command .. ' 2>/dev/null')))
  assert(continued:find 'FOUND %d', continued)
end)

test('a restart that fails does not go on', function()
  local function failing(restart, folder)
    return make(restart, folder, restart ~= 3 and { optimizer = { kind = 'sgd', learning_rate = 1e38 } } or nil)
  end
  local found = run { make = failing }
  test.equal(found.restart, 3)
  test.fails('every restart has failed', function()
    run { restarts = 2, rungs = {}, make = function(_, folder) return failing(1, folder) end }
  end)
end)

test('a restart whose value is not finite does not go on', function()
  for better, nothing in pairs { lower = 0 / 0, higher = math.huge } do
    local function metric(epoch) return values[1][epoch.epoch] == epoch.best_cross_entropy - epoch.lower_bound
      and nothing or epoch.best_cross_entropy - epoch.lower_bound end
    local found = run { rungs = { 1 }, keep = { 4 }, metric = metric, better = better }
    local place = better == 'lower' and 1 or 4
    local others = best_of({ 2, 3, 4, 5 }, epochs, 4)
    test.equal(found.restart, others[place])
    test.equal(found.value, values[others[place]][epochs])
    test.equal(found.rows[1].value, nil)
    has(found.rows[1].error, 'the value of epoch 1 of restart 1 is ')
    test.equal(found.ranked[1].restart, found.restart)
    test.equal(found.ranked[5].restart, 1)
    test.equal(found.rows[1].dropped, 1)
    for restart = 2, 5 do test.equal(found.rows[restart].dropped, nil) end
    has(files.read((found.folder:gsub('restart%-%d+$', 'search.csv'))), '1,1,–,failed')
  end
  -- If the values of all that went on become undefined, the best one of the others goes on in their place.
  local order = best_of({ 1, 2, 3, 4, 5 }, 1, 5)
  local folder = new_folder()
  local function run_once()
    return run { folder = folder, rungs = { 1 }, keep = { 1 }, better = 'lower', metric = function(epoch)
      local value = epoch.best_cross_entropy - epoch.lower_bound
      return value == values[order[1]][epoch.epoch] and epoch.epoch > 1 and 0 / 0 or value
    end }
  end
  local found = run_once()
  test.equal(found.restart, order[2])
  test.equal(found.value, values[order[2]][epochs])
  test.equal(#found.trainer:history(), epochs)
  test.equal(found.rows[order[1]].dropped, epochs)
  test.equal(found.ranked[5].restart, order[1])
  local again = run_once()
  test.equal(again.restart, found.restart)
  test.equal(again.value, found.value)
  -- A restart whose value is undefined only at first goes on.
  found = run { restarts = 3, rungs = { 2 }, keep = { 3 }, better = 'lower',
    metric = function(epoch) return epoch.epoch == 1 and 0 / 0 or epoch.cross_entropy end }
  for _, row in ipairs(found.rows) do test.equal(row.error, nil) end
  test.fails('every restart has failed; the last error is: the value of epoch 1 of restart 1 is nan', function()
    run { restarts = 2, rungs = { 1 }, better = 'lower', metric = function() return 0 / 0 end }
  end)
end)

test('the name of a metric decides which values are better', function()
  local lower, higher = run { metric = 'cross_entropy' }, run { metric = 'cross_entropy', better = 'higher' }
  assert(lower.value < higher.value)
  test.equal(lower.restart, run({ metric = 'cross_entropy', better = 'lower' }).restart)
  test.fails("option 'better' is missing: expected 'lower' or 'higher', because the name 'seconds' does not say",
    function() run { metric = 'seconds' } end)
  test.fails("option 'better' is missing: .* because a function does not say", function()
    run { metric = function(epoch) return epoch.cross_entropy end }
  end)
end)

test('wrong options are named', function()
  for _, case in ipairs {
    { { restart = 3 }, "unknown option 'restart'" },
    { { restarts = 0 }, "option 'restarts' must be at least 1, got 0" },
    { { make = 7 }, "option 'make' must be a function, got 7" }, { { rungs = { 3, 3 } }, 'growing integers' },
    { { keep = { 1 } }, 'a number for each of the 2 rungs, got 1' },
    { { keep = { 2, 3 } }, 'keep%[2%] must be an integer from 1 to 2, got 3' },
    { { keep = 1 }, 'keep must be larger than 1, got 1' },
    { { better = 'best' }, "option 'better' must be one of 'lower' and 'higher'" },
    { { workers = 2 }, "option 'workers' is for searches with script" },
    { { script = 'train.lua' }, 'expected make, .* or script' },
    { { make = function(restart) return make(restart) end }, "must return a trainer with run_folder = '" },
  } do
    test.fails(case[2], function() run(case[1]) end)
  end
  local folder = new_folder()
  run { folder = folder, restarts = 1, rungs = {} }
  test.fails('is the state of another search: its restarts differ', function()
    run { folder = folder, restarts = 2, rungs = {} }
  end)
  files.write(folder .. '/search.json', '[]')
  test.fails('is not the state of a search', function() run { folder = folder, restarts = 1, rungs = {} } end)
end)

test.finish()
