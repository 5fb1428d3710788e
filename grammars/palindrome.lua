-- Mali et al. 2019 (NSPDA) and 2021 (DiffStk); with a marked centre also Sun, Giles, Chen, Lee 1998.
name 'palindrome'
doc 'Palindromes: with a marked centre c (marked_reversal in letters), of even length, or of any length.'

local kinds = option('symbols', 2, 'number of content symbols a, b, d, ...; c is the mark',
  { integer = true, minimum = 1, maximum = 25 })
local centre = option('centre', 'marked', 'w c reversed(w), w reversed(w), or any palindrome',
  { choices = { 'marked', 'even', 'any' } })
local mean = option('mean_length', 10, 'mean length of w', { minimum = 0 })

unambiguous()
start 'S'
local go_on = mean / (mean + 1)
local letters = ('abdefghijklmnopqrstuvwxyz'):sub(1, kinds)
local listed = {}
for letter in letters:gmatch '.' do
  listed[#listed + 1] = letter
  rule(("S -> '%s' S '%s'"):format(letter, letter), go_on / kinds)
end
if centre == 'marked' then
  listed[#listed + 1] = 'c'
  rule("S -> 'c'", 1 - go_on)
elseif centre == 'even' then
  rule('S ->', 1 - go_on)
else
  rule('S ->', (1 - go_on) / 2)
  for letter in letters:gmatch '.' do rule(("S -> '%s'"):format(letter), (1 - go_on) / 2 / kinds) end
end
symbols(listed)
