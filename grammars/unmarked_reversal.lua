-- DuSell and Chiang 2020, appendix B.2.
name 'unmarked_reversal'
doc 'w reversed(w): the middle has to be guessed. The empty string is in the language.'

local kinds = option('symbols', 2, 'number of content symbols 0, 1, ...', { integer = true, minimum = 1 })
local mean = option('mean_length', 60, 'mean length of w', { minimum = 0 })
local mode = option('mode', 'paper', 'the distribution of the paper, or of the code published with it',
  { choices = { 'paper', 'reference' } })

unambiguous()
start 'S'
local go_on = mean / (mean + 1)
for i = 0, kinds - 1 do rule(("S -> '%d' S '%d'"):format(i, i), go_on / kinds) end
rule('S ->', 1 - go_on)

-- The published code loses the empty string; the strings of each length keep their distribution.
if mode == 'reference' then conditioned_removal() end
