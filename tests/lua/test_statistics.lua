-- Means with intervals, directions of metrics, paired tests and the rank-sum test: published tables and worked
-- examples, and exact enumeration.
require 'pushdown'
local test = require 'pushdown.test'
local interval = require 'pushdown.statistics.interval'
local metric = require 'pushdown.statistics.metric'
local paired = require 'pushdown.statistics.paired'
local rank_sum = require 'pushdown.statistics.rank_sum'
local statistics = require 'pushdown.statistics'

test('quantiles of Student\'s t, as tables have them', function()
  for df, expected in pairs { [1] = 12.706, [2] = 4.303, [3] = 3.182, [4] = 2.776, [9] = 2.262, [29] = 2.045,
    [120] = 1.980 } do
    test.near(interval.t_quantile(0.975, df), expected, 5e-4)
  end
  test.near(interval.t_quantile(0.995, 5), 4.032, 5e-4)
  test.near(interval.t_quantile(0.025, 4), -2.776, 5e-4)
  -- For one and two degrees of freedom there are formulas.
  for _, t in ipairs { -3, -0.5, 0, 0.1, 1, 20, 1e4 } do
    test.near(interval.t_probability(t, 1), 0.5 + math.atan(t) / math.pi, 1e-12)
    test.near(interval.t_probability(t, 2), 0.5 + t / (2 * math.sqrt(2 + t * t)), 1e-12)
  end
end)

test('the interval of a mean', function()
  -- NIST/SEMATECH e-Handbook, 1.3.5.2: 195 values, mean 9.261460, deviation 0.022789: 9.258242 to 9.264679.
  test.near(interval(195, 0.022789), 9.264679 - 9.261460, 2e-6)
  test.near(interval(195, 0.022789), 9.261460 - 9.258242, 2e-6)
  test.equal(interval(1, 0.1), nil)
  test.equal(interval(0), nil)
  test.equal(interval(4, 0), 0)
  assert(interval(5, 1, 0.99) > interval(5, 1, 0.95))
  local mean, deviation = statistics { 1, 2, 3, 4 }
  test.equal(mean, 2.5)
  test.near(deviation, math.sqrt(5 / 3))
end)

test('Wilcoxon: worked examples', function()
  -- Hollander and Wolfe (1973), p. 29: Hamilton depression scale. R's help of wilcox.test gives V = 40 and two-sided p
  -- = 0.03906.
  local before = { 1.83, 0.50, 1.62, 2.48, 1.68, 1.88, 1.55, 3.06, 1.30 }
  local after = { 0.878, 0.647, 0.598, 2.05, 1.06, 1.29, 1.06, 3.14, 1.29 }
  local differences = {}
  for i = 1, 9 do differences[i] = before[i] - after[i] end
  local result = paired.wilcoxon(differences)
  test.equal(result.statistic, 40)
  test.equal(result.n, 9)
  test.equal(result.p, 2 * 0.01953125)
  -- The differences in height of Darwin's maize. SciPy's documentation gives the statistic 24 and p = 0.0412597656.
  result = paired.wilcoxon { 6, 8, 14, 16, 23, 24, 28, 29, 41, -48, 49, 56, 60, -67, 75 }
  test.equal(120 - result.statistic, 24)
  test.near(result.p, 0.041259765625, 1e-15)
  -- The least p for five pairs: 2 / 2^5.
  test.equal(paired.wilcoxon({ 1, 2, 3, 4, 5 }).p, 0.0625)
end)

