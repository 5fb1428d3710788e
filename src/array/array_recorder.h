// Records a function of tensors from the LibTorch operators that it calls.
//
// The function is called with tensors of a small batch. Every operator runs as usual; its effect on
// tensors that depend on the inputs becomes a node of a graph for one sequence. In the graph's
// shapes, the batch dimension has size 1, or k if a reshape has moved k numbers of each sequence
// into it. All other tensors are constants.
//
// The result of an operator that cannot be recorded is unknown; the recording fails only if an
// output depends on it. Reading numbers out of tensors and changing tensors in place make the
// recording fail at once.
#pragma once
#include <functional>
#include <map>
#include <optional>
#include <unordered_map>

#include "array/array_graph.h"
#include "tensor/operator_watch.h"

namespace pushdown {

// Why something cannot be recorded, and the place in the script: "own.lua:12".
struct ArrayRefusal {
  std::string reason, position;
};

class ArrayRecorder final : public OperatorWatcher {
 public:
  // `batch`: of the inputs, 2 or more. `position`: returns the current place in the script.
  ArrayRecorder(ArrayGraph& graph, std::int64_t batch, std::function<std::string()> position);
  ~ArrayRecorder() override;

  // Declares what the tensor represents: B x ..., a part of an input of the program; or a
  // parameter, which is the same for all sequences.
  void input(const Tensor& tensor, int which, std::int64_t offset);
  void parameter(const Tensor& tensor, int which);

  // Returns the node of an output B x ...; a new one for a constant. Returns nothing if it was
  // refused.
  std::optional<int> output(const Tensor& tensor);
  bool is_mask(const Tensor& tensor) const;

  // Records that numbers of the tensor are read, or another use that cannot be recorded.
  void read(const Tensor& tensor, const std::string& what);
  void refuse(const std::string& reason);
  const std::optional<ArrayRefusal>& refusal() const { return refusal_; }

  // Returns the one that records on this thread, or null.
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
  std::vector<Tensor> kept_;  // keeps other tensors from taking their place in the table
  std::optional<ArrayRefusal> refusal_;
  ArrayRecorder* outer_;
};

}  // namespace pushdown
