-- Pictures of recorded programs: every operation has a box, every reading a line, and boxes do not overlap.
local test = require 'pushdown.test'
local pd = require 'pushdown'
local plot = require 'pushdown.plot'

local function boxes_of(svg)
  local boxes = {}
  for attributes in svg:gmatch('<rect ([^>]*rx="4"[^>]*)/>') do
    local function number(name) return tonumber(attributes:match(' ?%f[%w]' .. name .. '="([^"]*)"')) end
    boxes[#boxes + 1] = { x = number 'x', y = number 'y', width = number 'width', height = number 'height' }
  end
  return boxes
end

local function check_picture(dot, svg)
  local boxes, nodes, edges, paths = boxes_of(svg), 0, 0, 0
  for _ in dot:gmatch('%[label=') do nodes = nodes + 1 end
  for _ in dot:gmatch('%->') do edges = edges + 1 end
  for _ in svg:gmatch('marker%-end') do paths = paths + 1 end
  test.equal(#boxes, nodes)
  test.equal(paths, edges)
  local width, height = svg:match('width="(%d+)" height="(%d+)"')
  for i, a in ipairs(boxes) do
    assert(a.x >= 0 and a.y >= 0 and a.x + a.width <= tonumber(width) and a.y + a.height <= tonumber(height),
      'a box lies outside of the picture')
    for j = 1, i - 1 do
      local b = boxes[j]
      assert(a.x + a.width <= b.x or b.x + b.width <= a.x or a.y + a.height <= b.y or b.y + b.height <= a.y,
        'two boxes overlap')
    end
  end
end

test('programs of stacks', function()
  for _, kind in ipairs { 'superposition', 'stratification', 'nondeterministic', 'list', 'baby_ntm' } do
    check_picture(pd.stack.program { kind = kind, format = 'dot' }, plot.program { stack = kind })
  end
  check_picture(pd.stack.program { kind = 'superposition', size = 3, hidden = 4, format = 'dot' },
    plot.program { stack = { kind = 'superposition', size = 3, hidden = 4 }, title = 'Superposition' })
end)

test('the program of a model, with the values that a state reads of itself', function()
  local model = pd.model.language_model { alphabet = { '0', '1' }, seed = 1, coupling = 'state',
    controller = { kind = 'mlstm', hidden = 5, layers = 2 }, carry_forward = 'counter',
    stack = { kind = 'parallel_superposition', no_op = true, stacks = 2 } }
  check_picture(model:program { format = 'dot' }, plot.program { model = model })
end)

test('wrong calls are reported', function()
  test.fails("either 'model' or 'stack'", function() plot.program {} end)
  test.fails('nonsense', function() plot.program { stack = 'nonsense' } end)
end)

test.finish()
