-- Reads the Markdown pages of the repository: their headings, anchors and links.
local files = require 'pushdown.files'
local pd = require 'pushdown'

local M = {}

local quoted = files.quoted

local function lines_of(command)
  local pipe = assert(io.popen(command))
  local lines = {}
  for line in pipe:lines() do lines[#lines + 1] = line end
  pipe:close()
  return lines
end

-- markdown.pages() -> the paths of the Markdown files from the root on. Without git, all files outside of build and run
-- folders are taken.
function M.pages()
  local root = quoted(pd.root)
  local paths = lines_of(('git -C %s ls-files --cached --others --exclude-standard -- "*.md" 2>/dev/null'):format(root))
  if #paths == 0 then
    paths = lines_of(('cd %s && find . -name "*.md" -not -path "./build*" -not -path "./runs/*" -not -path "*/.*/*"')
      :format(root))
  end
  local seen, kept = {}, {}
  for _, path in ipairs(paths) do
    path = path:gsub('^%./', '')
    if not seen[path] and files.exists(pd.root .. '/' .. path) then kept[#kept + 1], seen[path] = path, true end
  end
  table.sort(kept)
  return kept
end

-- markdown.prose_lines(text) -> its lines without fenced blocks (blank instead, so that numbers stay).
function M.prose_lines(text)
  local lines, fence = {}, nil
  for line in (text .. '\n'):gmatch('(.-)\n') do
    local mark = line:match('^%s*(```+)') or line:match('^%s*(~~~+)')
    if fence then
      if mark and mark:sub(1, #fence) == fence then fence = nil end
      line = ''
    elseif mark then
      fence, line = mark, ''
    end
    lines[#lines + 1] = line
  end
  return lines
end

-- The code points of a UTF-8 text.
local function code_points(text)
  local points = {}
  for char in text:gmatch('[%z\1-\127\194-\244][\128-\191]*') do
    local first, rest = char:byte(1), { char:byte(2, -1) }
    local point = first
    if #rest > 0 then point = first % 2 ^ (6 - #rest) end
    for _, byte in ipairs(rest) do point = point * 64 + byte % 64 end
    points[#points + 1] = { char = char, point = point }
  end
  return points
end

-- GitHub keeps letters, digits, marks, hyphens and underscores of all scripts. Outside of ASCII, this function knows
-- letters below U+2000, the superscript letters i and n, the subscript letters, and everything from U+3040 on.
local function kept_in_slug(char, point)
  if point < 128 then return char:match('[%w_%- ]') ~= nil end
  if point == 0xAA or point == 0xB5 or point == 0xBA then return true end
  if point >= 0xC0 and point < 0x2000 then return point ~= 0xD7 and point ~= 0xF7 end
  return point == 0x2071 or point == 0x207F or (point >= 0x2090 and point <= 0x209C) or point >= 0x3040
end

-- markdown.slug(heading) -> the anchor that GitHub gives to a heading.
function M.slug(heading)
  local text = heading:gsub('%s+#+%s*$', ''):gsub('!?%[([^%]]*)%]%([^)]*%)', '%1'):gsub('`', ''):gsub('%*', '')
  local out = {}
  for _, one in ipairs(code_points(text:lower())) do
    if kept_in_slug(one.char, one.point) then out[#out + 1] = one.char == ' ' and '-' or one.char end
  end
  return table.concat(out)
end

-- markdown.anchors(text) -> the anchors of a page as a set: those of its headings, repeated ones numbered, and the
-- names and ids of HTML elements.
function M.anchors(text)
  local anchors, counts = {}, {}
  for _, line in ipairs(M.prose_lines(text)) do
    local heading = line:match('^#+%s+(.-)%s*$')
    if heading then
      local name = M.slug(heading)
      anchors[counts[name] and name .. '-' .. counts[name] or name] = true
      counts[name] = (counts[name] or 0) + 1
    end
    for _, pattern in ipairs { '<[^>]-%sid="([^"]+)"', '<a%s+name="([^"]+)"' } do
      for name in line:gmatch(pattern) do anchors[name] = true end
    end
  end
  return anchors
end

-- markdown.links(text) -> all links of a page: { line =, target = }.
function M.links(text)
  local links = {}
  for number, line in ipairs(M.prose_lines(text)) do
    line = line:gsub('(`+).-%1', '')
    local function add(target) links[#links + 1] = { line = number, target = target:gsub('^<(.*)>$', '%1') } end
    for target in line:gmatch('%]%(%s*([^%s)]+)[^)]*%)') do add(target) end
    for _, attribute in ipairs { 'src', 'href' } do
      for target in line:gmatch('%s' .. attribute .. '="([^"]+)"') do add(target) end
    end
    local defined = line:match('^%s?%s?%s?%[[^%]]+%]:%s+(%S+)')
    if defined then add(defined) end
  end
  return links
end

-- markdown.resolved(page, link) -> the path of a relative link, from the root on, or nil if it leaves the root.
function M.resolved(page, link)
  local parts = {}
  for part in ((page:match('^(.*/)') or '') .. link):gmatch('[^/]+') do
    if part == '..' then
      if #parts == 0 then return nil end
      parts[#parts] = nil
    elseif part ~= '.' then
      parts[#parts + 1] = part
    end
  end
  return table.concat(parts, '/')
end

return M
