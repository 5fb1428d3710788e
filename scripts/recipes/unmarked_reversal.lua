-- w reversed w, by an RNS-RNN. The middle has to be guessed, and on these strings alone that is rarely learned: of 25
-- restarts with 20 units 3 fell from 0.16 to 0.01 within 45 epochs on lengths to 40, and one with 64 units was at 0.22
-- after 9 epochs on lengths to 80. So training begins with padded reversal, w a ... a reversed w, whose middle is
-- easier to see. A network that falls there (see padded_reversal.lua) is at 0.06 or less on unmarked strings after two
-- epochs, and a search without one fails: of 30 restarts in five searches 7 fell, in one search none, and in another
-- one only after twelve epochs, too late to become exact (0.012). Tried without success: a mark # that is taken away
-- later, a run of zeros in the middle that is left out later (both networks rely on it, 0.23), controllers with 8 units
-- (0.2), Elman networks (0.35).
local pd = require 'pushdown'
local task = pd.recipe.task('language', { grammar = 'unmarked_reversal' })

return {
  task = task, minutes = 5, models = task.models(2, 3),
  search = { restarts = 6, rungs = { 7, 10 }, keep = { 3, 1 }, solved = 0.013 },
  training = { hidden = 96, decay_patience = 3, stages = {
    { 2, 20, of = 'padded_reversal', epochs = 4, learning_rate = 0.01 },
    { 2, 40, of = 'padded_reversal', epochs = 3, learning_rate = 0.01 },
    { 2, 80, of = 'padded_reversal', epochs = 12, learning_rate = 0.01, difference = 0.03 },
    { 2, 40, epochs = 6, learning_rate = 0.005, difference = 0.025 },
    { 20, 80, epochs = 8, learning_rate = 0.003, valid = { 40, 100 } },
  } },
}
