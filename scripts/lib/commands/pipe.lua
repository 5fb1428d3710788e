-- `pushdown pipe`: answers requests of another program, one JSON object a line (docs/reference/pipe.md).
local command = require 'pushdown.commands.shared.command'
local json = require 'pushdown.json'
local methods = require 'pushdown.commands.pipe.methods'
local pd = require 'pushdown'

local protocol = 1  -- grows with every change that an older program on the other side would not understand
local longest_line = 2 ^ 26  -- bytes

local declaration = {
  name = 'pushdown pipe', options = {},
  doc = 'Answers requests of other programs, such as the Python module pushdown_shell: reads one JSON object per line '
    .. 'from\nstandard input and writes one per line to standard output, until the input ends.',
}

local request_of = pd._options.declare('pipe', {
  { 'id', nil, 'number or text that the answer repeats', type = 'number or text' },
  { 'method', nil, 'name of the method', type = 'text', required = true },
  { 'arguments', {}, 'arguments of the method by name', type = 'table' },
})

-- A message without the place in this command or in the library where the error was raised.
local function said(problem)
  local text = pd._text.clean(tostring(type(problem) == 'table' and problem.usage or problem))
  text = text:gsub('^pipe:%d+: ', '')
  local place, rest = text:match '^([^\n:]*%.lua):%d+: (.*)$'
  return place and place:find('/lib/', 1, true) and rest or text
end

local function answer(line, cut)
  local reply = { id = json.null }
  local ok, result = pcall(function()
    if cut then error(('[pipe] the line is too long: expected at most %d bytes'):format(longest_line), 0) end
    local read = json.decode(line, true)
    if type(read) ~= 'table' or read == json.null or read[1] ~= nil then
      error('[pipe] expected an object with a method, got another value', 0)
    end
    if type(read.id) == 'number' or type(read.id) == 'string' then reply.id = read.id end
    for key, value in pairs(read) do
      if value == json.null then read[key] = nil end
    end
    local request = request_of(read, 'pipe')
    return methods.call(request.method, request.arguments)
  end)
  if ok then reply.result = result == nil and json.null or result else reply.error = said(result) end
  return json.encode(json.ordered(reply, { 'id', 'result', 'error' }))
end

-- What scripts and definitions print goes to standard error.
local function keep_output()
  local output = io.stdout
  io.output(io.stderr)
  rawset(io, 'stdout', io.stderr)
  rawset(io, 'write', function(...) return io.stderr:write(...) end)
  rawset(_G, 'print', function(...)
    local texts = {}
    for i = 1, select('#', ...) do texts[i] = tostring((select(i, ...))) end
    io.stderr:write(table.concat(texts, '\t'), '\n')
  end)
  return output
end

return command.new(declaration, 0, function()
  local output = keep_output()
  local function send(text)
    if not (output:write(text, '\n') and output:flush()) then error('the answer cannot be written', 0) end
  end
  send(json.encode(json.ordered({ protocol = protocol, program = 'pushdown', version = pd.version },
    { 'protocol', 'program', 'version' })))
  local first = true
  for line, cut in function() return pd._text.read_line(longest_line) end do
    -- Some programs begin their output with a byte order mark.
    send(answer(first and line:gsub('^\239\187\191', '') or line, cut))
    first = false
  end
end)
