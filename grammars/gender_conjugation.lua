-- Grefenstette et al. 2015, supplement, table 1. The rules of B are as printed there, although one of them may
-- be a slip: no rule leads from B to a noun phrase S alone. B has 1.375 further B on average, so that a
-- derivation ends with probability 0.4 only. Nouns are named like verbs, ne1 and ng1; the paper's sample
-- writes the letter of the language first, en19 and gn19.
name 'gender_conjugation'
doc 'Translates articles without gender into articles with the gender of their noun; derivations often do not end.'

local words = option('words', 25, 'number of verbs, and of nouns of each gender', { integer = true, minimum = 1 })

synchronous()
start 'A'
rule 'A -> B1 | B1'
rule("B -> B1 'or' B2 | B1 'oder' B2", 1 / 4)
rule("B -> S1 'and' S2 | S1 'und' S2", 1 / 4)
rule('B -> B1 V2 | B1 V2', 1 / 2)
rule('V -> W1 B2 | W1 B2', 3 / 4)
rule('V -> W1 | W1', 1 / 4)
for _, gender in ipairs { { 'M', 'der', 'ein' }, { 'F', 'die', 'eine' }, { 'N', 'das', 'ein' } } do
  local noun, definite, indefinite = unpack(gender)
  rule(("S -> 'the' %s1 | '%s' %s1"):format(noun, definite, noun), 1 / 6)
  rule(("S -> 'a' %s1 | '%s' %s1"):format(noun, indefinite, noun), 1 / 6)
end
for i = 1, words do
  rule(("W -> 'we%d' | 'wg%d'"):format(i, i))
  rule(("M -> 'me%d' | 'mg%d'"):format(i, i))
  rule(("F -> 'fe%d' | 'fg%d'"):format(i, i))
  rule(("N -> 'ne%d' | 'ng%d'"):format(i, i))
end
