-- The pages of the documentation site: the Markdown of the repository in the same folders, as Python-Markdown reads it,
-- with the files that it links to, and the configuration of MkDocs.
local files = require 'pushdown.files'
local json = require 'pushdown.json'
local pd = require 'pushdown'
local markdown = dofile(pd.root .. '/scripts/tools/markdown.lua')

local M = {}

local index = 'docs/README.md'

-- Moves the lines inside of lists: GitHub takes as many blanks as the mark of the item has, Python-Markdown four for
-- each level. Lines of fenced blocks move with their block.
local function indenter()
  local offsets, fence, fence_level = {}, nil, 0
  local function placed(line, level)
    local base = offsets[level] or 0
    return (' '):rep(math.max(0, 4 * level + #line:match '^ *' - base)) .. line:gsub('^ *', '')
  end
  return function(line)
    if line:find '^%s*$' then return line end
    local mark = line:match '^%s*(```+)'
    if fence then
      local moved = placed(line, fence_level)
      if mark and #mark >= #fence then fence = nil end
      return moved, true
    end
    local blanks = #line:match '^ *'
    while #offsets > 0 and blanks < offsets[#offsets] do table.remove(offsets) end
    local level = #offsets
    local moved = placed(line, level)
    local item = line:match '^ *([-*+] +)' or line:match '^ *(%d+[.)] +)'
    if item and blanks - (offsets[level] or 0) < 4 then offsets[level + 1] = blanks + #item end
    if mark then fence, fence_level = mark, level end
    return moved, mark ~= nil
  end
end

-- A row of a table: in code, Python-Markdown shows the backslash of an escaped bar.
local function row(line)
  return (line:gsub('(`+)(.-)%1', function(ticks, code) return ticks .. code:gsub('\\|', '|') .. ticks end))
end

-- site_pages.converted(text) -> the page for MkDocs: without the link to the list of pages, and with the anchors of
-- GitHub.
function M.converted(text)
  local out, counts, indented = {}, {}, indenter()
  local link = '%[Documentation%]%([^\n]*%)\n'
  text = text:gsub('^(<!%-%-[^\n]*%-%->\n)' .. link, '%1'):gsub('^' .. link, '')
  for line in (text:match '^(.-)\n*$' .. '\n'):gmatch '([^\n]*)\n' do
    local moved, is_code = indented(line)
    if not is_code then
      local heading = moved:match '^#+%s+(.-)[%s#]*$'
      if heading then
        local name = markdown.slug(heading)
        local number = counts[name]
        counts[name] = (number or 0) + 1
        moved = ('%s %s {#%s}'):format(moved:match '^#+', heading, number and name .. '-' .. number or name)
      elseif moved:find '^%s*|' then
        moved = row(moved)
      end
    end
    out[#out + 1] = moved
  end
  return table.concat(out, '\n') .. '\n'
end

-- The first heading of a page, as plain text.
local function title_of(path)
  for _, line in ipairs(markdown.prose_lines(files.read(pd.root .. '/' .. path))) do
    local title = line:match '^#+%s+(.-)%s*$'
    if title then return (title:gsub('[`*]', '')) end
  end
  return path
end

-- site_pages.navigation(pages) -> the menu: the sections of the list of pages with its names for them, then the other
-- pages.
function M.navigation(pages)
  local menu, seen, section = { { Home = 'README.md' } }, { ['README.md'] = true, [index] = true }, nil
  local function add(title, path)
    seen[path] = true
    section[#section + 1] = { [title] = path }
  end
  local function begin(title)
    section = {}
    menu[#menu + 1] = { [title] = section }
  end
  for _, line in ipairs(markdown.prose_lines(files.read(pd.root .. '/' .. index))) do
    local heading = line:match '^##%s+(.-)%s*$'
    if heading then begin(heading) end
    local text, target = line:match '^|%s*%[([^%]]+)%]%(([^)#]+)%)'
    local path = target and markdown.resolved(index, target)
    if path and path:find '%.md$' and not seen[path] then
      add(text:find '^%d+$' and title_of(path) or (text:gsub('`', '')), path)
    end
  end
  begin 'Project'
  add('All pages', index)
  for _, path in ipairs(pages) do
    if not seen[path] then add(title_of(path), path) end
  end
  return menu
end

-- The files and pictures that a page links to and that are no pages.
local function linked(path, text)
  local found = {}
  for _, link in ipairs(markdown.links(text)) do
    local target = not link.target:find '^%a[%w+.-]*:' and link.target:match '^[^#]+'
    local file = target and markdown.resolved(path, target)
    if file and not file:find '%.md$' then found[#found + 1] = file end
  end
  return found
end

-- site_pages.write(folder, site) -> the number of pages. Writes the pages and mkdocs.yml into the folder; MkDocs puts
-- the site into the folder `site`.
function M.write(folder, site)
  local pages, copied = markdown.pages(), {}
  local function put(path, text)
    files.make_folder(folder .. '/pages/' .. (path:match '^(.*)/' or ''))
    files.write(folder .. '/pages/' .. path, text)
  end
  for _, path in ipairs(pages) do
    local text = files.read(pd.root .. '/' .. path)
    put(path, M.converted(text))
    for _, file in ipairs(linked(path, text)) do
      if not copied[file] then put(file, files.read(pd.root .. '/' .. file)) end
      copied[file] = true
    end
  end
  put('site.css', files.read(pd.root .. '/scripts/tools/site.css'))
  local function palette(scheme, icon, name)
    return { scheme = scheme, primary = 'indigo', accent = 'indigo', media = ('(prefers-color-scheme: %s)'):format(
      scheme == 'slate' and 'dark' or 'light'), toggle = { icon = icon, name = name } }
  end
  -- JSON is YAML. Pages are files beside one another, so that the site also works without a server.
  files.write(folder .. '/mkdocs.yml', json.encode { site_name = 'Pushdown', docs_dir = 'pages', site_dir = site,
    site_description = 'An experiment shell for stack-augmented neural networks that learn context-free languages',
    use_directory_urls = false, nav = M.navigation(pages), extra_css = { 'site.css' }, plugins = { 'search' },
    theme = { name = 'material', font = false, features = { 'navigation.top', 'search.highlight', 'search.suggest',
      'content.code.copy', 'toc.follow', 'toc.integrate' },
      palette = { palette('default', 'material/weather-night', 'Dark'),
        palette('slate', 'material/weather-sunny', 'Light') } },
    markdown_extensions = { 'attr_list', 'tables', 'md_in_html', 'pymdownx.superfences', 'pymdownx.highlight',
      { toc = { permalink = true } } } } .. '\n')
  return #pages
end

return M
