-- The declared options of bound functions: every function that takes a table of options declares them, wrong ones are
-- refused by name, and the tables of the reference pages list the declared ones.
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
          assert(option.default >= (option.minimum or -math.huge) and option.default <= (option.maximum or math.huge),
  what)
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

local grammar = pd.grammar.load 'marked_reversal'
local synchronous = pd.grammar.synchronous "S -> A1 B2 | B2 A1\nA -> 'a' | 'x'\nB -> 'b' | 'y'"
local labelled = pd.task.labelled { grammar = grammar, lengths = { 1, 9 }, positives = 4, negatives = 4, seed = 1 }
local sampler = grammar:sampler { lengths = { 3, 7 } }
local data = sampler:dataset(4, { seed = 1 })
local pairs_of_texts = pd.task.pairs { { 'a b', 'b a' }, { 'a', 'b' } }
local pda = pd.pda.parse '%bottom x\n%accepting r\nq, x --a--> q, push y\nq, y --b--> r, pop'
local small = { controller = { kind = 'lstm', hidden = 2 }, stack = { kind = 'superposition', size = 2 } }
local language = pd.model.language_model { alphabet = grammar:alphabet(), controller = small.controller }
local traced = pd.model.language_model { alphabet = grammar:alphabet(), controller = small.controller,
  stack = small.stack }
local recognizer = pd.model.recognizer { alphabet = grammar:alphabet(), controller = small.controller,
  next_symbol = true }
local transducer = pd.model.transducer { pairs = pairs_of_texts, controller = small.controller }
local nspda = pd.model.recognizer { alphabet = { 'a', 'b' }, architecture = 'nspda', states = 3 }
local tree = pd.tree.parse '(S (NP a) (VP b))'[1]
local trainer = pd.train.trainer { model = language, train = data, epochs = 1, progress = false }
files.write(path 'lines.txt', 'VBZ\tthe dog\nVBP\tthe dogs\n')
local examples = pd.task.number_examples(path 'lines.txt', { format = 'lines' })
local x = pd.tensor { 1, 2 }
language:save(path 'model.safetensors')
pd.tensor.save(path 'x.npy', x)
trainer:save(path 'run')

