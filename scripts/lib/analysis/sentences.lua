-- The sentences of a file, a dataset or a list, read as words of an alphabet.
local data = require 'pushdown.data'
local pd = require 'pushdown'

local M = {}

-- The options of a function that reads sentences.
M.options = {
  { 'unknown', nil, 'the word of the alphabet that stands for every word outside it: that of the training data if '
    .. 'absent, and an error if there is none', type = 'text' },
  { 'words', nil, 'how words are separated, as in pd.task.sentences: as in the training data if absent, or by blanks',
    type = 'text', choices = { 'blanks', 'unicode', 'characters' } },
  { 'lower', nil, 'converts all words to lower case; as for the training data if absent', type = 'boolean' },
  { 'header', true, 'see data.rows' },
  { 'format', nil, 'see data.rows', type = 'text' },
}

local function fail(where, form, ...) error(('[%s] '):format(where) .. form:format(...), 0) end

local function of_file(where, path, options)
  local function rows_with(columns)
    return data.rows(path, { columns = columns, format = options.format, header = options.header })
  end
  local key = options.text or (options.header and 'text' or 1)
  local columns = {}
  for name in pairs(rows_with({})[1] or {}) do
    if name ~= 'place' then columns[#columns + 1] = name end
  end
  -- A single column may have any name.
  if not options.text and #columns == 1 then key = columns[1] end
  local items = {}
  for i, row in ipairs(rows_with { key }) do
    if type(row[key]) ~= 'string' and type(row[key]) ~= 'table' then
      fail(where, "%s: expected a text in '%s', got %s", row.place, key, tostring(row[key]))
    end
    items[i] = { place = row.place, string = row[key] }
  end
  return items
end

-- sentences.of(where, source, options) -> a list of {place =, string =}: the rows of a file, or the strings of a
-- dataset or a list. A string is a text, or a list of symbols.
function M.of(where, source, options)
  local items = {}
  if type(source) == 'string' then
    items = of_file(where, source, options)
  else
    local class = type(source) == 'userdata' and pd.doc_name(source) or type(source)
    local list = source
    if class == 'Dataset' or class == 'LabelledDataset' then
      list = source:strings()
    elseif class == 'Sentences' then
      list = {}
      for i = 1, source:size() do list[i] = source:sentence(i) end
    elseif class ~= 'table' then
      fail(where, 'expected a file, a dataset or a list of strings, got %s', tostring(source))
    end
    for i, string in ipairs(list) do
      if type(string) ~= 'string' and type(string) ~= 'table' then
        fail(where, 'string %d: expected a text or a list of symbols, got a %s', i, type(string))
      end
      -- The strings of a dataset are symbols already.
      local symbols = list ~= source and pd.tables.matches(string, '%S+')
      items[i] = { place = ('string %d'):format(i), string = symbols or string }
    end
  end
  if #items == 0 then fail(where, '%s: there are no strings', type(source) == 'string' and source or 'the list') end
  return items
end

local described = { blanks = 'words between blanks', unicode = 'words of the Unicode standard',
  characters = 'characters' }

-- sentences.reader(where, alphabet, owner, options) -> Reader. Without `unknown`, neither as an option nor of the
-- training data, a word outside the alphabet is an error; with options.keep it stays.
local Reader = {}
Reader.__index = Reader

function M.reader(where, alphabet, owner, options)
  local reading = alphabet:reading()
  local self = setmetatable({ where = where, owner = owner, known = {}, keep = options.keep, count = 0, outside = 0,
    lowered = 0, is_known = reading ~= nil }, Reader)
  reading = reading or {}
  for _, symbol in ipairs(alphabet:symbols()) do self.known[symbol] = true end
  self.unknown = options.unknown or reading.unknown
  self.words = options.words or reading.words or 'blanks'
  self.lower = options.lower
  if self.lower == nil then self.lower = reading.lower or false end
  if self.unknown and not self.known[self.unknown] then
    fail(where, "unknown = '%s' is not in the alphabet of the %s", self.unknown, owner)
  end
  return self
end

-- reader:read(place, string) -> words of the alphabet, the words as they are in the string, and whether each is
-- unknown.
function Reader:read(place, string)
  local written = type(string) == 'table' and string or pd.task.words(string, { words = self.words })
  local words, outside = {}, {}
  for i, word in ipairs(written) do
    if type(word) ~= 'string' then fail(self.where, '%s: symbol %d of the list is not a text', place, i) end
    if self.lower and type(string) ~= 'table' then word = pd.task.lower(word) end
    self.count = self.count + 1
    outside[i] = not self.known[word]
    if outside[i] then
      local lower_is_known = self.known[pd.task.lower(word)]
      if not self.unknown and not self.keep then
        fail(self.where, "%s: the word '%s' is not in the alphabet of the %s; %sthe option unknown names the word that "
          .. 'stands for it', place, word, self.owner, lower_is_known and 'lower = true reads it in lower case, and '
          or '')
      end
      self.outside, self.lowered = self.outside + 1, self.lowered + (lower_is_known and 1 or 0)
      word = self.unknown or word
    end
    words[i] = word
  end
  return words, written, outside
end

-- reader:note() -> one line on the words that were read.
function Reader:note()
  local parts = { ('%d of %d words unknown'):format(self.outside, self.count) }
  if self.outside > 0 and self.unknown then parts[1] = ("%s, read as '%s'"):format(parts[1], self.unknown) end
  if self.lowered > 0 then
    parts[#parts + 1] = ('%d of them are known in lower case (lower = true)'):format(self.lowered)
  end
  if self.is_known or self.outside > 0 then
    parts[#parts + 1] = described[self.words] .. (self.lower and ', lower case' or '')
  end
  if not self.is_known and self.outside > 0 and self.owner == 'model' then
    parts[#parts + 1] = 'how the text of the training was read is not known'
  end
  return table.concat(parts, '; ')
end

return M
