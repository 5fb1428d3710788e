-- Axes of a plot: a range, round tick values, their labels, and the position of a value as a share
-- of the axis. An axis is linear or logarithmic (base 10).
local length = require 'pushdown.text.measure'.length

local M = {}

local huge, floor, ceil, log10 = math.huge, math.floor, math.ceil, math.log10

M.finite = require 'pushdown.statistics.metric'.is_finite

local superscripts = {
  ['-'] = '⁻', ['0'] = '⁰', ['1'] = '¹', ['2'] = '²', ['3'] = '³', ['4'] = '⁴',
  ['5'] = '⁵', ['6'] = '⁶', ['7'] = '⁷', ['8'] = '⁸', ['9'] = '⁹',
}

-- 10 to the integer power `exponent`, as text.
function M.power_of_ten(exponent)
  return '10' .. (('%d'):format(exponent):gsub('.', superscripts))
end

-- The step (1, 2 or 5 times a power of ten) that divides `span` into a number of steps closest to `count`;
-- with `whole` at least 1.
local function round_step(span, count, whole)
  local rough = span / count
  local power = 10 ^ floor(log10(rough))
  local step, least = nil, huge
  for _, factor in ipairs { 1, 2, 5, 10 } do
    local miss = math.abs(math.log(factor * power / rough))
    if miss < least then step, least = factor * power, miss end
  end
  return whole and math.max(step, 1) or step
end

-- The multiples of `step` in [low, high]; the tolerance for rounding is a small part of a step.
local function multiples(low, high, step)
  local values = {}
  for k = ceil(low / step - 1e-6), floor(high / step + 1e-6) do values[#values + 1] = k * step end
  return values
end

local function decimals_of(step)
  for decimals = 0, 12 do
    local scaled = step * 10 ^ decimals
    if math.abs(scaled - floor(scaled + 0.5)) < 1e-6 * scaled then return decimals end
  end
  return 12
end

-- Labels of evenly spaced values. Very large and very small ones are written as multiples of a
-- common power of ten, which is the second result.
local function linear_labels(values, step)
  local largest = 0
  for _, value in ipairs(values) do largest = math.max(largest, math.abs(value)) end
  local exponent = 0
  if largest > 0 and (largest >= 1e5 or largest < 1e-3) then exponent = floor(log10(largest) + 1e-9) end
  local unit = 10 ^ exponent
  local decimals = decimals_of(step / unit)
  local labels = {}
  for i, value in ipairs(values) do
    local scaled = value / unit
    if math.abs(scaled) < 0.5 * 10 ^ -decimals then scaled = 0 end
    labels[i] = (('%.' .. decimals .. 'f'):format(scaled):gsub('^%-', '−'))
  end
  return labels, exponent ~= 0 and M.power_of_ten(exponent) or nil
end

local function linear_axis(low, high, options)
  -- Values that differ only by rounding count as one value, because their ticks would have equal labels.
  if high - low <= 1e-10 * math.max(math.abs(low), math.abs(high)) then
    low = (low + high) / 2
    high = low
  end
  if low == high then
    local pad = low == 0 and 1 or math.abs(low) * 0.1
    if options.whole then pad = math.max(1, pad) end
    low, high = low - pad, high + pad
  else
    -- The axis starts at zero if the values come near it, otherwise it has a little room at both ends.
    local pad = 0.05 * (high - low)
    local first, last = low - pad, high + pad
    if low >= 0 and low < 0.35 * high and not options.room then first = 0 end
    if high <= 0 and high > 0.35 * low and not options.room then last = 0 end
    if not options.fixed_low then low = first end
    if not options.fixed_high then high = last end
  end
  local step = round_step(high - low, options.count or 6, options.whole)
  local values = multiples(low, high, step)
  if #values < 2 then values = multiples(low, high, round_step(high - low, 8)) end
  local labels, unit = linear_labels(values, step)
  return {
    low = low, high = high, ticks = values, labels = labels, unit = unit, minor = {},
    place = function(value) return (value - low) / (high - low) end,
  }
end

local function logarithmic_axis(low, high, options)
  local first, last = log10(low), log10(high)
  if last - first < 1e-9 then first, last = first - 0.5, last + 0.5 end
  local pad = 0.04 * (last - first)
  if not options.fixed_low then first = first - pad end
  if not options.fixed_high then last = last + pad end
  local ticks, labels, minor = {}, {}, {}
  local decades = floor(last) - ceil(first) + 1
  local every = math.max(1, ceil(decades / ((options.count or 6) + 1)))
  for exponent = floor(first), ceil(last) do
    for digit = 1, 9 do
      local value = digit * 10 ^ exponent
      local at = log10(value)
      if at >= first - 1e-9 and at <= last + 1e-9 then
        local labelled = digit == 1 and exponent % every == 0
        if decades < 3 then labelled = labelled or digit == 2 or digit == 5 end
        if decades < 1 then labelled = true end
        if labelled then
          ticks[#ticks + 1] = value
          local plain = value >= 1e-3 and value < 1e5
          labels[#labels + 1] = plain and ('%.12g'):format(value)
            or (digit == 1 and '' or digit .. '·') .. M.power_of_ten(exponent)
        elseif every == 1 then
          minor[#minor + 1] = value
        end
      end
    end
  end
  return {
    low = 10 ^ first, high = 10 ^ last, ticks = ticks, labels = labels, minor = minor, log = true,
    place = function(value)
      if value <= 0 then return nil end
      return (log10(value) - first) / (last - first)
    end,
  }
end

-- The axis of the values from `low` to `high`. options: log, whole (ticks at integers only),
-- count (approximate number of ticks), fixed_low and fixed_high (that end is used without extra room), room
-- (extra room at both ends, even if the axis would start at zero).
-- Result: low, high, ticks, labels, unit (a power of ten that multiplies the labels, or nil), minor
-- (unlabelled tick values), place(value) -> share of the axis, or nil if the axis cannot show the value.
function M.axis(low, high, options)
  options = options or {}
  if options.log then return logarithmic_axis(low, high, options) end
  return linear_axis(low, high, options)
end

-- Number of characters (not bytes) of UTF-8 text or of a number; every invalid byte counts as one character.
function M.text_length(text)
  return length(tostring(text))
end

return M
