-- policy(styles, scripts, live) -> the Content-Security-Policy of a page as a meta element. The page can apply only
-- these styles and run only these scripts, given as the texts of their elements, and it can load nothing. A live page
-- can also ask its own server.
local pd = require 'pushdown'

local function hashes(texts)
  local words = {}
  for i, text in ipairs(texts) do words[i] = "'sha256-" .. pd._text.sha256_base64(text) .. "'" end
  return #words > 0 and table.concat(words, ' ') or "'none'"
end

return function(styles, scripts, live)
  return ('<meta http-equiv="Content-Security-Policy" content="default-src \'none\'; style-src %s; script-src %s; '
    .. '%simg-src data:; base-uri \'none\'; form-action \'none\'">'):format(hashes(styles), hashes(scripts),
    live and "connect-src 'self'; " or '')
end
