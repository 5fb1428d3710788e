// Sentences on disk, as numbers of words of a vocabulary: what training on a corpus reads that is
// larger than memory. The file is mapped, so that only the pages in use are in memory.
//
// Layout, numbers little-endian:
//   magic    16 bytes "pushdown tokens\n"
//   words    int32 each, sentence after sentence, then zeros up to a multiple of 8
//   starts   uint64 for every sentence and one behind the last: the place of its first word
//   footer   JSON: vocabulary, sentences, words, unknown, shortest, longest, checksum, source
//   size     uint64, bytes of the footer
// The footer comes last so that a file is written in one pass; it says how large all else is, and
// a file that was cut off has none.
#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/atomic_file.h"
#include "base/checksum.h"
#include "base/options.h"
#include "grammar/alphabet.h"

namespace pushdown {

class TokenFile {
 public:
  // Reads the whole file once, for its checksum. std::runtime_error naming the file: missing, not
  // of this form, cut off, damaged.
  explicit TokenFile(const Path& path);
  TokenFile(const TokenFile&) = delete;
  TokenFile& operator=(const TokenFile&) = delete;
  ~TokenFile();

  const Path& path() const { return path_; }  // absolute
  const Alphabet& alphabet() const { return alphabet_; }
  std::int64_t size() const { return sentences_; }  // sentences
  std::int64_t word_count() const { return words_; }
  std::int64_t unknown_count() const { return unknown_; }
  std::int64_t shortest() const { return shortest_; }
  std::int64_t longest() const { return longest_; }
  // Of the words, FNV-1a over their numbers.
  const std::string& checksum() const { return checksum_; }
  // What its maker said about where it comes from.
  const Json& source() const { return source_; }

  // Words of sentence i.
  std::int64_t length(std::int64_t i) const {
    return static_cast<std::int64_t>(starts_[i + 1] - starts_[i]);
  }
  std::span<const std::int32_t> sentence(std::int64_t i) const {
    return {ids_ + starts_[i], static_cast<std::size_t>(length(i))};
  }

 private:
  void map();
  void read_footer();
  void check_sentences() const;
  [[noreturn]] void damaged(const std::string& what) const;

  Path path_;
  Alphabet alphabet_;
  std::int64_t sentences_ = 0, words_ = 0, unknown_ = 0, shortest_ = 0, longest_ = 0;
  std::string checksum_;
  Json source_;
  const char* bytes_ = nullptr;  // the mapping
  std::size_t byte_count_ = 0;
  const std::int32_t* ids_ = nullptr;
  const std::uint64_t* starts_ = nullptr;
};
using TokenFilePtr = std::shared_ptr<const TokenFile>;

// Writes such a file; nothing is there before commit(). Keeps 8 bytes a sentence in memory.
class TokenFileWriter {
 public:
  TokenFileWriter(const Path& path, Alphabet vocabulary);

  void add(const Word& sentence);
  std::int64_t size() const { return static_cast<std::int64_t>(starts_.size()) - 1; }
  // std::invalid_argument without a single sentence.
  void commit(const Json& source);

 private:
  Path path_;
  Alphabet vocabulary_;
  std::optional<int> unknown_id_;
  FileWriter file_;
  std::vector<std::uint64_t> starts_{0};
  std::int64_t unknown_ = 0;
  Checksum checksum_;
};

// A note of the file for a run folder, and the file that such a note means: where it was, or in the
// folder of the note. std::runtime_error where it is gone or is not what it was.
//   # pushdown sentences 1
//   # checksum 0123456789abcdef
//   /where/it/is/train.tokens
std::string note_of(const TokenFile& file);
bool is_token_note(std::string_view text);
TokenFilePtr noted_file(std::string_view note, const Path& note_file);

}  // namespace pushdown
