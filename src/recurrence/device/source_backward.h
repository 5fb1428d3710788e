// The backward pass of program.h. Internal to this folder.
//
// Gradients live as values do in the forward pass: in variables of a loop, then in shared memory.
// Those that are needed after the pass are also stored in the records of their steps. The first
// contribution to a gradient in a step sets it; only where this does not reach all of its numbers
// is it cleared at the beginning of the step.
#pragma once
#include "recurrence/device/source_pass.h"

namespace pushdown::device_source {

enum class Mode { set, add };

class Backward final : public Pass {
 public:
  explicit Backward(const DeviceProgram& program) : Pass(program) { backward_ = true; }
  std::string text(std::int64_t& shared, int& barriers);

 private:
  void collect();
  // Whether the row has a gradient of its own that starts anew at every step.
  bool owns_gradient(int row) const;
  // Records a contribution to `size` numbers and returns how it is made, unless the row is cleared.
  Mode reach(const Spot& at, std::int64_t size, bool in_loop);
  // For barriers: the record of numbers that are also in shared memory.
  Spot record_of(const Spot& at) const { return {count() + 3 + at.row, at.first}; }
  void require(const Spot& at);  // all numbers of the row are read now
  bool sets(const Spot& at, Mode mode) const;
  void add_given();
  void print_given(const Spot& at, Mode mode);
  void add_border();
  void add_clears();

  Where place(const Spot& at);
  Where record(const Spot& at);
  // Within loops: a gradient, a value, and what is added to a gradient.
  std::string slope(const Spot& at);
  std::string slope(int n) { return slope(spot(n)); }
  std::string value(int n);
  void contribute(const Spot& at, Mode mode, const std::string& what);
  // The same at any index. always: set it.
  void store(const Spot& at, Mode mode, const std::string& index, const std::string& what,
             bool always = false);
  void flush(const Spot& at, const std::string& name);
  void close_loop() override;
  bool wants_first(int row) const;
  bool is_summed(int row) const;
  int bottom_row() const;

  std::string before_loop();
  std::string print_loop();
  std::string after_loop();
  std::string matrix_sums(int n);
  std::string table_sums(const StepTerm& of, const std::string& slopes);

  // ---- Operations: device_source_slopes.cpp. ----
  using Term = std::function<std::string()>;
  void add(int n);
  bool wants(int n) const { return n >= 0 && node(n).gradient; }
  // Adds what() to the gradient of node n, number by number, for node `of`.
  Piece& contribution(int of, int n, Term what);
  void map(int n);
  void concat(int n);
  void affine(int n);
  void product(int n, int k);
  void softmax(int n);
  void outer(int n);
  void matvec(int n);
  void mix(int n);
  void memory(int n);
  void print_memory_slopes(int n, const Where& out, std::int64_t size);
  void array(int n);
  void lstm_cell(int n);
  void lstm_hidden(int n);
  void gru(int n);

  struct Reached {
    std::vector<std::pair<std::int64_t, std::int64_t>> parts;
    bool cleared = false;
  };
  std::map<int, Reached> reached_;  // by row; those of the step before after all others
  std::set<int> in_memory_, of_arrays_, done_, summed_, exchanged_;
  std::set<Spot> dirty_;
  std::map<Spot, std::string> values_;
};

}  // namespace pushdown::device_source
