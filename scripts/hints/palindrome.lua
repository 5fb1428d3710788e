-- The language of grammars/palindrome.lua (Mali et al. 2019, section 5).
name 'palindrome'
doc 'w c reversed(w)'
parts()

local kinds = option('symbols', 2, 'number of content symbols a, b, d, ...; c is the mark',
  { integer = true, minimum = 1, maximum = 25 })
local letters = {}
for letter in ('abdefghijklmnopqrstuvwxyz'):sub(1, kinds):gmatch '.' do letters[#letters + 1] = letter end
local listed = table.concat(letters, ' ')

start 'first'
bottom '⊥'
states { 'first', 'second', 'dead' }
local all = { 'c' }
for i, letter in ipairs(letters) do table.insert(all, i, letter) end
symbols(all)
stack_symbols { '⊥', unpack(letters) }
accepting { 'second' }
at_bottom()
dead { 'dead' }

transition('first, TOP --S--> first, push S for all TOP for S in ' .. listed)
transition('first, TOP --c--> second, replace TOP for all TOP')
transition('second, S --S--> second, pop for S in ' .. listed)

transition('second, TOP --c--> dead, replace TOP for all TOP')
transition('second, ⊥ --S--> dead, replace ⊥ for S in ' .. listed)
for _, top in ipairs(letters) do
  for _, symbol in ipairs(letters) do
    if symbol ~= top then
      transition(('second, %s --%s--> dead, replace %s'):format(top, symbol, top))
    end
  end
end
