-- Python can read the files of a run and run exported models without our program: scripts/tools/read_run.py and
-- scripts/tools/run_model.py.
local files = require 'pushdown.files'
local pd = require 'pushdown'
local test = require 'pushdown.test'

local folder = test.folder() .. '/run'

local run = test.command

local _, without = run('python3 --version')
if without ~= 0 then test.skip 'there is no python3' end

test('configuration, metrics and parameters', function()
  local grammar = pd.grammar.load 'marked_reversal'
  local sampler = grammar:sampler { lengths = { 4, 8 } }
  local model = pd.model.language_model { alphabet = grammar:alphabet(), controller = { kind = 'lstm', hidden = 4 },
    stack = { kind = 'superposition', size = 3 }, dtype = 'float64', seed = 1 }
  local trainer = pd.train.trainer { model = model, train = sampler:dataset(30, { seed = 1 }),
    valid = sampler:dataset(10, { seed = 2 }), epochs = 2, run_folder = folder, progress = false }
  for _ in trainer:epochs() do end
  local output = test.ended(0, 'config.json: ',
    run(('python3 %s/scripts/tools/read_run.py %s'):format(pd.root, folder)))
  for _, epoch in ipairs(trainer:history()) do
    local written = output:match('epoch ' .. epoch.epoch .. ': cross%-entropy ([%d.e-]+)')
    test.near(tonumber(written), epoch.cross_entropy, 1e-12)
  end
  local count = 0
  for name, parameter in pairs(trainer:model():parameters()) do
    local line = 'last.safetensors: ' .. name:gsub('%p', '%%%0') .. ': [%d x]+, sum ([%d.e-]+)'
    local sum = output:match(line)
    assert(sum, name .. ' in\n' .. output)
    test.near(tonumber(sum), parameter:sum():item(), 1e-8)
    count = count + 1
  end
  assert(count > 5, count)
  assert(output:find('optimizer.steps: ', 1, true), output)
  test.ended(1, 'usage:', run(('python3 %s/scripts/tools/read_run.py /nowhere'):format(pd.root)))
end)

if select(2, run "python3 -c 'import numpy'") ~= 0 then
  os.execute('rm -rf ' .. folder)
  print('the tests of run_model.py are skipped: python3 has no NumPy')
  test.finish()
  return
end

-- ---- run_model.py ----

local words = { 'a', 'b', 'c', 'b', 'b', 'a', 'c', 'a', 'b' }

local function model(options)
  options.alphabet, options.dtype, options.seed = { 'a', 'b', 'c' }, options.dtype or 'float64', 1
  if options.controller == nil then options.controller = { kind = 'lstm', hidden = 4 } end
  if not options.controller then options.controller = nil end
  return pd.model.language_model(options)
end

local reader = pd.root .. '/scripts/tools/run_model.py'

test('the reader with NumPy has at most 110 lines of code', function()
  local body = files.read(reader):match '^#![^\n]+\n""".-"""\n(.*)$'
  local count = 0
  for line in body:gmatch '[^\n]+' do
    if not line:match '^%s*#' then count = count + 1 end
  end
  assert(count <= 110, count)
end)

test('the reader with NumPy shows its usage', function()
  test.ended(0, 'python3 run_model.py FOLDER', run(("python3 '%s'"):format(reader)))
end)

