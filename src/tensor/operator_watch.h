// Intercepts every LibTorch operator that a thread calls.
#pragma once
#include <ATen/core/dispatch/Dispatcher.h>

#include "tensor/torch.h"

namespace pushdown {

// One operator call: its arguments before it runs, its results afterwards.
class WatchedCall {
 public:
  using Values = std::vector<c10::IValue>;
  WatchedCall(const c10::OperatorHandle& handle, c10::DispatchKeySet keys, Values* stack);

  const std::string& name() const;  // "aten::add"
  const std::string& overload() const;
  const c10::FunctionSchema& schema() const { return handle_.schema(); }
  const Values& arguments() const { return arguments_; }
  // Returns argument k, or none if the operator has fewer.
  const c10::IValue& argument(std::size_t k) const;
  // Returns whether the operator writes into one of its arguments.
  bool writes() const;
  // Returns whether the operator is composed of other operators.
  bool is_made_of_others() const;

  // Run the call: either hidden from the watcher, or so that the watcher sees its component
  // operators instead.
  void run();
  void run_as_others();
  std::vector<Tensor> results() const;  // the tensors among them
  // Returns all tensors among the arguments, including those in lists.
  std::vector<Tensor> tensors() const;

 private:
  const c10::OperatorHandle& handle_;
  c10::DispatchKeySet keys_;
  Values* stack_;
  Values arguments_;
};

class OperatorWatcher {
 public:
  virtual ~OperatorWatcher() = default;
  // Must run the call with one of its two run functions.
  virtual void see(WatchedCall& call) = 0;
};

// Sends the operators that this thread calls to the watcher during its lifetime. An inner watch
// hides the outer one.
class OperatorWatch {
 public:
  explicit OperatorWatch(OperatorWatcher& watcher);
  ~OperatorWatch();
  OperatorWatch(const OperatorWatch&) = delete;
  OperatorWatch& operator=(const OperatorWatch&) = delete;

 private:
  OperatorWatcher* outer_;
  c10::impl::IncludeDispatchKeyGuard guard_;
};

}  // namespace pushdown
