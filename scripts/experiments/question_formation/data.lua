-- Pairs of sentences of question formation and tense reinflection: files of McCoy, Frank and Linzen (2020), or
-- sentences of grammars/relative_clauses.lua. Of each pair, the place where the hierarchical and the linear rule
-- differ.
--
-- A pair is { source = words, target = words }. The last word of a source says what to do with the sentence before it:
-- decl and PAST repeat it, quest makes a question of it, PRESENT puts its verbs in the present tense.
local pd = require 'pushdown'
local files = require 'pushdown.files'

local M = {}

M.tasks = {
  question = { title = 'Question formation', repeats = 'decl', changes = 'quest' },
  tense = { title = 'Tense reinflection', repeats = 'PAST', changes = 'PRESENT' },
}
-- The parts of the data and the endings of their files.
M.parts = { train = 'train', valid = 'dev', test = 'test', generalization = 'gen' }

local relative = { who = true, that = true }  -- a subject with a relative clause has one of them as its third word

local function words_of(text)
  local words = {}
  for word in text:gmatch '%S+' do words[#words + 1] = word end
  return words
end

-- ---- Files ----

-- data.read(path, task, known) -> pairs. A line is a source, a tab and a target. known: the words that may occur, none
-- for all.
function M.read(path, task, known)
  local kind, found, number = M.tasks[task], {}, 0
  for line in (files.read(path):gsub('\r\n', '\n') .. '\n'):gmatch '([^\n]*)\n' do
    number = number + 1
    local function fail(...) error(('%s:%d: %s'):format(path, number, (...):format(select(2, ...))), 0) end
    if line ~= '' then
      local source, target = line:match '^([^\t]*)\t([^\t]*)$'
      if not source then fail("expected a source, a tab and a target, got '%s'", line:sub(1, 60)) end
      local pair = { source = words_of(source), target = words_of(target) }
      local last = pair.source[#pair.source]
      if #pair.source < 2 then fail 'the source has no words' end
      if #pair.target == 0 then fail 'the target has no words' end
      if last ~= kind.repeats and last ~= kind.changes then
        fail("the last word of a source must be %s or %s, got '%s'", kind.repeats, kind.changes, last)
      end
      if #pair.target ~= #pair.source - 1 then
        fail('the target must have as many words as the sentence before %s, %d, got %d', last, #pair.source - 1,
          #pair.target)
      end
      for _, words in ipairs(known and { pair.source, pair.target } or {}) do
        for _, word in ipairs(words) do
          if not known[word] then fail("the word '%s' does not occur in the training pairs", word) end
        end
      end
      found[#found + 1] = pair
    end
  end
  if #found == 0 then error(path .. ': expected a pair on each line, got none', 0) end
  return found
end

-- data.words(pairs) -> their words in order, the set of them.
function M.words(pairs_of)
  local set, list = {}, {}
  for _, pair in ipairs(pairs_of) do
    for _, words in ipairs { pair.source, pair.target } do
      for _, word in ipairs(words) do
        if not set[word] then set[word], list[#list + 1] = true, word end
      end
    end
  end
  table.sort(list)
  return list, set
end

-- data.alphabet(sets) -> the words of all parts in order.
function M.alphabet(sets)
  local all = {}
  for _, part in pairs(sets) do
    for _, pair in ipairs(part) do all[#all + 1] = pair end
  end
  return (M.words(all))
end

-- data.published(folder, task, limits) -> {train =, valid =, test =, generalization =}: reads FOLDER/TASK.train, .dev,
-- .test and .gen. limits: the number of pairs that are kept of a part, the first ones; 0: all.
function M.published(folder, task, limits)
  local function path(part) return ('%s/%s.%s'):format(folder, task, M.parts[part]) end
  for part in pairs(M.parts) do
    if not files.exists(path(part)) then
      error(("--data %s: expected the files %s.train, .dev, .test and .gen in it, got no '%s'"):format(folder, task,
        path(part)), 0)
    end
  end
  local sets = { train = M.read(path 'train', task) }
  local known = select(2, M.words(sets.train))
  for _, part in ipairs { 'valid', 'test', 'generalization' } do sets[part] = M.read(path(part), task, known) end
  for part, list in pairs(sets) do
    while limits[part] > 0 and #list > limits[part] do table.remove(list) end
  end
  return sets
end

-- ---- Sentences of our own ----

local past = { laugh = 'laughed', sleep = 'slept', sing = 'sang', wait = 'waited', run = 'ran', see = 'saw',
  help = 'helped', follow = 'followed', call = 'called', visit = 'visited' }
local auxiliaries = { ['do'] = true, ["don't"] = true, does = true, ["doesn't"] = true }

local function past_of(word) return past[word] or past[(word:gsub('s$', ''))] end
local function is_plural(noun) return noun:sub(-1) == 's' end

-- The place of the main one of some words: the second one if the subject has a relative clause, else the first; or of
-- the one with another number.
local function main_place(sentence, is_one, number)
  local wanted, count = number or relative[sentence[3]] and 2 or 1, 0
  for place, word in ipairs(sentence) do
    if is_one(word) then
      count = count + 1
      if count == wanted then return place end
    end
  end
end

local function pair_of(sentence, last, target)
  local source = {}
  for i, word in ipairs(sentence) do source[i] = word end
  source[#source + 1] = last
  return { source = source, target = target }
end

local function question_of(sentence, place)
  local target = { sentence[place] }
  for i, word in ipairs(sentence) do
    if i ~= place then target[#target + 1] = word end
  end
  target[#target] = '?'
  return target
end

-- Each function returns the pair of a sentence, and true if it is one of the generalization set, where the two rules
-- differ. `turn` is the number of the sentence and decides what is done with it.
local make = {}

function make.question(sentence, turn)
  local function is_auxiliary(word) return auxiliaries[word] end
  local place, first = main_place(sentence, is_auxiliary), main_place(sentence, is_auxiliary, 1)
  local differs = relative[sentence[3]] ~= nil
  if differs and sentence[first] ~= sentence[place] and turn % 2 == 0 then
    return pair_of(sentence, 'quest', question_of(sentence, place)), true
  end
  if differs or turn % 4 == 0 then return pair_of(sentence, 'decl', sentence) end
  return pair_of(sentence, 'quest', question_of(sentence, place))
end

function make.tense(sentence, turn)
  local place, before, subject, recent = main_place(sentence, past_of), {}, is_plural(sentence[2]), nil
  for i, word in ipairs(sentence) do before[i] = past_of(word) or word end
  -- The noun before the main verb that is nearest to it: a noun follows each determiner.
  for i = 1, place - 1 do
    if M.determiners[sentence[i]] then recent = is_plural(sentence[i + 1]) end
  end
  if subject ~= recent and turn % 2 == 0 then return pair_of(before, 'PRESENT', sentence), true end
  if subject ~= recent or turn % 2 == 1 then return pair_of(before, 'PAST', before) end
  return pair_of(before, 'PRESENT', sentence)
end
M.determiners = { the = true, our = true, their = true, your = true }

-- data.made(task, counts, seed) -> the same, of `counts` pairs each, no source in two of them. In the sets other than
-- the last one, both rules give the same targets.
function M.made(task, counts, seed)
  local grammar = pd.grammar.load('relative_clauses', { verbs = task == 'question' and 'auxiliary' or 'present' })
  local sets, seen, turn = { train = {}, valid = {}, test = {}, generalization = {} }, {}, 0
  local order = { 'train', 'valid', 'test' }
  local function place_for(is_last)
    if is_last then return #sets.generalization < counts.generalization and sets.generalization or nil end
    for _, part in ipairs(order) do
      if #sets[part] < counts[part] then return sets[part] end
    end
  end
  for round = 1, 1000 do
    if not place_for(true) and not place_for(false) then return sets end
    for _, text in ipairs(grammar:sample { count = 1000, seed = seed * 1000 + round }) do
      if not seen[text] then
        seen[text], turn = true, turn + 1
        local pair, is_last = make[task](words_of(text), turn)
        local into = place_for(is_last)
        if into then into[#into + 1] = pair end
      end
    end
  end
  error(('the grammar has too few sentences: expected %d training pairs, got %d'):format(counts.train, #sets.train), 0)
end

-- ---- Rules ----

-- data.rules(task, pairs) -> what the rules need to know of the words, from training pairs: of questions the
-- auxiliaries, which begin them; of tenses the forms of each verb in the past, {[form] = true}.
function M.rules(task, pairs_of)
  local rules = { task = task, auxiliaries = {}, forms = {} }
  local changed = {}
  for _, pair in ipairs(pairs_of) do
    if pair.source[#pair.source] == M.tasks[task].changes then
      changed[#changed + 1] = pair
      if task == 'question' then rules.auxiliaries[pair.target[1]] = true end
      for i, word in ipairs(pair.target) do
        if task == 'tense' and pair.source[i] ~= word then rules.forms[pair.source[i]] = {} end
      end
    end
  end
  for _, pair in ipairs(task == 'tense' and changed or {}) do
    for i, word in ipairs(pair.target) do
      if rules.forms[pair.source[i]] then rules.forms[pair.source[i]][word] = true end
    end
  end
  return rules
end

-- data.decision(rules, pair) -> the place in the target where the rules may differ, the word of the linear rule there,
-- the target of the linear rule; nil if the pair is not changed. The linear rules are: the first auxiliary moves to the
-- front, and a verb agrees with the noun before it. In the generalization set of tense reinflection, that noun has the
-- other number than the subject, so that the main verb has its other form.
function M.decision(rules, pair)
  local source, target = pair.source, pair.target
  if source[#source] ~= M.tasks[rules.task].changes then return nil end
  if rules.task == 'question' then
    for place, word in ipairs(source) do
      if rules.auxiliaries[word] then
        local sentence = { unpack(source, 1, #source - 1) }
        local linear = question_of(sentence, place)
        linear[#linear] = target[#target]
        return 1, word, linear
      end
    end
    return nil
  end
  local place = main_place(source, function(word) return rules.forms[word] end)
  if not place then return nil end
  local linear = { unpack(target) }
  for form in pairs(rules.forms[source[place]]) do
    if form ~= target[place] then linear[place] = form end
  end
  return place, linear[place], linear
end

return M
