// What the core has to report although no call asked for it, for example from a thread of its own.
// The program decides where it goes; without a receiver it is dropped.
#pragma once
#include <functional>
#include <string>

namespace pushdown {

enum class NoticeLevel { info, warning };
using NoticeReceiver = std::function<void(NoticeLevel, const std::string&)>;

// The receiver is called by any thread, but not by two at once.
void set_notice_receiver(NoticeReceiver receiver);
void notice(NoticeLevel level, const std::string& message);

}  // namespace pushdown
