-- Binary addition of Lan et al. (2022): a network reads two numbers side by side, the lowest bits first, and says after
-- each pair of bits which bit the sum has there. All pairs of numbers below N are the training strings, and all pairs
-- of the 250 numbers after N the test (as in taucompling/mdlrnn, corpora.py: N itself is in neither). The optimum is 0,
-- because the sum is no matter of chance.
local binary = require 'pushdown.languages.binary'

local M = { name = 'addition', title = 'Addition' }

M.source_alphabet, M.target_alphabet = { '00', '01', '10', '11' }, { '0', '1' }

-- The pair of a source and a target for the sum of two numbers, with this number of bits.
function M.pair(x, y, bits)
  local a, b, source = binary.of(x), binary.of(y), {}
  for i = 1, bits do source[i] = (a[i] or 0) .. (b[i] or 0) end
  return { table.concat(source, ' '), table.concat(binary.write({}, binary.sum(a, b), bits), ' ') }
end

-- All pairs of numbers first .. last, or `count` of them that are evenly spread, `places` the function that spreads
-- numbers: {pairs =, sizes = the larger number of each}. All have the bits of the largest sum, and one more.
function M.set(first, last, count, places)
  local side, found = last - first + 1, { pairs = {}, sizes = {} }
  local bits = math.ceil(math.log(2 * last) / math.log(2)) + 1
  for i, place in ipairs(places(0, side * side - 1, count)) do
    local x, y = first + math.floor(place / side), first + place % side
    found.pairs[i], found.sizes[i] = M.pair(x, y, bits), math.max(x, y)
  end
  return found
end

-- The same numbers as measure.measure of a language: bits per bit of the sum.
function M.measure(model, set)
  local found, nats, steps, right_steps, right = { right = {} }, 0, 0, 0, 0
  local sources = {}
  for i, pair in ipairs(set.pairs) do sources[i] = pair[1] end
  local _, bits = set.pairs[1][2]:gsub('%S+', '')
  for i, written in ipairs(model:translate(sources, { longest = bits })) do
    local wanted, hits = set.pairs[i][2], 0
    for place = 1, 2 * bits - 1, 2 do
      if written:byte(place) == wanted:byte(place) then hits = hits + 1 end
    end
    nats = nats - model:log_probability(sources[i], wanted)
    found.right[i] = hits == bits
    steps, right_steps, right = steps + bits, right_steps + hits, right + (hits == bits and 1 or 0)
  end
  found.cross_entropy = nats / math.log(2) / steps
  found.accuracy, found.right_share = right_steps / steps, right / #set.pairs
  return found
end

return M
