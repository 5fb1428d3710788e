-- What the models of several papers share: the options of a network, and transformers with every encoding of positions.
local M = {}

-- networks.options(row, options, given) -> the options of a model: `given` with the network of a model of a paper. A
-- transformer has the layers of the row, or else `layers` attention layers, with `heads` heads on vectors of `width`,
-- the feedforward size that is given and the `network` options of the row; other networks have the controller and the
-- stack of the row.
function M.options(row, options, given)
  if row.architecture == 'transformer' then
    given.architecture, given.layers = 'transformer', row.layers and row.layers(options) or {}
    for i = 1, row.layers and 0 or options.layers do given.layers[i] = 'attention' end
    given.hidden, given.heads = options.width, options.heads
    for key, value in pairs(row.network or {}) do given[key] = value end
  else
    given.feedforward = nil
    given.controller, given.stack = row.controller(options), row.stack and row.stack(options)
  end
  return given
end

-- networks.transformers() -> models of a paper: a transformer with each encoding of positions. Those of Delétang et al.
-- (2023) are a group, of which tables also show the best.
function M.transformers()
  local rows = {}
  for _, encoding in ipairs { { 'sinusoidal', 'Transformer' }, { 'none', 'Transformer, no positions' },
    { 'rotary', 'Transformer, RoPE' }, { 'alibi', 'Transformer, ALiBi' }, { 'relative', 'Transformer, relative' },
    { 'randomized', 'Transformer, randomized' } } do
    local positions, label = encoding[1], encoding[2]
    local row = { name = 'transformer_' .. positions, label = label, architecture = 'transformer',
      network = { positions = positions }, group = 'Transformer (best encoding)' }
    if positions == 'sinusoidal' then row.name, row.network = 'transformer', nil end
    -- Of Ruoss et al. (2023). In evaluation, 2,000 symbols have every fourth position.
    if positions == 'randomized' then row.group, row.network.longest_position = nil, 8192 end
    rows[#rows + 1] = row
  end
  return rows
end

return M
