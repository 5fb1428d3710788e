// Runs a program and makes one of its file calls fail.
//
//   inject --root FOLDER [--kind KIND --at K [--on]] [--log FILE] -- PROGRAM ARGUMENTS...
//
// It counts the calls of the program, and of the programs that it starts, that open, write, sync,
// map, truncate, rename, remove or make files and folders in FOLDER. Call number K (from 1) fails,
// with --on also all later ones. KIND: ENOSPC, EIO, EMFILE, EACCES; short (half of the bytes of a
// write are written, and the call returns that number); kill (SIGKILL in place of the call); fork
// (counts the started processes instead, and makes one fail with EAGAIN). FILE gets one line for
// each counted call. Status: that of the program, 128 + its signal, 77 if the system cannot do
// this, or 2.
//
// The kernel asks this process about each of these calls (seccomp's user notification), so that
// none is missed, no matter which library makes it: the C library's streams, SQLite, LuaJIT,
// LibTorch.
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace {

namespace fs = std::filesystem;

constexpr int kCannot = 77;

// How a call names its file: by descriptor, by path, or by folder and path.
struct Call {
  const char* name;
  int descriptor = -1, folder = -1, path = -1;  // numbers of arguments
};

const std::map<int, Call>& calls() {
  static const std::map<int, Call> table{
#ifdef SYS_open
      {SYS_open, {"open", -1, -1, 0}},
      {SYS_rename, {"rename", -1, -1, 0}},
      {SYS_unlink, {"unlink", -1, -1, 0}},
      {SYS_mkdir, {"mkdir", -1, -1, 0}},
      {SYS_rmdir, {"rmdir", -1, -1, 0}},
#endif
      {SYS_openat, {"openat", -1, 0, 1}},
#ifdef SYS_renameat
      {SYS_renameat, {"renameat", -1, 0, 1}},
#endif
      {SYS_renameat2, {"renameat2", -1, 0, 1}},
      {SYS_unlinkat, {"unlinkat", -1, 0, 1}},
      {SYS_mkdirat, {"mkdirat", -1, 0, 1}},
      {SYS_write, {"write", 0}},
      {SYS_pwrite64, {"pwrite", 0}},
      {SYS_writev, {"writev", 0}},
      {SYS_fsync, {"fsync", 0}},
      {SYS_fdatasync, {"fdatasync", 0}},
      {SYS_ftruncate, {"ftruncate", 0}},
      {SYS_mmap, {"mmap", 4}},
  };
  return table;
}

bool starts_process(int number) {
  return number == SYS_clone || number == SYS_clone3
#ifdef SYS_fork
         || number == SYS_fork || number == SYS_vfork
#endif
      ;
}

int install_filter() {
  std::vector<sock_filter> code{
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, static_cast<unsigned>(offsetof(seccomp_data, nr)))};
  std::vector<int> numbers{SYS_clone, SYS_clone3};
#ifdef SYS_fork
  numbers.insert(numbers.end(), {SYS_fork, SYS_vfork});
#endif
  for (const auto& [number, call] : calls())
    if (number != SYS_mmap) numbers.push_back(number);
  for (const int number : numbers) {
    code.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, static_cast<unsigned>(number), 0, 1));
    code.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF));
  }
  // Memory without a file is allocated too often to ask about it.
  code.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, static_cast<unsigned>(SYS_mmap), 0, 3));
  code.push_back(BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
                          static_cast<unsigned>(offsetof(seccomp_data, args) + 3 * 8)));
  code.push_back(BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, MAP_ANONYMOUS, 1, 0));
  code.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF));
  code.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
  const sock_fprog program{static_cast<unsigned short>(code.size()), code.data()};
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return -1;
  return static_cast<int>(
      ::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER, &program));
}

bool send_descriptor(int socket, int descriptor) {
  char byte = 0;
  iovec data{&byte, 1};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof descriptor)] = {};
  msghdr message{};
  message.msg_iov = &data;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  cmsghdr* head = CMSG_FIRSTHDR(&message);
  head->cmsg_level = SOL_SOCKET;
  head->cmsg_type = SCM_RIGHTS;
  head->cmsg_len = CMSG_LEN(sizeof descriptor);
  std::memcpy(CMSG_DATA(head), &descriptor, sizeof descriptor);
  return ::sendmsg(socket, &message, 0) == 1;
}

