-- Makes the documentation as a site with search and a dark mode, from the same Markdown, by MkDocs and its theme
-- Material (Debian: mkdocs-material).
--
--   pushdown scripts/tools/make_site.lua [FOLDER]
--
-- FOLDER: of the site, by default build/site. Exit status: 1 if a page or a link is wrong, 77 if MkDocs or the theme is
-- not installed.
local files = require 'pushdown.files'
local pd = require 'pushdown'
local site_pages = dofile(pd.root .. '/scripts/tools/site_pages.lua')

local site = arg[1] or pd.root .. '/build/site'
files.make_folder(site)
site = pd.file.real_path(site)
local folder = pd.file.temporary_folder()
local count = site_pages.write(folder, site)
local log = folder .. '/log'
local status = os.execute(('cd %s && mkdocs build --strict --clean > log 2>&1'):format(files.quoted(folder)))
local said = files.read(log)
pd.file.remove_folder(folder)
if said:find('mkdocs: not found', 1, true) or said:find('Unrecognised theme', 1, true) then
  io.stderr:write('make_site.lua: no site: MkDocs or its theme Material is not installed (Debian: mkdocs-material)\n')
  os.exit(77)
end
if status ~= 0 then
  io.stderr:write(said)
  os.exit(1)
end
print(('%s: %d pages'):format(site .. '/index.html', count))
