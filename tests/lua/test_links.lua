-- Every link in the documentation leads to a file and a heading, docs/README.md lists every page, and the index is at
-- most two clicks away from every page. Links into the network are not followed; only their form is checked. The source
-- files and the names of pd that pages mention exist.
local pd = require 'pushdown'
local test = require 'pushdown.test'
local files = require 'pushdown.files'
local markdown = dofile(pd.root .. '/scripts/tools/markdown.lua')

local index = 'docs/README.md'

local links_of, anchors_of, resolved = markdown.links, markdown.anchors, markdown.resolved
local prose_lines, slug = markdown.prose_lines, markdown.slug

local texts = {}
local function text_of(path)
  texts[path] = texts[path] or files.read(pd.root .. '/' .. path)
  return texts[path]
end

-- Returns the error of a link, or nil.
local function fault(page, target)
  if target:match('^%a[%w+.-]*:') then
    local host = '^https?://[%w-]+%.[%w.-]+'
    for _, form in ipairs { host .. '$', host .. '[/?#]%S*$', '^mailto:[^@%s]+@[^@%s]+$' } do
      if target:match(form) then return nil end
    end
    return 'malformed address'
  end
  local path, anchor = target:match('^([^#]*)#?(.*)$')
  if target:sub(1, 1) == '/' then return 'a link starts at its own page, not at the root' end
  local file = path == '' and page or resolved(page, path)
  if not file then return 'leads out of the repository' end
  if not files.exists(pd.root .. '/' .. file) then return 'no such file: ' .. file end
  if target:find('#', 1, true) and file:match('%.md$') and not anchors_of(text_of(file))[anchor] then
    return ('no heading #%s in %s'):format(anchor, file)
  end
end

-- Pages that a page links to, as a set of paths.
local function neighbours(page)
  local set = {}
  for _, link in ipairs(links_of(text_of(page))) do
    local path = not link.target:match('^%a[%w+.-]*:') and resolved(page, link.target:match('^[^#]*'))
    if path and path:match('%.md$') then set[path] = true end
  end
  return set
end

local function within_two_clicks(from, to)
  local first = neighbours(from)
  if from == to or first[to] then return true end
  for page in pairs(first) do
    if files.exists(pd.root .. '/' .. page) and neighbours(page)[to] then return true end
  end
  return false
end

local pages = markdown.pages()

test('headings have the anchors that GitHub gives them', function()
  test.equal(slug 'Two commands', 'two-commands')
  test.equal(slug '`pd.stack`: what it is, in *short*', 'pdstack-what-it-is-in-short')
  test.equal(slug 'nspda: Mali et al. (2019)', 'nspda-mali-et-al-2019')
  test.equal(slug 'See [the page](x.md) ##', 'see-the-page')
  test.equal(slug 'Größe: 2 × 3 – aⁿbⁿ', 'größe-2--3--aⁿbⁿ')
  local anchors = anchors_of('# A\n## B\n```\n# no\n```\n## B\n<a name="here"></a>\n')
  for _, name in ipairs { 'a', 'b', 'b-1', 'here' } do assert(anchors[name], name) end
  assert(not anchors.no)
end)

test('links are found, and wrong ones are reported', function()
  local links = links_of('[a](b.md) and `[no](no)`\n```\n[no](no)\n```\n![x](y.svg "t") <img width="4" src="z.svg">\n'
    .. '<a href="w.md">w</a>\n[r]: u.md\n')
  local found = {}
  for i, link in ipairs(links) do found[i] = link.line .. link.target end
  test.equal(table.concat(found, ' '), '1b.md 5y.svg 5z.svg 6w.md 7u.md')
  test.equal(fault('README.md', 'docs/README.md'), nil)
  test.equal(fault('docs/glossary.md', '../README.md'), nil)
  test.equal(fault('README.md', 'https://example.org/a#b'), nil)
  test.equal(fault('README.md', 'mailto:someone@example.org'), nil)
  for _, wrong in ipairs { 'no.md', '../README.md', '/README.md', 'docs/README.md#no-such-heading', '#no-such-heading',
    'docs/README.md#', 'https:/example.org', 'http://', 'file:///etc' } do
    assert(fault('README.md', wrong), wrong)
  end
end)