int receive_descriptor(int socket) {
  char byte = 0;
  iovec data{&byte, 1};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  msghdr message{};
  message.msg_iov = &data;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  int descriptor = -1;
  if (::recvmsg(socket, &message, MSG_CMSG_CLOEXEC) == 1)
    if (const cmsghdr* head = CMSG_FIRSTHDR(&message); head != nullptr)
      std::memcpy(&descriptor, CMSG_DATA(head), sizeof descriptor);
  return descriptor;
}

std::string process_folder(unsigned process) { return "/proc/" + std::to_string(process); }

std::string link_text(const std::string& link) {
  std::error_code ignored;
  return fs::read_symlink(link, ignored).string();
}

std::string text_at(unsigned process, std::uint64_t address) {
  std::ifstream memory(process_folder(process) + "/mem", std::ios::binary);
  memory.seekg(static_cast<std::streamoff>(address));
  std::string text;
  std::getline(memory, text, '\0');
  return text.substr(0, 4096);
}

std::string bytes_at(unsigned process, std::uint64_t address, std::size_t count) {
  std::ifstream memory(process_folder(process) + "/mem", std::ios::binary);
  memory.seekg(static_cast<std::streamoff>(address));
  std::string bytes(count, '\0');
  memory.read(bytes.data(), static_cast<std::streamsize>(count));
  bytes.resize(memory.gcount());
  return bytes;
}

