// Records what a function does to tensors, from the operators of LibTorch that it calls.
//
// The function is called with tensors of a small batch. Every operator runs as always; what it does
// to tensors that depend on the inputs becomes a node of a graph for one sequence. In its shapes
// the dimension of the batch has size 1, or k where a reshape has put k numbers of each sequence
// into it. All other tensors are constants.
//
// What cannot be recorded makes its results unknown: the recording fails only if an output depends
// on one. Numbers that are read out of tensors and tensors that are changed in place make it fail
// at once.
#pragma once
#include <functional>
#include <map>
#include <optional>
#include <unordered_map>

#include "array/array_graph.h"
#include "tensor/operator_watch.h"

namespace pushdown {

// Why something cannot be recorded, and where the script did it: "own.lua:12".
struct ArrayRefusal {
  std::string reason, position;
};

class ArrayRecorder final : public OperatorWatcher {
 public:
  // `batch`: of the inputs, 2 or more. `position`: where the script is.
  ArrayRecorder(ArrayGraph& graph, std::int64_t batch, std::function<std::string()> position);
  ~ArrayRecorder() override;

  // What the tensor stands for: B x ..., a part of an input of the program; or a parameter, which
  // is the same for all sequences.
  void input(const Tensor& tensor, int which, std::int64_t offset);
  void parameter(const Tensor& tensor, int which);

  // The node of an output B x ... ; one of its own for a constant. Nothing if it was refused.
  std::optional<int> output(const Tensor& tensor);
  bool is_mask(const Tensor& tensor) const;

  // Notes that numbers of the tensor go somewhere, or something else that cannot be recorded.
  void read(const Tensor& tensor, const std::string& what);
  void refuse(const std::string& reason);
  const std::optional<ArrayRefusal>& refusal() const { return refusal_; }

  // The one that records on this thread; null: none.
  static ArrayRecorder* current();

  void see(WatchedCall& call) override;

 private:
  friend class ArrayRules;
  struct Value {
    int node = -1;
    int batch = -1;  // the batch's dimension; -1 for a parameter
    bool mask = false;
    std::optional<ArrayRefusal> unknown = std::nullopt;
  };
  const Value* find(const Tensor& tensor) const;
  void set(const Tensor& tensor, Value value);

  ArrayGraph& graph_;
  std::int64_t batch_;
  std::function<std::string()> position_;
  std::unordered_map<const void*, Value> values_;
  std::vector<Tensor> kept_;  // so that no other tensor takes their place in the table
  std::optional<ArrayRefusal> refusal_;
  ArrayRecorder* outer_;
};

}  // namespace pushdown
