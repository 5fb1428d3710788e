-- Runs all experiments of the papers one after the other, in order of importance. It makes their tables and
-- adds finished runs to docs/results/<paper>/runs.csv while they run. Recorded runs are not trained again, so that
-- the work can continue on any machine.
--
--   pushdown scripts/experiments/all.lua --list
--   pushdown scripts/experiments/all.lua --workers 2 --hours 10
--   pushdown scripts/experiments/all.lua --only diffstk-table2,nspda
--
-- Ctrl-C, or the end of --hours, stops the runs at a checkpoint; start the script again to continue.
local experiment = require 'pushdown.experiment'
local files = require 'pushdown.files'
local gather = require 'pushdown.record.gather'
local pd = require 'pushdown'
local report = require 'pushdown.report'
local here = arg[0]:match('^(.*/)') or ''

local entries = {}

-- name: '<paper>-<experiment>'; hours: expected core-hours on an idle machine in total, nil if not measured; parts:
-- tables of the paper; arguments: a text, the same for all of them; folder: that of the runs, if it is not the usual
-- one; plain: the tables are not made of trainings.
local function add(name, hours, parts, arguments, more)
  local entry = { name = name, hours = hours, paper = name:match('^[^-]+'), parts = parts, arguments = {} }
  for word in (arguments or ''):gmatch('%S+') do table.insert(entry.arguments, word) end
  for key, value in pairs(more or {}) do entry[key] = value end
  entry.folder = entry.folder or 'runs/' .. entry.paper .. '/grid'
  entries[#entries + 1] = entry
end

-- The hours of table 1 were measured; those of the other tables follow from their numbers of runs and symbols. The
-- hours of the nspda tables were estimated together and divided in proportion to their runs.
for _, table in ipairs { { 1, 0.5 }, { 2, 0.5 }, { 3, 1.5 }, { 4, 0.5 }, { 6, 0.5 }, { 7, 0.3 }, { 8, 0.4 } } do
  add('diffstk-table' .. table[1], table[2], { 'table' .. table[1] })
end
add('diffstk-readings', 0.3, { 'readings' })
local search, grid = ' --models lstm,superposition,stratification,ns', { 'grid', 'figure4', 'figure5' }
local some = search .. ' --learning-rates 0.01,0.005,0.001 --sizes 20'
add('ns_rnn-reversal-dyck', 7, grid, '--tasks marked_reversal,unmarked_reversal,dyck' .. some)
add('ns_rnn-padded-hardest', 11, grid, '--tasks padded_reversal,hardest_cfl' .. some)
for _, table in ipairs { { 1, 5 }, { 3, 1 }, { 4, 4 }, { 2, 5 }, { 7, 3 } } do
  add('nspda-table' .. table[1], table[2], { 'table' .. table[1] })
end
add('nspda-table5', 0.1, { 'table5' }, '', { plain = true })
add('nspda-table6', nil, { 'table6' })
add('transduction-128', 4, { 'figure2a', 'figure2b' }, '--tasks bigram_flipping,svo_to_sov,gender_conjugation '
  .. '--rows 1-layer,Stack,Queue,DeQue --learning-rates 0.001 --hidden 128 --memory 128',
  { folder = 'runs/transduction/grid_128' })
add('transduction-256', 24, { 'figure2a', 'figure2b' }, '--tasks copy,reversal --rows Stack,Queue,DeQue '
  .. '--learning-rates 0.005,0.001,0.0005')
local deque = '--tasks copy,reversal --rows DeQue --learning-rates 0.001 --hidden 128 --memory 128 --restarts 3'
add('transduction-deque', 2.5, { 'figure2a' }, deque, { folder = 'runs/transduction/grid_128' })
add('transduction-deque-biased', 2.5, { 'figure2a' }, deque .. ' --pop-bias -3 --bottom-push-bias -6',
  { folder = 'runs/transduction/grid_128_biased' })
add('transduction-layers', 13, { 'figure2a', 'figure2b' }, '--tasks copy,reversal --rows 4-layer,8-layer '
  .. '--learning-rates 0.001')
add('ns_rnn-rest', 30, grid, search)
-- Far fewer updates and smaller networks than the papers have, which take weeks on a processor. First the lengths of
-- the paper; the other entries have shorter strings and networks with tanh.
add('chomsky-published', 1, { 'scores' }, '--tasks reverse_string,duplicate_string,stack_manipulation,odds_first,'
  .. 'parity_check --models rnn,stack_rnn,tape_rnn,transformer,lstm,stack_lstm,stratification '
  .. '--learning-rates 1e-3,1e-2 --samples 2 --restarts 1 --steps 5000 --steps-of-an-epoch 500 --hidden 64 '
  .. '--layers 2 --batches 32,32 --valid-pairs 256 --test-pairs 4', { folder = 'runs/chomsky/published_grid' })
local function chomsky(models, rates, samples)
  return ('--models %s --learning-rates %s --samples %d '):format(models, rates, samples)
    .. '--restarts 1 --lengths 1,20 --longest 100 --steps-of-an-epoch 500 --hidden 64 --cells 44 --symbols 3 '
    .. '--batches 32,32 --valid-pairs 512 --activation tanh --no-rectified --no-padded --vector sigmoid '
end
local six = chomsky('rnn,lstm,stack_rnn,stratification,baby_ntm,ndstack_rnn', '1e-3,1e-2', 3)
add('chomsky-small', 0.2, { 'scores' }, six .. '--tasks reverse_string,stack_manipulation,'
  .. 'modular_arithmetic_brackets,solve_equation --steps 4000 --test-pairs 16', { folder = 'runs/chomsky/small_grid' })
add('chomsky-arithmetic', 1, { 'scores' }, six .. '--tasks modular_arithmetic_brackets,solve_equation '
  .. '--steps 40000 --test-pairs 64', { folder = 'runs/chomsky/arithmetic_grid' })
-- Every simple recurrent network is best there at the lowest of its three rates, so that the grid ends too early.
add('chomsky-rates', 0.1, { 'scores' }, chomsky('rnn,stack_rnn', '1e-4,1e-3', 2)
  .. '--tasks modular_arithmetic_brackets --steps 40000 --test-pairs 64', { folder = 'runs/chomsky/rates_grid' })
add('flare-small', 0.5, { 'scores' }, '--tasks marked_reversal,dyck_2_3,parity,marked_copy --models rnn,lstm,'
  .. 'superposition,stratification,rns --samples 3 --lengths 0,20 --long-lengths 0,40 '
  .. '--test-lengths 0,100 --strings 5000 --valid-strings 500 --test-strings 1000 --parameter-budget 0 --hidden 32 '
  .. '--recurrent-layers 1 --no-embedding --initial-state zero --epochs 40',
  { folder = 'runs/flare/small_grid' })
-- Nearer to the paper: its training lengths, more updates, and the next symbols in the loss.
add('flare-reversal', 0.1, { 'scores' }, '--tasks marked_reversal --models lstm,superposition --samples 2 '
  .. '--lengths 0,40 --long-lengths 0,80 --test-lengths 0,160 --strings 10000 --valid-strings 500 '
  .. '--test-strings 1000 --parameter-budget 0 --hidden 32 --recurrent-layers 1 --no-embedding --initial-state zero '
  .. '--epochs 40 --dropout 0 --loss recognition+lm --batches 128,512 --learning-rates 1e-3,1e-2 '
  .. '--loss-weights 1,10', { folder = 'runs/flare/reversal_grid' })
-- Nine networks: three seeds on six languages, one on twelve others; the defaults are the protocol.
add('flare-hard', 0.4, { 'hard_table' }, '', { folder = 'runs/flare/hard' })
add('flare-rest', 0.4, { 'hard_rest' }, '', { folder = 'runs/flare/hard' })
-- Smaller networks, shorter strings and fewer updates than those of the full protocol.
add('state_tracking-small', 0.5, { 'scores' }, '--tasks parity_check,modular_arithmetic,s3,a5 --samples 2 --restarts 1 '
  .. '--lengths 3,20 --longest 100 --steps 3000 --steps-of-an-epoch 250 --hidden 32 --width 32 --recurrent-layers 1 '
  .. '--batches 32,32 --learning-rates 1e-3,1e-2 --test-pairs 32 --stop-perplexity 1.01',
  { folder = 'runs/state_tracking/small_grid' })
-- The settings are those of the full protocol, but for fewer restarts and test strings, and 100 training strings.
local counting = 'an_bn_100,an_bn_cn_100,an_bn_cn_dn_100,an_b2n_100,an_bm_cnm_100'
add('optimum-small', 0.7, { 'scores' }, '--tasks ' .. counting .. ',dyck_1_100,dyck_2_100,addition_100 --models rnn,'
  .. 'rnn_recipe,lstm,lstm_recipe,superposition,superposition_recipe,stratification,stratification_recipe,counters,'
  .. 'counters_recipe --restarts 3 --test-strings 100', { folder = 'runs/optimum/small_grid' })
-- Far fewer and simpler pairs, smaller networks, one setting and one restart.
add('question_formation-small', 0.3, { 'scores' }, '--models lstm,lstm_sup,lstm_sup_r,transformer,lstm_nd,'
  .. 'lstm_nd_r,transformer_sup,transformer_nd --samples 1 --restarts 1 --learning-rates 5e-3,5e-3 --batches 16,16 '
  .. '--train-pairs 3000 --valid-pairs 200 --test-pairs 300 --epochs 30 --patience 0 --decay-patience 3 --dropout 0 '
  .. '--hidden 48 --recurrent-layers 1 --cell 16 --states 2 --layers 3',
  { folder = 'runs/question_formation/small_grid' })

-- The limits of all searches; most of them end earlier.
add('recipes', nil, { 'table' })

local declaration = {
  name = 'experiments/all', doc = 'Runs the experiments of the papers one after the other and records them.',
  options = {
    { 'only', {}, 'experiments whose names begin with one of these; none: all' },
    { 'list', false, 'only prints the experiments with their expected core-hours' },
    { 'workers', 1, 'number of concurrent processes', minimum = 1, may_change = true },
    { 'hours', 0, 'hours after which the runs write a checkpoint and stop; 0: never', type = 'number', minimum = 0,
      may_change = true },
    { 'results', 'docs/results', 'folder of the records, <paper>/runs.csv' },
    { 'gather_minutes', 5, 'minutes between recordings of finished runs', type = 'number', minimum = 0.01,
      may_change = true },
  },
  quick = {}, smoke = { only = { 'diffstk-table7' } },
}

local function chosen(only)
  local kept = {}
  for _, entry in ipairs(entries) do
    local wanted = #only == 0
    for _, start in ipairs(only) do wanted = wanted or entry.name:sub(1, #start) == start end
    if wanted then kept[#kept + 1] = entry end
  end
  if #kept == 0 then error('--only selects no experiment; --list shows the names', 0) end
  return kept
end

local asked, given = pcall(experiment.parse, declaration, arg)
if asked and given.list then
  local rows, sum = {}, 0
  for i, entry in ipairs(chosen(given.only)) do
    sum = sum + (entry.hours or 0)
    rows[i] = { entry.name, entry.hours or '?', ('%s %s %s'):format(entry.paper, table.concat(entry.parts, ','),
      table.concat(entry.arguments, ' ')) }
  end
  rows[#rows + 1] = { 'all', sum }
  io.write(report.table({ columns = { 'name', { 'core-hours', align = 'right' }, 'paper, tables, options' },
    rows = rows }):text())
  os.exit(0)
end

local options, run = experiment.start(declaration)
local began = pd.process.clock()

local function say(...)
  print(os.date '%H:%M:%S ' .. (...):format(select(2, ...)))
  io.stdout:flush()
end

local function is_over() return options.hours > 0 and pd.process.clock() - began >= 3600 * options.hours end

local function record_of(entry) return ('%s/%s/runs.csv'):format(options.results, entry.paper) end

-- Records finished runs. Smaller runs are not recorded, because they are not results. A failure to record does not stop
-- the training.
local function keep(entry, tell)
  if run.size ~= 'full' or entry.plain then return end
  local ok, found = pcall(gather, { folders = { entry.folder }, into = record_of(entry) })
  if not ok then return say('NOT RECORDED: %s', tostring(found)) end
  if tell or found.added > 0 then
    say('%s: %d more runs in %s', entry.name, found.added, record_of(entry))
  end
  if tell and #found.differing > 0 then
    say('%d runs differ from the record and are not in it: %s', #found.differing, found.differing[1])
  end
end

local function command(entry, part)
  local words = { pd.process.executable(), '--threads', '1', '--exit-with-parent', tostring(pd.process.pid()),
    ('%s%s.lua'):format(here, entry.paper), part }
  local function append(...)
    for _, word in ipairs { ... } do words[#words + 1] = word end
  end
  append(unpack(entry.arguments))
  append('--run-folder', run:path(entry.name .. '/' .. part))
  if run.size ~= 'full' then append('--' .. run.size) end
  if not entry.plain then
    append('--workers', tostring(options.workers))
    if run.size == 'full' then
      append('--folder', entry.folder)
      if files.exists(record_of(entry)) then append('--recorded', record_of(entry)) end
    end
  end
  return words
end

-- Makes one table until it ends or the hours are over. Returns whether it succeeded.
local function work(pool, entry, part)
  local output = ('%s/%s.log'):format(run:path(entry.name), part)
  files.make_folder(run:path(entry.name))
  local process = pool:start { command = command(entry, part), output = output }
  local next_time, stopping = pd.process.clock() + 60 * options.gather_minutes, false
  local ending
  repeat
    pool:wait(0.5)
    ending = process:poll()
    if not ending and not stopping and is_over() then
      say('%g hours are over; stopping the runs at a checkpoint', options.hours)
      stopping = true
      process:signal 'interrupt'
    end
    if not ending and pd.process.clock() >= next_time then
      keep(entry)
      next_time = pd.process.clock() + 60 * options.gather_minutes
    end
  until ending
  keep(entry, true)
  if ending.text == 'exited with status 0' then return true end
  if not stopping then say('%s: %s FAILED, it %s (%s)', entry.name, part, ending.text, output) end
  return false
end

local list, finished, failed = chosen(options.only), 0, 0
local pool = pd.process.pool()
pool:supervise(function()
  for number, entry in ipairs(list) do
    if is_over() then break end
    say('[%d/%d] %s, %s core-hours in total; tables and logs: %s', number, #list, entry.name, entry.hours or 'unknown',
      run:path(entry.name))
    keep(entry)
    local well = true
    for _, part in ipairs(entry.parts) do well = well and not is_over() and work(pool, entry, part) end
    if well then finished = finished + 1 elseif not is_over() then failed = failed + 1 end
  end
end)
say('%d of %d experiments are finished, %d failed', finished, #list, failed)
run:finish { finished = finished, failed = failed, experiments = #list }
if failed > 0 then error(('%d of %d experiments failed'):format(failed, #list), 0) end
