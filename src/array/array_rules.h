// The effect of each LibTorch operator on arrays. Internal to this folder.
#pragma once
#include "array/array_recorder.h"

namespace pushdown {

class ArrayRules {
 public:
  using Value = ArrayRecorder::Value;
  // Thrown for an operator, or a use of it, that has no rule.
  struct Unknown {
    std::string reason;
  };

  ArrayRules(ArrayRecorder& recorder, const WatchedCall& call, const std::vector<Tensor>& results)
      : recorder_(recorder), graph_(recorder.graph_), call_(call), results_(results) {}

  static bool is_random(const WatchedCall& call);
  static bool is_reading(const WatchedCall& call);   // of numbers
  static bool is_constant(const WatchedCall& call);  // results depend only on shapes
  static bool knows(const WatchedCall& call);

  // Returns one for each result. Throws Unknown.
  std::vector<Value> apply();

  // ---- For the rules ----

  const c10::IValue& argument(std::size_t k) const { return call_.argument(k); }
  std::int64_t integer(std::size_t k) const { return argument(k).toInt(); }
  double number(std::size_t k) const;
  // Dimension k of the argument, from 0.
  int dimension(std::int64_t d, std::size_t rank) const;
  // The dimensions in a list, or a single one; all if there is none.
  std::vector<int> dimensions(const c10::IValue& list, std::size_t rank) const;
  const Tensor& result(std::size_t k = 0) const { return results_[k]; }
  ArrayGraph& graph() { return graph_; }
  std::int64_t batch() const { return recorder_.batch_; }

  // The argument, a recorded tensor.
  Value value(std::size_t k);
  Value value_of(const Tensor& tensor);
  const Value* find(const Tensor& tensor) const { return recorder_.find(tensor); }
  // Tensors and numbers of one shape, or that are broadcast to one shape.
  struct Aligned {
    std::vector<int> nodes;
    int batch_from_end = 0;  // 0: none
  };
  Aligned aligned(const std::vector<c10::IValue>& items);
  // Whether a constant has equal rows for all sequences, as self:zeros(batch, 3).
  bool has_equal_rows(const Tensor& constant) const;
  // A constant tensor. `batch_from_end`: the batch dimension counted from the end, 0: it has none.
  int constant(const Tensor& tensor, int batch_from_end);
  Value of(const Aligned& from, int node) const;

  Value map(ArrayFunction function, std::vector<std::size_t> arguments);
  Value reshaped(const Value& value, const Tensor& result);
  Value matrix_product(const Tensor& a, const Tensor& b);
  // Reduces along dimensions other than that of the batch, which are kept with size 1 or removed.
  Value reduced(ArrayKind kind, const Value& value, std::vector<int> dimensions, bool kept);
  Value along(ArrayKind kind, const Value& value, int dimension);
  void check_sequences(const Value& value, int dimension) const;
  int negated(int node) { return graph_.map(ArrayFunction::negate, {node}); }
  int times(int node, double factor) {
    return factor == 1 ? node : graph_.map(ArrayFunction::multiply, {node, graph_.number(factor)});
  }

 private:
  ArrayRecorder& recorder_;
  ArrayGraph& graph_;
  const WatchedCall& call_;
  const std::vector<Tensor>& results_;
};

}  // namespace pushdown
