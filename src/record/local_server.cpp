#include "record/local_server.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <vector>

#include "base/check.h"

namespace pushdown {
namespace {

constexpr auto kWhere = "server";
constexpr std::size_t kLongestHead = 8192, kMostBytes = 65536, kMostConnections = 64;
constexpr int kServerNap = 50;  // milliseconds between two looks at should_stop

bool would_block() { return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR; }

}  // namespace

LocalServer::LocalServer(int port, std::chrono::milliseconds patience) : patience_(patience) {
  check(port >= 0 && port <= 65535, kWhere, "the port must be from 0 to 65535, got {}", port);
  descriptor_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  auto* const name = reinterpret_cast<sockaddr*>(&address);
  const int on = 1;
  if (descriptor_ < 0 || ::setsockopt(descriptor_, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) != 0 ||
      ::bind(descriptor_, name, size) != 0 || ::listen(descriptor_, kMostConnections) != 0 ||
      ::getsockname(descriptor_, name, &size) != 0) {
    const int error = errno;
    if (descriptor_ >= 0) ::close(descriptor_);
    fail_environment(kWhere, "cannot listen on port {} of 127.0.0.1: {}", port,
                     std::strerror(error));
  }
  port_ = ntohs(address.sin_port);
}

LocalServer::~LocalServer() {
  for (const auto& [number, connection] : connections_) ::close(connection.descriptor);
  ::close(descriptor_);
}

void LocalServer::accept_all() {
  while (connections_.size() < kMostConnections) {
    const int taken = ::accept4(descriptor_, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (taken < 0) return;
    connections_.emplace(++count_, Connection{taken, Clock::now() + patience_, "", ""});
  }
}

// Returns whether the connection is still useful.
bool LocalServer::receive(Connection& connection) {
  char piece[2048];
  const auto count = ::recv(connection.descriptor, piece, sizeof piece, 0);
  if (count < 0) return would_block();
  if (count == 0) return false;
  // After the head nothing is read, but taken, so that closing does not reset the connection.
  if (!connection.asked) connection.received.append(piece, static_cast<std::size_t>(count));
  connection.taken += static_cast<std::size_t>(count);
  return connection.received.size() <= kLongestHead && connection.taken <= kMostBytes;
}

bool LocalServer::send(Connection& connection) const {
  const auto count = ::send(connection.descriptor, connection.answer.data() + connection.sent,
                            connection.answer.size() - connection.sent, MSG_NOSIGNAL);
  if (count < 0) return would_block();
  connection.sent += static_cast<std::size_t>(count);
  connection.deadline = Clock::now() + patience_;
  // The other side closes the connection when it has read everything.
  if (connection.sent == connection.answer.size()) ::shutdown(connection.descriptor, SHUT_WR);
  return true;
}

void LocalServer::drop(std::int64_t number) {
  const auto found = connections_.find(number);
  ::close(found->second.descriptor);
  connections_.erase(found);
}

// Waits once for all connections, and reads and sends what is possible.
void LocalServer::exchange(int milliseconds) {
  std::vector<pollfd> polled{{descriptor_, POLLIN, 0}};
  std::vector<std::int64_t> numbers;
  if (connections_.size() >= kMostConnections) polled[0].events = 0;
  for (const auto& [number, connection] : connections_) {
    const bool sends = connection.sent < connection.answer.size();
    polled.push_back(
        {connection.descriptor, static_cast<short>(sends ? POLLIN | POLLOUT : POLLIN), 0});
    numbers.push_back(number);
  }
  const auto now = Clock::now();  // a process that did not run meanwhile has missed no deadline
  if (::poll(polled.data(), polled.size(), milliseconds) < 0) return;
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    Connection& connection = connections_.at(numbers[i]);
    const auto events = polled[i + 1].revents;
    bool useful = now < connection.deadline;
    if (useful && (events & POLLOUT) != 0) useful = send(connection);
    if (useful && (events & (POLLIN | POLLHUP | POLLERR)) != 0) useful = receive(connection);
    if (!useful) drop(numbers[i]);
  }
  if ((polled[0].revents & POLLIN) != 0) accept_all();
}

std::optional<LocalRequest> LocalServer::completed() {
  for (auto& [number, connection] : connections_) {
    const auto end = connection.asked ? std::string::npos : connection.received.find("\r\n\r\n");
    if (end == std::string::npos) continue;
    connection.asked = true;
    return LocalRequest{number, connection.received.substr(0, end)};
  }
  return std::nullopt;
}

std::optional<LocalRequest> LocalServer::next(double seconds,
                                              const std::function<bool()>& should_stop) {
  // While the owner was away, no connection could go on.
  for (auto& [number, connection] : connections_) connection.deadline += Clock::now() - left_;
  auto request = wait(seconds, should_stop);
  left_ = Clock::now();
  return request;
}

std::optional<LocalRequest> LocalServer::wait(double seconds,
                                              const std::function<bool()>& should_stop) {
  const auto end = Clock::now() + std::chrono::duration<double>(std::clamp(seconds, 0.0, 1e6));
  while (!should_stop()) {
    if (auto request = completed()) return request;
    const double left = std::chrono::duration<double>(end - Clock::now()).count();
    if (left < 0) break;
    exchange(static_cast<int>(std::clamp(left * 1000, 1.0, double{kServerNap})));
  }
  return std::nullopt;
}

void LocalServer::reply(std::int64_t connection, std::string answer) {
  const auto found = connections_.find(connection);
  if (found == connections_.end()) return;
  found->second.answer = std::move(answer);
  found->second.deadline = Clock::now() + patience_;
}

}  // namespace pushdown
