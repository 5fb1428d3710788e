-- The arguments and options of all functions, from their declarations: wrong ones are refused by name, with the nearest
-- valid one, and the tables of the reference pages list the declared ones.
local files = require 'pushdown.files'
local pd = require 'pushdown'
local test = require 'pushdown.test'

local folder = test.folder()
local function path(name) return folder .. '/' .. name end

-- Names in usage lines for values by name, lists and results, which are not options.
local no_options = { ['LanguageModel:set_parameters'] = true, ['Recognizer:set_parameters'] = true,
  ['Transducer:set_parameters'] = true, ['pd.file.contents'] = true, ['pd.file.repository'] = true }

test('every function with a table of options declares them', function()
  local count = 0
  for name, doc in pairs(pd.docs()) do
    local usage = doc:match '^(.-)  '
    if usage and usage:find '{' and not no_options[name] then
      assert(pd.options(name), name .. ' has no declared options')
      count = count + 1
    end
    -- A list that another sentence contains would become outdated.
    if pd.options(name) then
      for _, option in ipairs(pd.options(name)) do
        assert(usage:find(option.name .. '=', 1, true) or usage:find('...', 1, true), name .. ': ' .. option.name)
      end
    end
  end
  assert(count > 80, count)
  test.equal(#pd.options(), count)
  test.equal(pd.options 'pd.tensor.cat', nil)
  test.equal(pd.options 'no such function', nil)
end)

test('declarations are complete', function()
  local types = { boolean = 'boolean', integer = 'number', number = 'number', text = 'string' }
  for _, name in ipairs(pd.options()) do
    local seen = {}
    for _, option in ipairs(pd.options(name)) do
      local what = name .. ', ' .. option.name
      assert(option.name:find '^[%a][%w_]*$' and #option.type > 0, what)
      assert(#option.doc > 0 and not option.doc:find '%.$', what)
      assert(not seen[option.name] or option.of, what)
      seen[option.name] = true
      if option.default ~= nil then
        assert(not option.required, what)
        if types[option.type] then test.equal(type(option.default), types[option.type]) end
        if option.choices and type(option.default) == 'string' then
          local found = false
          for _, choice in ipairs(option.choices) do found = found or choice == option.default end
          assert(found, what .. ': ' .. option.default)
        end
        if type(option.default) == 'number' then
          assert(option.default >= (option.minimum or -math.huge), what)
          assert(option.default <= (option.maximum or math.huge), what)
        end
      end
    end
  end
end)

test('a seed or a device that is not given comes from the session, and no default says otherwise', function()
  for _, name in ipairs { 'language_model', 'recognizer', 'transducer' } do
    for _, option in ipairs(pd.options('pd.model.' .. name)) do
      if option.name == 'seed' or option.name == 'device' then
        test.equal(option.default, nil)
        assert(option.doc:find('if absent', 1, true), option.doc)
      end
    end
  end
  for _, text in ipairs { pd.model.describe(), pd.model.describe_recognizer(), pd.model.describe_transducer(),
    pd.train.describe(), pd.train.describe 'recognizer' } do
    assert(text:find("seed +integer, optional: .-; if absent, the session's next seed"), text)
    assert(not text:find 'device +text, default', text)
  end
  local function drawn() return pd.model.language_model { alphabet = { 'a' } }:options().seed end
  pd.session { seed = 5 }
  local first, second = drawn(), drawn()
  assert(first ~= second and first ~= 0)
  pd.session { seed = 5 }
  test.equal(drawn(), first)
end)

local objects = dofile(pd.root .. '/tests/lua/objects.lua')(folder)
local grammar, data, language, tree = objects.Grammar[1], objects.Dataset[1], objects.LanguageModel[1], objects.Tree[1]
local pda, x = objects.Pda[1], pd.tensor { 1, 2 }
local nspda = pd.model.recognizer { alphabet = { 'a', 'b' }, architecture = 'nspda', states = 3 }
language:save(path 'model.safetensors')
pd.tensor.save(path 'x.npy', x)
objects.Trainer[1]:save(path 'run')

-- The functions with options: those of the core and those of the library.
local names = pd.options()
for _, name in ipairs(require('pushdown.prompt.library').functions()) do
  if pd.options('pd.' .. name) then names[#names + 1] = 'pd.' .. name end
end

-- The arguments before the options, if there are any. A method has an object of its class before them.
local before = {
  ['pd.analysis.minimal_pairs'] = { language, path 'a.csv' },
  ['pd.analysis.probe'] = { language, { '0 # 0' } }, ['pd.analysis.surprisals'] = { language, { '0 # 0' } },
  ['pd.data.collect'] = { next }, ['pd.data.read'] = { path 'a.csv' }, ['pd.data.rows'] = { path 'a.csv' },
  ['pd.data.write'] = { path 'a.csv', data }, ['pd.recipe.run'] = { 'unmarked_reversal' },
  ['Grammar:fit'] = { { '0 # 0' } }, ['Grammar:coverage'] = { { '0' } }, ['LabelledDataset:split'] = { { 1, 1 } },
  ['LanguageModel:tree_log_probability'] = { pd.tree.tree { words = { '0' } } }, ['NumberData:split'] = { { 1, 1 } },
  ['Transducer:trace'] = { 'a', 'b' }, ['Pairs:draw'] = { 1 }, ['Sampler:dataset'] = { 1 },
  ['Sampler:log_probability'] = { '# 0' }, ['Sampler:lower_bound'] = { data }, ['Tensor:backward'] = { x },
  ['Trainer:evaluate'] = { data }, ['Trainer:save'] = { path 'x' }, ['pd.grammar.alphabet'] = { { 'a' } },
  ['pd.grammar.from_trees'] = { { tree } }, ['pd.grammar.parse'] = { "S -> 'a'" },
  ['pd.pda.difference'] = { pda, pda }, ['pd.pda.parse'] = { '%bottom x\n%accepting q\nq, x --a--> q' },
  ['pd.grammar.from_rules'] = { "S --> 'a'" },
  ['pd.model.extract_pda'] = { nspda }, ['pd.model.insert_rules'] = { nspda, 'an_bn/whole' },
  ['pd.model.load'] = { path 'model.safetensors' }, ['pd.registry.open'] = { path 'registry.sqlite' },
  ['pd.task.chomsky'] = { 'reverse_string' }, ['pd.task.corpus'] = { path 'words.txt' },
  ['pd.task.number_examples'] = { path 'numbers.txt' }, ['pd.task.pairs'] = { { { 'a', 'b' } } },
  ['pd.task.sentences'] = { path 'words.txt' }, ['pd.task.words'] = { 'a' }, ['pd.tensor'] = { { 1 } },
  ['pd.tensor.arange'] = { 1, 2, 1 }, ['pd.tensor.full'] = { 1, 0 }, ['pd.tensor.load'] = { path 'x.npy' },
  ['pd.tensor.ones'] = { 1 }, ['pd.tensor.rand'] = { 1 }, ['pd.tensor.randn'] = { 1 }, ['pd.tensor.zeros'] = { 1 },
  ['pd.tensor.save'] = { path 'y.npy', x }, ['pd.train.agreement'] = { language, objects.NumberData[1] },
  ['pd.train.evaluate'] = { language, data }, ['pd.train.resume'] = { path 'run' }, ['pd.train.together'] = { {} },
  ['pd.tree.balanced'] = { 'a b' }, ['pd.tree.baseline'] = { { 'a b' }, 'balanced' },
  ['pd.tree.from_distances'] = { 'a b', { 1, 1 } }, ['pd.tree.parse'] = { '(S a)' }, ['pd.tree.random'] = { 'a b' },
  ['pd.tree.read'] = { path 'words.txt' }, ['pd.tree.score'] = { { tree }, { tree } },
}
-- Methods that read one string.
for class, methods in pairs { LanguageModel = 'log_probability surprisal next trace trees',
  Grammar = 'parses contains log_parse_count log_probability parse parse_count viable_prefix',
  Recognizer = 'trace next_symbols accepts scores', Pda = 'all_runs best_run trace accepts log_weight',
  SynchronousGrammar = 'translations', Transducer = 'translate' } do
  local symbol = pd.docs()[class .. ':alphabet'] and objects[class][1]:alphabet():symbols()[1] or 'a'
  for method in methods:gmatch '%S+' do before[class .. ':' .. method] = { symbol } end
end
for _, class in ipairs { 'LanguageModel', 'Recognizer', 'Transducer' } do
  before[class .. ':load_parameters'] = { {} }
end

-- Options that a call needs, or on which all others depend.
local f = function() end
local given = {
  ['pd.controller.check'] = { kind = 'lstm' }, ['pd.stack.check'] = { kind = 'superposition' },
  ['pd.train.check_objective'] = { kind = 'state_and_length' }, ['pd.stack.program'] = { kind = 'superposition' },
  ['pd.stack.simulate'] = { kind = 'superposition', actions = { { { 1, 0, 0 } } }, vectors = { { { 1 } } } },
  ['pd.stack.strengths'] = { kind = 'stratification', push = { { { 1 } } } },
  ['pd.controller.define'] = { name = 'own', initial = f, step = f },
  ['pd.stack.define'] = { name = 'own', initial = f, update = f, reading = f },
  ['pd.train.define_objective'] = { name = 'own', losses = f },
  ['pd.grammar.build'] = { rules = { { text = "S -> 'a'", weight = 1 } } },
  ['pd.grammar.synchronous'] = { rules = { "S -> 'a' | 'b'" } }, ['pd.pda'] = { transitions = {} },
  ['Grammar:log_probabilities'] = { strings = {} }, ['Grammar:sampler'] = { lengths = { 1, 3 } },
  ['Grammar:strings'] = { up_to = 3 }, ['Grammar:viable_lengths'] = { strings = {} },
  ['SynchronousGrammar:sample'] = { length = 2 }, ['ProcessPool:start'] = { command = { 'true' } },
  ['pd.model.language_model'] = { alphabet = { 'a' } }, ['pd.model.recognizer'] = { alphabet = { 'a' } },
  ['pd.model.transducer'] = { pairs = objects.Pairs[1] },
  ['pd.task.dataset'] = { alphabet = { 'a' }, strings = { 'a' } },
  ['pd.task.labelled'] = { grammar = grammar, lengths = { 1, 3 }, positives = 1 },
  ['pd.task.labelled_dataset'] = { alphabet = { 'a' }, strings = { 'a' }, labels = { true } },
  ['pd.task.running_text'] = { alphabet = { 'a' }, words = 'a' }, ['pd.task.sentences'] = { folder = path 'sentences' },
  ['pd.task.transduction'] = { kind = 'copy' },
  ['pd.train.trainer'] = { model = language, train = data, progress = false },
  ['pd.tree.tree'] = { words = { 'a' } },
}

local function call(name, options)
  local class, method = name:match '^(.-):(.*)$'
  local arguments = { unpack(before[name] or {}) }
  arguments[#arguments + 1] = options
  if class then
    local object = objects[class][1]
    return object[method](object, unpack(arguments))
  end
  local value = pd
  for part in name:gsub('^pd%.?', ''):gmatch '[^.]+' do value = value[part] end
  return value(unpack(arguments))
end

local function with(name, key, value)
  local options = pd.tables.merged(given[name])
  options[key] = value
  return options
end

-- Fails unless the call with this option is refused with a message that contains the text. The library may name an
-- option that is missing first.
local function refused(name, key, value, text)
  local fine, message = pcall(call, name, with(name, key, value))
  message = tostring(message)
  local told = message:find(text, 1, true) or message:find "option '[%w_]+' %b() is missing"
  assert(not fine and told, ('%s, %s = %s: %s'):format(name, key, tostring(value), message))
end

-- A word with one letter more. No option and no choice is called so.
local function misspelt(word) return word:sub(1, 1) .. 'q' .. word:sub(2) end

test('unknown options are refused by name, with the nearest one', function()
  for _, name in ipairs(names) do
    refused(name, 'no_such_option', 1, "'no_such_option'")
    for _, option in ipairs(pd.options(name)) do
      if #option.name > 3 and option.name ~= 'kind' and not option.of then
        refused(name, misspelt(option.name), 1, ("'%s', did you mean '%s'?"):format(misspelt(option.name), option.name))
      end
    end
  end
end)

test('options of a wrong type are refused by name', function()
  local wrong = coroutine.create(f) -- no option takes a coroutine
  for _, name in ipairs(names) do
    for _, option in ipairs(pd.options(name)) do
      if not option.of and option.type ~= 'value' then refused(name, option.name, wrong, option.name) end
    end
  end
end)

test('numbers out of range and texts that are not a choice are refused by name', function()
  for _, name in ipairs(names) do
    for _, option in ipairs(pd.options(name)) do
      local alone = not option.of and not option.type:find '^list'
      if alone and option.minimum then refused(name, option.name, option.minimum - 1, option.name) end
      if alone and option.maximum then refused(name, option.name, option.maximum + 1, option.name) end
      for _, choice in ipairs(alone and option.type == 'text' and option.choices or {}) do
        refused(name, option.name, 'no such choice', 'no such choice')
        if #choice > 3 then refused(name, option.name, misspelt(choice), ("did you mean '%s"):format(choice)) end
      end
    end
  end
end)

-- Functions that take any value.
local any = { ['pd.log.debug'] = true, ['pd.log.info'] = true, ['pd.log.warn'] = true, ['pd.log.error'] = true,
  ['pd.doc_name'] = true, ['pd.process.command_line'] = true }

test('functions and methods name themselves, what they expect and how they are called', function()
  local wrong, functions, methods = coroutine.create(f), 0, 0
  local many = {}
  for i = 1, 9 do many[i] = wrong end
  for name in pairs(pd.docs()) do
    local function fails(called, ...)
      local fine, message = pcall(...)
      assert(not fine, name)
      test.has(name .. ': ' .. tostring(message), called, 'expected', 'usage: ')
    end
    local class, method = name:match '^(%u%w+):(%l[%w_]*)$'
    local place = name:match '^pd%.([%w_.]+)$'
    local value = place and pd
    for part in (place or ''):gmatch '[^.]+' do value = value[part] end
    if type(value) == 'function' and not any[name] then
      functions = functions + 1
      fails(('[%s]'):format(name), value, wrong)
    elseif objects[class] then
      methods = methods + 1
      local object = objects[class][1]
      fails(('a%s %s to call this method on'):format(class:find '^[AEIOU]' and 'n' or '', class), object[method], wrong)
      fails(('[%s]'):format(name), object[method], object, unpack(many))
    end
  end
  assert(functions > 150 and methods > 300, functions .. ' ' .. methods)
end)

test('an option in the wrong table names the table to which it belongs', function()
  local made = pd.model.language_model
  local function model(options)
    options.alphabet, options.seed = { 'a', 'b' }, 1
    return function() made(options) end
  end
  local function training(options)
    options.model = made { alphabet = { 'a', 'b' }, seed = 1, controller = { kind = 'elman', hidden = 2 } }
    options.train = pd.task.dataset { alphabet = { 'a', 'b' }, strings = { { 'a' } } }
    return function() pd.train.trainer(options) end
  end
  local function says(words, wrong)
    local message = test.fails("unknown option '[%l_]+': ", wrong)
    test.equal(message:sub(-#words), words)
  end
  -- One level too high.
  says('it belongs to controller = { hidden = ... }', model { hidden = 3 })
  says("it belongs to stack = { kind = 'nondeterministic', states = ... }", model { states = 3 })
  says("it belongs to architecture = 'transformer', feedforward = ...", model { feedforward = 3 })
  says('it belongs to optimizer = { learning_rate = ... }', training { learning_rate = 0.1 })
  says('it belongs to optimizer = { learning_rate = ... }', training { lr = 0.1 })
  -- One level too low, and beside.
  says('it belongs to pd.train.trainer{ epochs = ... }', training { optimizer = { kind = 'adam', epochs = 2 } })
  says('it belongs to pd.model.language_model{ controller = { hidden = ... } }',
    model { stack = { kind = 'superposition', hidden = 3 } })
  says('it belongs to pd.model.language_model{ embedding = ... }',
    model { controller = { kind = 'lstm', embedding = 3 } })
  -- Another function.
  says('it belongs to pd.train.trainer{ optimizer = { learning_rate = ... } }', model { learning_rate = 0.1 })
  says('it belongs to pd.train.trainer{ batch = ... }', model { batch_size = 10 })
  says('it belongs to pd.model.language_model{ controller = { hidden = ... } }', training { hidden = 3 })
  -- The same table, another name.
  says("it is called 'learning_rate' here", training { optimizer = { kind = 'adam', lr = 0.1 } })
  says("it is called 'hidden' here", model { controller = { kind = 'lstm', hidden_size = 0.1 } })
  says("it is called 'batch' here", training { batch_size = 3 })
  -- Without another place, the nearest name and the list.
  test.fails("unknown option 'controler', did you mean 'controller'%?; the options are 'alphabet', ",
    model { controler = {} })
  test.fails("unknown option 'momentun', did you mean 'momentum'%?; the options are",
    training { optimizer = { kind = 'sgd', momentun = 0.1 } })
  -- The options that the binding reads itself are among them, also if the value has a type that no other option takes.
  local strings = pd.task.dataset { alphabet = { 'a' }, strings = { { 'a' } } }
  for _, wrong in ipairs { { prgress = true }, { tran = strings } } do
    local message = test.fails("unknown option '%l+', did you mean '[pt]r%l+'%?; the options are 'model', 'train', ",
      training(wrong))
    for _, name in ipairs { 'progress', 'resume', 'mirror', 'epochs', 'optimizer', 'run_folder' } do
      assert(message:find("'" .. name .. "'", 1, true), message)
    end
  end
end)

test('missing options are named', function()
  for _, name in ipairs(names) do
    for _, option in ipairs(pd.options(name)) do
      if option.required then refused(name, option.name, nil, option.name) end
    end
  end
end)

-- The options of a describe function, one in every line but the first: "  share   number, default 0.15: fraction".
local function described(text)
  local list = {}
  for line in text:gmatch '\n  ([^\n]+)' do
    local default = (line:match ', default (.-): ' or ''):gsub('"', '')
    list[#list + 1] = { name = line:match '^[%w_]+', type = line:match '^%S+%s+([^,:]*)',
      default = default ~= '' and (tonumber(default) or default) or nil }
  end
  return list
end

local function model(options) return pd.model.language_model(pd.tables.merged({ alphabet = { 'a' } }, options)) end
local function recognition(options)
  return pd.train.trainer(pd.tables.merged({ model = objects.Recognizer[1], train = objects.LabelledDataset[1],
    progress = false }, options))
end

-- The kinds of each registry, their descriptions, and a function that uses one with its options.
local registries = {
  { pd.stack.kinds(), pd.stack.describe, function(options) model { stack = options } end },
  { pd.controller.kinds(), pd.controller.describe, function(options) model { controller = options } end },
  { pd.model.layers(), pd.model.describe_layer,
    function(options) model { architecture = 'transformer', layers = { options } } end },
  { pd.train.optimizers(), pd.train.describe_optimizer, function(options) recognition { optimizer = options } end },
  { pd.train.learning_algorithms(), pd.train.describe_learning,
    function(options) recognition { learning = options } end },
  { pd.train.annealings(), pd.train.describe_annealing, function(options) recognition { annealing = options } end },
  { pd.train.objectives(), pd.train.describe_objective, function(options) recognition { objective = options } end },
  { pd.task.transductions(), pd.task.describe_transduction, pd.task.transduction },
}

test('kinds are described, and wrong kinds and options of kinds are refused by name', function()
  local kinds, options = 0, 0
  for _, registry in ipairs(registries) do
    local list, describe, use = unpack(registry)
    for _, kind in ipairs(list) do
      kinds = kinds + 1
      local text = describe(kind)
      test.equal(text:sub(1, #kind + 1), kind .. ':')
      local wrong = misspelt(kind)
      local function fails(part, option) test.has(test.fails('', use, option), part) end
      fails(("did you mean '%s'"):format(kind), { kind = wrong })
      test.has(test.fails('', describe, wrong), ("did you mean '%s'"):format(kind))
      for _, option in ipairs(described(text:match '^(.-)\npd%.' or text)) do
        options = options + 1
        local value = option.type:find '^list' and 'x' or { { 'x' } }
        fails(("option '%s'"):format(option.name), { kind = kind, [option.name] = value })
        fails(("unknown option '%s'"):format(misspelt(option.name)), { kind = kind, [misspelt(option.name)] = 1 })
      end
    end
  end
  assert(kinds > 60 and options > 200, kinds .. ' ' .. options)
end)

-- The functions whose options a page's tables list, table by table.
local pages = {
  ['data.md'] = { 'pd.task.labelled', 'pd.task.corpus', 'pd.task.sentences' },
  ['hints.md'] = { 'pd.model.insert_rules', 'pd.model.extract_pda' },
  ['learning.md'] = { 'pd.train.describe_noise' },
  ['models.md'] = { 'pd.model.language_model', 'LanguageModel:sample', 'pd.model.language_model',
  'pd.model.recognizer', 'pd.model.transducer' },
  ['nnpda.md'] = { 'pd.model.recognizer', 'pd.train.check_objective' },
  ['nspda.md'] = { 'pd.model.recognizer' },
  ['stacks.md'] = { 'pd.stack.check', 'pd.stack.check', 'pd.stack.check' },
  ['tensor.md'] = { 'pd.tensor.rand' },
  ['training.md'] = { 'pd.train.trainer' },
  ['trees.md'] = { 'pd.tree.read', 'pd.tree.score' },
}
-- Pages that list every option of these.
local complete = { ['pd.task.labelled'] = true, ['pd.task.corpus'] = true, ['pd.task.sentences'] = true,
  ['pd.model.insert_rules'] = true, ['pd.model.extract_pda'] = true, ['pd.tree.read'] = true, ['pd.tree.score'] = true,
  ['pd.tensor.rand'] = true, ['pd.train.describe_noise'] = true }

-- The defaults of a cell, one for each of `count` options; {} where it has prose or nothing.
local function defaults_in(cell, count)
  local list = {}
  if cell == '' or cell:find '{' then return list end
  for part in (cell .. ', '):gmatch '(.-), ' do
    part = part:gsub("[`']", ''):gsub('−', '-')
    if part:find ' ' then return {} end
    list[#list + 1] = part
  end
  if #list == 1 then for i = 2, count do list[i] = list[1] end end
  return #list == count and list or {}
end

local function same_default(written, default)
  if written == 'none' and default == nil then return true end
  if type(default) == 'number' then return tonumber(written) == default end
  if type(default) == 'table' then return written == default.kind end
  return tostring(default) == written
end

test('the reference pages list declared options with their defaults', function()
  local compared = 0
  for page, functions in pairs(pages) do
    local found = {} -- table by table the rows: the names in the first column, and the defaults
    local table_of
    for line in (files.read(pd.root .. '/docs/reference/' .. page) .. '\n'):gmatch '(.-)\n' do
      if line:find '^| option' then
        table_of = { has_defaults = line:find '^| option[^|]*| default |' }
        found[#found + 1] = table_of
      elseif not line:find '^|' then
        table_of = nil
      elseif table_of then
        local first, second = line:match '^| *(.-) *| *(.-) *|'
        local row = pd.tables.matches(first, '`([%w_]+)`')
        table_of[#table_of + 1] = { names = row,
          defaults = table_of.has_defaults and defaults_in(second, #row) or {} }
      end
    end
    test.equal(#found, #functions)
    for i, name in ipairs(functions) do
      local declared, listed = {}, {}
      local rows = name:find 'describe' and described(pd.train.describe_noise()) or pd.options(name)
      for _, option in ipairs(rows) do
        declared[option.name] = declared[option.name] or {}
        table.insert(declared[option.name], option)
      end
      for _, row in ipairs(found[i]) do
        for k, option in ipairs(row.names) do
          assert(declared[option], ('%s lists %s, which %s does not declare'):format(page, option, name))
          listed[option] = true
          if row.defaults[k] then
            compared = compared + 1
            local fits = false
            for _, one in ipairs(declared[option]) do fits = fits or same_default(row.defaults[k], one.default) end
            assert(fits, ('%s: the default of %s is %s, not %s'):format(page, option,
              tostring(declared[option][1].default), row.defaults[k]))
          end
        end
      end
      for option in pairs(complete[name] and declared or {}) do
        assert(listed[option], ('%s does not list %s of %s'):format(page, option, name))
      end
    end
  end
  assert(compared > 60, compared)
end)

-- The kinds of a table's first column, each with the options that its row mentions.
local kinds_on = {
  { page = 'learning.md', heading = '^| `annealing` |', describe = pd.train.describe_annealing,
    kinds = pd.train.annealings() },
}

test('the tables of kinds mention declared options', function()
  for _, row in ipairs(kinds_on) do
    local left = {}
    for _, kind in ipairs(row.kinds) do left[kind] = true end
    local inside = false
    for line in (files.read(pd.root .. '/docs/reference/' .. row.page) .. '\n'):gmatch '(.-)\n' do
      if line:find(row.heading) then
        inside = true
      elseif not line:find '^|' then
        inside = false
      elseif inside and line:find '`' then
        local kind = line:match '^| `([%w_]+)` |'
        assert(left[kind], ('%s: %s is no kind'):format(row.page, kind))
        left[kind] = nil
        local declared = {}
        for _, option in ipairs(described(row.describe(kind))) do declared[option.name] = true end
        for option in line:gsub('^| `[%w_]+` |', ''):gmatch '`([%w_]+)`' do
          assert(declared[option], ('%s: %s has no option %s'):format(row.page, kind, option))
        end
      end
    end
    test.equal(next(left), nil)
  end
end)

pd.file.remove_folder(folder)
test.finish()
