-- The numbers of a training over its epochs as columns, from the metrics.jsonl of its run folder.
local metric = require 'pushdown.statistics.metric'
local metrics = require 'pushdown.store.metrics'

local M = { each = metrics.each }

-- Fields of a line that are not measured.
local not_measured = { event = true, epoch = true, updates = true, symbols = true, stage = true, improved = true,
  best_epoch = true, best_cross_entropy = true, best_accuracy = true, epochs_since_improvement = true }

-- Returns whether a number of that name is measured in an epoch.
function M.is_measured(name) return not not_measured[name] end

-- history.read(folder) -> {keys =, columns = {[metric] = {...}}, epoch =, update =, seconds =, batches =}: lists with a
-- number for each epoch (NaN if not measured), or nil if nothing was trained. seconds: time of training and validation
-- since training began. batches: {update =, loss =, ...} if single updates were logged. bound_includes_end: whether the
-- lower bound counts ends that the model does not predict.
function M.read(folder)
  local batches = { update = {}, loss = {} }
  local rows = metrics.epochs(folder, function(entry)
    if entry.event == 'update' and tonumber(entry.update) and tonumber(entry.loss) then
      table.insert(batches.update, entry.update)
      table.insert(batches.loss, entry.loss)
    end
  end)
  if #rows == 0 then return nil end
  local history = { keys = {}, columns = {}, epoch = {}, update = {}, seconds = {},
    batches = #batches.update > 0 and batches or nil }
  local known, seconds = {}, 0
  for _, row in ipairs(rows) do
    history.bound_includes_end = history.bound_includes_end or row.bound_includes_end == true
    for key, value in pairs(row) do
      if not known[key] and not not_measured[key] and type(value) == 'number' then
        known[key] = true
        history.keys[#history.keys + 1] = key
      end
    end
  end
  table.sort(history.keys)
  for i, entry in ipairs(rows) do
    seconds = seconds + (tonumber(entry.seconds) or 0)
    history.epoch[i], history.update[i], history.seconds[i] = entry.epoch, tonumber(entry.updates) or 0 / 0, seconds
  end
  for _, key in ipairs(history.keys) do
    local column = {}
    for i, entry in ipairs(rows) do column[i] = type(entry[key]) == 'number' and entry[key] or 0 / 0 end
    history.columns[key] = column
  end
  return history
end

-- The axes over which curves can be drawn, with their labels.
M.axes = { epoch = 'epoch', update = 'updates', seconds = 'seconds of training and validation' }

local labels = { cross_entropy = 'validation cross-entropy (nats per symbol)',
  train_cross_entropy = 'training cross-entropy (nats per symbol)',
  label_cross_entropy = 'validation cross-entropy of the labels (nats per string)',
  cross_entropy_difference = 'validation cross-entropy difference (nats per symbol)',
  lower_bound = 'lower bound (nats per symbol)', perplexity = 'validation perplexity',
  train_perplexity = 'training perplexity', accuracy = 'validation accuracy', train_accuracy = 'training accuracy',
  train_loss = 'training loss (nats)', loss = 'loss of a batch (nats)', coarse = 'validation coarse accuracy',
  train_coarse = 'training coarse accuracy', fine = 'validation fine accuracy', train_fine = 'training fine accuracy',
  seconds = 'seconds of an epoch', gradient_norm = 'gradient norm before clipping' }

-- A description of a metric.
function M.label(name) return labels[name] or (name:gsub('_', ' ')) end

-- The most informative metric of the histories (a list): its key, or nil.
function M.main_metric(histories)
  local names = {}
  for _, history in ipairs(histories) do
    for _, key in ipairs(history.keys) do names[#names + 1] = key end
  end
  return metric.main(names) or names[1]
end

-- history.curve(history, name, axis) -> {x =, y =} of one metric over 'epoch', 'update' or 'seconds', or nil. 'loss' is
-- that of single updates and only exists over updates.
function M.curve(history, name, axis)
  if name == 'loss' and not history.columns.loss then
    if axis ~= 'update' or not history.batches then return nil end
    return { x = history.batches.update, y = history.batches.loss }
  end
  local column = history.columns[name]
  return column and { x = history[axis], y = column } or nil
end

return M
