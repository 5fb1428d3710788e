-- The language of grammars/palindrome.lua (Mali et al. 2019, section 5).
name 'palindrome_hint_2'
doc 'w c reversed(w): all transitions, but no behaviour at the end of the string.'

local kinds = option('symbols', 2, 'number of content symbols a, b, d, ...; c is the mark',
  { integer = true, minimum = 1, maximum = 25 })
local letters = {}
for letter in ('abdefghijklmnopqrstuvwxyz'):sub(1, kinds):gmatch '.' do letters[#letters + 1] = letter end
local listed = table.concat(letters, ' ')

start 'first'
bottom '⊥'
states { 'first', 'second' }
local all = { 'c' }
for i, letter in ipairs(letters) do table.insert(all, i, letter) end
symbols(all)
stack_symbols { '⊥', unpack(letters) }

transition('first, TOP --S--> first, push S for all TOP for S in ' .. listed)
transition('first, TOP --c--> second, replace TOP for all TOP')
transition('second, S --S--> second, pop for S in ' .. listed)
