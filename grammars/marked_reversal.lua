-- DuSell and Chiang 2020, appendix B.1.
name 'marked_reversal'
doc 'w # reversed(w): the mark says where the second half begins.'

local kinds = option('symbols', 2, 'number of content symbols 0, 1, ...', { integer = true, minimum = 1 })
local mean = option('mean_length', 60, 'mean length of w', { minimum = 0 })
-- The published code samples this language as the paper defines it, so both modes are the same.
option('mode', 'paper', 'the distribution of the paper, or of the code published with it',
  { choices = { 'paper', 'reference' } })

unambiguous()
start 'S'
local go_on = mean / (mean + 1)
local listed = {}
for i = 0, kinds - 1 do
  listed[#listed + 1] = tostring(i)
  rule(("S -> '%d' S '%d'"):format(i, i), go_on / kinds)
end
rule("S -> '#'", 1 - go_on)
listed[#listed + 1] = '#'
symbols(listed)
