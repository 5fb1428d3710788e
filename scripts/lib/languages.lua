-- Formal languages: their strings, and the symbols that may follow a part of a string.
--
--   local language = pd.languages.load 'marked_copy'
--   print(language:contains '0 1 # 0 1', table.concat(language:next_symbols '0 1 # 0', ' '))
--   local set = language:sample(1000, { 0, 40 }, 1)                -- half of the strings are in the language
--   local shuffle = pd.languages.shuffle_dyck { types = 2 }
--   pd.data.write('shuffle.jsonl', shuffle:dataset(1000, { lengths = { 2, 40 }, seed = 1 }))
--
-- languages.new(definition) makes a language of a definition with
--   name, title, level    the level is 'regular', 'context-free' or 'context-sensitive'
--   alphabet              the list of its symbols
-- and one of these, which decides what the language is:
--   grammar()             its grammar
--   walk()                a process before its first symbol: next() returns the outcomes that may follow, each {symbol}
--                         or {symbol, probability}, where '' is the end, and read(symbol) goes on
--   sets(symbols)         the lists of what may follow the first 0 .. n symbols of any list of symbols
-- and, where they are needed:
--   contains(symbols)     whether a list of symbols is in the language, if this is faster than the definition
--   draw(random, length)  a string of this length, nil if there is none; random() returns numbers in [0, 1)
--   longest               of a walk with probabilities: longer strings are drawn again
-- and for hard negatives (languages/labelled.lua): marks, the symbols that keep their places; kind(symbol), symbols of
-- different kinds are not exchanged; exchanges (1), how many are tried with one string; counted, whether the counts of
-- the symbols, or the last one alone, decide.
local labelled = require 'pushdown.languages.labelled'
local pd = require 'pushdown'
local processes = require 'pushdown.languages.processes'
local random_numbers = require 'pushdown.languages.random'
local shuffle = require 'pushdown.languages.shuffle'

local M = {}

local tries = 10000  -- for a string

local Language = pd.tables.merged(labelled)
Language.__index = Language

-- The symbols of a text or a list, all in the alphabet.
local function symbols_of(self, string)
  local symbols = type(string) == 'table' and string or pd.tables.matches(string or '', '%S+')
  for _, symbol in ipairs(symbols) do
    if not self._known[symbol] then
      error(("[languages.%s] '%s' is not in the alphabet; the symbols are %s"):format(self.name, symbol,
        table.concat(self._definition.alphabet, ' ')), 0)
    end
  end
  return symbols
end

local function has(set, symbol)
  for _, other in ipairs(set) do
    if other == symbol then return true end
  end
  return false
end

-- The sets of a list of symbols up to the first one that may not follow, and whether this is none.
local function sets_of(self, symbols)
  local definition, sets = self._definition, {}
  local walk, all = definition.walk and definition.walk(), definition.sets and definition.sets(symbols)
  for i = 0, #symbols do
    local set = all and all[i + 1] or {}
    for k, outcome in ipairs(walk and walk.next() or {}) do set[k] = outcome[1] end
    sets[i + 1] = set
    if not symbols[i + 1] then return sets, true end
    if not has(set, symbols[i + 1]) then return sets, false end
    if walk then walk.read(symbols[i + 1]) end
  end
end

function Language:__tostring()
  return ('%s: %s'):format(self.title, table.concat(self._definition.alphabet, ' '))
end

-- language:alphabet() -> the list of the symbols.
function Language:alphabet() return { unpack(self._definition.alphabet) } end

-- language:grammar() -> its Grammar, nil without one.
function Language:grammar()
  local definition = self._definition
  if definition.grammar and not self._grammar then self._grammar = definition.grammar() end
  return self._grammar
end

