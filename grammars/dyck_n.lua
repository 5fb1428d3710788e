-- Mali et al. 2021, equation 10, after Suzgun et al. 2019, who use p = 1/2 and p1 = 1/4.
name 'dyck_n'
doc 'The Dyck language D_n by S -> (_i S )_i | S S | empty; ambiguous.'

local types = option('bracket_types', 2, 'n, the number of bracket types', { integer = true, minimum = 1 })
local p = option('p', 0.5, 'probability of a bracket pair of any type', { minimum = 0, maximum = 1 })
local p1 = option('p1', 0.25, 'probability of S -> S S', { minimum = 0, maximum = 1 })
if p + p1 >= 1 then error(('p + p1 must be below 1, got %g'):format(p + p1), 0) end

start 'S'
for i = 1, types do
  local open, close = bracket_pair(i)
  rule(("S -> '%s' S '%s'"):format(open, close), p / types)
end
rule('S -> S S', p1)
rule('S ->', 1 - p - p1)
