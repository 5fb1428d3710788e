// Probabilities of many strings, and length tables of many grammars, on a CUDA device
// (kernel/grammar/device_grammar.h).
#pragma once
#include <cstddef>
#include <memory>

#include "grammar/grammar.h"
#include "kernel/grammar/device_grammar.h"

namespace pushdown {

// log G(w) of each word on the current device, as log_probability() of inside.h, 64 MiB of charts
// or one string at a time. Throws std::invalid_argument when an id is outside the alphabet,
// std::runtime_error where there is no device or too little memory.
std::vector<double> device_log_probabilities(const Grammar& grammar,
                                             const std::vector<Word>& words);

// For each grammar log T[A,l] of length_table.h, row A of max_length + 1 numbers behind each other,
// A being the nonterminals of its normal form. Length 0 is that of the empty string, in the row of
// the start symbol. Errors: std::invalid_argument when max_length is negative; std::runtime_error.
std::vector<std::vector<double>> device_length_masses(const std::vector<Grammar>& grammars,
                                                      int max_length);

// ---- What the device is given. ----

// Tables for a device's memory, behind each other, and pointers into them once it is known where
// they begin.
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

// Normal forms in an image.
class DeviceGrammars {
 public:
  explicit DeviceGrammars(const std::vector<Grammar>& grammars, DeviceImage& image);
  // Without pointers: for sizes.
  const DeviceGrammar& operator[](std::size_t k) const { return grammars_[k]; }
  std::size_t size() const { return grammars_.size(); }
  // Completes the image for memory that begins there.
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

// Strings of one grammar.
class InsideBatch {
 public:
  InsideBatch(const Grammar& grammar, const std::vector<Word>& words);
  std::int64_t numbers() const { return numbers_; }  // of memory
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
