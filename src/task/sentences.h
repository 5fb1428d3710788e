// Sentence corpora for language models of words. A plain text of any size is converted to files of
// word ids (token_file.h), which training reads instead of the text. The conversion passes over the
// text twice, line by line: it counts the words of the training part, then writes the sentences.
// The text may be larger than memory; memory holds only the counts of the distinct words and 8
// bytes per sentence.
//
// The vocabulary consists of <unk> and the most frequent words of the training part; words of equal
// frequency are in the order of first occurrence. All other words become <unk>.
#pragma once
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "task/token_file.h"
#include "task/tokenizer.h"

namespace pushdown {

// The words of a sentence; the callee may change them.
using VisitSentence = std::function<void(SentenceWords&)>;
// Receives the number of bytes read and the total; returns false to stop.
using SentenceProgress = std::function<bool(std::int64_t done, std::int64_t total)>;

struct SentenceOptions {
  TokenizerOptions tokenizer;
  std::int64_t vocabulary = 10000;  // number of words, including <unk>; 0: all
  std::int64_t minimum_count = 1;   // less frequent words become <unk>
  std::int64_t longest = 0;         // longer sentences are dropped; 0: no limit
  // Shares of the training and the test part, or of training, validation and test: every sentence
  // goes to a random part with these probabilities, divided by their sum; 0.9 and 0.1 if empty.
  std::vector<double> shares;
  std::uint64_t seed = 0;            // for the assignment of sentences to parts
  std::optional<Alphabet> alphabet;  // a known vocabulary, instead of counting
};

// Parts of a corpus by name: train, test; or train, valid, test; or the whole corpus as `train`.
using SentenceParts = std::vector<std::pair<std::string, TokenFilePtr>>;

// `path` is a folder with the three files of corpus_files(), which are used as the parts (`shares`
// must be empty), or a file, a folder or a pattern as for files_named(). Files named *.conllu are
// CoNLL-U treebanks and *.mrg files contain bracketed trees: their words are the sentences, and the
// tokenizer only changes their case. All other files are plain UTF-8. Empty lines separate
// paragraphs and are not sentences.
//
// Creates the files PART.tokens in `folder`. Existing files are reused if they were made with the
// same options from files of the same names, sizes and times.
//
// Throws std::invalid_argument "[task.sentences] file:line: ..." for text that is not UTF-8 or has
// a NUL byte, no sentences, a part without sentences, or impossible options. Returns nothing if
// `progress` stopped the preparation; the folder then has no new file.
std::optional<SentenceParts> prepare_sentences(const Path& path, const Path& folder,
                                               const SentenceOptions& options,
                                               const SentenceProgress& progress = nullptr);

// Returns the files that prepare_sentences() reads for `path`.
std::vector<Path> sentence_files(const Path& path);

// Calls visit(words) for the sentences of one file in order. read(bytes) receives the number of
// bytes read and returns false to stop.
void visit_sentences(const Path& file, const Tokenizer& tokenizer, const VisitSentence& visit,
                     const std::function<bool(std::int64_t)>& read);

}  // namespace pushdown