-- Returns what the reader prints for models, or 'refused: ' and its message. Python starts once for all of them.
local function read_all(models)
  local places = {}
  for i, m in ipairs(models) do
    pd.tensor.no_grad(function()
      for _, parameter in pairs(m:parameters()) do parameter:assign(parameter * 4) end
    end)
    places[i] = ('%s/export %d'):format(folder, i)
    m:export(places[i])
  end
  local script = folder .. '/read_all.py'
  pd.file.write(script, [[
import pathlib, sys
sys.path.insert(0, sys.argv[1])
from run_model import log_probability
for folder in sys.argv[3:]:
    try: print(float(log_probability(pathlib.Path(folder), sys.argv[2].split())))
    except SystemExit as refusal: print("refused:", refusal)
]])
  local output, status = run(("python3 '%s' '%s' '%s' '%s'"):format(script, places[1], table.concat(words, ' '),
    table.concat(places, "' '")))
  test.equal(status, 0, output)
  local answers = pd.tables.matches(output, '[^\n]+')
  test.equal(#answers, #models, output)
  return answers
end

test('the reader with NumPy gives our log-probabilities', function()
  local models = {}
  for i, stack in ipairs {
    { kind = 'none' }, { kind = 'superposition', size = 3 }, { kind = 'stratification', size = 3 },
    { kind = 'stratification', size = 3, push = 'expectation', pop = 'expectation', read = 'expectation' },
    { kind = 'stratification', size = 2, push = 'fixed', pop = 'fixed', read = 'fixed' },
    { kind = 'nondeterministic', states = 2, symbols = 3 },
    { kind = 'nondeterministic', states = 3, symbols = 2, normalized = false, reading = 'state_symbol',
      bottom = 'reexposed' },
    { kind = 'vector_nondeterministic', states = 2, symbols = 2, size = 3 },
    { kind = 'vector_nondeterministic', states = 2, symbols = 2, size = 2, bottom = 'original',
      bottom_vector = 'one', normalized = true },
    { kind = 'vector_nondeterministic', states = 1, symbols = 2, size = 2, bottom_vector = 'zero' },
  } do
    models[i] = model { stack = stack, end_symbol = i % 3 == 0, embedding = i % 2 == 1 and 4 or 0,
      output = i % 4 ~= 0 and stack.kind ~= 'none' and 'hidden_and_reading' or 'hidden',
      initial_state = i % 2 == 0 and 'learned' or 'zero', dtype = i % 4 == 0 and 'float32' or 'float64' }
  end
  for _, kind in ipairs { 'elman', 'gru', 'lstm', 'lstm_peephole' } do
    models[#models + 1] = model { controller = { kind = kind, hidden = 3, layers = 3 }, initial_state = 'learned',
      stack = { kind = 'superposition', size = 2, depth = 2, temperature = 0.5 }, end_symbol = true }
  end
  for i, answer in ipairs(read_all(models)) do
    test.near(tonumber(answer), models[i]:log_probability(words), 1e-6)
  end
  local place = folder .. '/export 1'
  local output, status = run(("python3 '%s/run_model.py' '%s' nobody"):format(place, place))
  assert(status ~= 0 and output:find("'nobody' is not in the alphabet", 1, true)
    and not output:find('Traceback', 1, true), output)
end)

-- The values of an option that are not its default. `type` is a type, or the choices in quotes.
local function other_values(type, default)
  if type == 'boolean' then return { default ~= 'true' } end
  if type == 'integer' then return { tonumber(default) == 0 and 3 or tonumber(default) + 1 } end
  if type == 'number' then return { tonumber(default) > 0 and tonumber(default) / 2 or 0.5 } end
  local values = {}
  for choice in type:gmatch "'([%w_]+)'" do
    if choice ~= default:match '[%w_]+' then values[#values + 1] = choice end
  end
  return values
end

test('the reader with NumPy reads every value of every option, or names the option and refuses', function()
  local models, changed, refused = {}, {}, {}
  -- Adds a model with the defaults of a kind, and one for each other value. `options(own)`: those of the model.
  local function vary(kind, description, options)
    local function add(own, name)
      local ok, m = pcall(model, options(own))
      if ok then models[#models + 1], changed[#changed + 1] = m, { kind = kind, name = name } end  -- else excluded
    end
    add({}, nil)
    for line in description:gmatch '\n  ([^\n]+)' do
      local name, type, default = line:match '^(%S+)%s+(.-), default (%S+): '
      for _, value in ipairs(name and other_values(type, default) or {}) do add({ [name] = value }, name) end
    end
  end
  vary('language_model', pd.model.describe(), function(own)
    own.stack = own.stack or { kind = 'superposition', size = 3 }
    return own
  end)
  for _, kind in ipairs(pd.controller.kinds()) do
    vary(kind, pd.controller.describe(kind), function(own)
      own.kind, own.hidden = kind, own.hidden or 4
      return { controller = own, stack = { kind = 'superposition', size = 3 } }
    end)
  end
  for _, kind in ipairs(pd.stack.kinds()) do
    vary(kind, pd.stack.describe(kind):match '^(.-)\npd%.' or pd.stack.describe(kind), function(own)
      own.kind = kind
      return { stack = own }
    end)
  end
  assert(#models > 100, #models)
  for i, answer in ipairs(read_all(models)) do
    local kind, name = changed[i].kind, changed[i].name
    if tonumber(answer) then
      local ok, message = pcall(test.near, tonumber(answer), models[i]:log_probability(words), 1e-5)
      assert(ok, ('%s, %s: %s'):format(kind, tostring(name), message))
    elseif answer:find(("refused: run_model.py does not read the kind '%s', only"):format(kind), 1, true) then
      refused[kind] = true
    else
      assert(name and answer:find(("the option '%s' = "):format(name), 1, true), answer)
      refused[kind .. '.' .. name] = true
    end
  end
  for _, kind in ipairs { 'elman', 'gru', 'lstm', 'lstm_peephole', 'none', 'superposition', 'stratification',
    'nondeterministic', 'vector_nondeterministic' } do
    assert(not refused[kind], kind)
  end
  local of_options = {}
  for name in pairs(refused) do if name:find('.', 1, true) then of_options[#of_options + 1] = name end end
  table.sort(of_options)
  test.equal(table.concat(of_options, ' '),
    'language_model.carry_forward language_model.coupling stratification.memories superposition.stacks')
end)

test('the reader with NumPy refuses recognizers, and options that it does not know', function()
  local place = folder .. '/other'
  pd.model.recognizer { alphabet = { 'a', 'b', 'c' }, seed = 1 }:export(place)
  test.ended(1, "run_model.py does not read the kind 'recognizer'",
    run(("python3 '%s/run_model.py' '%s' a b"):format(place, place)))
  model { architecture = 'transformer', hidden = 8, heads = 2, controller = false }:export(place)
  test.ended(1, "the option 'architecture' = transformer of language_model",
    run(("python3 '%s/run_model.py' '%s' a b"):format(place, place)))
  model {}:export(place)
  -- model.json repeats the description that the file of the parameters has.
  local path = place .. '/model.safetensors'
  local tensors, metadata = pd.tensor.load(path)
  local function change(text) return (text:gsub('"layers":', '"speed": 2, "layers":')) end
  pd.file.write(place .. '/model.json', change(files.read(place .. '/model.json')))
  local output, status = run(("python3 '%s/run_model.py' '%s' a b"):format(place, place))
  assert(status == 1 and output:find('^model.json and model.safetensors describe different models'), output)
  test.fails("model.json.*describe different models.*/options/controller/speed", pd.model.load, place)
  metadata.model = change(metadata.model)
  pd.tensor.save(path, tensors, { metadata = metadata })
  test.ended(1, "does not read the option 'speed' = 2 of lstm",
    run(("python3 '%s/run_model.py' '%s' a b"):format(place, place)))
end)

test.finish()
