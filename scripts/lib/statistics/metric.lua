-- Which values of a metric are better, by its name. This is the only place that says so: comparisons, searches, suites
-- and the live view ask here.
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

return M
