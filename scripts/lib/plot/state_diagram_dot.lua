-- The state diagram of a pushdown automaton in the DOT language of Graphviz.
local arrows_of = require 'pushdown.plot.state_diagram'.arrows_of
local rows = require 'pushdown.plot.rows'

-- A text in quotes. Graphviz reads backslashes and entities in labels.
local function quoted(text) return '"' .. text:gsub('&', '&amp;'):gsub('["\\]', '\\%0') .. '"' end

local function text_of(spec)
  local pda = spec.pda
  local states, accepting, dead, number = pda:states(), pda:accepting(), {}, {}
  for _, state in ipairs(pda:dead()) do dead[state] = true end
  local out = { ('digraph %s {'):format(quoted(pda:name() ~= '' and pda:name() or 'automaton')), '  rankdir=LR;',
    '  graph [fontname="Helvetica"];', '  node [shape=circle, fontname="Helvetica"];', '  edge [fontname="Helvetica"];',
    '  start [shape=point];' }
  if pda:at_bottom() then
    out[#out + 1] = ('  label=%s;'):format(quoted(('accepts with the bottom symbol %s alone on the stack'):format(
      pda:stack_symbols()[1])))
  end
  for i, state in ipairs(states) do
    number[state] = i
    out[#out + 1] = ('  s%d [label=%s%s%s];'):format(i, quoted(state),
      accepting[state] and ', shape=doublecircle' or '',
      dead[state] and ', style=filled, fillcolor="#d9d9d9"' or '')
  end
  out[#out + 1] = '  start -> s1;'
  for _, arrow in ipairs((arrows_of(pda))) do
    local lines = {}
    for i, line in ipairs(arrow.lines) do lines[i] = quoted(line):sub(2, -2) end
    out[#out + 1] = ('  s%d -> s%d [label="%s"];'):format(number[arrow.from], number[arrow.to],
      table.concat(lines, '\\n'))
  end
  return table.concat(out, '\n') .. '\n}\n'
end

return { text = text_of, options = { { { 'pda', nil, 'the automaton', type = 'Pda', required = true } }, rows.source } }
