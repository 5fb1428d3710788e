-- interval(count, deviation, level) -> half the width of the confidence interval of a mean of `count` values with this
-- sample standard deviation, by Student's t distribution; nil for fewer than two values. The default of level is 0.95.
local M = {}

-- The logarithm of the gamma function (Lanczos, g = 7, n = 9), for x > 0.
local lanczos = { 0.99999999999980993, 676.5203681218851, -1259.1392167224028, 771.32342877765313,
  -176.61502916214059, 12.507343278686905, -0.13857109526572012, 9.9843695780195716e-6, 1.5056327351493116e-7 }

local function log_gamma(x)
  local sum = lanczos[1]
  for k = 2, #lanczos do sum = sum + lanczos[k] / (x + k - 2) end
  local t = x + 6.5
  return 0.5 * math.log(2 * math.pi) + (x - 0.5) * math.log(t) - t + math.log(sum)
end

-- The regularised incomplete beta function I_x(a, b), by its continued fraction (Lentz).
local function incomplete_beta(x, a, b)
  if x <= 0 then return 0 elseif x >= 1 then return 1 end
  if x > (a + 1) / (a + b + 2) then return 1 - incomplete_beta(1 - x, b, a) end
  local front = math.exp(log_gamma(a + b) - log_gamma(a) - log_gamma(b) + a * math.log(x) + b * math.log(1 - x)) / a
  local tiny, f, c, d = 1e-300, 1, 1, 0
  for i = 0, 500 do
    local m, factor = math.floor(i / 2), 1
    if i > 0 and i % 2 == 0 then
      factor = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
    elseif i > 0 then
      factor = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
    end
    d = 1 + factor * d
    d = 1 / (math.abs(d) < tiny and tiny or d)
    c = 1 + factor / c
    c = math.abs(c) < tiny and tiny or c
    f = f * c * d
    if i > 0 and math.abs(1 - c * d) < 1e-15 then break end
  end
  return front * (f - 1)
end

-- M.t_probability(t, df) -> the probability that a value of Student's t distribution is at most t.
function M.t_probability(t, df)
  local tail = 0.5 * incomplete_beta(df / (df + t * t), df / 2, 0.5)
  return t > 0 and 1 - tail or tail
end

-- M.t_quantile(level, df) -> the t with t_probability(t, df) = level, for 0 < level < 1.
function M.t_quantile(level, df)
  if level < 0.5 then return -M.t_quantile(1 - level, df) end
  local low, high = 0, 1
  while M.t_probability(high, df) < level do high = 2 * high end
  for _ = 1, 200 do
    local middle = (low + high) / 2
    if M.t_probability(middle, df) < level then low = middle else high = middle end
    if high - low <= 1e-14 * high then break end
  end
  return (low + high) / 2
end

local quantiles = {}

return setmetatable(M, { __call = function(_, count, deviation, level)
  if count < 2 or not deviation then return nil end
  level = level or 0.95
  local key = ('%d %.17g'):format(count, level)
  quantiles[key] = quantiles[key] or M.t_quantile(0.5 + level / 2, count - 1)
  return quantiles[key] * deviation / math.sqrt(count)
end })