-- p over all choices of signs, without collecting the sums of ranks.
local function by_enumeration(differences)
  local values = {}
  for _, value in ipairs(differences) do
    if value ~= 0 then values[#values + 1] = value end
  end
  local ranks = {}
  for i, value in ipairs(values) do
    local below, same = 0, 0
    for _, other in ipairs(values) do
      if math.abs(other) < math.abs(value) then below = below + 1 end
      if math.abs(other) == math.abs(value) then same = same + 1 end
    end
    ranks[i] = below + (same + 1) / 2
  end
  local seen, total = 0, #values * (#values + 1) / 2
  for i, value in ipairs(values) do
    if value > 0 then seen = seen + ranks[i] end
  end
  local count = 0
  for signs = 0, 2 ^ #values - 1 do
    local sum, bits = 0, signs
    for i = 1, #values do
      if bits % 2 == 1 then sum = sum + ranks[i] end
      bits = math.floor(bits / 2)
    end
    if math.abs(sum - total / 2) >= math.abs(seen - total / 2) - 1e-9 then count = count + 1 end
  end
  return count / 2 ^ #values
end

test('Wilcoxon: exact with ties and zeros, and close to normal for many', function()
  math.randomseed(3)
  for _ = 1, 60 do
    local differences = {}
    for i = 1, math.random(1, 11) do differences[i] = math.random(-4, 5) end
    local result = paired.wilcoxon(differences)
    if result.n > 0 then test.near(result.p, by_enumeration(differences), 1e-14) end
    test.equal(result.n + result.zeros, #differences)
  end
  test.equal(paired.wilcoxon({ 0, 0 }).p, nil)
  local many = {}
  for i = 1, 51 do many[i] = (i % 3 == 0 and -1 or 1) * math.ceil(i / 2) end
  assert(not paired.wilcoxon(many).exact)
  test.near(paired.wilcoxon(many).p, paired.wilcoxon(many, { exact = true }).p, 2e-3)
  many[51] = nil
  assert(paired.wilcoxon(many).exact)
  test.near(paired.wilcoxon(many).p, paired.wilcoxon(many, { exact = false }).p, 2e-3)
  test.fails('difference 2 is not a finite number: nan', function() paired.wilcoxon { 1, 0 / 0 } end)
  test.fails('expected a list', function() paired.wilcoxon {} end)
end)

test('the rank-sum test: worked examples, computed by SciPy 1.17.1 (mannwhitneyu)', function()
  local function exact(one, other, statistic, p)
    local result = rank_sum(one, other)
    assert(result.exact)
    test.equal(result.statistic, statistic)
    test.near(result.p, p, 1e-15)
    -- The other order has the other pairs and the same p.
    test.equal(rank_sum(other, one).statistic, #one * #other - statistic)
    test.near(rank_sum(other, one).p, p, 1e-15)
  end
  exact({ 0.5, 0.7, 0.9 }, { 0.3, 0.4, 0.6 }, 8, 0.2)
  exact({ 1.1, 2.2, 3.3, 4.4, 9.1 }, { 0.9, 5.0, 6.1, 7.2 }, 8, 0.7301587301587302)
  -- Hollander and Wolfe (1973), p. 69: permeability of the human chorioamnion.
  exact({ 0.80, 0.83, 1.89, 1.04, 1.45, 1.38, 1.91, 1.64, 0.73, 1.46 }, { 1.15, 0.88, 0.90, 0.74, 1.21 }, 35,
    0.2544122544122544)
  -- The example of SciPy's documentation.
  local men, women = { 19, 22, 16, 29, 24 }, { 20, 11, 17, 12 }
  exact(men, women, 17, 0.1111111111111111)
  test.near(rank_sum(men, women, { exact = false }).p, 0.11134688653314041, 1e-7)
  -- 55 values, without ties and with many.
  local one, other, tied, more = {}, {}, {}, {}
  for i = 1, 30 do one[i], tied[i] = 7 * i % 53, 7 * i % 13 end
  for i = 1, 25 do other[i], more[i] = 11 * i % 47 + 3.5, 5 * i % 11 + 2 end
  assert(not rank_sum(one, other).exact)
  test.near(rank_sum(one, other).p, 0.8591294936492536, 1e-7)
  test.near(rank_sum(one, other, { exact = true }).p, 0.8602809772976132, 1e-14)
  test.equal(rank_sum(tied, more).statistic, 295.5)
  test.near(rank_sum(tied, more).p, 0.18034274029758512, 1e-7)
  test.equal(rank_sum({ 2, 2, 2 }, { 2, 2 }).p, 1)
end)

test('the rank-sum test: exact with ties, over all divisions into two samples', function()
  math.randomseed(5)
  for _ = 1, 40 do
    local one, other, all = {}, {}, {}
    for i = 1, math.random(1, 6) do one[i] = math.random(1, 5) end
    for i = 1, math.random(1, 6) do other[i] = math.random(2, 7) end
    for _, list in ipairs { one, other } do
      for _, value in ipairs(list) do all[#all + 1] = value end
    end
    -- The pairs in which the value of the first sample is larger, without ranks.
    local function pairs_of(is_first)
      local larger, size = 0, 0
      for i = 1, #all do
        size = size + (is_first(i) and 1 or 0)
        for k = 1, #all do
          if is_first(i) and not is_first(k) then
            larger = larger + (all[i] > all[k] and 1 or all[i] == all[k] and 0.5 or 0)
          end
        end
      end
      return larger, size
    end
    local seen, middle = pairs_of(function(i) return i <= #one end), #one * #other / 2
    local far, count = 0, 0
    for choice = 0, 2 ^ #all - 1 do
      local larger, size = pairs_of(function(i) return math.floor(choice / 2 ^ (i - 1)) % 2 == 1 end)
      if size == #one then
        count = count + 1
        if math.abs(larger - middle) >= math.abs(seen - middle) then far = far + 1 end
      end
    end
    local result = rank_sum(one, other)
    test.equal(result.statistic, seen)
    test.near(result.p, far / count, 1e-14)
  end
  test.fails('sample 2: nan is not a finite number', function() rank_sum({ 1 }, { 0 / 0 }) end)
  test.fails('sample 1: expected a list of numbers', function() rank_sum({}, { 1 }) end)
end)

test('the name of a metric says which values are better', function()
  for better, names in pairs {
    lower = 'loss train_loss valid_loss cross_entropy label_cross_entropy best_cross_entropy validation_difference '
      .. 'test_difference perplexity error test_error errors error_rate difference_error RMSE',
    higher = 'accuracy train_accuracy next_symbol_accuracy next_symbol_ranking F1 labelled_f1 score coarse train_fine '
      .. 'test_full_match precision log_likelihood',
    none = 'x value_1 seconds epochs lower_bound learning_rate accuracy_difference accuracy_loss lossless refined',
  } do
    for name in names:gmatch '%S+' do
      test.equal(name .. ' ' .. tostring(metric.better(name)), name .. ' ' .. (better == 'none' and 'nil' or better))
    end
  end
end)

test('the order of values is strict, also with values that are not finite', function()
  local values = { 2, 0 / 0, 1, math.huge, -math.huge, false, 3 }
  for better, expected in pairs { lower = '1 2 3', higher = '3 2 1' } do
    local list = { unpack(values) }
    table.sort(list, function(a, b) return metric.is_better(a, b, better) end)
    test.equal(table.concat(list, ' ', 1, 3), expected)
    for _, a in ipairs(values) do
      assert(not metric.is_better(a, a, better))
      for _, b in ipairs(values) do
        assert(not (metric.is_better(a, b, better) and metric.is_better(b, a, better)))
      end
    end
  end
end)

test('bootstrap: all samples of few pairs, drawn ones of many', function()
  -- Three differences: all 27 samples, computed by hand.
  local values = { 1, 2, 6 }
  local means, count = {}, 0
  for a = 1, 3 do
    for b = 1, 3 do
      for c = 1, 3 do
        means[#means + 1] = (values[a] + values[b] + values[c]) / 3
        if math.abs(means[#means] - 3) >= 3 then count = count + 1 end
      end
    end
  end
  local result = paired.bootstrap(values)
  test.equal(result.samples, 27)
  assert(result.exact)
  test.equal(result.mean, 3)
  test.equal(result.p, count / 27)
  test.equal(result.p, 1 / 27)  -- only three times 6
  table.sort(means)
  test.near(result.low, means[1] + 0.65 * (means[2] - means[1]), 1e-12)
  test.near(result.high, means[26] + 0.35 * (means[27] - means[26]), 1e-12)
  test.equal(paired.bootstrap({ 2, 2, 2 }).p, 1 / 27)  -- never 0
  test.equal(paired.bootstrap({ 1, -1 }).p, 1)
  -- Drawn samples approach the interval of the normal distribution, and are the same every time.
  local many = {}
  for i = 1, 400 do many[i] = math.sin(i * 12.9898) * 2 + 0.1 end
  local mean, deviation = statistics(many)
  local drawn = paired.bootstrap(many)
  assert(not drawn.exact and drawn.samples == 20000)
  test.near(drawn.high - mean, 1.96 * deviation / math.sqrt(400), 0.006)
  test.near(mean - drawn.low, 1.96 * deviation / math.sqrt(400), 0.006)
  test.equal(paired.bootstrap(many).p, drawn.p)
  local state = math.random()
  math.randomseed(7)
  local first = math.random()
  math.randomseed(7)
  paired.bootstrap(many, { samples = 100 })
  test.equal(math.random(), first)
  assert(state and paired.bootstrap(many, { seed = 2 }).low ~= drawn.low)
  -- Seven pairs are the smallest number for which samples are drawn. The result is close to the enumeration.
  local seven, total, far = { 0.3, -0.1, 0.2, 0.5, -0.2, 0.4, 0.1 }, 0, 0
  local function all(depth, sum)
    if depth == 7 then
      total = total + 1
      if math.abs(sum / 7 - 1.2 / 7) >= 1.2 / 7 - 1e-12 then far = far + 1 end
      return
    end
    for i = 1, 7 do all(depth + 1, sum + seven[i]) end
  end
  all(0, 0)
  test.near(paired.bootstrap(seven).p, far / total, 0.006)
end)

test('Holm: a worked example', function()
  -- The rule of R's p.adjust: 0.01, 0.04, 0.03, 0.02 become 0.04, 0.06, 0.06, 0.06.
  test.near(paired.holm { 0.01, 0.04, 0.03, 0.02 }, { 0.04, 0.06, 0.06, 0.06 }, 1e-15)
  local adjusted = paired.holm { 0.9, false, 0.6 }
  test.near({ adjusted[1], adjusted[3] }, { 1, 1 })
  test.equal(adjusted[2], false)
end)

test.finish()
