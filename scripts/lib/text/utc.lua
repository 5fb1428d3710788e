-- utc('2024-05-31T18:00:00Z') -> seconds since 1970; nil for other values.
return function(text)
  local year, month, day, hour, minute, second = tostring(text):match('^(%d+)-(%d+)-(%d+)T(%d+):(%d+):(%d+)Z$')
  if not year then return nil end
  year, month, day = tonumber(year), tonumber(month), tonumber(day)
  -- Days from March 1 of the year 0, as months with the leap day at the end.
  if month < 3 then year, month = year - 1, month + 12 end
  local days = 365 * year + math.floor(year / 4) - math.floor(year / 100) + math.floor(year / 400)
    + math.floor((153 * (month - 3) + 2) / 5) + day - 1
  return (days - 719468) * 86400 + hour * 3600 + minute * 60 + second
end
