-- Corpora of sentences, language models on them, and their knowledge of the number of verbs.
local pd = require 'pushdown'
local test = require 'pushdown.test'
local files = require 'pushdown.files'

local top = test.folder()
local function put(name, text)
  files.write(top .. '/' .. name, text)
  return top .. '/' .. name
end

local text = put('text.txt', ('The cat saw the dog .\n\nA dog ran .\r\nthe cats run\n'):rep(10))

test('a text becomes parts of sentences', function()
  local parts = pd.task.sentences(text, { folder = top .. '/parts', lower = true, shares = { 0.6, 0.2, 0.2 }, seed = 3,
    progress = false })
  local all = parts.train:size() + parts.valid:size() + parts.test:size()
  test.equal(all, 30)
  test.equal(parts.train:alphabet():symbols()[1], '<unk>')
  assert(tostring(parts.train):find('^Sentences: %d+ of 3 to 6 words'), tostring(parts.train))
  local again = pd.task.load_sentences(parts.test:path())
  test.equal(again:sentence(1), parts.test:sentence(1))
  test.equal(again:word_count(), parts.test:word_count())
  test.fails('the sentences are 1 to', function() again:sentence(0) end)
  -- Another text with the vocabulary of this one.
  local other = pd.task.sentences(put('other.txt', 'the zebra ran\n'), { folder = top .. '/other', shares = { 1 },
    alphabet = parts.train:alphabet() })
  test.equal(other.train:sentence(1), 'the <unk> ran')
  test.equal(other.train:unknown_count(), 1)
end)

test('words and sentences are found by the Unicode standard', function()
  local parts = pd.task.sentences(put('plain.txt', 'It rains. The cat\'s wet!\n'), { folder = top .. '/plain',
    words = 'unicode', sentences = 'unicode', shares = { 1 } })
  test.equal(parts.train:size(), 2)
  test.equal(parts.train:sentence(2), "The cat's wet !")
  test.equal(pd.task.lower 'ÄB', 'äb')
end)

test('errors in a text are reported', function()
  test.fails('bad.txt:2: byte 2 %(0xff%) is not UTF%-8',
    pd.task.sentences, put('bad.txt', 'good\nb\255\n'), { folder = top .. '/bad' })
end)

local parts = pd.task.sentences(text, { folder = top .. '/learn', shares = { 0.7, 0.3 }, lower = true })
local function model()
  return pd.model.language_model { alphabet = parts.train:alphabet(), end_symbol = true, embedding = 4, seed = 1,
    controller = { kind = 'lstm', hidden = 8 }, stack = { kind = 'stratification', size = 3 } }
end

test('a language model learns sentences', function()
  local whole = pd.train.trainer { model = model(), train = parts.train, valid = parts.test, batch = 4, epochs = 6,
    optimizer = { kind = 'adam', learning_rate = 0.02 }, seed = 1, run_folder = top .. '/whole', progress = false }
  for _ in whole:epochs() do end
  local a = whole:history()
  assert(a[6].perplexity < 0.7 * a[1].perplexity)
  local found = pd.train.evaluate(pd.model.load(top .. '/whole'), parts.test, { batch = 3 })
  test.near(found.perplexity, a[a[6].best_epoch].perplexity, 1e-4)
  test.equal(found.words, parts.test:word_count() + parts.test:size())
  test.fails('Sentences',
    pd.train.evaluate, model(), pd.task.labelled_dataset { alphabet = { 'a' }, strings = { 'a' }, labels = { true } })
end)

test('a classifier takes prefixes that both numbers follow, and a language model is asked for either', function()
  local path = put('lines.txt', 'VBZ\tThe cat\nVBP\tthe cats\nVBZ\tthe sheep\nVBP\tthe sheep\n')
  local examples = pd.task.number_examples(path, { lower = true })
  local alphabet = examples:vocabulary()
  test.equal(table.concat(alphabet:symbols(), ' '), '<unk> the sheep cat cats')
  local labelled = examples:labelled(alphabet)
  test.equal(labelled:size(), 4)
  test.equal(labelled:positives(), 2)
  local recognizer = pd.model.recognizer { alphabet = alphabet, controller = { kind = 'lstm', hidden = 8 },
    embedding = 4, seed = 1 }
  local trainer = pd.train.trainer { model = recognizer, train = labelled, valid = labelled, objective = 'final',
    epochs = 60, batch = 4, optimizer = { kind = 'adam', learning_rate = 0.05 }, stop_accuracy = 0,
    run_folder = top .. '/classes', progress = false, seed = 1 }
  for _ in trainer:epochs() do end
  -- One of the two sheep is always wrong.
  test.equal(pd.train.evaluate(pd.model.load(top .. '/classes'), labelled).accuracy, 0.75)
  assert(pd.train.resume(top .. '/classes', { epochs = 61, progress = false }))
  test.equal(pd.task.labelled_dataset { alphabet = { 'a' }, strings = { 'a', 'a' }, labels = { true, false },
    classes = true }:size(), 2)

  local table_of = put('table.tsv', 'sentence\torig_sentence\tverb_pos\tverb_index\tn_intervening\tn_diff_intervening\n'
    .. 'the cat runs\tthe cat runs\tVBZ\t3\t0\t0\nthe cats run\tthe cats run\tVBP\t3\t1\t1\n')
  local verbs = pd.task.number_examples(table_of)
  local speaker = pd.model.language_model { alphabet = { '<unk>', 'the', 'cat', 'cats', 'run', 'runs' },
    end_symbol = true, embedding = 4, controller = { kind = 'lstm', hidden = 8 }, seed = 2 }
  local judged = pd.train.agreement(speaker, verbs)
  test.equal(judged.judged, 2)
  test.equal(#judged.attractors, 2)
  test.equal(judged.accuracy, 100 - 50 * #judged.wrong)
end)

test.finish()
