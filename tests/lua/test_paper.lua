-- Output for papers: tables for LaTeX, pictures as PDF and PNG.
local test = require 'pushdown.test'
local files = require 'pushdown.files'
local plot = require 'pushdown.plot'
local report = require 'pushdown.report'

test('raised and lowered signs in a table for LaTeX', function()
  local made = report.table { columns = { 'D₂', 'language' }, rows = { { '10⁻¹²', 'aⁿ⁺ᵐbⁿcᵐ' } } }
  local text = made:latex()
  assert(text:find('D$_{2}$', 1, true), text)
  assert(text:find('10$^{-12}$', 1, true) and text:find('a$^{n+m}$b$^{n}$c$^{m}$', 1, true), text)
end)

test('pictures in the format of their name', function()
  local name = os.tmpname()
  local spec = { series = { { name = 'a', y = { 1, 2, 3 } } } }
  for format, start in pairs { svg = '^<%?xml', png = '^\137PNG\r\n', pdf = '^%%PDF%-' } do
    spec.path = name .. '.' .. format
    if format == 'svg' or os.execute('rsvg-convert --version > /dev/null 2>&1') == 0 then
      plot.lines(spec)
      assert(files.read(spec.path):find(start), format)
      os.remove(spec.path)
    else
      test.fails('librsvg2%-bin', function() plot.lines(spec) end)
      assert(not files.exists(spec.path))
    end
  end
  os.remove(name)
end)

test.finish()
