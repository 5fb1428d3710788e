#include "base/notices.h"

#include <mutex>

namespace pushdown {
namespace {

struct Receiver {
  std::mutex mutex;
  NoticeReceiver call;
};
Receiver& receiver() {
  static auto* the_receiver = new Receiver;  // threads may outlive static objects
  return *the_receiver;
}

}  // namespace

void set_notice_receiver(NoticeReceiver call) {
  std::lock_guard lock(receiver().mutex);
  receiver().call = std::move(call);
}

void notice(NoticeLevel level, const std::string& message) {
  std::lock_guard lock(receiver().mutex);
  if (receiver().call) receiver().call(level, message);
}

}  // namespace pushdown
