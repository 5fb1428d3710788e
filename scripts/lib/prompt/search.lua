-- Searches for words in all documentation: doc strings, kinds and their options, Lua modules, the pages of the
-- documentation, the README and CITATION.cff. All words must be there, in any order and at word starts, in the words of
-- the user or in those of pushdown.prompt.synonyms. Of a longer question, such as 'why is my training so slow?', most
-- of the words are enough. Titles and headings count more than texts, and rare words more than frequent ones.
local library = require 'pushdown.prompt.library'
local pages = require 'pushdown.prompt.pages'
local pd = require 'pushdown'
local synonyms = require 'pushdown.prompt.synonyms'
local tables = require 'pushdown.tables'

local plain = pages.plain

local empty_words = {}
for word in ([[a an and are as at be been but by can could did do does doing for from get give go had has have how
  i if in into is it its just me my no of on or our shall should so some tell than that the their
  them then there these they this those to too use used using very want was we were what when where
  which who why will with would you your pushdown make makes not]]):gmatch '%S+' do empty_words[word] = true end

-- A word without the ending of a plural, an adverb or a verb, so that it begins the others.
local function stem(word)
  if #word < 5 then return word end
  local short = word:match '^(.-)ies$' or word:match '^(.-)ing$' or word:match '^(.-)ed$' or word:match '^(.-)ly$'
    or word:match '^(.-)s$'
  if not short or #short < 3 or word:find 'ss$' then return word end
  return short:match '^(.*([bdgmnprt]))%2$' or short
end

