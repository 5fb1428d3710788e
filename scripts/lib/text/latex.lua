-- Texts and names as LaTeX.
local M = {}

-- Characters that need escaping, and others that pdflatex does not know.
local characters = { ['\\'] = '\\textbackslash{}', ['{'] = '\\{', ['}'] = '\\}', ['$'] = '\\$', ['&'] = '\\&',
  ['#'] = '\\#', ['%'] = '\\%', ['_'] = '\\_', ['^'] = '\\textasciicircum{}', ['~'] = '\\textasciitilde{}',
  ['<'] = '\\textless{}', ['>'] = '\\textgreater{}', ['|'] = '\\textbar{}', ['±'] = '$\\pm$', ['×'] = '$\\times$',
  ['−'] = '$-$', ['∞'] = '$\\infty$', ['–'] = '--', ['…'] = '\\ldots{}', ['≤'] = '$\\leq$', ['≥'] = '$\\geq$',
  ['·'] = '$\\cdot$', ['→'] = '$\\to$', ['⊥'] = '$\\bot$', ['⊤'] = '$\\top$', ['⊢'] = '$\\vdash$',
  ['⊣'] = '$\\dashv$', ['ε'] = '$\\varepsilon$', ['ϵ'] = '$\\epsilon$', ['λ'] = '$\\lambda$', ['α'] = '$\\alpha$',
  ['β'] = '$\\beta$', ['γ'] = '$\\gamma$', ['δ'] = '$\\delta$', ['σ'] = '$\\sigma$', ['Γ'] = '$\\Gamma$',
  ['Σ'] = '$\\Sigma$', ['∅'] = '$\\emptyset$', ['□'] = '$\\Box$' }

local raised = { ['⁰'] = '0', ['¹'] = '1', ['²'] = '2', ['³'] = '3', ['⁴'] = '4', ['⁵'] = '5', ['⁶'] = '6',
  ['⁷'] = '7', ['⁸'] = '8', ['⁹'] = '9', ['⁺'] = '+', ['⁻'] = '-', ['ⁿ'] = 'n', ['ᵐ'] = 'm', ['ᵏ'] = 'k', ['ᵀ'] = 'T' }
local lowered = { ['₀'] = '0', ['₁'] = '1', ['₂'] = '2', ['₃'] = '3', ['₄'] = '4', ['₅'] = '5', ['₆'] = '6',
  ['₇'] = '7', ['₈'] = '8', ['₉'] = '9', ['₊'] = '+', ['₋'] = '-', ['ₙ'] = 'n', ['ₘ'] = 'm', ['ₖ'] = 'k', ['ₜ'] = 't' }

-- Converts one character; adjacent superscripts or subscripts are joined afterwards.
local function converted(character)
  if raised[character] then return '$^{' .. raised[character] .. '}$' end
  if lowered[character] then return '$_{' .. lowered[character] .. '}$' end
  return characters[character]
end

-- latex.text(text) -> the text with its special characters escaped, in one line.
function M.text(text)
  text = text:gsub('[%z\1-\127\194-\244][\128-\191]*', converted):gsub('%c', ' ')
  local joined
  repeat text, joined = text:gsub('(%$([%^_]){[^}]*)}%$%$%2{', '%1') until joined == 0
  return text
end

-- latex.symbol(text) -> the same without ligatures: -- is two hyphens, and single quotes are straight.
function M.symbol(text)
  text = M.text(text):gsub('%-%-', '-{}-'):gsub('%-%-', '-{}-')
  return (text:gsub("'", '{\\textquotesingle}'):gsub('`', '{\\textasciigrave}'))
end

-- Whether a name is TeX: between dollars, with pairs of braces, and with backslashes before letters only.
local function is_tex(name)
  local inside = name:match '^%$([^$%%#&]+)%$$'
  if not inside or inside:find '\\[^%a]' or inside:find '\\$' then return false end
  local depth = 0
  for brace in inside:gmatch '[{}]' do
    depth = depth + (brace == '{' and 1 or -1)
    if depth < 0 then return false end
  end
  return depth == 0
end

-- latex.name(name) -> the name of a state: TeX as it is, q0 and q_0 with an index, any other as a symbol.
function M.name(name)
  if is_tex(name) then return name end
  local letter, index, primes = name:match "^(%a)_?(%d+)('*)$"
  if letter then return ('$%s_{%s}%s$'):format(letter, index, primes) end
  return M.symbol(name)
end

return M
