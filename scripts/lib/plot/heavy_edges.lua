-- The part of a stack automaton that carries most of its weight. In the trace of a network every configuration has some
-- weight, so a picture of all edges would show nothing.
--
-- The mass of an edge into time j is the forward weight of its source times its inner weight, as a share of the forward
-- weights of time j. The masses of all edges into a time sum to 1.
local M = {}

function M.key(node) return ('%d\n%s\n%s'):format(node.time, node.state, node.top) end

-- The rows of a picture: the configurations {state =, top =}, by state and then by top symbol in the order of first
-- appearance; a function that returns the number of the row of a node; and whether there are several states.
function M.rows_of(nodes)
  local states, rows, number = {}, {}, {}
  for _, node in ipairs(nodes) do
    local tops = states[node.state]
    if not tops then
      tops = {}
      states[node.state], states[#states + 1] = tops, tops
    end
    if not tops[node.top] then tops[node.top], tops[#tops + 1] = true, { state = node.state, top = node.top } end
  end
  for _, tops in ipairs(states) do
    for _, row in ipairs(tops) do
      rows[#rows + 1] = row
      number[row.state .. '\n' .. row.top] = #rows
    end
  end
  return rows, function(node) return number[node.state .. '\n' .. node.top] end, #states > 1
end

-- Computes the mass of every edge.
local function weigh(nodes, edges)
  local by_key, total = {}, {}
  for _, node in ipairs(nodes) do by_key[M.key(node)] = node end
  for _, edge in ipairs(edges) do
    local to = by_key[M.key(edge)]
    -- The edges into a node sum to its forward weight; the bottom symbol's edge has all of it.
    local from = edge.from and by_key[M.key(edge.from)]
    edge.mass = not to and 0 or not edge.from and to.share
      or from and to.share * math.exp(from.log_weight + edge.log_weight - to.log_weight) or 0
    total[edge.time] = (total[edge.time] or 0) + edge.mass
  end
  return total
end

-- heavy_edges.of(nodes, edges, mass) -> nodes, edges: for each time the heaviest edges that together have at least this
-- share of the mass, and the paths that lead to them. Sets the `mass` of every edge. mass = 1: all edges.
function M.of(nodes, edges, mass)
  local total = weigh(nodes, edges)
  if mass >= 1 then return nodes, edges end
  local sorted, into = {}, {}
  for i, edge in ipairs(edges) do
    sorted[i] = edge
    local key = M.key(edge)
    if not into[key] or edge.mass > into[key].mass then into[key] = edge end
  end
  table.sort(sorted, function(a, b)
    if a.mass ~= b.mass then return a.mass > b.mass end
    return M.key(a) .. (a.from and M.key(a.from) or '') < M.key(b) .. (b.from and M.key(b.from) or '')
  end)
  local carried, kept, wanted = {}, {}, {}
  local function keep(edge)
    while edge and not kept[edge] do
      kept[edge] = true
      wanted[M.key(edge)] = true
      if not edge.from then return end
      wanted[M.key(edge.from)] = true
      -- Continues with the heaviest edge into its source, unless one is kept already.
      edge = into[M.key(edge.from)]
    end
  end
  for _, edge in ipairs(sorted) do
    local so_far = carried[edge.time] or 0
    if so_far < mass * total[edge.time] - 1e-12 then
      carried[edge.time] = so_far + edge.mass
      keep(edge)
    end
  end
  local some_nodes, some_edges = {}, {}
  for _, node in ipairs(nodes) do
    if wanted[M.key(node)] then some_nodes[#some_nodes + 1] = node end
  end
  for _, edge in ipairs(edges) do
    if kept[edge] then some_edges[#some_edges + 1] = edge end
  end
  return some_nodes, some_edges
end

return M