unsigned process_of(unsigned thread) {
  std::ifstream status(process_folder(thread) + "/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with("Tgid:")) return static_cast<unsigned>(std::stoul(line.substr(5)));
  return thread;
}

std::string file_of(const Call& call, unsigned process, const seccomp_data& data) {
  const std::string folder = process_folder(process);
  if (call.descriptor >= 0)
    return link_text(folder + "/fd/" +
                     std::to_string(static_cast<int>(data.args[call.descriptor])));
  fs::path path = text_at(process, data.args[call.path]);
  if (path.is_absolute()) return path.lexically_normal().string();
  const int base = call.folder >= 0 ? static_cast<int>(data.args[call.folder]) : AT_FDCWD;
  const fs::path from =
      link_text(folder + (base == AT_FDCWD ? "/cwd" : "/fd/" + std::to_string(base)));
  return (from / path).lexically_normal().string();
}

struct Options {
  std::string root, kind, log;
  long at = 0;
  bool on = false;
};

int error_of(const std::string& kind) {
  if (kind == "ENOSPC") return ENOSPC;
  if (kind == "EIO") return EIO;
  if (kind == "EMFILE") return EMFILE;
  if (kind == "EACCES") return EACCES;
  if (kind == "fork") return EAGAIN;
  return 0;
}

class Supervisor {
 public:
  Supervisor(int listener, Options options)
      : listener_(listener), options_(std::move(options)), log_(options_.log) {}

  void answer() {
    seccomp_notif request{};
    if (::ioctl(listener_, SECCOMP_IOCTL_NOTIF_RECV, &request) != 0) return;
    seccomp_notif_resp response{};
    response.id = request.id;
    response.flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE;
    decide(request, response);
    ::ioctl(listener_, SECCOMP_IOCTL_NOTIF_SEND, &response);
  }

 private:
  void decide(const seccomp_notif& request, seccomp_notif_resp& response) {
    const auto what = counted(request);
    if (!what) return;
    ++count_;
    const bool fails =
        options_.at > 0 && (count_ == options_.at || (options_.on && count_ > options_.at));
    if (log_.is_open())
      log_ << count_ << '\t' << *what << (fails ? "\t" + options_.kind : "") << std::endl;
    if (!fails) return;
    if (const int error = error_of(options_.kind)) {
      response.flags = 0;
      response.error = -error;
    } else if (options_.kind == "kill") {
      ::kill(static_cast<pid_t>(process_of(request.pid)), SIGKILL);
    } else if (options_.kind == "short") {
      write_half(request, response);
    }
  }

  // Returns the call and its file, if it is one of the counted calls.
  std::optional<std::string> counted(const seccomp_notif& request) const {
    const int number = request.data.nr;
    if (starts_process(number)) {
      if (options_.kind != "fork") return std::nullopt;
      std::uint64_t flags = number == SYS_clone ? request.data.args[0] : 0;
      if (number == SYS_clone3) {
        const auto bytes = bytes_at(request.pid, request.data.args[0], sizeof flags);
        if (bytes.size() == sizeof flags) std::memcpy(&flags, bytes.data(), sizeof flags);
      }
      if (flags & CLONE_THREAD) return std::nullopt;
      return "fork";
    }
    if (options_.kind == "fork") return std::nullopt;
    const auto& call = calls().at(number);
    const std::string file = file_of(call, request.pid, request.data);
    if (!file.starts_with(options_.root)) return std::nullopt;
    return std::string(call.name) + "\t" + file;
  }

  void write_half(const seccomp_notif& request, seccomp_notif_resp& response) const {
    const int number = request.data.nr;
    const auto size = static_cast<std::size_t>(request.data.args[2]);
    if ((number != SYS_write && number != SYS_pwrite64) || size < 2) return;
    const std::string bytes = bytes_at(request.pid, request.data.args[1], size / 2);
    const int process = static_cast<int>(::syscall(SYS_pidfd_open, process_of(request.pid), 0));
    const int file = static_cast<int>(
        ::syscall(SYS_pidfd_getfd, process, static_cast<int>(request.data.args[0]), 0));
    const auto written = number == SYS_write ? ::write(file, bytes.data(), bytes.size())
                                             : ::pwrite(file, bytes.data(), bytes.size(),
                                                        static_cast<off_t>(request.data.args[3]));
    ::close(file);
    ::close(process);
    if (written < 0) return;
    response.flags = 0;
    response.val = written;
  }

  int listener_;
  Options options_;
  std::ofstream log_;
  long count_ = 0;
};

int fail(const char* what) {
  std::fprintf(stderr, "inject: %s: %s\n", what, std::strerror(errno));
  return kCannot;
}

int run(const Options& options, char** words) {
  int sockets[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets) != 0) return fail("socketpair");
  const pid_t child = ::fork();
  if (child < 0) return fail("fork");
  if (child == 0) {
    const int listener = install_filter();
    // From here on the parent is asked, also when unneeded files are closed.
    if (listener < 0 || !send_descriptor(sockets[1], listener)) ::_exit(kCannot);
    ::close(listener);
    ::execvp(words[0], words);
    ::_exit(127);
  }
  ::close(sockets[1]);
  const int listener = receive_descriptor(sockets[0]);
  Supervisor supervisor(listener, options);
  int status = 0;
  bool ended = listener < 0;
  while (!ended) {
    pollfd ready{listener, POLLIN, 0};
    if (::poll(&ready, 1, 100) > 0) {
      if (ready.revents & POLLIN) supervisor.answer();
      // No process is left that could ask.
      ended = (ready.revents & (POLLHUP | POLLERR)) && !(ready.revents & POLLIN);
    }
  }
  ::waitpid(child, &status, 0);
  if (listener < 0) return fail("seccomp");
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

int usage() {
  std::fputs(
      "usage: inject --root FOLDER [--kind KIND --at K [--on]] [--log FILE] -- PROGRAM ...\n",
      stderr);
  return 2;
}

}  // namespace

int main(int count, char** words) {
  Options options;
  int i = 1;
  for (; i < count && std::strcmp(words[i], "--") != 0; ++i) {
    const std::string word = words[i];
    if (word == "--on") {
      options.on = true;
      continue;
    }
    if (i + 1 >= count) return usage();
    const std::string value = words[++i];
    if (word == "--root")
      options.root = fs::canonical(value).string();
    else if (word == "--kind")
      options.kind = value;
    else if (word == "--log")
      options.log = value;
    else if (word == "--at")
      options.at = std::atol(value.c_str());
    else
      return usage();
  }
  if (options.root.empty() || i + 1 >= count) return usage();
  return run(options, words + i + 1);
}
