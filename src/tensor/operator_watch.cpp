#include "tensor/operator_watch.h"

namespace pushdown {
namespace {

// A key that LibTorch reserves for extensions that replace all operators.
constexpr auto kWatchKey = c10::DispatchKey::TESTING_ONLY_GenericMode;

thread_local OperatorWatcher* current_watcher = nullptr;

void watch_operator(const c10::OperatorHandle& handle, c10::DispatchKeySet keys,
                    std::vector<c10::IValue>* stack) {
  if (current_watcher == nullptr) {
    const c10::impl::ExcludeDispatchKeyGuard unseen(kWatchKey);
    return handle.callBoxed(stack);
  }
  WatchedCall call(handle, keys, stack);
  current_watcher->see(call);
}

void register_watch() {
  // Stays registered until the process ends.
  static const c10::RegistrationHandleRAII registered =
      c10::Dispatcher::singleton().registerFallback(
          kWatchKey, c10::KernelFunction::makeFromBoxedFunction<&watch_operator>(), "pushdown");
}

}  // namespace

WatchedCall::WatchedCall(const c10::OperatorHandle& handle, c10::DispatchKeySet keys, Values* stack)
    : handle_(handle), keys_(keys), stack_(stack) {
  const auto count = handle.schema().arguments().size();
  arguments_.assign(stack->end() - static_cast<std::ptrdiff_t>(count), stack->end());
}

const std::string& WatchedCall::name() const { return handle_.operator_name().name; }
const std::string& WatchedCall::overload() const { return handle_.operator_name().overload_name; }

const c10::IValue& WatchedCall::argument(std::size_t k) const {
  static const c10::IValue none;
  return k < arguments_.size() ? arguments_[k] : none;
}

bool WatchedCall::writes() const { return handle_.schema().is_mutable(); }

bool WatchedCall::is_made_of_others() const {
  return handle_.hasKernelForDispatchKey(c10::DispatchKey::CompositeImplicitAutograd);
}

void WatchedCall::run() {
  const c10::impl::ExcludeDispatchKeyGuard unseen(kWatchKey);
  handle_.callBoxed(stack_);
}

void WatchedCall::run_as_others() {
  handle_.redispatchBoxed(keys_ & c10::DispatchKeySet(c10::DispatchKeySet::FULL_AFTER, kWatchKey),
                          stack_);
}

std::vector<Tensor> WatchedCall::results() const {
  std::vector<Tensor> all;
  const auto count = handle_.schema().returns().size();
  for (auto value = stack_->end() - static_cast<std::ptrdiff_t>(count); value != stack_->end();
       ++value) {
    if (value->isTensor()) all.push_back(value->toTensor());
    if (!value->isTensorList()) continue;
    for (const Tensor& own : value->toTensorVector()) all.push_back(own);
  }
  return all;
}

std::vector<Tensor> WatchedCall::tensors() const {
  std::vector<Tensor> all;
  for (const c10::IValue& value : arguments_) {
    if (value.isTensor()) all.push_back(value.toTensor());
    if (value.isTensorList())
      for (const Tensor& own : value.toTensorVector()) all.push_back(own);
    if (value.isOptionalTensorList())
      for (const auto& own : value.toOptionalTensorVector())
        if (own.has_value()) all.push_back(*own);
  }
  return all;
}

OperatorWatch::OperatorWatch(OperatorWatcher& watcher)
    : outer_((register_watch(), current_watcher)), guard_(kWatchKey) {
  current_watcher = &watcher;
}
OperatorWatch::~OperatorWatch() { current_watcher = outer_; }

}  // namespace pushdown
