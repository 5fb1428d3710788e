-- The page of `pushdown report --live`: a server on 127.0.0.1 that shows it and makes it again when the runs have
-- changed. It answers nothing but GET for the page, to those who know the token in its address.
local bit = require 'bit'
local page = require 'pushdown.report.page'
local pd = require 'pushdown'
local runs = require 'pushdown.runs'
local selection = require 'pushdown.runs.selection'
local trim = require 'pushdown.text.trim'

local M = {}
M.__index = M

local longest_pause = 15  -- seconds after which the runs are read again even if no file has changed
local share = 0.1         -- the part of one processor that making the page may take

-- 128 random bits in hexadecimal.
local function random_token()
  local file = assert(io.open('/dev/urandom', 'rb'))
  local bytes = file:read(16)
  file:close()
  return (bytes:gsub('.', function(byte) return ('%02x'):format(byte:byte()) end))
end

-- Returns whether two texts are equal; the time does not depend on where they differ.
local function equal(given, wanted)
  local difference = #given == #wanted and 0 or 1
  for i = 1, #wanted do difference = bit.bor(difference, bit.bxor(given:byte(i) or 0, wanted:byte(i))) end
  return difference == 0
end

local reasons = { [200] = 'OK', [204] = 'No Content', [400] = 'Bad Request', [403] = 'Forbidden', [404] = 'Not Found',
  [405] = 'Method Not Allowed', [500] = 'Internal Server Error' }
-- No other page may read, frame or guess from the cache what this one shows, and its address goes to nobody.
local fields = table.concat({ 'Connection: close', 'Cache-Control: no-store', 'X-Content-Type-Options: nosniff',
  'X-Frame-Options: DENY', "Content-Security-Policy: frame-ancestors 'none'", 'Referrer-Policy: no-referrer',
  'Cross-Origin-Resource-Policy: same-origin', 'Cross-Origin-Opener-Policy: same-origin' }, '\r\n')

local function response(status, body, kind)
  body = body or ('%d %s\n'):format(status, reasons[status])
  return ('HTTP/1.1 %d %s\r\n%s\r\nContent-Type: %s; charset=utf-8\r\nContent-Length: %d\r\n%s\r\n%s'):format(status,
    reasons[status], fields, kind or 'text/plain', status == 204 and 0 or #body,
    status == 405 and 'Allow: GET\r\n' or '', status == 204 and '' or body)
end

-- The options with the newest grid or run of the registry if they choose none.
local function chosen(options)
  if #options.words > 0 or selection.filtered(options) then return options end
  local path = options.registry or runs.path()
  local row = runs.find({ sort = 'started', descending = true, limit = 1 }, path)[1]
  if not row then
    selection.fail('which runs? there is no run in %s; expected the folder of a run or a grid', path or 'any registry')
  end
  local added = row.grid and { grid = row.grid } or { words = { row.folder } }
  return pd.tables.merged(options, added)
end

-- What changes with the files of the runs.
local function state_of(options, rows)
  local parts, folders = {}, {}
  for _, word in ipairs(options.words) do
    if not word:match '^%d+$' then folders[#folders + 1] = pd.file.real_path(word) end
  end
  if #folders == 0 then
    for i, row in ipairs(rows) do folders[i] = row.folder end
  end
  for i, folder in ipairs(folders) do
    local ok, found = pcall(pd.file.contents, folder)
    parts[i] = ok and ('%d:%.0f'):format(found.files, found.bytes) or 'gone'
  end
  return table.concat(parts, ' ')
end

-- live.open(options) -> a page with address and counts, the number of its runs as a text, which serve() serves.
-- options: those of the command line. Raises an error if there is no such run, unless a grid is about to make some.
function M.open(options)
  local self = setmetatable({ options = chosen(options), token = random_token(), version = 0, next = 0 }, M)
  self.server = pd._server.listen(options.port)
  local waiting = false
  while not pcall(self.make, self) do
    local word = self.options.words[1]
    if not word or pd.file.kind(word .. '/grid.json') ~= 'file' then self:make() end
    if not waiting then io.stderr:write(('pushdown report: waiting for the first run in %s\n'):format(word)) end
    waiting = true
    self:serve(0.5)
  end
  self.address = ('http://127.0.0.1:%d/%s/'):format(self.server:port(), self.token)
  return self
end

-- Makes the page again; its version grows if it differs.
function M:make()
  local start = pd.process.clock()
  local html, counts, reason, rows = page.html(self.options)
  self.state = state_of(self.options, rows)
  local now = pd.process.clock()
  self.latest, self.next = now, now + (now - start) / share
  if html ~= self.html then self.html, self.version = html, self.version + 1 end
  self.counts, self.reason, self.rows = counts, reason, rows
end

-- Makes the page again if the runs may have changed.
function M:refresh()
  local now = pd.process.clock()
  if now < self.next then return end
  if now > self.latest + longest_pause or state_of(self.options, self.rows) ~= self.state then self:make() end
end

-- The method, the target and the hosts that a request names, in linear time; nil if it is not well formed. Its lines
-- have no control characters besides tabs.
local function parts_of(head)
  local lines, hosts = {}, {}
  for line in (head .. '\r\n'):gmatch '(.-)\r\n' do
    if line:find '[%z\1-\8\10-\31\127]' then return nil end
    lines[#lines + 1] = line
  end
  local method, target = lines[1]:match '^(%u+) (/[%w/?=&.~_-]*) HTTP/1%.[01]$'
  for i = 2, #lines do
    local name, value = lines[i]:match '^([^%s:]+):(.*)$'
    if not name then return nil end
    if name:lower() == 'host' then hosts[#hosts + 1] = trim.both(value) end
  end
  return method, target, hosts
end

-- answer(head) -> the answer to a request, given by its first line and header fields.
function M:answer(head)
  local method, target, hosts = parts_of(head)
  if not method then return response(400) end
  -- A name of another host that leads here is not an address of this page.
  local port = ':' .. self.server:port()
  if #hosts ~= 1 or hosts[1] ~= '127.0.0.1' .. port and hosts[1] ~= 'localhost' .. port then return response(403) end
  local token, name = target:match '^/([^/?]*)(.*)$'
  if not equal(token, self.token) then return response(403) end
  if method ~= 'GET' then return response(405) end
  local after = name:match '^/changes%?after=(%d+)$'
  if name ~= '/' and not after then return response(404) end
  local ok, problem = pcall(self.refresh, self)
  if not ok then return response(500, tostring(problem)) end
  if after == tostring(self.version) then return response(204) end
  return response(200, (self.html:gsub('<html', '%0 data-version="' .. self.version .. '"', 1)), 'text/html')
end

-- Answers requests for this time in seconds, by default until an interrupt.
function M:serve(seconds)
  local last = pd.process.clock() + (seconds or math.huge)
  while pd.process.clock() < last do
    local number, head = self.server:next(math.min(1, math.max(0, last - pd.process.clock())))
    if number then self.server:reply(number, self:answer(head)) end
  end
end

return M
