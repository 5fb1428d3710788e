-- What the name of a metric says: which values are better, and how informative it is. This is the only place that says
-- so: comparisons, searches, suites, charts, tables and the live view ask here.
local M = {}

-- Parts of names. A name with parts of both kinds, such as accuracy_loss, says nothing.
local parts = {
  lower = { 'loss', 'losses', 'cross_entropy', 'cross_entropies', 'perplexity', 'perplexities', 'difference',
    'differences', 'error', 'errors', 'mse', 'rmse', 'mae', 'nll', 'missed', 'false_positives' },
  higher = { 'accuracy', 'accuracies', 'f1', 'precision', 'recall', 'score', 'scores', 'match', 'agreement', 'ranking',
    'coarse', 'fine', 'likelihood', 'log_likelihood', 'log_probability' },
}

local known = {}

-- metric.better(name) -> 'lower', 'higher', or nil if the name does not say which values are better.
function M.better(name)
  if known[name] == nil then
    local text, found = '_' .. name:lower():gsub('[^%w]+', '_') .. '_', {}
    for way, list in pairs(parts) do
      for _, part in ipairs(list) do found[way] = found[way] or text:find('_' .. part .. '_', 1, true) ~= nil end
    end
    known[name] = found.lower ~= found.higher and (found.lower and 'lower' or 'higher')
  end
  return known[name] or nil
end

function M.is_finite(value) return type(value) == 'number' and value - value == 0 end

-- metric.is_better(a, b, better) -> whether a is better than b: a strict order, also with NaN, infinities and nil,
-- which are worse than any finite number and equal to each other.
function M.is_better(a, b, better)
  if not M.is_finite(a) then return false end
  if not M.is_finite(b) then return true end
  if better == 'higher' then return a > b end
  return a < b
end

-- The most informative metrics first, without the data on which they are measured.
local order = { 'difference', 'cross_entropy_difference', 'cross_entropy', 'loss', 'perplexity', 'accuracy', 'fine',
  'coarse' }
-- Numbers about a training itself.
local about = { 'lower_bound', 'gradient_norm', 'learning_rate', 'seconds', 'updates_per_second', 'epochs',
  'best_epoch', 'parameters', 'characters' }
local place, is_about = {}, {}
for i, name in ipairs(order) do place[name] = i end
for _, name in ipairs(about) do is_about[name] = true end
local data = { test = 2, valid = 3, validation = 3, train = 5 }

-- metric.is_about_training(name): whether it is a number about the training itself, such as seconds.
function M.is_about_training(name) return is_about[name] or false end

-- The rank of the data, and that of the metric among those of these data.
local function ranks(name)
  if is_about[name] then return 6, 0 end
  local prefix, rest = name:match '^(%a+)_(.*)$'
  local rank = data[prefix] or 4
  local metric = place[data[prefix] and rest or name]
  if metric and metric <= 2 and (rank == 3 or rank == 4) then rank = 1 end
  return rank, metric or #order + 1
end

-- metric.sorted(names) -> the same list, sorted: the difference from the lower bound, then what is measured on test,
-- validation, other and training data, and numbers about the training itself at the end.
function M.sorted(names)
  table.sort(names, function(a, b)
    local first, one = ranks(a)
    local second, other = ranks(b)
    if first ~= second then return first < second end
    if one ~= other then return one < other end
    return a < b
  end)
  return names
end

-- metric.main(names) -> the most informative metric that is not measured on test data, or nil: one that the list above
-- has, of training data only if there is no other.
function M.main(names)
  for _, name in ipairs(M.sorted(names)) do
    local rank, metric = ranks(name)
    if rank ~= 2 and rank ~= 6 and metric <= #order then return name end
  end
end

return M
