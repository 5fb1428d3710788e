-- How a trained language model uses its stack, as in the figures of Merrill et al. (2019): push and read strengths over
-- the words of sentences (Figure 2), their distributions (3), the distributions of push strengths by part of speech and
-- for transitive and intransitive verbs (4), and trees beside the gold ones (5).
local files = require 'pushdown.files'
local json = require 'pushdown.json'
local pd = require 'pushdown'
local plot = require 'pushdown.plot'
local here = debug.getinfo(1, 'S').source:match('^@(.*/)') or ''
local analysis = dofile(here .. 'analysis.lua')

local function make(_, options, run)
  local model, settings, words = analysis.trained(options.run)
  local distance = analysis.networks.model_of[settings.model].distance
  if not distance then error(('--run %s: the model %s has no stack'):format(options.run, settings.model), 0) end
  local strength = distance[1]

  -- Figures 2 and 3.
  for i, sentence in ipairs(options.sentences) do
    local tokens = pd.tables.matches(sentence, '%S+')
    if #tokens > 0 then
      local strengths = model:strengths(words(tokens, options.first_lower))
      local about = { run = strengths, symbols = tokens, show = { strength, 'read' } }
      print(('\nFigure 2, sentence %d'):format(i))
      io.write(plot.word_strengths_text(about))
      run:picture('figure2-' .. i, plot.word_strengths(about))
      about.show = {}
      for _, name in ipairs { strength, 'read' } do
        if strengths[name .. '_distribution'] then about.show[#about.show + 1] = name end
      end
      if #about.show > 0 then
        print(('\nFigure 3, sentence %d'):format(i))
        io.write(plot.strength_distributions_text(about))
        run:picture('figure3-' .. i, plot.strength_distributions(about))
      end
    end
  end

  local function mean(values)
    local sum = 0
    for _, value in ipairs(values) do sum = sum + value end
    return #values > 0 and sum / #values or nil
  end

  -- Figure 4.
  local result = { model = settings.model }
  local function keep_groups(name, title, groups)
    local rows, some = {}, {}
    for _, group in ipairs(groups) do
      local average, squares = mean(group.values), 0
      for _, value in ipairs(group.values) do squares = squares + (value - average) ^ 2 end
      rows[#rows + 1] = { group.name, #group.values, average or 'NA',
        average and math.sqrt(squares / #group.values) or 'NA' }
      result[name .. '_' .. group.name] = average
      if #group.values > 0 then some[#some + 1] = group end
    end
    run:table(name, { title = title, columns = { 'group', { 'words', align = 'right' }, { 'mean', format = '%.3f' },
      { 'deviation', format = '%.3f' } }, rows = rows })
    if #some == 0 then return end
    local about = { groups = some, title = title, x_label = strength .. ' strength' }
    run:picture(name, plot.histograms(about))
    io.write(plot.histograms_text(about))
  end

  if options.treebank ~= '' then
    local by_part, verbs, sentences = {}, {}, 0
    for _, part in ipairs(options.parts_of_speech) do by_part[part] = {} end
    for sentence in pd.task.conllu(options.treebank) do
      sentences = sentences + 1
      local values = analysis.strength(model:strengths(words(sentence.forms, options.first_lower)), strength)
      local has_object = {}
      for i, relation in ipairs(sentence.relations) do
        if relation:match '^i?obj' or relation == 'ccomp' then has_object[sentence.heads[i]] = true end
      end
      for i, part in ipairs(sentence.upos) do
        local list = by_part[part]
        if list then list[#list + 1] = values[i] end
        if part == 'VERB' then
          local lemma = sentence.lemmas[i]
          local verb = verbs[lemma] or { values = {}, with_object = 0 }
          verbs[lemma] = verb
          verb.values[#verb.values + 1] = values[i]
          if has_object[i] then verb.with_object = verb.with_object + 1 end
        end
      end
    end
    if sentences == 0 then error(('--treebank %s: no sentences found'):format(options.treebank), 0) end
    local groups = {}
    for i, part in ipairs(options.parts_of_speech) do groups[i] = { name = part, values = by_part[part] } end
    keep_groups('figure4-parts', ('Figure 4: %s strength by part of speech, %d sentences'):format(strength, sentences),
      groups)
    local transitive, intransitive = { name = 'transitive', values = {} }, { name = 'intransitive', values = {} }
    for _, verb in pairs(verbs) do
      local share = verb.with_object / #verb.values
      local group = share >= options.transitive and transitive or share <= 1 - options.transitive and intransitive
      if group and #verb.values >= options.verb_count then
        for _, value in ipairs(verb.values) do group.values[#group.values + 1] = value end
      end
    end
    -- The order of a table's keys must not influence the last digit of a mean.
    table.sort(transitive.values)
    table.sort(intransitive.values)
    keep_groups('figure4-verbs', ('Figure 4: %s strength at verbs'):format(strength), { transitive, intransitive })
  end

  -- Figure 5.
  if options.trees ~= '' then
    local gold = {}
    for _, tree in ipairs(pd.tree.read(options.trees)) do
      if #gold < options.pictures and tree:size() >= 3 and tree:size() <= options.picture_length then
        gold[#gold + 1] = tree
      end
    end
    for i, tree in ipairs(analysis.parse(model, settings, words, gold, options.first_lower)) do
      local binary = gold[i]:binarized()
      print(('\nFigure 5, sentence %d'):format(i))
      local text = tree:text { gold = binary }
      io.write(text)
      files.write(run:path(('figure5-%d.txt'):format(i)), text)
      run:picture('figure5-' .. i, plot.tree { tree = tree, gold = binary })
    end
    result.trees = #gold
  end
  run:finish(json.ordered(result, { 'model' }))
end

return {
  doc = 'Stack use of a language model on sentences, as Figures 2 to 5 of Merrill et al. (2019).',
  required = { 'run' }, trains = false, make = make,
  options = {
    { 'run', '', 'the run folder of a language model of `pushdown syntax`, with a stack; required' },
    { 'sentences', { 'the cats on the boat eat fish in the morning .', 'he is the man that they saw .' },
      'sentences of figures 2 and 3; blanks separate the words' },
    { 'treebank', '', 'figure 4: a treebank in CoNLL-U, a file or a folder; none if empty' },
    { 'parts_of_speech', { 'NOUN', 'VERB', 'ADP', 'DET', 'ADJ' }, 'figure 4: parts of speech (UPOS)' },
    { 'verb_count', 5, 'figure 4: least number of occurrences of the verbs that are classified', minimum = 1 },
    { 'transitive', 0.7, 'figure 4: a verb is transitive if at least this share of its occurrences has an object, and '
      .. 'intransitive if at most the rest has one', minimum = 0.5, maximum = 1, type = 'number' },
    { 'trees', '', 'figure 5: gold trees in brackets; none if empty' },
    { 'pictures', 4, 'figure 5: number of drawn trees', minimum = 1 },
    { 'picture_length', 15, 'figure 5: greatest length of their sentences', minimum = 2 },
    { 'first_lower', true, 'the model reads the first word of a sentence in lower case' },
  },
  quick = { pictures = 2 }, smoke = { pictures = 1, verb_count = 1 },
}
