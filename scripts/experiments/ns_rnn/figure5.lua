-- Figure 5 of DuSell and Chiang (2020): the cross-entropy difference on the test strings by length,
-- for the same settings and restarts as Figure 4. Differences can be negative, because the models do not
-- predict the end of a string, while the bound includes its length (section 5.3 of the paper).
--
--   pushdown scripts/experiments/ns_rnn/figure5.lua --tasks marked_reversal --bin 10
--
-- Trains unfinished points of the grid first.
local csv = require 'pushdown.csv'
local experiment = require 'pushdown.experiment'
local here = arg[0]:match('^(.*/)') or ''
local search = dofile(here .. 'search.lua')

local options, run = experiment.start(search.declaration {
  name = 'ns_rnn/figure5',
  doc = 'Test cross-entropy difference by length, as Figure 5 of DuSell and Chiang (2020).',
  options = { { 'bin', 1, 'lengths drawn as one point', minimum = 1 } },
})
local points = search.run(options, here .. 'train.lua')

-- {[first length of a bin] = difference} from a run's test.csv, weighted by symbols.
local function by_length(folder)
  local sums = {}
  for _, row in ipairs(select(2, csv.read(folder .. '/test.csv'))) do
    local length, symbols = tonumber(row.length), tonumber(row.symbols)
    local difference = tonumber(row.cross_entropy_difference)
    if difference then
      local first = options.test_lengths[1]
      local bin = first + math.floor((length - first) / options.bin) * options.bin
      local sum = sums[bin] or { symbols = 0, nats = 0 }
      sum.symbols, sum.nats = sum.symbols + symbols, sum.nats + symbols * difference
      sums[bin] = sum
    end
  end
  local values = {}
  for bin, sum in pairs(sums) do values[bin] = sum.nats / sum.symbols end
  return values
end

-- The values of the restarts in every bin, drawn at its middle.
local function curve(setting)
  local restarts, places = {}, {}
  for i, point in ipairs(setting.points) do restarts[i] = by_length(point.folder) end
  for length = options.test_lengths[1], options.test_lengths[2] do
    if restarts[1][length] then
      local values = {}
      for i, restart in ipairs(restarts) do values[i] = restart[length] end
      places[#places + 1] = { x = length, at = length + (options.bin - 1) / 2, values = values }
    end
  end
  return places
end

search.draw(run, options, points, 'figure5', 'length', curve, { markers = options.bin > 1,
  x_label = 'length of the test strings (symbols)',
  y_label = 'test cross-entropy difference (nats per symbol)' })
