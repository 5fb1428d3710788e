#include "bindings/session.h"

#include <random>

#include "base/check.h"
#include "base/parallel.h"
#include "bindings/bind.h"
#include "bindings/interrupt.h"
#include "bindings/log.h"
#include "bindings/modules.h"
#include "bindings/options.h"
#include "bindings/registry_keys.h"
#include "kernel/device.h"

namespace pushdown {
namespace {

std::uint64_t entropy() {
  std::random_device device;
  return (std::uint64_t{device()} << 32 | device()) >> 11;  // exact as a Lua number
}

Json settings(const Session& current) {
  Json values = Json::object();
  values["device"] = current.device.str();
  values["threads"] = thread_count();
  if (current.seed) values["seed"] = *current.seed;
  values["log_level"] = log_level();
  return values;
}

const std::vector<OptionSpec>& session_options() {
  static const std::vector<OptionSpec> specs{
      text_option("device", nullptr, "cpu, cuda or cuda:n"),
      integer_option("threads", nullptr, "threads of the product's own pool", 1).between(1, 1024),
      integer_option("seed", nullptr, "seed of things made without one", 0),
      text_option("log_level", nullptr, "what is logged",
                  {"trace", "debug", "info", "warn", "error", "off"}),
  };
  return specs;
}

Json change_session(lua_State* L, const std::optional<Json>& given) {
  Session& current = session(L);
  if (given) {
    const Json options = resolve_options("session", session_options(), *given);
    if (options["device"].is_string()) current.device = parse_device(options["device"]);
    if (options["threads"].is_number()) set_thread_count(options["threads"].get<int>());
    if (options["seed"].is_number()) {
      current.seed = options["seed"].get<std::uint64_t>();
      current.random = Random(*current.seed, "session");
    }
    if (options["log_level"].is_string()) set_log_level(options["log_level"]);
  }
  return settings(current);
}

Json list_devices() {
  Json devices = Json::array();
  devices.push_back({{"name", "cpu"}, {"description", "the processor"}});
  std::string reason;
  const auto cuda = cuda_devices(reason);
  for (std::size_t i = 0; i < cuda.size(); ++i)
    devices.push_back(
        {{"name", fmt::format("cuda:{}", i)},
         {"description", cuda[i].name},
         {"memory_bytes", cuda[i].memory_bytes},
         {"compute_capability", fmt::format("{}.{}", cuda[i].compute_major, cuda[i].compute_minor)},
         {"tensors", at::hasCUDA()}});
  return devices;
}

Json device_status() {
  std::string reason;
  const auto cuda = cuda_devices(reason);
  return {{"cuda_kernels", built_with_cuda()},
          {"cuda_tensors", at::hasCUDA()},
          {"cuda_devices", cuda.size()},
          {"reason", reason}};
}

}  // namespace

Session& session(lua_State* L) {
  static const char key = 0;
  lua_pushlightuserdata(L, const_cast<char*>(&key));
  lua_rawget(L, LUA_REGISTRYINDEX);
  auto* current = static_cast<Session*>(lua_touserdata(L, -1));
  lua_pop(L, 1);
  if (current) return *current;
  lua_pushlightuserdata(L, const_cast<char*>(&key));
  current = new (lua_newuserdata(L, sizeof(Session))) Session;
  current->random = Random(entropy(), "session");
  lua_createtable(L, 0, 1);
  lua_pushcfunction(L, [](lua_State* state) {
    std::destroy_at(static_cast<Session*>(lua_touserdata(state, 1)));
    return 0;
  });
  lua_setfield(L, -2, "__gc");
  lua_setmetatable(L, -2);
  lua_rawset(L, LUA_REGISTRYINDEX);
  return *current;
}

std::uint64_t seed_or_next(lua_State* L, const std::optional<std::uint64_t>& seed) {
  return seed ? *seed : session(L).random.next() >> 11;  // exact as a Lua number
}

std::function<bool()> interrupt_check(lua_State* L) {
  lua_getfield(L, LUA_REGISTRYINDEX, kInterruptKey);
  const auto* flag = static_cast<const std::atomic<int>*>(lua_touserdata(L, -1));
  lua_pop(L, 1);
  if (!flag) return [] { return false; };
  return [flag] { return flag->load(std::memory_order_relaxed) != 0; };
}

void stop_if_interrupted(lua_State* L) {
  if (interrupt_check(L)()) throw std::runtime_error("interrupted");
}

void bind_session(lua_State* L) {
  Module(L, "pd").def<&change_session>(
      "session",
      "session(options) -> table  Sets any of device, threads, seed and log_level for the session, "
      "and returns what holds.");
  Module device(L, "device", "The devices that tensors and models can live on.");
  device
      .def<&list_devices>("list",
                          "list() -> table  The devices of this machine, the processor first.")
      .def<&device_status>("status",
                           "status() -> table  Whether CUDA can be used, and if not, why.");
}

}  // namespace pushdown
