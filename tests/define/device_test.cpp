// Stacks and cells that a script defines, by printed code: the same values and gradients as by the
// kernels of the processor.
#include <gtest/gtest.h>

#include <lua.hpp>

#include "bindings/model/classes.h"
#include "model/stack_rnn.h"
#include "support/models_together.h"
#include "support/stand_in_device.h"

extern "C" int luaopen_pushdown(lua_State* L);

namespace pushdown::define_device_test {
namespace {

using namespace testing_support;
using ModelPtr = std::shared_ptr<LanguageModel>;

// A Lua state with the module and the definitions of this test.
class Definitions : public testing::Test {
 protected:
  void SetUp() override {
    lua_ = luaL_newstate();
    luaL_openlibs(lua_);
    lua_getglobal(lua_, "package");
    lua_getfield(lua_, -1, "preload");
    lua_pushcfunction(lua_, luaopen_pushdown);
    lua_setfield(lua_, -2, "pushdown");
    ASSERT_EQ(luaL_loadfile(lua_, PUSHDOWN_DEFINITIONS), 0) << lua_tostring(lua_, -1);
    run(0);
  }
  void TearDown() override { lua_close(lua_); }

  void run(int results) {
    if (lua_pcall(lua_, 0, results, 0) != 0) FAIL() << lua_tostring(lua_, -1);
  }
  // The value of an expression.
  ModelPtr model(const std::string& options) {
    const auto text =
        "return require('pushdown').model.language_model { alphabet = { 'a', 'b', 'c' }, seed = 3, "
        "dtype = 'float64', " +
        options + " }";
    if (luaL_loadstring(lua_, text.c_str()) != 0)
      ADD_FAILURE() << lua_tostring(lua_, -1);
    else
      run(1);
    return Value<ModelPtr>::get(lua_, lua_gettop(lua_));
  }

  void expect_same(const std::string& options) {
    const ModelPtr network = model(options);
    for (const std::int64_t length : {1, 2, 9}) {
      const Tensor words = at::arange(3 * length, at::kLong).mul(7).remainder(3).view({3, length});
      const auto outcome = [&](const Tensor& values) {
        std::vector<Tensor> all{values.detach()};
        for (const auto& [name, tensor] : network->parameters()) {
          all.push_back(tensor.grad().defined() ? tensor.grad() : at::zeros_like(tensor));
          tensor.mutable_grad() = Tensor();
        }
        return all;
      };
      const Tensor values = network->log_probabilities(words);
      values.sum().backward();
      const auto wanted = outcome(values);
      for (const bool descending : {false, true}) {
        cuda_stand_in::set_descending(descending);
        const auto device = std::make_shared<StandInDevice>();
        ModelsTogether together({network.get()}, device_engine(device));
        const auto got = outcome(together.differentiate({words}, {1})[0]);
        cuda_stand_in::set_descending(false);
        EXPECT_EQ(device->passes(), 2);
        for (std::size_t i = 0; i < wanted.size(); ++i)
          EXPECT_LT((wanted[i] - got[i]).abs().max().item<double>(),
                    1e-11 * (1 + wanted[i].abs().max().item<double>()))
              << options << ", length " << length << (descending ? ", descending" : "")
              << ", tensor " << i;
      }
    }
  }

  lua_State* lua_ = nullptr;
};

// Gradients that end after every two inputs.
TEST_F(Definitions, Windows) {
  for (const char* stack : {"growing", "queue", "whole"}) {
    const ModelPtr network = model(
        std::string("controller = { kind = 'multiplicative', hidden = 4 }, stack = { kind = '") +
        stack + "', size = 2 }");
    const StackRnn& rnn = *network->network().stack_rnn();
    const auto outcome = [&](const StepEnginePtr& engine) {
      const Tensor x =
          at::arange(3 * 7 * 3, at::kDouble).mul(1.3).sin().view({3, 7, 3}).requires_grad_();
      const Tensor hiddens = rnn.run_recorded(x, {}, nullptr, 2, engine);
      (hiddens * at::arange(hiddens.numel(), at::kDouble).view_as(hiddens).cos()).sum().backward();
      std::vector<Tensor> all{hiddens.detach(), x.grad()};
      for (const auto& [name, tensor] : rnn.parameters()) {
        all.push_back(tensor.grad().defined() ? tensor.grad() : at::zeros_like(tensor));
        tensor.mutable_grad() = Tensor();
      }
      return all;
    };
    const auto wanted = outcome(nullptr);
    for (const bool descending : {false, true}) {
      cuda_stand_in::set_descending(descending);
      const auto got = outcome(stand_in_engine());
      cuda_stand_in::set_descending(false);
      for (std::size_t i = 0; i < wanted.size(); ++i)
        EXPECT_LT((wanted[i] - got[i]).abs().max().item<double>(),
                  1e-11 * (1 + wanted[i].abs().max().item<double>()))
            << stack << (descending ? ", descending" : "") << ", tensor " << i;
    }
  }
}

TEST_F(Definitions, GrowingStacks) {
  expect_same("controller = { kind = 'lstm', hidden = 5 }, stack = { kind = 'growing', size = 3 }");
  expect_same("controller = { kind = 'elman', hidden = 4 }, stack = { kind = 'queue', size = 2 }");
}
TEST_F(Definitions, StacksOfFullSize) {
  expect_same("controller = { kind = 'gru', hidden = 4 }, stack = { kind = 'whole', size = 3 }");
}
TEST_F(Definitions, Cells) {
  expect_same("controller = { kind = 'multiplicative', hidden = 4 }");
  expect_same(
      "controller = { kind = 'multiplicative', hidden = 4 }, stack = { kind = 'superposition' }");
  expect_same(
      "controller = { kind = 'multiplicative', hidden = 4 }, stack = { kind = 'growing', size = 2 "
      "}");
}

}  // namespace
}  // namespace pushdown::define_device_test
