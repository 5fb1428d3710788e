-- Makes the pictures of the tutorial and of docs/concepts.md. Chapter NN of the tutorial runs at full size and writes
-- NAME.svg, which becomes pictures/NN_NAME.svg. scripts/tools/concepts/NAME.lua draws pictures/concepts/NAME.svg.
--
--   pushdown scripts/tools/make_pictures.lua [NN... | concepts]      the named chapters (02 03), by default everything
local files = require 'pushdown.files'
local pd = require 'pushdown'

local quoted = files.quoted

local chosen = {}
for _, number in ipairs(arg) do chosen[number] = true end
local scripts, pages = pd.root .. '/scripts/tutorial/', pd.root .. '/docs/tutorial/'
if next(chosen) == nil or chosen.concepts then
  for _, script in ipairs(files.find(pd.root .. '/scripts/tools/concepts', '%.lua$')) do
    local path = ('%s/docs/pictures/concepts/%s.svg'):format(pd.root, script:match '^(.*)%.lua$')
    files.make_folder(path:match '^(.*)/')
    dofile(pd.root .. '/scripts/tools/concepts/' .. script)(path)
    print('wrote ' .. path)
  end
end
files.make_folder(pages .. 'pictures')
for _, script in ipairs(files.find(scripts, '^%d%d_[%w_]+%.lua$')) do
  local number, names = script:sub(1, 2), {}
  for name in files.read(scripts .. script):gmatch('%-%- !%[[^%]]*%]%(pictures/' .. number .. '_([%w_]+)%.svg%)') do
    names[#names + 1] = name
  end
  if #names > 0 and (next(chosen) == nil or chosen[number]) then
    local folder = os.tmpname()
    os.remove(folder)
    print('running ' .. script)
    local status = os.execute(('%s %s --run-folder %s > /dev/null'):format(quoted(pd.process.executable()),
      quoted(scripts .. script), quoted(folder)))
    if status ~= 0 then error(script .. ' failed', 0) end
    for _, name in ipairs(names) do
      local path = ('%spictures/%s_%s.svg'):format(pages, number, name)
      files.write(path, files.read(('%s/%s.svg'):format(folder, name)))
      print('wrote ' .. path)
    end
    os.execute('rm -rf ' .. quoted(folder))
  end
end
