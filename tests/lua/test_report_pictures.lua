-- Pictures in the pages of `pushdown report`: what may stay in an SVG of a stranger.
local pictures = require 'pushdown.report.pictures'
local plot = require 'pushdown.plot'
local test = require 'pushdown.test'

local has = test.has

test('pictures are cleaned', function()
  local function clean(inner, attributes)
    return pictures.cleaned('<?xml version="1.0"?>\n<!-- c --><svg xmlns="http://www.w3.org/2000/svg" width="20" '
      .. 'height="10" ' .. (attributes or '') .. '>' .. inner .. '</svg>', 'p1-')
  end
  local svg, title, width = clean('<title>T &amp; &lt;</title><path d="M0 0L1 1" stroke="#123456" onclick="x()"/>')
  test.equal(svg, '<svg xmlns="http://www.w3.org/2000/svg" role="img" viewBox="0 0 20 10"><title>T &amp; &lt;</title>'
    .. '<path d="M0 0L1 1" stroke="#123456"/></svg>')
  test.equal(title, 'T & <')
  test.equal(width, 20)
  local function becomes(inner, expected) test.equal(clean(inner):match('10">(.*)</svg>$'), expected) end
  becomes('<script>alert(1)</script><g/>', '<g/>')
  becomes('<g><foreignObject><body><svg><rect/></svg></body></foreignObject><rect x="1"/></g>',
    '<g><rect x="1"/></g>')
  becomes('<image href="http://x/y.png"/><style>* { fill: red }</style>', '')
  becomes('<a href="http://x"><text>y</text></a>', '<g><text>y</text></g>')
  becomes('<use href="#q" xlink:href="#r"/><use href="http://x#q"/><use href="data:x"/>',
    '<use href="#p1-q"/><use/><use/>')
  becomes('<rect id="q" fill="url(#g)" clip-path=\'url( "#h" )\'/>',
    '<rect id="p1-q" fill="url(#p1-g)" clip-path="url(#p1-h)"/>')
  becomes('<rect fill="url(http://x/y)" stroke="URL(//x)" clip-path="u\\72l(x)"/>', '<rect/>')
  becomes('<rect style="fill:red;background:url(x);stroke: url(#s) ;position:fixed"/>',
    '<rect fill="red" stroke="url(#p1-s)"/>')
  becomes('<rect fill="blue" style="fill: red"/><g style="fill:red;stroke:  none  " stroke="blue"/>',
    '<rect fill="red"/><g fill="red" stroke="none"/>')
  -- An HTML parser reads titles as HTML: an element there would contain the rest of the page.
  becomes('<title>a<g/>b</title>', '<title>ab</title>')
  becomes('<desc>a<g>b</g><svg><title>c</title></svg>d</desc><g/>', '<desc>ad</desc><g/>')
  becomes('<title><title>a</title></title><rect/>', '<title></title><rect/>')
  test.equal(select(2, clean('<title>a<g/>b</title>')), 'ab')
  becomes('<rect fill="&#106;&unknown;"/><g fill="u&#114;l(http://x)"/><g fill="&amp;#114;ed" '
    .. 'font-family="&quot;a&quot;"/>', '<rect/><g/><g fill="&amp;#114;ed" font-family="&quot;a&quot;"/>')
  becomes('<g style="fill:u&#114;l(x)"/><g id="&#113;"/><g transform="translate(1,\n2)"/>',
    '<g/><g/><g transform="translate(1, 2)"/>')
  becomes('<text onload=\'x\' class="c" data-x="1">a &copy; &#169; > b</text>',
    '<text>a &amp;copy; &#169; &gt; b</text>')
  becomes('<animate attributeName="href" to="x"/><set/><iframe/>', '')
  local function refused(text, reason)
    local got, why = pictures.cleaned(text, 'p')
    test.equal(got, nil)
    has(why, reason)
  end
  refused('<svg width="1" height="1"><g></svg>', 'not well formed')
  refused('<svg width="1" height="1"><g/>', 'not whole')
  refused('<svg width="1" height="1"/><svg/>', 'not one svg')
  refused('<html/>', 'not one svg')
  refused('text', 'outside')
  refused('', 'not whole')
  refused('<svg/>', 'no size')
  refused('<svg viewBox="0 0 1"/>', 'no size')
  refused('<svg width="0" height="1"/>', 'no size')
  -- A repeated attribute is not valid XML, and a browser uses the first one.
  test.equal((pictures.cleaned('<svg viewBox="0 0 [1 1" width="2pt" height="3"/>', 'p')),
    '<svg xmlns="http://www.w3.org/2000/svg" role="img" viewBox="0 0 2 3"/>')
  test.equal((pictures.cleaned([[<svg id='a' mask='viewBox="0 0 1 1"' width="2" height="3"/>]], '')),
    '<svg xmlns="http://www.w3.org/2000/svg" role="img" id="a" viewBox="0 0 2 3"/>')
  refused('<svg width="1" height="1"><rect x=1/></svg>', 'not well formed')
  refused('<svg width="1" height="1"><rect x="1/></svg>', 'not well formed')
  refused('<!DOCTYPE svg [<!ENTITY a "b">]><svg width="1" height="1"/>', 'declares entities')
  refused('<svg width="1" height="1"><![CDATA[<script>]]></svg>', 'not elements')
  -- In linear time.
  for _, part in ipairs { '<!--', '<?', '<!DOCTYPE', '<', '<a', '&', '<g>', '<title>a<g/>', '<a b="', "<g style='",
    ' ' } do
    test.linear(25000, function(n)
      pictures.cleaned('<svg width="1" height="1">' .. part:rep(n) .. ('x'):rep(n / 2), 'p')
    end)
  end
  test.linear(40000, function(n)
    pictures.cleaned('<svg width="1" height="1"><g style="fill: a' .. (' '):rep(n) .. 'b"/></svg>', 'p')
  end)
  -- Our own pictures do not change, except for their names.
  local own = plot.lines { series = { { y = { 1, 2 }, low = { 0, 1 }, high = { 2, 3 }, name = 'a < b' } }, title = 'x' }
  local cleaned = assert(pictures.cleaned(own, 'p7-'))
  test.equal(select(2, cleaned:gsub('<polygon', '')), select(2, own:gsub('<polygon', '')))
  test.equal(select(2, cleaned:gsub('<text', '')), select(2, own:gsub('<text', '')))
  for _, part in ipairs { 'clip-path="url(#p7-', 'id="p7-area', 'a &lt; b' } do has(cleaned, part) end
end)

test.finish()
