-- Writes pictures to files: SVG unchanged, PDF and PNG through rsvg-convert (Debian: librsvg2-bin).
local files = require 'pushdown.files'
local pd = require 'pushdown'
local trim = require 'pushdown.text.trim'

local M = {}

M.formats = { svg = true, pdf = true, png = true }

local zoom = 2  -- of PNG pictures, for screens and slides

local found

-- Returns whether this machine can convert pictures to PDF and PNG.
function M.possible()
  if found == nil then
    local status = os.execute 'command -v rsvg-convert > /dev/null 2>&1'
    found = status == 0 or status == true
  end
  return found
end

-- export.format(path) -> 'svg', 'pdf' or 'png', depending on the file name extension; nil for any other.
function M.format(path)
  local ending = path:match '%.(%w+)$'
  ending = ending and ending:lower()
  return M.formats[ending] and ending or nil
end

-- Formats of pictures that nobody expects to contain SVG.
local others = { jpg = true, jpeg = true, gif = true, webp = true, bmp = true, tif = true, tiff = true, eps = true,
  ps = true }

-- export.write(path, picture): writes the SVG text `picture` in the format of the path's extension, or as SVG if it has
-- none of these; the endings of other formats are errors. The file is replaced atomically.
function M.write(path, picture)
  local format = M.format(path) or 'svg'
  if others[(path:match '%.(%w+)$' or ''):lower()] then
    error(("[plot] '%s' must end in .svg, .pdf or .png"):format(path), 0)
  end
  if format == 'svg' then return pd.file.write(path, picture) end
  if not M.possible() then
    error(("[plot] '%s' needs the program rsvg-convert (Debian: librsvg2-bin); without it pictures are SVG")
      :format(path), 0)
  end
  local source, made = path .. '.part.svg', path .. '.part'
  files.write(source, picture)
  local pipe = assert(io.popen(('rsvg-convert --keep-aspect-ratio -f %s -z %s %s -o %s 2>&1; echo "exit $?"'):format(
    format, format == 'png' and zoom or 1, files.quoted(source), files.quoted(made))))
  local said, status = pipe:read '*a':match '^(.*)exit (%d+)\n$'
  pipe:close()
  os.remove(source)
  local done, reason = status == '0', trim.right(said)
  if done then done, reason = os.rename(made, path) end
  if not done then
    os.remove(made)
    error(("[plot] cannot write '%s': %s"):format(path, reason), 0)
  end
end

-- export.all(path, picture): writes path.svg and, if rsvg-convert is installed, path.pdf and path.png.
function M.all(path, picture)
  for _, ending in ipairs(M.possible() and { '.svg', '.pdf', '.png' } or { '.svg' }) do
    M.write(path .. ending, picture)
  end
end

return M
