-- Plots of the strengths of a stack: over the words of a sentence, as distributions and as a heat map.
local pd = require 'pushdown'
local plot = require 'pushdown.plot'
local reader = dofile(pd.root .. '/tests/lua/svg.lua')
local test = require 'pushdown.test'

local attributes, check_xml = reader.attributes, reader.check

-- The content of a stack of 4 numbers per vector on three words.
local function sentence(stack)
  stack.kind, stack.size, stack.max_strength = stack.kind or 'stratification', 4, stack.max_strength or 4
  local model = pd.model.language_model{ alphabet = { 'a', 'b', '<&>' }, controller = { kind = 'lstm', hidden = 5 },
    stack = stack }
  return { run = model:strengths('a <&> b'), symbols = { 'a', '<&>', 'b' }, ascii = true, columns = 80 }
end

local variable = { push = 'expectation', pop = 'fixed', read = 'expectation' }

local function lines_of(text) return pd.tables.matches(text, '[^\n]+') end

test('strengths over the words of a sentence', function()
  local spec = sentence(variable)
  spec.title = 'S'
  local picture = plot.word_strengths(spec)
  check_xml(picture)
  local heights, push = attributes(picture, 'rect', 'height'), spec.run.push
  -- After the background: push and read of three words, and two colours of the legend. The pop is fixed.
  test.equal(#heights - #attributes(picture, 'rect', 'rx'), 3 * 2 + 2)
  test.near(heights[3] / heights[1], push[2][1]:item() / push[1][1]:item(), 0.02)
  for _, word in ipairs { 'a', '&lt;&amp;&gt;', 'b', 'push', 'read', 'on the stack' } do
    assert(picture:find('>' .. word .. '<', 1, true), word)
  end
  local total = ('%.1f'):format(spec.run.strengths[3]:sum():item())
  assert(picture:find('>' .. total .. '<', 1, true), 'the strength on the stack in the end')

  local text = plot.word_strengths_text(spec)
  local lines = lines_of(text)
  test.equal(#lines, 2 + 3)
  assert(lines[2]:find('push') and lines[2]:find('read') and not lines[2]:find('pop'), lines[2])
  assert(lines[4]:find('^<&>  ' .. ('%4.2f #'):format(push[2][1]:item())), lines[4])
  assert(lines[5]:find(('%5.2f'):format(spec.run.strengths[3]:sum():item()) .. '$'), lines[5])
  for _, line in ipairs(lines) do assert(#line <= 80, line) end
  spec.show = { 'pop' }
  text = plot.word_strengths_text(spec)
  assert(text:find('1.00') and not text:find('push'), text)
  spec.ascii = false
  assert(plot.word_strengths_text(spec):find('█'), 'blocks where the terminal has them')

  local deque = sentence{ kind = 'stratification_deque', push = 'expectation' }
  deque['end'] = 'bottom'
  check_xml(plot.word_strengths(deque))
  deque['end'] = 'left'
  spec['end'] = 'top'
  test.fails('end is for memories with two ends', function() plot.word_strengths(spec) end)
  spec['end'], spec.show = nil, { 'top' }
  spec.show, spec.memory = nil, 2
  test.fails("option 'memory' must be 1 to 1", function() plot.word_strengths_text(spec) end)
  test.fails("option 'run' .* is missing", function() plot.word_strengths { symbols = {} } end)
end)

test('distributions of strengths, step by step', function()
  local spec = sentence(variable)
  local picture = plot.strength_distributions(spec)
  check_xml(picture)
  -- Every probability is a bar, and those of a distribution sum to 1.
  local heights = attributes(picture, 'rect', 'height')
  test.equal(#heights, 3 * 2 * 5)
  for first = 0, 25, 5 do
    local sum = 0
    for i = 1, 5 do sum = sum + heights[first + i] end
    test.near(sum, 64, 0.1)
  end
  test.near(heights[1] / 64, spec.run.push_distribution[1][1][1]:item(), 1e-3)
  assert(picture:find('>&lt;&amp;&gt;<', 1, true), 'words')
  spec.width = 330
  check_xml(plot.strength_distributions(spec))
  assert(plot.strength_distributions(spec):find('width="330" height="', 1, true), 'as wide as asked for')

  local lines = lines_of(plot.strength_distributions_text(spec))
  test.equal(#lines, 2 + 3)
  assert(lines[1]:find('push') and lines[1]:find('read'), lines[1])
  assert(lines[2]:find('0  1  2  3  4  mean', 1, true), lines[2])
  assert(lines[5]:find('^b .* ' .. ('%4.2f'):format(spec.run.push[3][1]:item())), lines[5])
  spec.show = { 'read' }
  assert(not plot.strength_distributions_text(spec):find('push'))
  spec.show = { 'pop' }
  test.fails("no distribution of 'pop'", function() plot.strength_distributions(spec) end)
  test.fails("none of its strengths is an 'expectation'", plot.strength_distributions, sentence{})
  -- A certain strength is one full bar.
  local certain = { strengths = pd.tensor { { { 3 } } }, push = pd.tensor { { 3 } }, pop = pd.tensor { { 1 } },
    read_strength = pd.tensor { { 1 } }, push_distribution = pd.tensor { { { 0, 0, 0, 1 } } } }
  test.equal(plot.strength_distributions_text { run = certain, symbols = { 'eat' }, ascii = true },
    '     push\n      0  1  2  3  mean\neat           ##  3.00\n')
end)

test('the heat map of strengths above 1 shows its range', function()
  local bare = pd.stack.strengths { kind = 'stratification', push = { { 2.5, 0.5 } }, pop = { { 0, 1 } },
    vectors = { { { 1 }, { 1 } } } }
  local first = {}
  for name, tensor in pairs(bare) do first[name] = tensor[1] end
  assert(plot.strengths_text { run = first, ascii = true, columns = 60 }:find('0 to 2.5', 1, true))
end)

test.finish()
