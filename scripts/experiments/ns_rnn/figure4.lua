-- Figure 4 of DuSell and Chiang (2020): the cross-entropy difference on the validation strings during
-- training, for the chosen setting of each model: the mean over the restarts, with their standard
-- deviation as a band. A restart that has ended keeps its last value.
--
--   pushdown scripts/experiments/ns_rnn/figure4.lua --tasks marked_reversal
--
-- Trains unfinished points of the grid first.
local experiment = require 'pushdown.experiment'
local here = arg[0]:match('^(.*/)') or ''
local search = dofile(here .. 'search.lua')

local options, run = experiment.start(search.declaration {
  name = 'ns_rnn/figure4',
  doc = 'Validation cross-entropy difference over training, as Figure 4 of DuSell and Chiang (2020).',
})
local points = search.run(options, here .. 'train.lua')

-- The values of the restarts after every epoch of the longest restart.
local function curve(setting)
  local longest, places = 0, {}
  for _, point in ipairs(setting.points) do longest = math.max(longest, #point.history) end
  for epoch = 1, longest do
    local values = {}
    for i, point in ipairs(setting.points) do
      local at = point.history[math.min(epoch, #point.history)]
      values[i] = at.cross_entropy_difference or at.cross_entropy
    end
    places[epoch] = { x = epoch, values = values }
  end
  return places
end

search.draw(run, options, points, 'figure4', 'epoch', curve, { bands = true, x_label = 'epoch',
  y_label = 'validation cross-entropy difference (nats per symbol)' })
