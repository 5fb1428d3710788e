-- Combines the curves of several restarts: mean, sample deviation, least and greatest value at every place. A mean is
-- that of the restarts that have a value there, and has their number.
local finite = require 'pushdown.statistics.metric'.is_finite
local interval = require 'pushdown.statistics.interval'
local statistics = require 'pushdown.statistics'

local M = {}

local places_between = 200  -- for curves that share no places

-- The drawable points of a curve, sorted by x.
local function clean(curve)
  local x, y = {}, {}
  for i = 1, #curve.x do
    if finite(curve.x[i]) and finite(curve.y[i]) and (#x == 0 or curve.x[i] > x[#x]) then
      x[#x + 1], y[#y + 1] = curve.x[i], curve.y[i]
    end
  end
  return { x = x, y = y }
end

-- Returns whether all curves have their points at the places of the longest one, as epochs are; some may end earlier.
local function share_places(curves)
  local longest = curves[1]
  for _, curve in ipairs(curves) do
    if #curve.x > #longest.x then longest = curve end
  end
  local places = {}
  for _, x in ipairs(longest.x) do places[x] = true end
  for _, curve in ipairs(curves) do
    for _, x in ipairs(curve.x) do
      if not places[x] then return nil end
    end
  end
  return longest.x
end

local function spread_places(curves)
  local low, high = math.huge, -math.huge
  for _, curve in ipairs(curves) do
    low, high = math.min(low, curve.x[1]), math.max(high, curve.x[#curve.x])
  end
  if low == high then return { low } end
  local places = {}
  for k = 0, places_between - 2 do places[k + 1] = low + (high - low) * k / (places_between - 1) end
  places[places_between] = high
  return places
end

-- The values of a curve at increasing places, interpolated linearly; nil before its first and after its last point.
local function values_at(curve, places, exact)
  local values, at, count = {}, 1, #curve.x
  for k, place in ipairs(places) do
    while at < count and curve.x[at + 1] <= place do at = at + 1 end
    local x1, x2 = curve.x[at], curve.x[at + 1]
    if x1 == place then
      values[k] = curve.y[at]
    elseif not exact and x2 and place > x1 and place < x2 then
      values[k] = curve.y[at] + (curve.y[at + 1] - curve.y[at]) * (place - x1) / (x2 - x1)
    end
  end
  return values
end

-- bands.of(curves) -> {x, mean, deviation, low, high, count, runs, interpolated, each} of a list of {x =, y =}, or nil
-- if there is nothing to draw. Curves with points at common places are compared there. Other curves are interpolated
-- linearly at 200 places (interpolated = true). deviation has false where it is not defined (one value). each has the
-- values of every curve, false where it has none. runs: the number of curves with any value.
function M.of(curves)
  local cleaned = {}
  for _, curve in ipairs(curves) do
    local one = clean(curve)
    if #one.x > 0 then cleaned[#cleaned + 1] = one end
  end
  if #cleaned == 0 then return nil end
  local shared = share_places(cleaned)
  local places = shared or spread_places(cleaned)
  local band = { x = {}, mean = {}, deviation = {}, low = {}, high = {}, count = {}, runs = #cleaned, each = {},
    interpolated = not shared }
  local values = {}
  for i, curve in ipairs(cleaned) do values[i], band.each[i] = values_at(curve, places, shared ~= nil), {} end
  for k, place in ipairs(places) do
    local here = {}
    for i = 1, #cleaned do here[#here + 1] = values[i][k] end
    if #here > 0 then
      local at = #band.x + 1
      local mean, deviation, low, high = statistics(here)
      band.x[at], band.mean[at], band.deviation[at], band.low[at], band.high[at], band.count[at] =
        place, mean, deviation or false, low, high, #here
      for i = 1, #cleaned do band.each[i][at] = values[i][k] or false end
    end
  end
  return band
end

-- bands.thinned(band, most) -> the band with about `most` points at most: every k-th point, unchanged, and the last
-- one; and k.
function M.thinned(band, most)
  local every = math.max(1, math.ceil(#band.x / most))
  if every == 1 then return band, 1 end
  local thin = { runs = band.runs, interpolated = band.interpolated, each = {} }
  local function take(list)
    local taken = {}
    for i = 1, #list, every do taken[#taken + 1] = list[i] end
    if (#list - 1) % every ~= 0 then taken[#taken + 1] = list[#list] end
    return taken
  end
  for _, key in ipairs { 'x', 'mean', 'deviation', 'low', 'high', 'count' } do thin[key] = take(band[key]) end
  for i, list in ipairs(band.each) do thin.each[i] = take(list) end
  return thin, every
end

-- bands.spreads: descriptions of the possible edges of a band.
M.spreads = { deviation = 'mean ± sample deviation', interval = 'mean with its 95 % confidence interval',
  range = 'mean, with the least and the greatest value' }

-- bands.edges(band, spread) -> two lists, NaN where there is no edge: mean ± deviation, the 95 % confidence interval of
-- the mean (spread = 'interval'; over the runs that have a value there), or the least and greatest values ('range').
function M.edges(band, spread)
  if spread == 'range' then return band.low, band.high end
  local low, high = {}, {}
  for i, mean in ipairs(band.mean) do
    local half = band.deviation[i] or 0 / 0
    if spread == 'interval' then half = interval(band.count[i], band.deviation[i] or nil) or 0 / 0 end
    low[i], high[i] = mean - half, mean + half
  end
  return low, high
end

return M
