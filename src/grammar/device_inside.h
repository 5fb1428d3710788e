// Probabilities of many strings, and length tables of many grammars, on a CUDA device
// (kernel/grammar/device_grammar.h).
#pragma once
#include <cstddef>
#include <memory>

#include "grammar/grammar.h"
#include "kernel/grammar/device_grammar.h"

namespace pushdown {

// Returns log G(w) of each word, computed on the current device, like log_probability() of
// inside.h. Processes as many strings at a time as fit into 64 MiB of charts, at least one. Throws
// std::invalid_argument if an id is outside the alphabet, std::runtime_error if there is no device
// or too little memory.
std::vector<double> device_log_probabilities(const Grammar& grammar,
                                             const std::vector<Word>& words);

// Returns, for each grammar, log T[A,l] of length_table.h: rows of max_length + 1 numbers, one row
// for each nonterminal A of its normal form, stored one after another. Length 0, the empty string,
// is in the row of the start symbol. Throws std::invalid_argument if max_length is negative, and
// std::runtime_error as above.
std::vector<std::vector<double>> device_length_masses(const std::vector<Grammar>& grammars,
                                                      int max_length);

// ---- Data passed to the device. ----

// Tables for a device's memory, stored one after another, and pointers into them that are set once
// the start address is known.
class DeviceImage {
 public:
  template <class T>
  std::size_t put(const std::vector<T>& table) {
    return put(table.data(), table.size() * sizeof(T));
  }
  const std::vector<std::byte>& bytes() const { return bytes_; }
  template <class T>
  static const T* at(const void* first, std::size_t place) {
    return reinterpret_cast<const T*>(static_cast<const std::byte*>(first) + place);
  }
  void replace(std::size_t place, const void* table, std::size_t size);

 private:
  std::size_t put(const void* table, std::size_t size);
  std::vector<std::byte> bytes_;
};

// Normal forms of grammars in an image.
class DeviceGrammars {
 public:
  explicit DeviceGrammars(const std::vector<Grammar>& grammars, DeviceImage& image);
  // Returns a grammar without its pointers, for its sizes.
  const DeviceGrammar& operator[](std::size_t k) const { return grammars_[k]; }
  std::size_t size() const { return grammars_.size(); }
  // Sets the pointers of the image for memory that starts at `first`.
  void point(DeviceImage& image, const void* first) const;
  std::size_t place() const { return place_; }

 private:
  struct Places {
    std::size_t rule_begin, rules, pairs, closure_begin, closure;
  };
  std::vector<DeviceGrammar> grammars_;
  std::vector<Places> places_;
  std::size_t place_ = 0;
};

// A batch of strings of one grammar.
class InsideBatch {
 public:
  InsideBatch(const Grammar& grammar, const std::vector<Word>& words);
  std::int64_t numbers() const { return numbers_; }  // size of the memory in numbers
  const DeviceImage& image_for(const void* first);
  DeviceInside work(const void* first, double* memory, double* results) const;

 private:
  DeviceImage image_;
  DeviceGrammars grammars_;
  std::int64_t strings_ = 0, numbers_ = 0;
  std::size_t symbols_ = 0, begin_ = 0, place_ = 0;
};

class LengthBatch {
 public:
  LengthBatch(const std::vector<Grammar>& grammars, int max_length);
  std::int64_t numbers() const { return numbers_; }
  std::int64_t results() const { return results_; }
  std::int64_t result_size(std::size_t k) const {  // of grammar k
    return grammars_[k].size * (max_length_ + std::int64_t{1});
  }
  const DeviceImage& image_for(const void* first);
  DeviceLengths work(const void* first, double* memory, double* results) const;

 private:
  DeviceImage image_;
  DeviceGrammars grammars_;
  int max_length_;
  std::int64_t numbers_ = 0, results_ = 0;
  std::size_t place_ = 0, result_place_ = 0;
};

}  // namespace pushdown
