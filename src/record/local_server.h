// A server for the programs of this machine: requests of HTTP/1 on 127.0.0.1, one for each
// connection. It knows only how a request ends; its owner reads the request and makes the answer.
// There are no threads: connections are served while the owner waits for the next request.
#pragma once
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>

namespace pushdown {

struct LocalRequest {
  std::int64_t connection;
  std::string head;  // the first line and the header fields, without the empty line behind them
};

class LocalServer {
 public:
  // Port 0 is a free port. Throws std::invalid_argument for a number that is no port,
  // std::runtime_error if the port is taken. patience: the ten seconds of next().
  explicit LocalServer(int port, std::chrono::milliseconds patience = std::chrono::seconds(10));
  ~LocalServer();
  LocalServer(const LocalServer&) = delete;
  LocalServer& operator=(const LocalServer&) = delete;

  int port() const { return port_; }
  // Returns the next request, or nothing when the time is over or `should_stop` returns true.
  // A connection is closed if it sends no whole request in ten seconds, a request of more than
  // 8 KiB, or more than 64 KiB in all, and ten seconds after it has last taken a part of its
  // answer. Only time inside of this function counts.
  std::optional<LocalRequest> next(double seconds, const std::function<bool()>& should_stop);
  // Sends the whole answer, with status line and header fields, during the following calls of
  // next(), and closes the connection. Does nothing if it has been closed.
  void reply(std::int64_t connection, std::string answer);

 private:
  using Clock = std::chrono::steady_clock;
  struct Connection {
    int descriptor;
    Clock::time_point deadline;
    std::string received, answer;
    std::size_t sent = 0, taken = 0;  // bytes of the answer, and bytes that have come
    bool asked = false;
  };
  void accept_all();
  static bool receive(Connection& connection);
  bool send(Connection& connection) const;
  std::optional<LocalRequest> wait(double seconds, const std::function<bool()>& should_stop);
  void exchange(int milliseconds);
  std::optional<LocalRequest> completed();
  void drop(std::int64_t number);

  const std::chrono::milliseconds patience_;
  int descriptor_ = -1, port_ = 0;
  Clock::time_point left_ = Clock::now();  // the end of the latest call of next()
  std::int64_t count_ = 0;
  std::map<std::int64_t, Connection> connections_;
};

}  // namespace pushdown
