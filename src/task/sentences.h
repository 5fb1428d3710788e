// Corpora of sentences for language models of words: any plain text, made into files of numbers
// (token_file.h) that training reads in place of the text. Preparing goes through the text twice,
// line by line: first the words of the training part are counted, then the sentences written, so
// that the text may be larger than memory; what is kept are the counts of the distinct words and 8
// bytes a sentence.
//
// The vocabulary is <unk> and the most frequent words of the training part, those of one frequency
// in the order of their first occurrence. Any other word becomes <unk>.
#pragma once
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "task/token_file.h"
#include "task/tokenizer.h"

namespace pushdown {

// The words of a sentence; may be changed by who is given them.
using VisitSentence = std::function<void(SentenceWords&)>;
// Told how many bytes of the texts were read of how many; false stops.
using SentenceProgress = std::function<bool(std::int64_t done, std::int64_t total)>;

struct SentenceOptions {
  TokenizerOptions tokenizer;
  std::int64_t vocabulary = 10000;  // words, <unk> among them; 0: all
  std::int64_t minimum_count = 1;   // a word that is rarer is <unk>
  std::int64_t longest = 0;         // sentences of more words are left out; 0: none
  // Of the training and the test part, or of training, validation and test: every sentence goes to
  // one of them at random with these probabilities, divided by their sum; 0.9 and 0.1 if empty.
  std::vector<double> shares;
  std::uint64_t seed = 0;            // of the parts
  std::optional<Alphabet> alphabet;  // a vocabulary that is known, in place of counting
};

// Parts of a corpus by name: train, test; or train, valid, test; or all of it as `train`.
using SentenceParts = std::vector<std::pair<std::string, TokenFilePtr>>;

// `path`: a folder that holds the three files of corpus_files(), which are the parts as they stand,
// so that no shares may be given; or what files_named() takes, a file, a folder or a pattern. Files
// named *.conllu are treebanks in CoNLL-U, *.mrg bracketed trees: their words are the sentences,
// and the tokenizer only gives them their case. All else is plain UTF-8. Empty lines separate
// paragraphs and are no sentences.
//
// The files PART.tokens are made in `folder`. Where they are there already, made from files of the
// same names, sizes and times by the same options, they are taken as they are.
//
// std::invalid_argument "[task.sentences] file:line: ..." for text that is not UTF-8 or has a NUL
// byte; no sentences, a part without sentences, impossible options. Nothing is returned when
// `progress` stopped it; the folder then has no new file.
std::optional<SentenceParts> prepare_sentences(const Path& path, const Path& folder,
                                               const SentenceOptions& options,
                                               const SentenceProgress& progress = nullptr);

// The files that prepare_sentences() reads for `path`.
std::vector<Path> sentence_files(const Path& path);

// visit(words) for the sentences of one file, in their order; read(bytes) is told what was read and
// stops it by false.
void visit_sentences(const Path& file, Tokenizer& tokenizer, const VisitSentence& visit,
                     const std::function<bool(std::int64_t)>& read);

}  // namespace pushdown
