-- statistics(values) -> mean, deviation, least, greatest of a list of numbers. The deviation is the sample standard
-- deviation. Undefined values are nil: all of them for an empty list, the deviation for one value.
return function(values)
  if #values == 0 then return nil end
  local sum, squares, least, greatest = 0, 0, math.huge, -math.huge
  for _, value in ipairs(values) do
    sum, least, greatest = sum + value, math.min(least, value), math.max(greatest, value)
  end
  -- Equal numbers have a deviation of exactly 0, without rounding errors.
  if least == greatest then return least, #values > 1 and 0 or nil, least, greatest end
  local mean = sum / #values
  for _, value in ipairs(values) do squares = squares + (value - mean) ^ 2 end
  return mean, #values > 1 and math.sqrt(squares / (#values - 1)) or nil, least, greatest
end