-- language:contains(string) -> whether the string is in the language.
function Language:contains(string)
  local symbols, definition = symbols_of(self, string), self._definition
  if definition.contains then return definition.contains(symbols) end
  if definition.grammar then return self:grammar():contains(symbols) end
  local sets, viable = sets_of(self, symbols)
  return viable and has(sets[#sets], '')
end

-- language:next_symbols(prefix) -> the symbols that may follow, in the order of the alphabet, and '' for the end; none
-- if no string begins with the prefix.
function Language:next_symbols(prefix)
  local symbols, grammar = symbols_of(self, prefix), self:grammar()
  if not grammar then
    local sets, viable = sets_of(self, symbols)
    return viable and { unpack(sets[#sets]) } or {}
  end
  local longer, found = { unpack(symbols) }, {}
  for _, symbol in ipairs(self._definition.alphabet) do
    longer[#symbols + 1] = symbol
    if grammar:viable_prefix(longer) then found[#found + 1] = symbol end
  end
  if grammar:contains(symbols) then found[#found + 1] = '' end
  return found
end

-- language:walk() -> the process that makes its strings, before the first symbol, nil without one: next() returns the
-- outcomes, each {symbol, probability}, where '' is the end, and read(symbol) goes on.
function Language:walk() return self._definition.walk and self._definition.walk() end

-- language:draw(count, {lengths =, seed =, random =}) -> a list of strings, each a list of symbols. A length is uniform
-- over those of the interval that have strings; a string has the distribution of the language given its length. Without
-- lengths, the strings are those of the process, and equal seeds begin with equal strings. random: the generator, of
-- `seed` by default.
function Language:draw(count, options)
  local definition, strings, lengths = self._definition, {}, options.lengths
  if definition.grammar then
    local set = self:grammar():sampler { lengths = lengths }:dataset(count, { seed = options.seed, batch = 1 })
    for i, string in ipairs(set:strings()) do strings[i] = pd.tables.matches(string, '%S+') end
    return strings
  end
  local random = options.random or random_numbers.blocks(options.seed)
  for i = 1, count do
    for _ = 1, tries do
      if definition.draw then
        strings[i] = definition.draw(random, lengths[1] + math.floor((lengths[2] - lengths[1] + 1) * random()))
      else
        local symbols = processes.drawn(definition.walk(), random)
        strings[i] = #symbols <= (definition.longest or math.huge) and symbols or nil
      end
      if strings[i] then break end
    end
    if not strings[i] then
      error(('%s has no strings of length %d to %d'):format(self.name, lengths[1], lengths[2]), 0)
    end
  end
  return strings
end

-- language:labelled(strings, {labels =, next_symbols = true}) -> a LabelledDataset of these strings, with the labels
-- and, for valid strings, the sets of next symbols of the language. labels: those of the strings, if they are known.
function Language:labelled(strings, options)
  if type(strings) == 'userdata' then strings = strings:strings() end
  local labels, sets = options and options.labels, {}
  if not labels then
    labels = {}
    for i, string in ipairs(strings) do labels[i] = self:contains(string) end
  end
  local function dataset(alphabet, next_symbols)
    return pd.task.labelled_dataset { alphabet = alphabet, strings = strings, labels = labels,
      next_symbols = next_symbols }
  end
  if options and options.next_symbols == false then return dataset(self:alphabet()) end
  local grammar = self:grammar()
  if grammar then
    -- A grammar lists its symbols in an order of its own.
    sets = dataset(grammar:alphabet()):with_next_symbols(grammar):next_symbols()
  else
    for i, string in ipairs(strings) do sets[i] = labels[i] and sets_of(self, symbols_of(self, string)) or {} end
  end
  return dataset(self:alphabet(), sets)
end

local Shuffle = pd.tables.merged(Language, shuffle.methods)
Shuffle.__index = Shuffle

-- languages.new(definition) -> a language; see the beginning of the file.
function M.new(definition)
  local self = { _definition = definition, _known = {}, name = definition.name, title = definition.title,
    level = definition.level, counted = definition.counted, marks = definition.marks }
  for _, symbol in ipairs(definition.alphabet) do self._known[symbol] = true end
  if definition.published then self.published = M.new(definition.published) end
  return setmetatable(self, definition.class or Language)
end

local by_name, names

local function all()
  if names then return end
  by_name, names = {}, {}
  for _, file in ipairs { 'context_free', 'computed' } do
    for _, definition in ipairs(require('pushdown.languages.' .. file)) do
      names[#names + 1], by_name[definition.name] = definition.name, M.new(definition)
    end
  end
end

-- languages.list() -> the names of the languages that load() knows.
function M.list()
  all()
  return { unpack(names) }
end

-- languages.load(name, options) -> a language: title, level, alphabet(), contains(string), next_symbols(prefix),
-- grammar(), draw(count, {options}), labelled(strings), sample(count, lengths, seed) and hard_negatives(count, lengths,
-- seed, share). A name of pd.grammar.list() is the language of that grammar, which may have options.
function M.load(name, options)
  all()
  if by_name[name] and not options then return by_name[name] end
  local grammars = pd.grammar.list()
  if not has(grammars, name) then
    error(("[languages.load] there is no language '%s'; there are %s, and the grammars %s"):format(tostring(name),
      table.concat(names, ', '), table.concat(grammars, ', ')), 0)
  end
  local grammar = pd.grammar.load(name, options)
  return M.new { name = name, title = name, level = 'context-free', alphabet = grammar:alphabet():symbols(),
    grammar = function() return grammar end }
end

-- languages.counting{letters =, drawn =, multiples =, stop =} -> the language whose strings repeat the first `drawn`
-- letters as often as geometric numbers say, from 1 on, P(n) = (1 - stop)^(n-1) stop, and every later letter a multiple
-- of their sum: aⁿbⁿ has the letters a and b, drawn = 1 and multiples = { 1 }.
function M.counting(options) return M.new(processes.counting(options)) end

-- languages.nested{brackets =, nest =, longest =} -> balanced brackets such as '()' and '[]', S -> open S close S with
-- probability `nest`, shared by the kinds of brackets, or nothing. Strings of more than `longest` symbols are not
-- drawn.
function M.nested(options) return M.new(processes.nested(options)) end

local shuffle_options = pd._options.declare('languages.shuffle_dyck', {
  { 'types', 2, 'number k of Dyck languages, each with brackets of its own', minimum = 1, maximum = 1000 },
})

-- languages.shuffle_dyck{options} -> k-Shuffle Dyck: the shuffles of k Dyck languages, each over brackets of its own,
-- but not the empty string. Every type of bracket is balanced by itself, so brackets of different types may cross: ( [
-- ) ]. For k = 1 it is Dyck-1; for k >= 2 it is not context-free, because its strings of the form (* [* )* ]* are
-- those with (^m [^n )^m ]^n. Suzgun et al. (2019) count with it, Papadimitriou and Jurafsky (2023) and Hu et al.
-- (2025) train models on crossing brackets before natural language. Methods besides those of all languages:
-- log_count(length) and dataset(count, {lengths =, distribution =, open =, deepest =, seed =}). With distribution =
-- 'walk' each symbol opens a bracket of a random type with probability `open` or closes one of a random type that is
-- open, as in the program of Hu et al. (src/grammar.py: open = 0.5, deepest = 16, 64 types, length 2048); theirs cuts
-- strings at the length, ours closes all brackets before it.
function M.shuffle_dyck(options)
  local definition = shuffle.definition(shuffle_options(options).types)
  return M.new(pd.tables.merged(definition, { class = Shuffle }))
end

return M
