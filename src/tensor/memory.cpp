#include "tensor/memory.h"

#include <c10/core/CPUAllocator.h>

#include "base/check.h"
#include "base/memory.h"
#include "tensor/torch.h"

namespace pushdown {
namespace {

// Calls LibTorch's own allocator after a check of the available memory.
class CheckedAllocator final : public c10::Allocator {
 public:
  explicit CheckedAllocator(c10::Allocator* allocator) : allocator_(allocator) {}

#if PUSHDOWN_TORCH_AT_LEAST(2, 3)
  c10::DataPtr allocate(std::size_t bytes) override { return allocated(bytes); }
  void copy_data(void* to, const void* from, std::size_t count) const override {
    allocator_->copy_data(to, from, count);
  }
#else
  c10::DataPtr allocate(std::size_t bytes) const override { return allocated(bytes); }
#endif
  c10::DeleterFnPtr raw_deleter() const override { return allocator_->raw_deleter(); }

 private:
  c10::DataPtr allocated(std::size_t bytes) const {
    check_memory("memory", "a tensor", static_cast<double>(bytes));
    try {
      return allocator_->allocate(bytes);
    } catch (const c10::Error&) {  // The message of this error names a source file of LibTorch.
      fail_environment("memory", "not enough memory for a tensor of {} bytes", bytes);
    }
  }

  c10::Allocator* allocator_;
};

}  // namespace

void refuse_large_tensors() {
  // Never destroyed, because tensors in other static objects may outlive it.
  static auto* const checked = new CheckedAllocator(c10::GetCPUAllocator());
  constexpr std::uint8_t kOverOthers = 1;
  c10::SetCPUAllocator(checked, kOverOthers);
}

}  // namespace pushdown
