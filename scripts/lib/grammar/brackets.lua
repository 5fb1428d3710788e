-- bracket_pair(i) -> the opening and the closing bracket of type i: the four pairs of the keyboard come first, then
-- numbered ones, (5 )5, (6 )6, ...
local keyboard = { { '(', ')' }, { '[', ']' }, { '{', '}' }, { '<', '>' } }

return function(i) return unpack(keyboard[i] or { '(' .. i, ')' .. i }) end
