-- Asks the user at the terminal.
local pd = require 'pushdown'
local trim = require 'pushdown.text.trim'

local M = {}

-- Returns whether standard input is a terminal, so that the user can be asked.
function M.possible() return pd.process.columns 'stdin' ~= nil end

-- ask.answer(question) -> the typed answer in lower case, without surrounding blanks; '' at the end of the input.
function M.answer(question)
  io.write(question, ' ')
  io.stdout:flush()
  return trim.both((io.read '*l' or ''):lower())
end

return M
