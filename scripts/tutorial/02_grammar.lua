-- # Grammars
--
-- A weighted context-free grammar is a distribution over strings. This chapter writes one, draws
-- strings from it, and computes probabilities and derivations. It ends with a grammar file that has
-- options.
local pd = require 'pushdown'
local experiment = require 'pushdown.experiment'
local files = require 'pushdown.files'

local options, run = experiment.start {
  name = 'grammar', doc = 'Grammars: writing, sampling, probabilities, derivations.',
  options = { { 'strings', 1000, 'strings to draw for the bound at the end' } }, smoke = { strings = 50 },
}

-- ## As text
--
-- A rule is a left side, an arrow, and alternatives with their weights in brackets. Terminals are
-- quoted. An empty alternative is the empty string. The weights of each left side are normalized.
local grammar = pd.grammar.parse [[
  Sentence -> Subject Verb [0.6] | Subject Verb Object [0.4]
  Subject  -> Noun
  Object   -> Noun [0.7] | Noun Clause [0.3]
  Noun     -> 'dogs' | 'cats' | 'mice'
  Verb     -> 'chase' | 'see'
  Clause   -> 'that' Sentence
]]
print(grammar)

-- A string is written with blanks between its symbols. Its probability is the sum over all its
-- derivations; logarithms are natural. The log-probability of a string outside the language is
-- minus infinity.
print(grammar:log_probability 'dogs chase cats', grammar:log_probability 'dogs cats chase')

-- ## Sampling
--
-- `grammar:sample` draws strings of a given length from the exact distribution of the grammar given
-- that length, without rejection. Some lengths have no strings.
for length = 1, 8 do
  local log_mass = grammar:log_length_probability(length)
  if log_mass > -math.huge then
    print(('length %d, probability %.4f: %s'):format(length, math.exp(log_mass),
      grammar:sample { length = length, seed = length }))
  end
end

-- ## Derivations
--
-- This prints the most probable derivation of a string, with the rules as they were written.
local derivation = grammar:parse 'dogs see mice that cats chase'
print(derivation:text())
print('log-probability of this derivation: ' .. derivation:log_probability())

-- The next plot shows the probability of each length. Some lengths have no strings, and each
-- further clause adds four symbols:
--
-- ![The probability of each length](pictures/02_lengths.svg)
local lengths, probabilities = {}, {}
for length = 2, 12 do
  lengths[#lengths + 1] = tostring(length)
  probabilities[#probabilities + 1] = math.exp(grammar:log_length_probability(length))
end
run:picture('lengths', pd.plot.bars { categories = lengths, series = { { y = probabilities } }, x_label = 'length',
  y_label = 'probability', title = 'Strings of the grammar' })
print(pd.plot.bars_text { categories = lengths, series = { { y = probabilities } } })

-- ## The bound
--
-- A sampler draws a length uniformly from an interval and then a string of this length from the
-- grammar. So its distribution is not that of the grammar, whose lengths have the probabilities above.
-- It computes the probability with which it draws each string, and from these its own cross-entropy on
-- a dataset.
-- This is the lower bound with which every language model is compared.
local sampler = grammar:sampler { lengths = { 3, 12 } }
local strings = sampler:dataset(options.strings, { seed = 1 })
print(('\nlower bound of %d strings: %.4f nats per symbol'):format(strings:size(), sampler:lower_bound(strings)))

-- ## As a file
--
-- If you use a grammar more than once, write it to a file, where it can have options. The file is a
-- Lua script that runs in a sandbox: it can use the words for grammars, but has no access to files
-- or network. A file in `grammars/` is loaded by its name, any other file by its path.
local path = run:path 'counting.lua'
files.write(path, [[
name 'counting'
doc 'As many b as a, then c: a^n b^n c.'
local mean = option('mean', 5, 'mean number of a', { minimum = 0 })
unambiguous()
start 'S'
rule("S -> T 'c'", 1)
rule("T -> 'a' T 'b'", mean / (mean + 1))
rule('T ->', 1 / (mean + 1))
]])
local counting = pd.grammar.load(path, { mean = 3 })
print(counting)
print('a string of length 9: ' .. counting:sample { length = 9, seed = 1 })
