-- wrapped(text, width, indent, hanging) -> the words of a text in lines of at most `width` columns. `indent` precedes
-- every line, and `hanging` also all lines but the first. Longer words stay whole; without a width the result is one
-- line.
local length = require 'pushdown.text.measure'.length

return function(text, width, indent, hanging)
  local lines, line = {}, nil
  indent = indent or ''
  for word in text:gmatch '%S+' do
    if line and width and length(indent .. line .. ' ' .. word) > width then
      lines[#lines + 1] = indent .. line
      if #lines == 1 then indent = indent .. (hanging or '') end
      line = word
    else
      line = line and line .. ' ' .. word or word
    end
  end
  lines[#lines + 1] = indent .. (line or '')
  return table.concat(lines, '\n')
end
