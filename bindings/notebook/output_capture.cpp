#include "bindings/notebook/output_capture.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <stdexcept>

#include "base/utf8.h"

namespace pushdown {
namespace {

void make_pipe(int (&ends)[2]) {
  if (pipe2(ends, O_CLOEXEC) != 0) throw std::runtime_error("no pipe can be made for the output");
  fcntl(ends[0], F_SETFL, O_NONBLOCK);
}

// Returns the number of bytes at the end that are an incomplete character.
std::size_t unended_bytes(const std::string& text) {
  for (std::size_t back = 1; back <= 3 && back <= text.size(); ++back) {
    const auto byte = static_cast<unsigned char>(text[text.size() - back]);
    if (byte < 0x80) return 0;
    if (byte >= 0xC0) {
      const std::size_t length = byte >= 0xF0 ? 4 : byte >= 0xE0 ? 3 : 2;
      return length > back ? back : 0;
    }
  }
  return 0;
}

}  // namespace

OutputCapture::OutputCapture(Publish publish)
    : publish_(std::move(publish)), streams_{{"stdout", -1, ""}, {"stderr", -1, ""}} {
  make_pipe(wake_);
  for (int i = 0; i < 2; ++i) {
    int ends[2];
    make_pipe(ends);
    streams_[i].file = ends[0];
    dup2(ends[1], i + 1);  // without O_CLOEXEC: children print there too
    close(ends[1]);
  }
  std::setvbuf(stdout, nullptr, _IOLBF, BUFSIZ);
}

OutputCapture::~OutputCapture() {
  if (thread_.joinable()) stop();
  for (const auto& stream : streams_) close(stream.file);
  for (const int file : wake_) close(file);
}

void OutputCapture::start() {
  thread_ = std::thread([this] { run(); });
}

void OutputCapture::stop() {
  std::fflush(stdout);
  std::fflush(stderr);
  const char byte = 0;
  static_cast<void>(!write(wake_[1], &byte, 1));
  thread_.join();
}

// Programs print line by line. The output of a few milliseconds is sent as one message, because the
// client's queue would drop some of very many messages.
constexpr int kGatherMilliseconds = 5;

void OutputCapture::run() {
  for (bool stopped = false; !stopped;) {
    pollfd files[] = {
        {streams_[0].file, POLLIN, 0}, {streams_[1].file, POLLIN, 0}, {wake_[0], POLLIN, 0}};
    if (poll(files, 3, -1) < 0 && errno != EINTR) return;
    poll(files + 2, 1, kGatherMilliseconds);
    char byte;
    stopped = read(wake_[0], &byte, 1) == 1;
    for (auto& stream : streams_) read_all(stream);
  }
}

void OutputCapture::read_all(Stream& stream) {
  std::string text = std::move(stream.unended);
  stream.unended.clear();
  char chunk[65536];
  for (ssize_t count; (count = read(stream.file, chunk, sizeof chunk)) > 0;) {
    text.append(chunk, count);
    if (text.size() > (1u << 20)) break;  // the rest follows in the next round
  }
  const auto kept = unended_bytes(text);
  stream.unended = text.substr(text.size() - kept);
  text.resize(text.size() - kept);
  if (!text.empty()) publish_(stream.name, valid_utf8(text));
}

}  // namespace pushdown
