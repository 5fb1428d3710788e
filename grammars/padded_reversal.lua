-- DuSell and Chiang 2020, appendix B.3.
name 'padded_reversal'
doc 'w a ... a reversed(w): palindromes with one repeated symbol between the halves; ambiguous.'

local kinds = option('symbols', 2, 'number of content symbols 0, 1, ...', { integer = true, minimum = 1 })
local mean_content = option('mean_length', 60, 'mean length of w', { minimum = 0 })
local mean_padding = option('mean_padding', 30, 'mean number of repeated symbols', { minimum = 0 })
local mode = option('mode', 'paper', 'the distribution of the paper, or of the code published with it',
  { choices = { 'paper', 'reference' } })

start 'S'
local go_on = mean_content / (mean_content + 1)
local pad = mean_padding / (mean_padding + 1)
for i = 0, kinds - 1 do
  rule(("S -> '%d' S '%d'"):format(i, i), go_on / kinds)
end
for i = 0, kinds - 1 do
  rule(('S -> T%d'):format(i), (1 - go_on) / kinds)
  rule(("T%d -> '%d' T%d"):format(i, i, i), pad)
  rule(('T%d ->'):format(i), 1 - pad)
end

-- In the published code S -> T_a cannot be the first rule, so w is never empty.
if mode == 'reference' then conditioned_removal() end
