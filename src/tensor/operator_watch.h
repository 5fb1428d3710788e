// Sees every operator of LibTorch that a thread calls.
#pragma once
#include <ATen/core/dispatch/Dispatcher.h>

#include "tensor/torch.h"

namespace pushdown {

// One call: its arguments before it runs, its results afterwards.
class WatchedCall {
 public:
  using Values = std::vector<c10::IValue>;
  WatchedCall(const c10::OperatorHandle& handle, c10::DispatchKeySet keys, Values* stack);

  const std::string& name() const;  // "aten::add"
  const std::string& overload() const;
  const c10::FunctionSchema& schema() const { return handle_.schema(); }
  const Values& arguments() const { return arguments_; }
  // Argument k, or none where the operator has fewer.
  const c10::IValue& argument(std::size_t k) const;
  // Whether it writes into one of its arguments.
  bool writes() const;
  // Whether it is made of other operators.
  bool is_made_of_others() const;

  // Runs it unseen, or so that those that it is made of are seen instead.
  void run();
  void run_as_others();
  std::vector<Tensor> results() const;  // the tensors among them
  // All tensors among the arguments, also those in lists.
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
  // Must run the call, by one of its two functions.
  virtual void see(WatchedCall& call) = 0;
};

// While it lives, the operators that this thread calls go to the watcher. Watches within watches
// hide the outer one.
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
