-- Multinomial logistic regression, at its optimum: for vectors x with classes y
--   p(y | x) = softmax(W x~ + b)[y],   minimal: mean over the vectors of -ln p + penalty / 2 |W|^2,
-- where x~ is x with mean 0 and standard deviation 1 in every component. The function is convex, and L-BFGS (Nocedal
-- and Wright 2006, algorithm 7.4) reaches its minimum from W = 0, so the result depends on nothing but the data.
local pd = require 'pushdown'

local M = {}

local kept = 10  -- pairs of steps and changes of the gradient

-- The minimum of a function of a vector: f(x) returns its value and its gradient.
local function minimized(f, x, limit, tolerance)
  local value, gradient = f(x)
  local steps, changes = {}, {}
  for _ = 1, limit do
    if gradient:abs():max():item() < tolerance then break end
    -- The product of the approximate inverse Hessian and the gradient.
    local direction, shares = gradient:clone(), {}
    for i = #steps, 1, -1 do
      shares[i] = steps[i]:dot(direction):item() / steps[i]:dot(changes[i]):item()
      direction = direction - changes[i] * shares[i]
    end
    local last = #steps
    if last > 0 then
      direction = direction * (steps[last]:dot(changes[last]):item() / changes[last]:dot(changes[last]):item())
    end
    for i, step in ipairs(steps) do
      local share = changes[i]:dot(direction):item() / step:dot(changes[i]):item()
      direction = direction + step * (shares[i] - share)
    end
    local slope = -direction:dot(gradient):item()
    local length, next_x, next_value, next_gradient = 1
    repeat
      next_x = x - direction * length
      next_value, next_gradient = f(next_x)
      length = length / 2
    until next_value <= value + 1e-4 * 2 * length * slope or length < 1e-12
    if next_value >= value then break end  -- no progress in these numbers
    local step, change = next_x - x, next_gradient - gradient
    if step:dot(change):item() > 0 then
      steps[#steps + 1], changes[#changes + 1] = step, change
      if #steps > kept then
        table.remove(steps, 1)
        table.remove(changes, 1)
      end
    end
    x, value, gradient = next_x, next_value, next_gradient
  end
  return x, value
end

-- logistic.fit(vectors, classes, count, penalty) -> a function of vectors : N x D that returns the numbers of their
-- most probable classes, a list; and the minimum. vectors : N x D of float64, classes: a list of N integers from 1 to
-- count.
function M.fit(vectors, classes, count, penalty)
  local number, size = vectors:size(1), vectors:size(2)
  local mean = vectors:mean({ 1 }, true)
  local deviation = ((vectors - mean) ^ 2):mean({ 1 }, true):sqrt()
  local scale = pd.tensor.where(deviation:gt(1e-12), deviation, pd.tensor.ones({ 1, size }, { dtype = 'float64' }))
  local function scaled(all) return (all - mean) / scale end
  local x = scaled(vectors)
  local transposed = x:transpose()
  local given = pd.tensor(classes, { dtype = 'int64' }):unsqueeze(2)  -- N x 1
  local targets = given:eq(pd.tensor.arange(1, count, { dtype = 'int64' })):to 'float64'
  local function parts(all)  -- W : D x count, b : count
    return all:slice(1, 1, size * count):reshape { size, count }, all:slice(1, size * count + 1, (size + 1) * count)
  end
  local function loss(all)
    local weight, bias = parts(all)
    local log_probabilities = (x:matmul(weight) + bias):log_softmax(2)
    local errors = (log_probabilities:exp() - targets) / number
    local value = -(log_probabilities * targets):sum():item() / number + penalty / 2 * (weight * weight):sum():item()
    local slope = transposed:matmul(errors) + weight * penalty
    return value, pd.tensor.cat { slope:flatten(), errors:sum { 1 } }
  end
  local best, value = minimized(loss, pd.tensor.zeros({ (size + 1) * count }, { dtype = 'float64' }), 1000, 1e-7)
  local weight, bias = parts(best)
  return function(all) return (scaled(all):matmul(weight) + bias):argmax(2):to_table() end, value
end

return M
