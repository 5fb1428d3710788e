-- Linear probes of hidden vectors: what analysis.probe does (scripts/lib/analysis.lua).
local labelled = require 'pushdown.analysis.labelled'
local logistic = require 'pushdown.analysis.logistic'
local pd = require 'pushdown'
local plot = require 'pushdown.plot'
local table_of = require 'pushdown.text.table'
local trim = require 'pushdown.text.trim'

local function fail(form, ...) error('[analysis.probe] ' .. form:format(...), 0) end

-- The most frequent class among positions, by the value of key(position).
local function most_frequent(positions, key)
  local counts, best = {}, {}
  for _, position in ipairs(positions) do
    local value = key(position)
    counts[value] = counts[value] or {}
    local own = counts[value]
    own[position.class] = (own[position.class] or 0) + 1
  end
  for value, own in pairs(counts) do
    for class, count in pairs(own) do
      local most = best[value]
      if not most or count > own[most] or count == own[most] and class < most then best[value] = class end
    end
  end
  return best
end

-- Whether each test position is right, by a rule that was learnt by key(position), else by the fallback.
local function right_by(train, test, key, fallback)
  local rule, right = most_frequent(train, key), {}
  for i, position in ipairs(test) do right[i] = (rule[key(position)] or fallback) == position.class end
  return right
end

local function share(right, test, from, to)
  local count, found = 0, 0
  for i, is_right in ipairs(right) do
    if not from or test[i].t >= from and test[i].t <= to then
      count = count + 1
      found = found + (is_right and 1 or 0)
    end
  end
  return found / count, count
end

