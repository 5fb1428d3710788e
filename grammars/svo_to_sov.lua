-- Grefenstette et al. 2015, supplement, table 1.
name 'svo_to_sov'
doc 'Translates subject verb object into subject object verb, with relative clauses.'

local words = option('words', 33, 'number of subjects, of objects and of verbs', { integer = true, minimum = 1 })

synchronous()
start 'A'
rule 'A -> S1 VT2 O3 | S1 O3 VT2'
rule('S -> S1 S2 | S1 S2', 1 / 5)
rule("S -> S1 'rpi' S2 VT3 | S1 'rpo' S2 VT3", 1 / 5)
rule('S -> ST1 | ST1', 3 / 5)
rule('O -> O1 O2 | O1 O2', 1 / 5)
rule("O -> S1 'rpi' S2 VT3 | S1 'rpo' S2 VT3", 1 / 5)
rule('O -> OT1 | OT1', 3 / 5)
for i = 1, words do
  rule(("ST -> 'si%d' | 'so%d'"):format(i, i))
  rule(("OT -> 'oi%d' | 'oo%d'"):format(i, i))
  rule(("VT -> 'vi%d' | 'vo%d'"):format(i, i))
end
