// What each operator of LibTorch does to arrays. For the files of this folder.
#pragma once
#include "array/array_recorder.h"

namespace pushdown {

class ArrayRules {
 public:
  using Value = ArrayRecorder::Value;
  // An operator, or a use of it, that has no rule.
  struct Unknown {
    std::string reason;
  };

  ArrayRules(ArrayRecorder& recorder, const WatchedCall& call, const std::vector<Tensor>& results)
      : recorder_(recorder), graph_(recorder.graph_), call_(call), results_(results) {}

  static bool is_random(const WatchedCall& call);
  static bool is_reading(const WatchedCall& call);   // of numbers
  static bool is_constant(const WatchedCall& call);  // results depend on shapes alone
  static bool knows(const WatchedCall& call);

  // One for each result. Unknown.
  std::vector<Value> apply();

  // ---- For the rules ----

  const c10::IValue& argument(std::size_t k) const { return call_.argument(k); }
  std::int64_t integer(std::size_t k) const { return argument(k).toInt(); }
  double number(std::size_t k) const;
  // Dimension k of the argument's, from 0.
  int dimension(std::int64_t d, std::size_t rank) const;
  // Dimensions in a list, or one; all where there is none.
  std::vector<int> dimensions(const c10::IValue& list, std::size_t rank) const;
  const Tensor& result(std::size_t k = 0) const { return results_[k]; }
  ArrayGraph& graph() { return graph_; }
  std::int64_t batch() const { return recorder_.batch_; }

  // The argument, a tensor that is recorded.
  Value value(std::size_t k);
  Value value_of(const Tensor& tensor);
  const Value* find(const Tensor& tensor) const { return recorder_.find(tensor); }
  // Tensors and numbers of one shape, or that are broadcast to one.
  struct Aligned {
    std::vector<int> nodes;
    int batch_from_end = 0;  // 0: none
  };
  Aligned aligned(const std::vector<c10::IValue>& items);
  // A constant tensor; the dimension of the batch counted from the end, 0: it has none.
  int constant(const Tensor& tensor, int batch_from_end);
  Value of(const Aligned& from, int node) const;

  Value map(ArrayFunction function, std::vector<std::size_t> arguments);
  Value reshaped(const Value& value, const Tensor& result);
  Value matrix_product(const Tensor& a, const Tensor& b);
  // Along dimensions, none of them that of the batch; kept with size 1 or not.
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
