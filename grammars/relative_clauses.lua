-- The constructions are those of McCoy, Frank and Linzen 2020; the words are ours.
name 'relative_clauses'
doc 'English sentences whose verbs agree with their subjects, with relative clauses and prepositional phrases.'

local verbs = option('verbs', 'auxiliary', 'verbs with do or does, or in the present tense',
  { choices = { 'auxiliary', 'present' } })

local function words(left, list)
  for word in list:gmatch '%S+' do rule(('%s -> "%s"'):format(left, word)) end
end

unambiguous()
start 'S'
rule "S -> SubjectS PhraseS '.' | SubjectP PhraseP '.'"
rule 'Any -> NounS | NounP'
rule 'Object -> SubjectS | SubjectP'
words('Det', 'the our their your')
words('Prep', 'near behind beside under')
words('Who', 'who that')
words('NounS', 'baker pilot singer doctor farmer robot lawyer painter')
words('NounP', 'bakers pilots singers doctors farmers robots lawyers painters')
for _, number in ipairs { 'S', 'P' } do
  local ending = number == 'S' and 's' or ''
  local function of(text, weight) rule((text:gsub('#', number)), weight) end
  of 'Subject# -> Det Noun# | Det Noun# Prep Det Any | Det Noun# Clause#'
  of 'Phrase# -> Intransitive# | Transitive# Object'
  of('Clause# -> Who Intransitive#', 1 / 3)
  of('Clause# -> Who Transitive# Det Any', 1 / 3)
  of('Clause# -> Who Det NounS TransitiveS', 1 / 6)
  of('Clause# -> Who Det NounP TransitiveP', 1 / 6)
  local function verb(left, list)
    if verbs == 'auxiliary' then
      of(('%s# -> Aux# %sBase'):format(left, left))
    else
      words(left .. number, (list:gsub('%S+', '%0' .. ending)))
    end
  end
  verb('Intransitive', 'laugh sleep sing wait run')
  verb('Transitive', 'see help follow call visit')
end
if verbs == 'auxiliary' then
  words('AuxS', "does doesn't")
  words('AuxP', "do don't")
  words('IntransitiveBase', 'laugh sleep sing wait run')
  words('TransitiveBase', 'see help follow call visit')
end
