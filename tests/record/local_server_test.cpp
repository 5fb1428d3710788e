#include "record/local_server.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "support/message.h"

namespace pushdown::local_server_test {
namespace {

using testing_support::message;

bool never() { return false; }

// A client whose calls wait for the server.
class Client {
 public:
  explicit Client(int port, const char* host = "127.0.0.1")
      : descriptor_(::socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address = {};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<std::uint16_t>(port));
    ::inet_pton(AF_INET, host, &address.sin_addr);
    connected = ::connect(descriptor_, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0;
  }
  ~Client() { ::close(descriptor_); }
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  bool send(const std::string& text) const {
    return ::send(descriptor_, text.data(), text.size(), MSG_NOSIGNAL) >= 0;
  }
  // Everything up to the end, while the server serves.
  std::string answer(LocalServer& server) const {
    std::string all;
    for (;;) {
      pollfd one{descriptor_, POLLIN, 0};
      if (::poll(&one, 1, 0) == 0) {
        server.next(0.001, never);
        continue;
      }
      char piece[4096];
      const auto count = ::recv(descriptor_, piece, sizeof piece, 0);
      if (count <= 0) return all;
      all.append(piece, static_cast<std::size_t>(count));
    }
  }
  bool connected;

 private:
  int descriptor_;
};

LocalRequest wait_for_request(LocalServer& server) {
  const auto request = server.next(1000, never);
  return request.value_or(LocalRequest{-1, "none"});
}

TEST(LocalServer, TakesRequestsAndSendsAnswers) {
  LocalServer server(0);
  const Client client(server.port());
  client.send("GET /a HTTP/1.1\r\nHost: x");
  EXPECT_FALSE(server.next(0.01, never));
  client.send("\r\n\r\n");
  const auto request = wait_for_request(server);
  EXPECT_EQ(request.head, "GET /a HTTP/1.1\r\nHost: x");
  const std::string large(5000000, 'a');
  server.reply(request.connection, large);
  EXPECT_EQ(client.answer(server), large);
}

TEST(LocalServer, ServesSeveralConnectionsInAnyOrder) {
  LocalServer server(0);
  const Client silent(server.port()), first(server.port()), second(server.port());
  first.send("GET /1 HTTP/1.1\r\n\r\n");
  const auto one = wait_for_request(server);
  second.send("GET /2 HTTP/1.1\r\n\r\nGET /3 HTTP/1.1\r\n\r\n");
  const auto two = wait_for_request(server);
  EXPECT_EQ(two.head, "GET /2 HTTP/1.1");
  server.reply(two.connection, "two");
  EXPECT_EQ(second.answer(server), "two");  // and nothing for what followed in the connection
  server.reply(one.connection, "one");
  EXPECT_EQ(first.answer(server), "one");
  server.reply(one.connection, "again");  // closed
  server.reply(12345, "never opened");
  EXPECT_FALSE(server.next(0.01, never));
}

TEST(LocalServer, ClosesConnectionsOfLongHeads) {
  LocalServer server(0);
  const Client client(server.port());
  client.send("GET / HTTP/1.1\r\nX: " + std::string(20000, 'x'));
  EXPECT_EQ(client.answer(server), "");
  EXPECT_FALSE(server.next(0.01, never));
}

TEST(LocalServer, ClosesConnectionsThatGoOnSending) {
  // Lets the client send until the server closes the connection.
  const auto flood = [](LocalServer& server, const std::string& piece) {
    const Client client(server.port());
    client.send("GET / HTTP/1.1\r\n\r\n");
    server.reply(wait_for_request(server).connection, "answer");
    while (client.send(piece)) server.next(0.001, never);
  };
  LocalServer of_bytes(0, std::chrono::hours(1));
  flood(of_bytes, std::string(4096, 'x'));
  LocalServer of_time(0, std::chrono::milliseconds(500));
  flood(of_time, "x");
  // The time that the owner of the server takes for its answer does not count.
  const Client patient(of_time.port());
  patient.send("GET / HTTP/1.1\r\n\r\n");
  const auto request = wait_for_request(of_time);
  ::usleep(600000);
  of_time.reply(request.connection, std::string(5000000, 'a'));
  EXPECT_EQ(patient.answer(of_time).size(), 5000000);
}

TEST(LocalServer, SurvivesMoreClientsThanItTakes) {
  LocalServer server(0);
  std::vector<std::unique_ptr<Client>> clients;
  for (int i = 0; i < 100; ++i) {
    clients.push_back(std::make_unique<Client>(server.port()));
    server.next(0.001, never);
  }
  clients.clear();
  const Client client(server.port());
  client.send("GET / HTTP/1.1\r\n\r\n");
  EXPECT_EQ(wait_for_request(server).head, "GET / HTTP/1.1");
}

TEST(LocalServer, StopsWhenAsked) {
  LocalServer server(0);
  int looks = 0;
  EXPECT_FALSE(server.next(1e9, [&] { return ++looks == 3; }));
  EXPECT_EQ(looks, 3);
}

TEST(LocalServer, ListensOnlyOnThisMachine) {
  const LocalServer server(0);
  EXPECT_TRUE(Client(server.port()).connected);
  EXPECT_FALSE(Client(server.port(), "127.0.0.2").connected);
}

TEST(LocalServer, SaysWhichPortIsTaken) {
  const LocalServer server(0);
  EXPECT_EQ(message([&] { LocalServer again(server.port()); }),
            fmt::format("[server] cannot listen on port {} of 127.0.0.1: Address already in use",
                        server.port()));
  EXPECT_EQ(message([] { LocalServer impossible(70000); }),
            "[server] the port must be from 0 to 65535, got 70000");
}

}  // namespace
}  // namespace pushdown::local_server_test
