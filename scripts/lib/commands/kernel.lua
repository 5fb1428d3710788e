-- `pushdown kernel install`: registers the notebook kernel with Jupyter.
local command = require 'pushdown.commands.shared.command'
local experiment = require 'pushdown.experiment'
local files = require 'pushdown.files'
local json = require 'pushdown.json'
local pd = require 'pushdown'

local declaration = {
  name = 'pushdown kernel install|remove',
  doc = 'Registers the notebook kernel with Jupyter for this user (install), or removes it (remove).',
  options = {
    { 'name', 'pushdown', 'its name in Jupyter: jupyter console --kernel NAME' },
    { 'prefix', '', 'for all users of the Python or Jupyter below this folder; otherwise for this user' },
  },
}

-- The folder in which Jupyter looks for kernels.
local function kernels_folder(prefix)
  if prefix ~= '' then return prefix .. '/share/jupyter/kernels' end
  local data = os.getenv 'JUPYTER_DATA_DIR'
  if data and data ~= '' then return data .. '/kernels' end
  local home = os.getenv 'XDG_DATA_HOME'
  if home and home ~= '' then return home .. '/jupyter/kernels' end
  home = os.getenv 'HOME'
  if not home or home == '' then error('HOME is not set; name a folder with --prefix', 0) end
  return home .. '/.local/share/jupyter/kernels'
end

-- The package of the library that the kernel needs.
local advice = 'install xeus-zmq-dev (Debian 13) or xeus-dev (Debian 12), then run this again:\n'
  .. '  sudo apt-get install -y --no-install-recommends %s'

local function package_of_system()
  local ok, release = pcall(files.read, '/etc/os-release')
  return ok and release:find('VERSION_CODENAME=bookworm', 1, true) and 'xeus-dev' or 'xeus-zmq-dev'
end

-- Builds the kernel in the build folder of this program. An error names missing packages.
local function build(folder)
  local quoted = files.quoted(folder)
  print('Building the kernel in ' .. folder)
  local log = os.tmpname()
  local status = os.execute(('{ cmake -S %s -B %s && cmake --build %s --target notebooks; } > %s 2>&1'):format(
    files.quoted(pd.root), quoted, quoted, files.quoted(log)))
  local said = files.read(log)
  os.remove(log)
  local without = said:match 'Kernel for notebooks: not built, ([^\n]*)'
  if without then
    error(('the kernel cannot be built: %s; %s'):format(without, advice:format(package_of_system())), 0)
  end
  if status ~= 0 then error('the kernel could not be built:\n' .. said:sub(-2000), 0) end
end

-- The program beside this one that Jupyter starts. In a build folder it is built if necessary.
local function program()
  local shell = pd.process.executable()
  local path, folder = shell .. '-kernel', shell:match '^(.*)/[^/]*$'
  if not files.exists(path) and files.exists(folder .. '/CMakeCache.txt') then build(folder) end
  if not files.exists(path) and os.getenv 'PUSHDOWN_MODULE' then
    error('the Python package has no kernel for notebooks; build Pushdown from its sources (docs/install.md)', 0)
  end
  if not files.exists(path) then
    error(('this Pushdown was built without the kernel (no %s); to build it, %s'):format(path,
      advice:format(package_of_system())), 0)
  end
  return path
end

local function install(options)
  local folder = kernels_folder(options.prefix) .. '/' .. options.name
  local spec = { argv = json.list { program(), '-f', '{connection_file}' }, display_name = 'Pushdown ' .. pd.version,
    language = 'lua', interrupt_mode = 'signal' }
  files.make_folder(folder)
  files.write(folder .. '/kernel.json', json.encode(spec, true) .. '\n')
  print(('wrote %s/kernel.json; try: jupyter console --kernel %s'):format(folder, options.name))
end

local function remove(options)
  local folder = kernels_folder(options.prefix) .. '/' .. options.name
  if not files.exists(folder .. '/kernel.json') then error(('there is no %s/kernel.json'):format(folder), 0) end
  os.remove(folder .. '/kernel.json')
  os.remove(folder)
  print('removed ' .. folder)
end

local actions = { install = install, remove = remove }

return command.new(declaration, 1, function(options)
  if #options.words == 0 then return io.write(experiment.help(declaration)) end
  local action = command.pick(actions, options.words[1])
  if not options.name:find '^[%w._-]+$' then
    command.fail("--name must consist of letters, digits, '.', '_' and '-', got '%s'", options.name)
  end
  action(options)
end)