-- Random classes for the types of the training positions, drawn from the classes of these positions (Hewitt and Liang
-- 2019): the positions with other classes.
local function with_random_classes(train, test, seed)
  local types, class_of = {}, {}
  for _, positions in ipairs { train, test } do
    for _, position in ipairs(positions) do
      if not class_of[position.type] then
        class_of[position.type], types[#types + 1] = 0, position.type
      end
    end
  end
  local drawn = pd.tensor.rand({ #types }, { seed = seed, dtype = 'float64' }):to_table()
  for i, type_of in ipairs(types) do class_of[type_of] = train[math.floor(drawn[i] * #train) + 1].class end
  local function changed(positions)
    local all = {}
    for i, position in ipairs(positions) do
      all[i] = { item = position.item, t = position.t, class = class_of[position.type] }
    end
    return all
  end
  return changed(train), changed(test)
end

-- The vectors of positions in one layer : N x H.
local function vectors_at(positions, hidden, layer)
  local parts, i = {}, 1
  while i <= #positions do
    local item, rows = positions[i].item, {}
    while positions[i] and positions[i].item == item do
      rows[#rows + 1] = positions[i].t
      i = i + 1
    end
    parts[#parts + 1] = hidden[item][layer]:index_select(1, pd.tensor(rows, { dtype = 'int64' }))
  end
  return pd.tensor.cat(parts):to 'float64'
end

-- Whether the probe of a layer, trained on one part, is right at the positions of the other one.
local function probed(train, test, hidden, layer, classes, penalty)
  local numbers, first, constant = {}, train[1].class, true
  for i, position in ipairs(train) do
    numbers[i] = position.class
    constant = constant and position.class == first
  end
  local right = {}
  if constant then  -- the classes of a control task may be all the same
    for i, position in ipairs(test) do right[i] = position.class == first end
    return right
  end
  local predicted = logistic.fit(vectors_at(train, hidden, layer), numbers, classes, penalty)
  for i, class in ipairs(predicted(vectors_at(test, hidden, layer))) do right[i] = class == test[i].class end
  return right
end

-- ---- Vectors ----

-- A network of the same shape with new parameters.
local function untrained(model, seed)
  local options = model:options()
  options.alphabet, options.seed = model:alphabet(), seed
  return tostring(model):match '^Recognizer' and pd.model.recognizer(options) or pd.model.language_model(options)
end

-- The vectors after each symbol of every string, by item: a list of layers, each n x H or more rows.
local function vectors_of(model, items, own)
  local hidden, count = {}, nil
  for _, item in ipairs(items) do
    local vectors = own and own(item.text, model) or model:hidden(item.text)
    if type(vectors) ~= 'userdata' or not pcall(vectors.dim, vectors) then
      fail('%s: vectors returned %s: expected a tensor n x H or L x n x H', item.place, type(vectors))
    end
    local shape = vectors:size()
    if #shape == 2 then vectors = vectors:unsqueeze(1) end
    if own and (vectors:dim() ~= 3 or vectors:size(2) ~= #item.symbols) then
      fail('%s: vectors returned a tensor %s: expected n x H or L x n x H with n = %d, a vector after each symbol',
        item.place, table.concat(shape, ' x '), #item.symbols)
    end
    -- The model's first vector is from before the string.
    if not own then vectors = vectors:slice(2, 2, #item.symbols + 1) end
    count = count or vectors:size(1)
    hidden[item] = {}
    for layer = 1, count do hidden[item][layer] = vectors[layer] end
  end
  return hidden, count
end

-- ---- The result ----

local Probe = {}
Probe.__index = Probe

function Probe:__tostring() return trim.right(self.table:text()) end

-- probe:svg{ label =, path = } -> a picture of the accuracy by position.
function Probe:svg(options)
  options = options or {}
  local name = options.label or self.rows[1].label
  local series, floor = {}, { name = 'majority at these positions', x = {}, y = {}, style = 'steps', markers = false }
  for _, row in ipairs(self.rows) do
    if row.label == name then
      local names = { accuracy = ('layer %d'):format(row.layer), untrained = ('layer %d, untrained'):format(row.layer) }
      for _, kind in ipairs { 'accuracy', 'untrained' } do
        local line = { name = names[kind], x = {}, y = {} }
        for i, bin in ipairs(row.bins) do
          line.x[i], line.y[i] = (bin.first + bin.last) / 2, bin[kind]
          floor.x[i], floor.y[i] = line.x[i], bin.majority
        end
        if row[kind] then series[#series + 1] = line end
      end
    end
  end
  if #series == 0 then fail("there is no probe of the label '%s'", tostring(name)) end
  series[#series + 1] = floor
  return plot.lines { series = series, y_min = 0, y_max = 1, x_label = 'position', y_label = 'accuracy of the probe',
    title = name, path = options.path }
end

local function number_column(name) return { name, format = '%.3f' } end

local function tables_of(found, notes)
  local rows, positions = {}, {}
  for i, row in ipairs(found.rows) do
    rows[i] = { row.label, row.layer, row.classes, row.accuracy, row.majority, row.by_symbol, row.untrained,
      row.control, row.selectivity }
    for _, bin in ipairs(row.bins) do
      positions[#positions + 1] = { row.label, row.layer, bin.first, bin.last, bin.positions, bin.accuracy,
        bin.majority, bin.untrained }
    end
  end
  local numbers = { 'accuracy', 'majority', 'by symbol', 'untrained', 'control', 'selectivity' }
  local columns = { 'label', 'layer', 'classes' }
  for _, name in ipairs(numbers) do columns[#columns + 1] = number_column(name) end
  local counts = ('%d positions of %d strings for training, %d of %d for the test'):format(found.train.positions,
    found.train.strings, found.test.positions, found.test.strings)
  found.table = table_of.new { columns = columns, rows = rows, note = table.concat({ counts, unpack(notes) }, '; ') }
  found.positions = table_of.new { rows = positions, columns = { 'label', 'layer', 'first', 'last', 'positions',
    number_column 'accuracy', number_column 'majority', number_column 'untrained' } }
  return setmetatable(found, Probe)
end

local function probed_task(task, layer, hidden, plain, options)
  local train, test, classes = task.train, task.test, task.classes
  local function everywhere() return 1 end
  local function bin_of(position) return math.ceil(position.t / options.bin_width) end
  local most = most_frequent(train, everywhere)[1]
  local right = probed(train, test, hidden, layer, classes, options.penalty)
  local row = { label = task.name, layer = layer, classes = classes, accuracy = share(right),
    majority = share(right_by(train, test, everywhere)),
    by_symbol = share(right_by(train, test, function(position) return position.type end, most)), bins = {} }
  local learnt, tested = with_random_classes(train, test, options.seed + 1)
  row.control = share(probed(learnt, tested, hidden, layer, classes, options.penalty))
  row.selectivity = row.accuracy - row.control
  local plain_right = plain and probed(train, test, plain, layer, classes, options.penalty)
  row.untrained = plain and share(plain_right) or nil
  local by_position = right_by(train, test, bin_of, most)
  local last = 0
  for _, position in ipairs(test) do last = math.max(last, bin_of(position)) end
  for bin = 1, last do
    local from, to = (bin - 1) * options.bin_width + 1, bin * options.bin_width
    local accuracy, count = share(right, test, from, to)
    if count > 0 then
      row.bins[#row.bins + 1] = { first = from, last = to, positions = count, accuracy = accuracy,
        majority = share(by_position, test, from, to), untrained = plain and share(plain_right, test, from, to) or nil }
    end
  end
  return row
end

return function(model, strings, options)
  local kind = type(model) == 'userdata' and tostring(model):match '^%a+'
  local own = options.vectors
  if not own and kind ~= 'LanguageModel' and kind ~= 'Recognizer' then
    fail('expected a language model or a recognizer, got %s', tostring(model))
  end
  local train, test, tasks, notes = labelled.tasks(strings, options, kind and model:alphabet() or nil)
  local items = {}
  for _, part in ipairs { train, test } do
    for _, item in ipairs(part) do items[#items + 1] = item end
  end
  local hidden, layers = vectors_of(model, items, own)
  local plain = options.untrained and kind and vectors_of(untrained(model, options.seed), items, own)
  local found = { rows = {}, train = { strings = #train, positions = #tasks[1].train },
    test = { strings = #test, positions = #tasks[1].test } }
  for _, task in ipairs(tasks) do
    for layer = 1, layers do found.rows[#found.rows + 1] = probed_task(task, layer, hidden, plain, options) end
  end
  return tables_of(found, notes)
end