-- The names under which a word or a phrase can appear, itself first.
local function alternatives(text)
  local found, seen = { text }, { [text] = true }
  for _, group in ipairs(synonyms) do
    for _, word in ipairs(group) do
      if word == text or stem(word) == text then
        for _, other in ipairs(group) do
          local one = other:find ' ' and other or stem(other)
          if not seen[one] then seen[one], found[#found + 1] = true, one end
        end
        break
      end
    end
  end
  return found
end

-- The longest phrase of the synonyms that begins at a word of a list, and its number of words; the word if there is
-- none.
local function phrase_at(words, at)
  local found, most = words[at], 1
  for _, group in ipairs(synonyms) do
    for _, phrase in ipairs(group) do
      local count = select(2, phrase:gsub('%S+', ''))
      local text = count > most and at + count - 1 <= #words and table.concat(words, ' ', at, at + count - 1)
      if text and (text == phrase or text == phrase .. 's') then found, most = phrase, count end
    end
  end
  return found, most
end

-- The terms of a question: lists of alternatives, with the user's own `word`.
local function terms_of(topic)
  local words, terms = {}, {}
  for word in plain(topic):gmatch '%S+' do words[#words + 1] = word end
  local at = 1
  while at <= #words do
    local text, count = phrase_at(words, at)
    if count > 1 or not empty_words[text] then
      local term = alternatives(count > 1 and text or stem(text))
      term.word = text
      terms[#terms + 1] = term
    end
    at = at + count
  end
  if #terms == 0 then
    for _, word in ipairs(words) do terms[#terms + 1] = { word, word = word } end
  end
  return terms
end

-- How well a text has a term: 1 for the user's own word, less for a synonym, 0 if it has none; and how often.
local function match(text, term)
  local best, count = 0, 0
  for i, word in ipairs(term) do
    -- Short synonyms and numbers would begin too many words.
    local wanted = ' ' .. word .. ((i > 1 and #word < 4 or word:find '^%d+$') and ' ' or '')
    local at = text:find(wanted, 1, true)
    if at then
      best = math.max(best, i == 1 and 1 or 0.6)
      while at and count < 8 do
        count = count + 1
        at = text:find(wanted, at + #word, true)
      end
    end
  end
  return best, count
end

-- Everything that is documented, once for a session: a list of {title =, text = the line to show, or nil for the best
-- sentence of `sentences`, name = and body = what is searched, weight =}.
local function usage_and_sentence(doc)
  local usage, sentence = doc:match '^(.-)  +(.*)$'
  return usage, sentence or doc
end

-- Methods of several classes with the same description are one entry that lists the classes.
local function add_docs(entries)
  local docs, same = pd.docs(), {}
  for _, name in ipairs(tables.keys(docs, 'string')) do
    local usage, sentence = usage_and_sentence(docs[name])
    local shown = usage and not usage:match '^%(' and (name:match '^(.*[.])' or '') .. usage or name
    if #shown > 70 then shown = shown:gsub('%b{}', '{...}') end
    local options = {}
    for _, option in ipairs(pd.options(name) or {}) do options[#options + 1] = option.name .. ': ' .. option.doc end
    local class = usage and name:match '^(.+):'
    local key = class and table.concat({ docs[name], unpack(options) }, '\n')
    local entry = key and same[key]
    if entry then
      entry.name = entry.name .. ' ' .. name
      table.insert(entry.classes, class)
    else
      entry = { title = shown, name = name, body = docs[name] .. ' ' .. table.concat(options, '. '),
        sentences = options, text = sentence, weight = 1, classes = { class } }
      entries[#entries + 1] = entry
      if key then same[key] = entry end
    end
  end
  for _, entry in ipairs(entries) do
    if #entry.classes > 1 then entry.title = ('%s  (%s)'):format(entry.title, table.concat(entry.classes, ', ')) end
  end
end

local function add_kinds(entries)
  for _, group in ipairs(pd.texts()) do
    for _, name in ipairs(group.of and group.texts() or {}) do
      local description, options = group.call(name), {}
      for line in description:gmatch '\n  ([^\n]*)' do options[#options + 1] = (line:gsub('%s+', ' ')) end
      entries[#entries + 1] = { title = ("%s '%s'"):format(group.name, name), name = name, body = description,
        sentences = options, text = description:match '^[^\n]*', weight = 1 }
    end
  end
end

local function add_modules(entries)
  for _, name in ipairs(library.names) do
    local head = library.head('pushdown.' .. name) or ''
    entries[#entries + 1] = { title = ("require 'pushdown.%s'"):format(name), name = 'pushdown ' .. name, body = head,
      text = library.first_sentence(head), weight = 1 }
  end
end

local known
local function all_entries()
  if known then return known end
  local entries = {}
  add_docs(entries)
  add_kinds(entries)
  add_modules(entries)
  pages.add(entries)
  for _, entry in ipairs(entries) do
    entry.name, entry.body = ' ' .. plain(entry.name) .. ' ', ' ' .. plain(entry.body) .. ' '
  end
  known = entries
  return entries
end

-- The number of entries that have each term, and which terms each entry has.
local function matches(entries, terms)
  local counts, found = {}, {}
  for k in ipairs(terms) do counts[k] = 0 end
  for i, entry in ipairs(entries) do
    local row = {}
    for k, term in ipairs(terms) do
      local named = match(entry.name, term)
      local quality, count = match(entry.body, term)
      if named > 0 or quality > 0 then
        counts[k] = counts[k] + 1
        row[k] = { named = named, quality = quality, count = count }
      end
    end
    found[i] = next(row) and row or nil
  end
  return counts, found
end

local usual_length = 600  -- of the text of an entry; longer ones have any word more easily

local function score(entry, row, terms, rarity)
  local total, covered, sum = 0, 0, 0
  for k in ipairs(terms) do
    local one = row[k]
    total = total + rarity[k]
    if one then
      local often = one.count / (one.count + 0.4 + 0.8 * #entry.body / usual_length)
      covered = covered + rarity[k]
      sum = sum + rarity[k] * (2 * one.named + one.quality * often)
    end
  end
  local share = covered / total
  return sum * share * share * entry.weight, share
end

-- The line that shows best why an entry was found: the first one if its heading has all words.
local function excerpt(entry, terms, rarity)
  local best, most, in_heading = entry.text, nil, true
  for _, term in ipairs(terms) do in_heading = in_heading and match(entry.name, term) > 0 end
  if in_heading then return entry.text or entry.sentences[1] or '' end
  if entry.text then most = 0.5 end
  for k, sentence in ipairs(entry.sentences or {}) do
    local text, sum = ' ' .. plain(sentence) .. ' ', 0
    for i, term in ipairs(terms) do sum = sum + rarity[i] * match(text, term) end
    sum = sum - 0.01 * k
    if not most or sum > most then best, most = sentence, sum end
  end
  return best or ''
end

-- Whether a result is shown: one that lacks a word must be better than all that have all words, or have most words of a
-- long question.
local function shows(result, best, best_whole, count)
  if result.score < best / 12 then return false end
  if result.whole then return true end
  if count > 3 and result.share > 0.6 then return true end
  return result.share > 0.4 and result.score > (best_whole or 0)
end

-- Whether a word of the user begins a word of some entry or is a synonym, so that it is spelt correctly.
local function is_known(term, entries)
  if #term > 1 then return true end
  for _, entry in ipairs(entries) do
    if match(entry.name, { term.word }) > 0 or match(entry.body, { term.word }) > 0 then return true end
  end
  return false
end

local M = {}

-- search.find(topic) -> list of {title, text}, the best first, and whether some have all words, which are known.
function M.find(topic)
  local entries, terms = all_entries(), terms_of(topic)
  local counts, found = matches(entries, terms)
  local rarity, results, best_whole = {}, {}, nil
  local unknown = false
  for k, count in ipairs(counts) do
    rarity[k] = count > 0 and math.log(1 + #entries / (1 + count)) or 0
    unknown = unknown or not is_known(terms[k], entries)
  end
  for i, row in pairs(found) do
    local value, share = score(entries[i], row, terms, rarity)
    local whole = share > 0.999
    if whole then best_whole = math.max(best_whole or 0, value) end
    results[#results + 1] = { entry = entries[i], score = value, share = share, whole = whole, place = i }
  end
  table.sort(results, function(a, b)
    if a.score ~= b.score then return a.score > b.score end
    return a.place < b.place
  end)
  local shown = {}
  for _, result in ipairs(results) do
    if shows(result, results[1].score, best_whole, #terms) then
      shown[#shown + 1] = { result.entry.title, excerpt(result.entry, terms, rarity) }
    end
  end
  return shown, best_whole ~= nil and not unknown
end

-- search.terms() -> the terms that the glossary defines.
function M.terms()
  local terms = {}
  for _, line in ipairs(library.lines_of(pd.root .. '/docs/glossary.md') or {}) do
    terms[#terms + 1] = line:match '^| ([^-].-) | .* |$'
  end
  return terms
end

return M
