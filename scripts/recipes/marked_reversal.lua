-- w # reversed w, by an RNS-RNN. Short strings teach the stack within a few epochs, and the difference on longer ones
-- falls to 0.01 in one or two more, so a stage ends when that is reached. The last stage has the lengths of the first
-- test, because the distribution of lengths is a part of the language model. It ends early: a network that goes on
-- counts the symbols ever more precisely and no longer believes in strings of more than 80.
local pd = require 'pushdown'
local task = pd.recipe.task('language', { grammar = 'marked_reversal' })

return {
  task = task, minutes = 1, models = task.models(2, 3),
  search = { restarts = 4, rungs = { 5 }, keep = { 1 }, solved = 0.005 },
  trainer = function(seed, restart, model)
    return {
      model = pd.model.language_model { alphabet = task.alphabet, controller = { kind = 'lstm', hidden = 20 },
        stack = model.stack, seed = 1000 * seed + restart },
      stages = {
        task:stage(2, 20, { seed = seed, epochs = 5, learning_rate = 0.01 }),
        task:stage(2, 40, { seed = seed, epochs = 6, learning_rate = 0.01, difference = 0.012 }),
        task:stage(2, 80, { seed = seed, epochs = 6, learning_rate = 0.005, difference = 0.01 }),
        task:stage(40, 80, { seed = seed, epochs = 10, learning_rate = 0.002 }),
      },
      optimizer = { kind = 'adam' }, clip_norm = 5, stop_patience = 0, seed = seed,
    }
  end,
}
