-- Questions to whoever sits at the terminal.
local M = {}

-- Whether standard input is a terminal, so that somebody can be asked.
function M.possible()
  local status = os.execute 'test -t 0'
  return status == 0 or status == true
end

-- ask.answer(question) -> what was typed, in lower case and without blanks around it; '' at the end of the input.
function M.answer(question)
  io.write(question, ' ')
  io.stdout:flush()
  return (io.read '*l' or ''):lower():match '^%s*(.-)%s*$'
end

return M
