-- Reads datasets from files of other programs: JSON lines, comma-separated values, the folders of the FLaRe benchmark,
-- or the values that a Lua function returns.
--
--   local train = pd.data.read('train.jsonl', { text = 'input', label = 'grammatical' })
--   local test = pd.data.read('test.csv', { label = 'valid', alphabet = train:alphabet() })
--   local flare = pd.data.flare('flare/marked-reversal')
--
-- Strings with labels become a LabelledDataset for recognizers, strings without labels a Dataset for language models.
local file_rows = require 'pushdown.data.file_rows'
local files = require 'pushdown.files'
local json = require 'pushdown.json'
local pd = require 'pushdown'
local rows_of = require 'pushdown.data.rows_of'
local table_of = require 'pushdown.text.table'

local M = {}

local function fail(where, form, ...) error(('[data.%s] '):format(where) .. form:format(...), 0) end

local labels = { [true] = true, [false] = false, [1] = true, [0] = false, ['1'] = true, ['0'] = false,
  ['true'] = true, ['false'] = false, True = true, False = false, valid = true, invalid = false }

-- Reads a label as true or false. `positive`: the label of valid strings; all other labels then mean invalid.
local function truth(where, place, label, positive)
  if positive ~= nil then return tostring(label) == tostring(positive) end
  local value = labels[label]
  if value == nil then
    fail(where, "%s: expected a label 1 or 0, true or false, valid or invalid, got '%s'%s", place, tostring(label),
      where == 'flare' and '' or '; the option positive names another label for valid strings')
  end
  return value
end

-- Raises an error unless a text can be a symbol of an alphabet.
local function check_symbol(where, place, symbol)
  local ok, message = pcall(pd.grammar.alphabet, { symbol })
  if not ok then fail(where, '%s: %s', place, (tostring(message):gsub('^.-%[%w+%] ', ''))) end
end

-- The symbols of a text: its words separated by blanks, or its characters.
local function symbols_of(where, place, text, characters)
  if type(text) == 'table' then
    for i, symbol in ipairs(text) do
      if type(symbol) ~= 'string' then fail(where, '%s: symbol %d of the list is not a text', place, i) end
    end
    return text
  end
  if type(text) ~= 'string' then fail(where, '%s: expected a text, got a %s', place, type(text)) end
  if not characters then return pd.tables.matches(text, '%S+') end
  local ok, found = pcall(pd.task.words, text, { words = 'characters' })
  if not ok then fail(where, '%s: %s', place, (tostring(found):gsub('^.-%[[%w.]+%] ', ''))) end
  return found
end

