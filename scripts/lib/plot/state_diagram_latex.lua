-- The state diagram of a pushdown automaton as a picture of the LaTeX package tikz, with the places of the SVG.
local diagram = require 'pushdown.plot.state_diagram'
local latex = require 'pushdown.text.latex'
local rows = require 'pushdown.plot.rows'
local svg = require 'pushdown.plot.svg'

local pixels = 37.8  -- in a centimetre

-- Whether the line between two nodes leads through another one.
local function is_blocked(from, to, nodes, radius)
  local dx, dy = to.x - from.x, to.y - from.y
  local length = math.sqrt(dx * dx + dy * dy)
  for _, node in ipairs(nodes) do
    local along = ((node.x - from.x) * dx + (node.y - from.y) * dy) / length
    local beside = math.abs((node.x - from.x) * dy - (node.y - from.y) * dx) / length
    if node ~= from and node ~= to and along > 0 and along < length and beside < radius + 8 then return true end
  end
  return false
end

local function text_of(spec)
  local pda, facts = spec.pda, diagram.facts_of(spec.pda)
  local states, arrows, number = facts.states, facts.arrows, facts.number
  local shown = {}  -- about as wide as the names in LaTeX
  for i, state in ipairs(states) do
    local name = latex.name(state)
    shown[i] = name:find '^%$' and name:gsub('\\%a+', 'x'):gsub('[${}_^\\]', '') or state
  end
  local radius = math.max(22, svg.widest(shown) / 2 + 8)
  local nodes, by_state = diagram.place(facts, radius)
  local out = { '% \\usepackage{tikz}', '% \\usetikzlibrary{automata}',
    '\\begin{tikzpicture}[->, auto, initial text=, every node/.append style={align=center, font=\\small},',
    ('    every state/.append style={minimum size=%.2fcm, inner sep=1pt}]'):format(2 * radius / pixels) }
  for i, state in ipairs(states) do
    local node = by_state[state]
    out[#out + 1] = ('  \\node[state%s%s%s] (s%d) at (%.2f, %.2f) {%s};'):format(i == 1 and ', initial' or '',
      facts.accepting[state] and ', accepting' or '', facts.dead[state] and ', fill=black!15' or '', i, node.x / pixels,
      (0 - node.y) / pixels, latex.name(state))
  end
  for i, arrow in ipairs(arrows) do
    local lines = {}
    for k, line in ipairs(arrow.lines) do lines[k] = latex.symbol(line) end
    local from, to = by_state[arrow.from], by_state[arrow.to]
    local shape = from == to and 'loop above' or arrow.twin and 'bend left=20'
      or is_blocked(from, to, nodes, radius) and 'bend left=45' or ''
    out[#out + 1] = ('  %s (s%d) edge[%s] node {%s} (s%d)'):format(i == 1 and '\\path' or '     ',
      number[arrow.from], shape, table.concat(lines, '\\\\'), number[arrow.to])
  end
  if #arrows > 0 then out[#out] = out[#out] .. ';' end
  if facts.caption then
    out[#out + 1] = ('  \\node[below=2mm] at (current bounding box.south) {%s};'):format(
      facts.caption:format(latex.symbol(pda:stack_symbols()[1])))
  end
  return table.concat(out, '\n') .. '\n\\end{tikzpicture}\n'
end

return { text = text_of, options = { { { 'pda', nil, 'the automaton', type = 'Pda', required = true } }, rows.source } }
