-- DuSell and Chiang 2020, appendix A and B.5, after Greibach 1973. The rules of V and W are those of the code
-- published with the paper, because the printed ones are garbled.
name 'hardest_cfl'
doc "Greibach's hardest context-free language: pieces of a bracket string hidden among decoys; ambiguous."

local mean_commas = option('mean_commas', 0.5, 'mean number of further decoys on each side', { minimum = 0 })
local mean_short = option('mean_short_filler', 0.5, 'mean length of a short filler', { minimum = 0 })
local mean_long = option('mean_long_filler', 2, 'mean length of a long filler', { minimum = 1 })
local semicolon = option('semicolon', 0.25, 'probability of a cut between brackets', { minimum = 0, maximum = 1 })
local mean_splits = option('mean_splits', 1.5, 'mean number of bracket splits', { minimum = 0 })
local mean_depth = option('mean_depth', 3, 'mean nesting depth of brackets', { minimum = 0 })
local mode = option('mode', 'paper', 'the distribution of the paper, or of the code published with it',
  { choices = { 'paper', 'reference' } })

local function f(mean) return mean / (mean + 1) end
local comma, short, long = f(mean_commas), f(mean_short), f(mean_long - 1)
local split, nest = f(mean_splits), f(mean_depth)

symbols { '(', ')', '[', ']', ',', ';', '$' }
start "S'"
rule "S' -> R '$' Q S L ';'"
rule "L -> L' ',' U"
rule("L' -> ',' V L'", comma)
rule("L' ->", 1 - comma)
rule "R -> U ',' R'"
rule("R' -> R' V ','", comma)
rule("R' ->", 1 - comma)
rule('U -> W U', short)
rule('U ->', 1 - short)
rule('V -> W V', long)
rule('V -> W', 1 - long)
rule "W -> '(' | ')' | '[' | ']' | '$'"
rule("Q -> L ';' R", semicolon)
rule('Q ->', 1 - semicolon)
rule('S -> S Q T', split)
rule('S -> T', 1 - split)
for _, bracket in ipairs { { '(', ')' }, { '[', ']' } } do
  local open, close = unpack(bracket)
  rule(("T -> '%s' Q S Q '%s'"):format(open, close), nest / 2)
  rule(("T -> '%s' Q '%s'"):format(open, close), (1 - nest) / 2)
end

-- The start symbol has a single rule that is neither empty nor unary, so nothing is lost here.
if mode == 'reference' then conditioned_removal() end
