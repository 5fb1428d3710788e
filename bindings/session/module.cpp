#include "bindings/session/state.h"

#include <fmt/ranges.h>

#include <fstream>
#include <random>

#include "base/check.h"
#include "base/parallel.h"
#include "bindings/binder/bind.h"
#include "bindings/binder/interrupt.h"
#include "bindings/binder/options.h"
#include "bindings/binder/registry_keys.h"
#include "bindings/session/log.h"
#include "kernel/compile/code_cache.h"
#include "kernel/compile/nvrtc.h"
#include "kernel/device.h"
#include "kernel/isa.h"
#include "tensor/blas.h"
#include "tensor/torch_build.h"

namespace pushdown {
namespace {

std::uint64_t entropy() {
  std::random_device device;
  // 46 bits: even where Lua writes a number with 14 digits, the seed has all of its own.
  return (std::uint64_t{device()} << 32 | device()) >> 18;
}

Json settings(const Session& current) {
  Json values = Json::object();
  values["device"] = current.device.str();
  values["threads"] = thread_count();
  if (current.seed) values["seed"] = *current.seed;
  values["stream_seed"] = current.seed.value_or(current.drawn_seed);
  values["log_level"] = log_level();
  return values;
}

struct SessionOptions {
  std::optional<std::string> device, log_level;
  std::optional<int> threads;
  std::optional<std::uint64_t> seed;
  using Self = SessionOptions;
  static OptionRows rows() {
    return declare<Self>(
        {{"device", &Self::device,
          "default device of new tensors and models: 'cpu', 'cuda' or 'cuda:n'"},
         {"threads", &Self::threads, "number of threads of the program's own pool",
          Between{1, 1024}},
         {"seed", &Self::seed, "random seed of everything that is made without a seed"},
         {"log_level", &Self::log_level, "lowest level of messages that are logged",
          OneOf{{"trace", "debug", "info", "warn", "error", "off"}}}});
  }
};

Json change_session(lua_State* L, const SessionOptions& options) {
  Session& current = session(L);
  if (options.device) current.device = parse_device(*options.device);
  if (options.threads) set_thread_count(*options.threads);
  if (options.seed) {
    current.seed = *options.seed;
    current.random = Random(*current.seed, "session");
  }
  if (options.log_level) set_log_level(*options.log_level);
  return settings(current);
}

// The CUDA support of the build and the devices of the machine.
struct CudaState {
  std::vector<CudaDevice> devices;
  std::string reason;  // why models cannot be on a CUDA device or are slow there; empty: they can
};

CudaState cuda_state() {
  CudaState state;
  std::string of_driver;
  state.devices = cuda_devices(of_driver);
  std::vector<std::string> reasons;
  if (!torch_has_cuda())
    reasons.push_back(fmt::format(
        "the LibTorch {} of this build has no CUDA (PUSHDOWN_TORCH_DIR names another one)",
        torch_version()));
  if (state.devices.empty()) reasons.push_back(of_driver);
  if (torch_has_cuda() && !state.devices.empty() && !at::hasCUDA())
    reasons.push_back("LibTorch finds no CUDA device");
  state.reason = fmt::format("{}", fmt::join(reasons, "; "));
  return state;
}

Json describe(const CudaState& state) {
  return {{"cuda_kernels", built_with_cuda()},
          {"cuda_toolkit", cuda_toolkit()},
          {"cuda_architectures", cuda_architectures()},
          {"torch", torch_version()},
          {"torch_cuda", torch_has_cuda()},
          {"cuda_tensors", at::hasCUDA()},
          {"cuda_devices", state.devices.size()},
          {"reason", state.reason}};
}

std::string capability(const CudaDevice& device) {
  return fmt::format("{}.{}", device.compute_major, device.compute_minor);
}

// The devices as a list, with the facts about the build under names in the same table.
struct DeviceList {
  Json devices, build;
};

DeviceList list_devices() {
  const CudaState state = cuda_state();
  DeviceList list{Json::array(), describe(state)};
  list.devices.push_back({{"name", "cpu"}, {"description", "the processor"}});
  for (std::size_t i = 0; i < state.devices.size(); ++i) {
    const CudaDevice& device = state.devices[i];
    list.devices.push_back({{"name", fmt::format("cuda:{}", i)},
                            {"description", device.name},
                            {"memory_bytes", device.memory_bytes},
                            {"compute_capability", capability(device)},
                            {"multiprocessors", device.multiprocessors},
                            {"tensors", at::hasCUDA()}});
  }
  return list;
}

Json device_status() { return describe(cuda_state()); }

constexpr const char* kCompiler =
#if defined(__clang__)
    "Clang " __clang_version__;
#elif defined(__GNUC__)
    "GCC " __VERSION__;
#else
    "unknown";
#endif

// The commit of the sources, which the build writes to the module's folder, and an installation to
// the folder of its scripts.
std::string built_commit(lua_State* L) {
  for (const auto& path : {module_folder() / "commit", session(L).root / "commit"}) {
    std::ifstream file(path);
    if (std::string commit; file >> commit) return commit;
  }
  return "";
}

Json build(lua_State* L) {
  Json facts{{"version", PUSHDOWN_VERSION},
             {"compiler", kCompiler},
             {"torch", torch_version()},
             {"blas", blas_text()},
             {"instruction_set", isa_name(current_isa())}};
  if (const auto commit = built_commit(L); !commit.empty()) facts["commit"] = commit;
  if (built_with_cuda()) facts["cuda"] = cuda_toolkit();
  return facts;
}

// What runs networks on a device.
std::string compiled_code_text() {
  try {
    return fmt::format("networks are compiled by NVRTC {}, kept in {}\n", Nvrtc().version(),
                       device_cache_folder().string());
  } catch (const std::exception& error) {
    return fmt::format("networks run by LibTorch's operations: {}\n", error.what());
  }
}

std::string device_text() {
  const CudaState state = cuda_state();
  std::string text = fmt::format("LibTorch {} {} CUDA\nBLAS: {}\n", torch_version(),
                                 torch_has_cuda() ? "with" : "without", blas_text());
  text += built_with_cuda() ? fmt::format("CUDA kernels by toolkit {} for architectures {}\n",
                                          cuda_toolkit(), cuda_architectures())
                            : "no CUDA kernels: LibTorch has no CUDA, or nvcc was not found\n";
  for (std::size_t i = 0; i < state.devices.size(); ++i)
    text += fmt::format("cuda:{}: {}, {:.1f} GB, compute capability {}\n", i, state.devices[i].name,
                        static_cast<double>(state.devices[i].memory_bytes) / 1e9,
                        capability(state.devices[i]));
  if (built_with_cuda() && !state.devices.empty()) text += compiled_code_text();
  if (!state.reason.empty()) text += "no CUDA device for models: " + state.reason + "\n";
  return text;
}

}  // namespace

template <>
struct Value<DeviceList> {
  static int push(lua_State* L, const DeviceList& list) {
    Value<Json>::push(L, list.devices);
    for (const auto& [name, value] : list.build.items()) {
      Value<Json>::push(L, value);
      lua_setfield(L, -2, name.c_str());
    }
    return 1;
  }
};

Session& session(lua_State* L) {
  static const char key = 0;
  lua_pushlightuserdata(L, const_cast<char*>(&key));
  lua_rawget(L, LUA_REGISTRYINDEX);
  auto* current = static_cast<Session*>(lua_touserdata(L, -1));
  lua_pop(L, 1);
  if (current) return *current;
  lua_pushlightuserdata(L, const_cast<char*>(&key));
  current = new (lua_newuserdata(L, sizeof(Session))) Session;
  current->drawn_seed = entropy();
  current->random = Random(current->drawn_seed, "session");
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

std::vector<OptionSpec> with_session_defaults(std::vector<OptionSpec> specs) {
  for (auto& spec : specs) {
    if (spec.name != "seed" && spec.name != "device") continue;
    spec.default_value = nullptr;
    spec.doc += spec.name == "seed" ? "; if absent, the session's next seed"
                                    : "; if absent, that of the session";
  }
  return specs;
}

OptionRows SeedOption::rows() {
  return declare<SeedOption>({{"seed", &SeedOption::seed, "random seed"}});
}

namespace {

const StopFlag* flag_of_shell = nullptr;

}  // namespace

void find_interrupt_flag(lua_State* L) {
  lua_getfield(L, LUA_REGISTRYINDEX, kInterruptKey);
  flag_of_shell = static_cast<const StopFlag*>(lua_touserdata(L, -1));
  lua_pop(L, 1);
}

const StopFlag* interrupt_flag() { return flag_of_shell; }

std::function<bool()> interrupt_check(lua_State*) {
  const StopFlag* flag = interrupt_flag();
  if (!flag) return [] { return false; };
  return [flag] { return flag->load(std::memory_order_relaxed) != 0; };
}

void stop_if_interrupted(lua_State* L) {
  if (interrupt_check(L)()) throw std::runtime_error("interrupted");
}

void bind_session(lua_State* L) {
  Module(L, "pd")
      .def<&build>(
          "build() -> table  Returns facts about the build of this program: version, commit, "
          "compiler, torch, blas, instruction_set and cuda. Unknown ones are absent.")
      .def<&change_session>(
          "session{options} -> table  Changes settings of the session and returns all of them. "
          "stream_seed is the given seed, or the seed that was drawn if there is no --seed.");
  Module device(L, "device", "The devices that tensors and models can be on.");
  device
      .def<&list_devices>(
          "list() -> table  Returns a list of the devices of this machine, the processor first, "
          "with memory and compute capability. The list also has the fields of status().")
      .def<&device_status>(
          "status() -> table  Returns the CUDA support of the build (kernels, toolkit, "
          "architectures, LibTorch), the number of devices and, if models cannot use them, the "
          "reason.")
      .def<&device_text>(
          "text() -> string  Returns the same information as lines of text, as `pushdown "
          "--version` prints it.");
}

}  // namespace pushdown
