-- Texts without the blanks at their ends, in linear time. Patterns that look for blanks and the end from every place
-- take quadratic time for many blanks inside of a text, and no signal ends a pattern.
local M = {}

-- trim.right(text) -> the text without the blanks at its end.
function M.right(text) return text:match '^.*%S' or '' end

-- trim.both(text) -> the text without the blanks at both ends.
function M.both(text) return text:match('^.*%S', text:find '%S') or '' end

-- trim.last_word(text) -> what follows the last blank of the text.
function M.last_word(text) return text:match '^.*%s(.*)$' or text end

return M
