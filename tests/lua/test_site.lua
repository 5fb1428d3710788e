-- The documentation site: its pages, and, where MkDocs and its theme Material are installed, the site itself.
-- label: long
local pd = require 'pushdown'
local files = require 'pushdown.files'
local markdown = dofile(pd.root .. '/scripts/tools/markdown.lua')
local site_pages = dofile(pd.root .. '/scripts/tools/site_pages.lua')
local test = require 'pushdown.test'

test('lists have four blanks for each level, and what is in them moves along', function()
  test.equal(site_pages.converted [[
- a
  more
  - b

    of b
    ```
    - code
      code
    ```
- c

1. d

   of d

Text
    code
]], [[
- a
    more
    - b

        of b
        ```
        - code
          code
        ```
- c

1. d

    of d

Text
    code
]])
end)

test('headings have their anchors on GitHub, rows of tables plain bars in code', function()
  test.equal(site_pages.converted '[Documentation](../README.md)\n\n# `a`, B\n\n## C\n\n## C ##\n\n```\n# no\n```\n',
    '\n# `a`, B {#a-b}\n\n## C {#c}\n\n## C {#c-1}\n\n```\n# no\n```\n')
  test.equal(site_pages.converted '<!-- Made. -->\n[Documentation](README.md)\n| `a \\| b` | c \\| d |\n`a \\| b`\n',
    '<!-- Made. -->\n| `a | b` | c \\| d |\n`a \\| b`\n')
end)

test('the menu has every page once, under a name', function()
  local pages, seen = markdown.pages(), {}
  local function visit(menu)
    for _, entry in ipairs(menu) do
      local title, value = next(entry)
      assert(title:find '%a', title)
      if type(value) == 'table' then
        visit(value)
      else
        assert(not seen[value] and not title:find '%.md$', value)
        seen[value] = title
      end
    end
  end
  visit(site_pages.navigation(pages))
  for _, path in ipairs(pages) do assert(seen[path], path .. ' is not in the menu') end
  test.equal(seen['docs/reference/report.md'], 'Reports')
  test.equal(seen['docs/adr/0015-pages.md'], '15. Self-contained report pages')
end)

local site = test.folder()
local said, status = test.run({ pd.root .. '/scripts/tools/make_site.lua', site })
if status == 77 then
  print('no site was made: ' .. said)
  test.finish()
end

test('the site is made without a warning', function()
  test.equal(status, 0)
  test.has(said, 'index.html')
end)

-- Pages of the site by their path.
local html = {}
for _, path in ipairs(files.find(site, '%.html$')) do html[path] = files.read(site .. '/' .. path) end

local function plain(text)
  return (text:gsub('%%(%x%x)', function(code) return string.char(tonumber(code, 16)) end):gsub('&amp;', '&'))
end

test('every link of the site leads to a file and an anchor', function()
  local anchors, faults, count = {}, {}, 0
  for path, text in pairs(html) do
    anchors[path] = {}
    for name in text:gmatch '%sid="([^"]*)"' do anchors[path][plain(name)] = true end
  end
  for path, text in pairs(html) do
    for target in text:gmatch '%s[hs]re?[fc]="([^"]*)"' do
      if path ~= '404.html' and not target:find '^%a[%w+.-]*:' and target ~= '#' then
        count = count + 1
        local file, anchor = plain(target):match '^([^#?]*)[^#]*#?(.*)$'
        file = file == '' and path or markdown.resolved(path, file)
        if not file or not files.exists(site .. '/' .. (file == '' and '.' or file)) then
          faults[#faults + 1] = ('%s: %s'):format(path, target)
        elseif anchor ~= '' and anchors[file] and not anchors[file][anchor] then
          faults[#faults + 1] = ('%s: no anchor %s'):format(path, target)
        end
      end
    end
  end
  assert(count > 5000, count)
  if #faults > 0 then error('\n  ' .. table.concat(faults, '\n  ', 1, math.min(20, #faults)), 0) end
end)

test('lists, tables, pictures, search and both colours are there', function()
  local api = html['docs/api.html']
  test.has(api, 'id="pdstack"')
  assert(select(2, api:gsub('<li>', '')) > 500, 'the list of the API is one')
  local install = html['docs/reference/grammars.html']
  test.lacks(install, '\\|')
  test.has(html['docs/tutorial/01_first_run.html'], 'src="pictures/01_curves.svg"')
  assert(files.exists(site .. '/docs/tutorial/pictures/01_curves.svg'))
  test.has(html['index.html'], 'data-md-color-scheme="slate"', 'data-md-color-scheme="default"', 'md-search')
  test.has(files.read(site .. '/search/search_index.json'), 'docs/reference/report.html#a-live-page')
  for path, text in pairs(html) do
    -- Nothing is loaded from elsewhere.
    for address in text:gmatch '<[sl][ci][rn][^>]-%s[sh]r[ce]f?="(https?:[^"]*)"' do
      assert(text:find('rel="canonical" href="' .. address, 1, true), path .. ': ' .. address)
    end
  end
end)

test.finish()