-- Collects strings and makes the dataset.
local function collector(where, options)
  local self, known, order = { strings = {}, labels = {} }, {}, {}
  if options.alphabet then
    local given = options.alphabet
    for _, symbol in ipairs(type(given) == 'table' and given or given:symbols()) do known[symbol] = true end
  end
  local labelled  -- whether the strings have labels; the first string decides

  -- label_place: where the label is, if not at `place`.
  function self.add(place, text, label, label_place)
    local symbols = symbols_of(where, place, text, options.characters)
    for _, symbol in ipairs(symbols) do
      if not known[symbol] then
        if options.alphabet then fail(where, "%s: the symbol '%s' is not in the alphabet", place, symbol) end
        check_symbol(where, place, symbol)
        known[symbol], order[#order + 1] = true, symbol
      end
    end
    if labelled == nil then labelled = label ~= nil end
    if labelled ~= (label ~= nil) then fail(where, '%s: some strings have a label and some have none', place) end
    self.strings[#self.strings + 1] = symbols
    if labelled then
      self.labels[#self.labels + 1] = truth(where, label_place or place, label, options.positive)
    end
  end

  function self.finish(name)
    if #self.strings == 0 then fail(where, '%s: there are no strings', name) end
    if not options.alphabet and #order == 0 then fail(where, '%s: all strings are empty', name) end
  -- Equal sets of symbols have the same order, however they are ordered in a file.
    table.sort(order)
    local alphabet = options.alphabet or order
    if type(alphabet) == 'table' then
      alphabet = pd.grammar.alphabet(alphabet, { words = options.characters and 'characters' or 'blanks' })
    end
    local given = { alphabet = alphabet, strings = self.strings }
    if not labelled then return pd.task.dataset(given) end
    given.labels = self.labels
    return pd.task.labelled_dataset(given)
  end
  return self
end

local of_symbols = {
  { 'alphabet', nil, 'the symbols, if not those of the strings', type = 'Alphabet or list of texts' },
  { 'positive', nil, 'the label of valid strings; all other labels then mean invalid', type = 'value' },
  { 'characters', false, 'every character is a symbol; otherwise blanks separate the symbols' },
}
local read_options = pd._options.declare('data.read', of_symbols, {
  { 'header', true, 'the file has a line with the names of the columns; otherwise text and label are their numbers' },
  { 'text', nil, "key of the strings ('text', or column 1)", type = 'text or integer' },
  { 'label', nil, "key of the labels ('label', or column 2); false: there are none",
    type = 'text or integer or boolean' },
  { 'format', nil, 'the format, if the name of the file does not end so: jsonl (JSON lines), csv, or tsv (separated by '
    .. 'tabs)', type = 'text' },
})

local rows_options = pd._options.declare('data.rows', {
  { 'columns', {}, 'columns that every row must have', type = 'list of texts or integers' },
  { 'header', true, 'the file has a line with the names of the columns; otherwise they are numbered' },
  { 'format', nil, 'the format, if the name of the file does not end so: jsonl, csv, tsv or txt', type = 'text' },
})

-- data.rows(path, {options}) -> list of the rows of a file of JSON lines, comma-separated or tab-separated values,
-- each a table of the fields by name, with `place`, its file and line. The rows of a plain text (.txt) are its lines
-- that are not empty, in the first of the columns, or `text`.
function M.rows(path, options)
  options = rows_options(options)
  local rows = {}
  file_rows.each('rows', path, { format = options.format, header = options.header, plain = #options.columns < 2 },
    options.columns[1] or 'text', function(place, row)
      for _, name in ipairs(options.columns) do
        if row[name] == nil or row[name] == json.null then file_rows.no_value('rows', place, row, name) end
      end
      local copy = { place = place }
      for name, value in pairs(row) do copy[name] = value end
      rows[#rows + 1] = copy
    end)
  return rows
end

-- data.read(path, {options}) -> a LabelledDataset, or a Dataset if there are no labels (label = false, or no such key).
-- The file contains JSON lines (.jsonl, .ndjson), comma-separated values (.csv) or tab-separated values (.tsv).
function M.read(path, options)
  options = read_options(options)
  local numbered = not options.header
  local text_key, label_key = options.text or (numbered and 1 or 'text'), options.label
  if label_key == nil then label_key = numbered and 2 or 'label' end
  for name, key in pairs { text = text_key, label = label_key or nil } do
    local expected = numbered and 'number' or 'string'
    if type(key) ~= expected then
      fail('read', 'the option %s must be %s, got %s', name,
        numbered and 'the number of a column, as there is no header' or 'a name', tostring(key))
    end
  end
  local into = collector('read', options)
  local function add(place, row)
    if row[text_key] == nil or row[text_key] == json.null then
      file_rows.no_value('read', place, row, text_key, '; the option text names the key of the text')
    end
    local label = label_key and row[label_key]
    if label == json.null or label == false and not label_key then label = nil end
    if options.label and label == nil then
      if row[label_key] == json.null then file_rows.no_value('read', place, row, label_key) end
      fail('read', "%s: there is no label '%s'", place, label_key)
    end
    if not label_key then label = nil end
    into.add(place, row[text_key], label)
  end
  file_rows.each('read', path, options, text_key, add)
  return into.finish(path)
end

local write_options = pd._options.declare('data.write', {
  { 'count', nil, 'number of strings or pairs that are drawn from a Sampler, a Grammar or Pairs', type = 'integer',
    minimum = 1 },
  { 'seed', 1, 'random seed of what is drawn', minimum = 0 },
  { 'text', 'text', 'key or column of the strings' },
  { 'label', 'label', 'that of the labels, 1 for valid strings and 0 for others, if there are labels' },
  { 'source', 'source', 'that of the sources of pairs' },
  { 'target', 'target', 'that of the targets of pairs' },
  { 'format', nil, 'the format, if the name of the file does not end so: jsonl, csv or tsv', type = 'text' },
})

-- data.write(path, data, {options}): writes strings, with blanks between their symbols, as JSON lines (.jsonl),
-- comma-separated (.csv) or tab-separated values (.tsv), as other programs read them, for example for the pretraining
-- of a language model on a formal language. The data are a Dataset or LabelledDataset, `count` strings that are drawn
-- from a Sampler or a Grammar, `count` Pairs of a transduction, or a list of strings or of {source =, target =}, such
-- as a model or a synchronous grammar draws. Pairs have two columns. data.read reads the strings again.
function M.write(path, dataset, options)
  options = write_options(options)
  local format = options.format or path:match '%.(%a+)$' or ''
  if format ~= 'csv' and format ~= 'tsv' and format ~= 'jsonl' then
    fail('write', "'%s': expected a file .jsonl, .csv or .tsv, or the option format", path)
  end
  local columns, rows = rows_of(dataset, options)
  for _, name in ipairs(columns) do
    if format == 'tsv' and name:find '[\t\r\n]' then fail('write', 'the name of a column has a tab: %q', name) end
  end
  if columns[1] == columns[2] then fail('write', "expected two names of columns, got '%s' twice", columns[1]) end
  if format == 'csv' then return files.write(path, table_of.new({ columns = columns, rows = rows }):csv()) end
  local file = pd.file.writer(path)
  if format == 'tsv' then file:write(file_rows.tab_separated(columns) .. '\n') end
  for _, row in ipairs(rows) do
    local keyed = {}
    for i, name in ipairs(columns) do keyed[name] = row[i] end
    file:write((format == 'tsv' and file_rows.tab_separated(row) or json.encode(json.ordered(keyed, columns))) .. '\n')
  end
  file:commit()
end

local collect_options = pd._options.declare('data.collect', of_symbols)

-- data.collect(next, {options}) -> a LabelledDataset or a Dataset: collects the strings of an iterator. next() returns
-- a text or a list of symbols, and a label if there are labels; nil ends the dataset.
function M.collect(next_string, options)
  options = collect_options(options)
  local into, number = collector('collect', options), 0
  for text, label in next_string do
    number = number + 1
    into.add(('string %d'):format(number), text, label)
  end
  return into.finish 'the iterator'
end

-- ---- FLaRe ----

local function lines_of(path)
  local lines = {}
  local text = file_rows.text('flare', path)
  if text ~= '' and text:sub(-1) ~= '\n' then text = text .. '\n' end
  for line in text:gmatch '([^\n]*)\n' do lines[#lines + 1] = (line:gsub('\r$', '')) end
  return lines
end

-- The sets of next symbols in a file with one line for each valid string: for each list of symbols one with '' for the
-- end. One line of the file is [{"s": "0 1", "e": false}, ...], one entry after each of 0 .. n symbols.
local function flare_next_symbols(path, into)
  local lines, sets, used = lines_of(path), {}, 0
  for i, valid in ipairs(into.labels) do
    sets[i] = {}
    if valid then
      used = used + 1
      local place = ('%s:%d'):format(path, used)
      if not lines[used] then fail('flare', '%s: expected a line for each valid string, this one is missing', place) end
      local read, entries = pcall(json.decode, lines[used])
      if not read or type(entries) ~= 'table' or #entries ~= #into.strings[i] + 1 then
        fail('flare', '%s: expected a list of %d entries {"s": "0 1", "e": false}, one after each prefix of the string',
          place, #into.strings[i] + 1)
      end
      for t, entry in ipairs(entries) do
        if type(entry) ~= 'table' or type(entry.s) ~= 'string' or type(entry.e) ~= 'boolean' then
          fail('flare', '%s: entry %d: expected {"s": "0 1", "e": false}', place, t)
        end
        local symbols = symbols_of('flare', place, entry.s)
        if entry.e then symbols[#symbols + 1] = '' end
        local found, next_symbol = false, into.strings[i][t] or ''
        for _, symbol in ipairs(symbols) do found = found or symbol == next_symbol end
        if not found then
          fail('flare', "%s: entry %d does not contain %s, which follows there", place, t,
            next_symbol == '' and 'the end' or "'" .. next_symbol .. "'")
        end
        sets[i][t] = symbols
      end
    end
  end
  if #lines > used then fail('flare', '%s has %d lines, expected %d, one for each valid string', path, #lines, used) end
  return sets
end

local function flare_part(folder, into)
  for _, name in ipairs { 'main.tok', 'labels.txt' } do
    if not files.exists(('%s/%s'):format(folder, name)) then
      fail('flare', "'%s' is incomplete: expected main.tok and labels.txt in it, %s is missing", folder, name)
    end
  end
  local strings, given = lines_of(folder .. '/main.tok'), lines_of(folder .. '/labels.txt')
  if #strings ~= #given then
    fail('flare', "'%s': main.tok has %d lines and labels.txt %d, expected one label for each string", folder, #strings,
      #given)
  end
  for i, text in ipairs(strings) do
    into.add(('%s/main.tok:%d'):format(folder, i), text, given[i], ('%s/labels.txt:%d'):format(folder, i))
  end
  local sets = folder .. '/next-symbols.jsonl'
  if files.exists(sets) then into.next_symbols = flare_next_symbols(sets, into) end
end

-- The parts besides the training set, with our names as keys.
M.flare_parts = { validation_short = 'validation-short', validation_long = 'validation-long', test = 'test',
  test_short = 'test-short-held-out' }

-- data.flare(folder) -> { train =, validation_short =, validation_long =, test =, test_short = }: reads a language of
-- the FLaRe benchmark. main.tok has one string per line, labels.txt has 1 or 0, and datasets/ has the other parts
-- (Butoi et al. 2025), and next-symbols.jsonl, if it is there, the sets of symbols that may follow in valid strings.
-- Parts without a folder are left out; a folder that lacks one of its files is an error. All parts have the alphabet of
-- the training set, extended by the symbols that only occur in other parts.
function M.flare(folder)
  local parts, symbols = {}, {}
  local function part(path)
    local into = collector('flare', {})
    flare_part(path, into)
    return into
  end
  if not files.exists(folder .. '/main.tok') then
    fail('flare', "'%s' is not a language of FLaRe: expected main.tok and labels.txt in it", folder)
  end
  parts.train = part(folder)
  for name, there in pairs(M.flare_parts) do
    local path = ('%s/datasets/%s'):format(folder, there)
    if files.exists(path) then parts[name] = part(path) end
  end
  local known = {}
  local function note(string)
    for _, symbol in ipairs(string) do
      if symbol ~= '' and not known[symbol] then known[symbol], symbols[#symbols + 1] = true, symbol end
    end
  end
  for _, into in pairs(parts) do
    for i, string in ipairs(into.strings) do
      note(string)
      for _, set in ipairs((into.next_symbols or {})[i] or {}) do note(set) end
    end
  end
  table.sort(symbols)
  for name, into in pairs(parts) do
    parts[name] = pd.task.labelled_dataset { alphabet = symbols, strings = into.strings, labels = into.labels,
      next_symbols = into.next_symbols }
  end
  return parts
end

return M
