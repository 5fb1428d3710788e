-- Analysis of a trained language model: its strengths, and the trees in them.
local files = require 'pushdown.files'
local json = require 'pushdown.json'
local pd = require 'pushdown'
local here = debug.getinfo(1, 'S').source:match('^@(.*/)') or ''
local networks = dofile(here .. 'networks.lua')

local M = { networks = networks }

-- Returns the model of a run of this paper, its settings, and words(tokens), which converts words to the form
-- that the model knows and unknown words to <unk>.
function M.trained(folder)
  local path = folder .. '/experiment.json'
  if not files.exists(path) then
    error(('--run %s: no experiment.json; expected the folder of a run of `pushdown syntax`'):format(folder), 0)
  end
  local settings = json.decode(files.read(path)).options
  if not networks.model_of[settings.model] then
    error(('--run %s: not a language model of this paper'):format(folder), 0)
  end
  if not files.exists(folder .. '/result.json') then
    error(('--run %s: this training is unfinished; start it again'):format(folder), 0)
  end
  -- The measured parameters; without a validation part no epoch is the best.
  local result = json.decode(files.read(folder .. '/result.json'))
  local model = pd.model.load(folder, { which = result.best_epoch and 'best' or 'last' })
  local known = {}
  for _, symbol in ipairs(model:alphabet():symbols()) do known[symbol] = true end
  local function words(tokens, first_lower)
    local own = {}
    for i, word in ipairs(tokens) do
      if settings.lower or first_lower and i == 1 then word = pd.task.lower(word) end
      own[i] = known[word] and word or '<unk>'
    end
    return own
  end
  return model, settings, words
end

-- The numbers of model:strengths(), push or pop of the only memory, one for each word.
function M.strength(strengths, name)
  local values = {}
  for i, memories in ipairs(strengths[name]:to_table()) do values[i] = memories[1] end
  return values
end

-- The options used to compute an F1, in one line.
function M.score_settings(score) return tostring(score):match '; (.*)%)$' end

-- The trees that a model of stack_u1 or stack_d1 induces by Algorithm 1 for the words of a list of trees. progress, if
-- given, is called with the number of finished trees.
function M.parse(model, settings, words, sentences, first_lower, progress)
  local distance = networks.model_of[settings.model].distance
  if not distance then error(('the model %s has no stack with distances'):format(settings.model), 0) end
  local trees = {}
  for i, sentence in ipairs(sentences) do
    local strengths = model:strengths(words(sentence:words(), first_lower))
    trees[i] = pd.tree.from_distances(sentence, M.strength(strengths, distance[1]), { to = distance[2] })
    if progress then progress(i) end
  end
  return trees
end

return M