test('every link leads to a file and a heading', function()
  assert(#pages > 30, 'the pages are found')
  local faults, count = {}, 0
  for _, page in ipairs(pages) do
    for _, link in ipairs(links_of(text_of(page))) do
      count = count + 1
      local wrong = fault(page, link.target)
      if wrong then faults[#faults + 1] = ('%s:%d: %s: %s'):format(page, link.line, link.target, wrong) end
    end
  end
  assert(count > 100, 'links are found')
  if #faults > 0 then error('\n  ' .. table.concat(faults, '\n  '), 0) end
end)

test('the index lists every page of the documentation', function()
  local listed, missing = neighbours(index), {}
  for _, page in ipairs(pages) do
    if page:match('^docs/') and page ~= index and not listed[page] then missing[#missing + 1] = page end
  end
  if #missing > 0 then error(index .. ' has no link to\n  ' .. table.concat(missing, '\n  '), 0) end
end)

test('the index is two clicks from every page, and every page from it', function()
  local far = {}
  for _, page in ipairs(pages) do
    if page:match('^docs/') or page == 'README.md' or page == 'CONTRIBUTING.md' then
      if not within_two_clicks(page, index) then far[#far + 1] = page .. ' does not lead to ' .. index end
      if not within_two_clicks(index, page) then far[#far + 1] = index .. ' does not lead to ' .. page end
    end
  end
  if #far > 0 then error('\n  ' .. table.concat(far, '\n  '), 0) end
end)

-- Decision records may name files of their time.
local function current_pages()
  local list = {}
  for _, page in ipairs(pages) do
    if not page:match '^docs/adr/' and page ~= 'CHANGELOG.md' then list[#list + 1] = page end
  end
  return list
end

-- Pages name files from the root, from src, docs or scripts on. Capitals are placeholders. Installed files are
-- elsewhere.
local function is_missing_source(text)
  if not text:match '^[%w_./-]+/[%w_.-]+%.%l+$' or text:match '%u%u' then return false end
  local ending = text:match '%.(%l+)$'
  if not (' cpp h cu lua py sh cmake md '):find(' ' .. ending .. ' ', 1, true) then return false end
  for _, folder in ipairs { '', 'src/', 'docs/', 'scripts/', 'scripts/experiments/' } do
    if files.exists(pd.root .. '/' .. folder .. text) then return false end
  end
  return not text:match '^share/' and not text:match '^stubs/'
end

test('source files that pages name in code exist', function()
  test.equal(is_missing_source 'train/trainer.cpp', false)
  test.equal(is_missing_source 'src/train/trainer.cpp', false)
  test.equal(is_missing_source 'train/trainers.cpp', true)
  test.equal(is_missing_source 'src/stack/NAME.cpp', false)
  local faults = {}
  for _, page in ipairs(current_pages()) do
    for number, line in ipairs(prose_lines(text_of(page))) do
      for code in line:gmatch '`([^`]+)`' do
        if is_missing_source(code) then faults[#faults + 1] = ('%s:%d: %s'):format(page, number, code) end
      end
    end
  end
  if #faults > 0 then error('\n  ' .. table.concat(faults, '\n  '), 0) end
end)

-- Whether a path such as 'train.trainer' leads to a value from pd on.
local function exists_in_pd(path)
  local value = pd
  for part in path:gmatch '[^.]+' do
    local fine, field = pcall(function() return value[part] end)
    if not fine or field == nil then return false end
    value = field
  end
  return true
end

test('names of pd on pages exist', function()
  assert(exists_in_pd 'train.trainer' and not exists_in_pd 'train.trainers' and not exists_in_pd 'no.such')
  local faults, count = {}, 0
  for _, page in ipairs(current_pages()) do
    -- Sessions that begin with 'pd>' are run by test_examples, also those that show the error of a wrong name.
    local text = (text_of(page) .. '\n'):gsub('```\npd> .-\n```\n', function(session)
      return (session:gsub('[^\n]+', ''))
    end)
    local number = 0
    for line in text:gmatch '(.-)\n' do
      number = number + 1
      for path in line:gmatch '%f[%w_]pd%.([%a_][%w_.]*)' do
        path = path:gsub('%.+$', '')
        count = count + 1
        if not path:match '^%u+$' and not line:find('did you mean', 1, true) and not exists_in_pd(path) then
          faults[#faults + 1] = ('%s:%d: pd.%s'):format(page, number, path)
        end
      end
    end
  end
  assert(count > 300, count)
  if #faults > 0 then error('\n  ' .. table.concat(faults, '\n  '), 0) end
end)

test.finish()