-- The arguments before the options, if there are any. For a method the object is first.
local before = {
  ['Dataset:log_probabilities'] = { data }, ['Dataset:lower_bound'] = { data },
  ['Grammar:log_probabilities'] = { grammar }, ['Grammar:sample'] = { grammar }, ['Grammar:sampler'] = { grammar },
  ['Grammar:fit'] = { grammar, { '0 # 0' } }, ['Grammar:parses'] = { grammar, '0 # 0' },
  ['Grammar:contains'] = { grammar, '0' }, ['Grammar:coverage'] = { grammar, { '0' } },
  ['Grammar:log_parse_count'] = { grammar, '0' }, ['Grammar:log_probability'] = { grammar, '0' },
  ['Grammar:parse'] = { grammar, '0' }, ['Grammar:parse_count'] = { grammar, '0' },
  ['Grammar:viable_lengths'] = { grammar }, ['Grammar:viable_prefix'] = { grammar, '0' },
  ['Grammar:strings'] = { grammar }, ['pd.grammar.alphabet'] = { { 'a' } }, ['pd.grammar.from_trees'] = { { tree } },
  ['pd.grammar.parse'] = { "S -> 'a'" }, ['pd.pda.difference'] = { pda, pda },
  ['pd.pda.parse'] = { '%bottom x\n%accepting q\nq, x --a--> q' },
  ['LabelledDataset:curriculum'] = { labelled }, ['LabelledDataset:split'] = { labelled, { 1, 1 } },
  ['LanguageModel:load_parameters'] = { language, {} }, ['LanguageModel:program'] = { language },
  ['LanguageModel:log_probability'] = { language, '0' }, ['LanguageModel:surprisal'] = { language, '0' },
  ['LanguageModel:next'] = { language, '0' }, ['LanguageModel:trace'] = { traced, '0' },
  ['LanguageModel:sample'] = { language }, ['LanguageModel:trees'] = { language, '0' },
  ['LanguageModel:tree_log_probability'] = { language, pd.tree.tree { words = { '0' } } },
  ['Recognizer:trace'] = { nspda, 'a' }, ['Transducer:trace'] = { transducer, 'a', 'b' },
  ['Recognizer:load_parameters'] = { recognizer, {} }, ['Recognizer:program'] = { recognizer },
  ['Transducer:load_parameters'] = { transducer, {} }, ['Transducer:program'] = { transducer },
  ['NumberData:split'] = { examples, { 1, 1 } }, ['NumberData:where'] = { examples },
  ['Pairs:draw'] = { pairs_of_texts, 1 },
  ['Pda:all_runs'] = { pda, 'a b' }, ['Pda:best_run'] = { pda, 'a b' }, ['Pda:minimal'] = { pda },
  ['Pda:trace'] = { pda, 'a' }, ['Pda:accepts'] = { pda, 'a' }, ['Pda:log_weight'] = { pda, 'a' },
  ['ProcessPool:start'] = { pd.process.pool() }, ['Recognizer:next_symbols'] = { recognizer, '0' },
  ['Recognizer:accepts'] = { recognizer, '0' }, ['Recognizer:scores'] = { recognizer, '0' },
  ['Registry:find'] = { pd.registry.open(path 'registry.sqlite') },
  ['Sampler:dataset'] = { sampler, 1 }, ['Sampler:log_probability'] = { sampler, '# 0' },
  ['Sampler:lower_bound'] = { sampler, data }, ['Sampler:estimate_entropy'] = { sampler },
  ['Sampler:sample'] = { sampler },
  ['SynchronousGrammar:sample'] = { synchronous }, ['SynchronousGrammar:translations'] = { synchronous, 'a b' },
  ['pd.train.together'] = { {} },
  ['Together:run'] = { pd.train.together { trainer } },
  ['Tensor:backward'] = { x, x }, ['Tensor:to'] = { x }, ['Trace:all_runs'] = { pda:trace 'a b' },
  ['Trace:best_run'] = { pda:trace 'a b' }, ['Trainer:evaluate'] = { trainer, data },
  ['Trainer:run'] = { trainer }, ['Trainer:save'] = { trainer, path 'x' },
  ['Transducer:translate'] = { transducer, 'a' }, ['Tree:text'] = { tree }, ['pd.grammar.from_rules'] = { "S --> 'a'" },
  ['pd.model.extract_pda'] = { nspda }, ['pd.model.insert_rules'] = { nspda, 'an_bn/whole' },
  ['pd.model.load'] = { path 'model.safetensors' }, ['pd.registry.open'] = { path 'registry.sqlite' },
  ['pd.task.chomsky'] = { 'reverse_string' }, ['pd.task.corpus'] = { path 'lines.txt' },
  ['pd.task.number_examples'] = { path 'lines.txt' }, ['pd.task.pairs'] = { { { 'a', 'b' } } },
  ['pd.task.sentences'] = { path 'lines.txt' }, ['pd.task.words'] = { 'a' }, ['pd.tensor'] = { { 1 } },
  ['pd.tensor.arange'] = { 1, 2, 1 },
  ['pd.tensor.full'] = { 1, 0 }, ['pd.tensor.load'] = { path 'x.npy' }, ['pd.tensor.ones'] = { 1 },
  ['pd.tensor.rand'] = { 1 },
  ['pd.tensor.randn'] = { 1 }, ['pd.tensor.save'] = { path 'y.npy', x }, ['pd.tensor.zeros'] = { 1 },
  ['pd.train.agreement'] = { language, examples }, ['pd.train.evaluate'] = { language, data },
  ['pd.train.resume'] = { path 'run' }, ['pd.tree.balanced'] = { 'a b' },
  ['pd.tree.baseline'] = { { 'a b' }, 'balanced' },
  ['pd.tree.from_distances'] = { 'a b', { 1, 1 } }, ['pd.tree.parse'] = { '(S a)' }, ['pd.tree.random'] = { 'a b' },
  ['pd.tree.read'] = { path 'lines.txt' }, ['pd.tree.score'] = { { tree }, { tree } },
}

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
  ['pd.model.transducer'] = { pairs = pairs_of_texts }, ['pd.task.dataset'] = { alphabet = { 'a' }, strings = { 'a' } },
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
    assert(#arguments > 1, name .. ' needs an object')
    return arguments[1][method](unpack(arguments))
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

test('unknown options are refused by name', function()
  for _, name in ipairs(pd.options()) do
    local fine, message = pcall(call, name, with(name, 'no_such_option', 1))
    message = tostring(message)
    assert(not fine and message:find("'no_such_option'", 1, true), ('%s: %s'):format(name, message))
  end
end)

test('options of a wrong type are refused by name', function()
  local wrong = coroutine.create(f) -- no option takes a coroutine
  for _, name in ipairs(pd.options()) do
    for _, option in ipairs(pd.options(name)) do
      if not option.of then
        local fine, message = pcall(call, name, with(name, option.name, wrong))
        message = tostring(message)
        assert(not fine and message:find(option.name, 1, true), ('%s, %s: %s'):format(name, option.name, message))
      end
    end
  end
end)

test('numbers out of range and texts that are not a choice are refused by name', function()
  for _, name in ipairs(pd.options()) do
    for _, option in ipairs(pd.options(name)) do
      local values = {}
      if option.choices and option.type == 'text' then values[1] = 'no such choice' end
      if option.minimum and not option.type:find '^list' then values[#values + 1] = option.minimum - 1 end
      if option.maximum and not option.type:find '^list' then values[#values + 1] = option.maximum + 1 end
      for _, value in ipairs(option.of and {} or values) do
        local fine, message = pcall(call, name, with(name, option.name, value))
        message = tostring(message)
        -- The registry reports a kind that does not exist.
        local said = message:find(option.name, 1, true) or message:find('no such choice', 1, true)
        assert(not fine and said, ('%s, %s = %s: %s'):format(name, option.name, value, message))
      end
    end
  end
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
  for _, name in ipairs(pd.options()) do
    for _, option in ipairs(pd.options(name)) do
      if option.required then
        local fine, message = pcall(call, name, with(name, option.name, nil))
        assert(not fine and tostring(message):find(option.name, 1, true), name .. ': ' .. tostring(message))
      end
    end
  end
end)

-- The options of a describe function, one in every line but the first: "  share   number, default 0.15: fraction".
local function described(text)
  local list = {}
  for line in text:gmatch '\n  ([^\n]+)' do
    local default = (line:match ', default (.-): ' or ''):gsub('"', '')
    list[#list + 1] = { name = line:match '^[%w_]+', default = default ~= '' and (tonumber(default) or default) or nil }
  end
  return list
end

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
        local names = {}
        local first, second = line:match '^| *(.-) *| *(.-) *|'
        for name in first:gmatch '`([%w_]+)`' do names[#names + 1] = name end
        table_of[#table_of + 1] = { names = names,
          defaults = table_of.has_defaults and defaults_in(second, #names) or {} }
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
