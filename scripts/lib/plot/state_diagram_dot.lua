-- The state diagram of a pushdown automaton in the DOT language of Graphviz.
local facts_of = require 'pushdown.plot.state_diagram'.facts_of
local rows = require 'pushdown.plot.rows'

-- A text in quotes. Graphviz reads backslashes and entities in labels.
local function quoted(text) return '"' .. text:gsub('&', '&amp;'):gsub('["\\]', '\\%0') .. '"' end

local function text_of(spec)
  local pda, facts = spec.pda, facts_of(spec.pda)
  local out = { ('digraph %s {'):format(quoted(pda:name() ~= '' and pda:name() or 'automaton')), '  rankdir=LR;',
    '  graph [fontname="Helvetica"];', '  node [shape=circle, fontname="Helvetica"];', '  edge [fontname="Helvetica"];',
    '  start [shape=point];' }
  if facts.caption then out[#out + 1] = ('  label=%s;'):format(quoted(facts.caption:format(pda:stack_symbols()[1]))) end
  for i, state in ipairs(facts.states) do
    out[#out + 1] = ('  s%d [label=%s%s%s];'):format(i, quoted(state),
      facts.accepting[state] and ', shape=doublecircle' or '',
      facts.dead[state] and ', style=filled, fillcolor="#d9d9d9"' or '')
  end
  out[#out + 1] = '  start -> s1;'
  for _, arrow in ipairs(facts.arrows) do
    local lines = {}
    for i, line in ipairs(arrow.lines) do lines[i] = quoted(line):sub(2, -2) end
    out[#out + 1] = ('  s%d -> s%d [label="%s"];'):format(facts.number[arrow.from], facts.number[arrow.to],
      table.concat(lines, '\\n'))
  end
  return table.concat(out, '\n') .. '\n}\n'
end

return { text = text_of, options = { { { 'pda', nil, 'the automaton', type = 'Pda', required = true } }, rows.source } }
