-- DuSell and Chiang 2020, appendix B.4.
name 'dyck'
doc 'Strings of balanced brackets of several types, not empty.'

local types = option('bracket_types', 2, 'number of bracket types', { integer = true, minimum = 1 })
local mean_splits = option('mean_splits', 1, 'mean number of splits, S -> S T', { minimum = 0 })
local mean_depth = option('mean_depth', 40, 'mean nesting depth', { minimum = 0 })
local mode = option('mode', 'paper', 'the distribution of the paper, or of the code published with it',
  { choices = { 'paper', 'reference' } })

-- The published code uses the probability of one level less and loses a single group at the top.
if mode == 'reference' then
  assert(mean_depth >= 1, "mode 'reference' needs a mean_depth of at least 1")
  mean_depth = mean_depth - 1
  conditioned_removal()
end
local split = mean_splits / (mean_splits + 1)
local nest = mean_depth / (mean_depth + 1)

unambiguous()
start 'S'
rule('S -> S T', split)
rule('S -> T', 1 - split)
for i = 1, types do
  local open, close = bracket_pair(i)
  rule(("T -> '%s' S '%s'"):format(open, close), nest / types)
  rule(("T -> '%s' '%s'"):format(open, close), (1 - nest) / types)
end
