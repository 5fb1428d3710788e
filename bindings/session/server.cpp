// pd._server: the server of a live page (pushdown.report.live).
#include "bindings/binder/bind.h"
#include "bindings/binder/interrupt.h"
#include "record/local_server.h"

namespace pushdown {

template <>
inline constexpr auto kClassName<LocalServer> = "LocalServer";

namespace {

std::shared_ptr<LocalServer> listen(int port) { return std::make_shared<LocalServer>(port); }

std::tuple<std::optional<std::int64_t>, std::optional<std::string>> next_request(
    lua_State* L, LocalServer& server, double seconds) {
  const auto request = server.next(seconds, interrupt_check(L));
  stop_if_interrupted(L);
  if (!request) return {std::nullopt, std::nullopt};
  return {request->connection, request->head};
}

}  // namespace

void bind_server(lua_State* L) {
  Module module(L, "_server", "A server for the programs of this machine.");
  module.def<&listen>(
      "listen(port) -> LocalServer  Listens on a port of 127.0.0.1; 0 is a free one.");
  Class<LocalServer>(module, "The server of the page of `pushdown report --live`, on 127.0.0.1.")
      .def<&LocalServer::port>("server:port() -> integer  Returns the number of the port.")
      .def<&next_request>(
          "server:next(seconds) -> integer, string  Returns the number and the head of the next "
          "request, or nil when the time in seconds is over.")
      .def<&LocalServer::reply>(
          "server:reply(number, answer)  Sends a whole answer, with status line and header fields, "
          "to a request during the following calls of next().");
}

}  // namespace pushdown
