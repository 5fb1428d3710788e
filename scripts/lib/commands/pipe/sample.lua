-- sample(model, {count =, length =, longest =, seed =}) -> list of `count` strings that a language model draws, symbol
-- by symbol from its own predictions. With `length` each string has this number of symbols, and an end is not drawn.
-- Without it the model ends the strings; one that has not ended after `longest` symbols is an error.
local pd = require 'pushdown'

-- One of the columns for each row of scores (B x V), in proportion to exp(score), as a list of numbers from 1.
local function draw(scores, seed)
  local cumulative = scores:to('float64'):softmax(2):cumsum(2)
  local points = pd.tensor.rand({ #scores, 1 }, { seed = seed, dtype = 'float64', device = scores:device() })
  local last = scores:size(2)
  local below = cumulative:le(points):to('float64'):sum(2):to_table()
  for i, columns in ipairs(below) do below[i] = math.min(columns + 1, last) end  -- a sum can end below 1
  return below
end

local function sample(model, options)
  local symbols, ends = model:alphabet():symbols(), model:options().end_symbol
  if not ends and not options.length then
    error('[model.sample] the model predicts no end of a string: give a length', 0)
  end
  local count, steps = options.count, options.length or options.longest + 1
  -- A seed for each step: random numbers for all steps together could need much memory.
  local seeds = pd.tensor.rand({ steps }, { seed = options.seed, dtype = 'float64', device = 'cpu' }):to_table()
  local strings, ended, open = {}, {}, count
  for i = 1, count do strings[i] = {} end
  local state = model:begin(count, options.length or 0)
  for step = 1, steps do
    local scores
    scores, state = model:next(state)
    if options.length then scores = scores:slice(2, 1, #symbols) end
    local words = {}
    for i, column in ipairs(draw(scores, math.floor(seeds[step] * 2 ^ 52))) do
      local symbol = symbols[column]
      if not symbol and not ended[i] then ended[i], open = true, open - 1 end
      if not ended[i] then table.insert(strings[i], symbol) end
      words[i] = { ended[i] and symbols[1] or symbol }
    end
    if open == 0 then break end
    if step < steps then state = select(2, model:read(words, state)) end
  end
  if not options.length and open > 0 then
    error(('[model.sample] %d of %d strings have not ended after %d symbols: give a larger `longest`, or a length')
      :format(open, count, options.longest), 0)
  end
  for i, string in ipairs(strings) do strings[i] = table.concat(string, ' ') end
  return strings
end

return function(model, options)
  return pd.tensor.no_grad(sample, model, options)
end
