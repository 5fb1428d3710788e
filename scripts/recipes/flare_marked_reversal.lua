-- Marked reversal of FLaRe (Butoi et al. 2025): a string of bits, a mark, and the bits backwards. A GRU with a
-- superposition of stacks, trained on up to 40 symbols and tested on up to 500.
--
-- Noise makes the network general: a noisy state cannot count or remember bits, so the stack has to, with actions near
-- 0 and 1. Without noise the same network is right up to about 100 symbols. A few hard negatives in training make the
-- network compare the halves: most invalid strings of the benchmark differ only in the place of the mark, which is
-- enough for 96 % of its test. The next symbols have ten times the weight of the label. Either a restart compares the
-- halves of short strings within 8 epochs, or it does not.
local pd = require 'pushdown'
local task = pd.recipe.task('flare', { language = 'marked_reversal' })

return {
  task = task, minutes = 2,
  models = task.models(8),
  training = { hidden = 24, learning_rate = 0.01, stages = {
    { 0, 20, strings = 5000, near = 1000, epochs = 8 },
    { 0, 40, strings = 5000, near = 1000, validated = 80, epochs = 12, learning_rate = 0.005 },
  } },
}
