-- Figure 4 of Dusell and Chiang (2020): the cross-entropy difference on the validation strings over
-- training, for the chosen setting of each model: mean over the restarts, and their standard
-- deviation as a band. A restart that has ended keeps its last value.
--
--   pushdown scripts/experiments/ns_rnn/figure4.lua --tasks marked_reversal
--
-- Points of the grid that are not finished are trained first.
local experiment = require 'pushdown.experiment'
local files = require 'pushdown.files'
local report = require 'pushdown.report'
local here = arg[0]:match('^(.*/)') or ''
local protocol = dofile(here .. 'protocol.lua')
local search = dofile(here .. 'search.lua')

local options, run = experiment.start(search.declaration {
  name = 'ns_rnn/figure4',
  doc = 'Validation cross-entropy difference over training, as Figure 4 of Dusell and Chiang (2020).',
})
local points = search.run(options, here .. 'train.lua')

-- The mean and the deviation over the restarts of every epoch of the longest one.
local function curve(setting)
  local longest = 0
  for _, point in ipairs(setting.points) do longest = math.max(longest, #point.history) end
  local series = { x = {}, y = {}, low = {}, high = {} }
  for epoch = 1, longest do
    local values = {}
    for i, point in ipairs(setting.points) do
      local at = point.history[math.min(epoch, #point.history)]
      values[i] = at.cross_entropy_difference or at.cross_entropy
    end
    local mean, deviation = search.statistics(values)
    series.x[epoch], series.y[epoch] = epoch, mean
    if deviation == deviation then series.low[epoch], series.high[epoch] = mean - deviation, mean + deviation end
  end
  return series
end

local rows = {}
for _, task in ipairs(options.tasks) do
  local all = {}
  for _, model in ipairs(options.models) do
    local setting = search.chosen(points, task, model)
    if setting then
      local series = curve(setting)
      series.name, series.markers = protocol.models[model].label, #series.x < 3
      all[#all + 1] = series
      for i, epoch in ipairs(series.x) do
        rows[#rows + 1] = { protocol.short_name(task), model, setting.name, #setting.points, epoch,
          series.y[i], series.high[i] and series.high[i] - series.y[i] }
      end
    end
  end
  run:lines('figure4-' .. protocol.short_name(task), {
    title = protocol.title(task), x_label = 'epoch',
    y_label = 'validation cross-entropy difference (nats per symbol)', series = all,
    reference = { value = 0, name = 'lower bound' } })
end
files.write(run:path 'figure4.csv', report.table({
  columns = { 'task', 'model', 'setting', 'restarts', 'epoch', 'mean_difference', 'standard_deviation' },
  rows = rows }):csv())
print('\nPlots and the numbers drawn: ' .. run.folder)
search.finish(run, points, {})
