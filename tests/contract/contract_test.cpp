// What every row of the stack and controller registries, and what is between the two, must keep:
// shapes, finite numbers, correct gradients, independence of the sequences in a batch, rejection of
// unknown options.
#include <gtest/gtest.h>

#include <set>

#include "cases.h"
#include "model/language_model.h"
#include "support/golden.h"
#include "support/gradient.h"

namespace pushdown {
namespace {

using namespace testing_support;

class Contract : public testing::TestWithParam<Json> {
 protected:
  Json options(const std::string& dtype = "float64") const {
    Json options = GetParam();
    options["dtype"] = dtype;
    options["seed"] = 7;
    return options;
  }
  LanguageModel model(const std::string& dtype = "float64") const {
    return LanguageModel(Alphabet({"a", "b", "c"}), options(dtype));
  }
  // Makes a pass one of training: a memory may round its actions in others, and then has no
  // gradients. The same random numbers each time.
  static Random* training() {
    static Random noise;
    noise = Random(1);
    return &noise;
  }
  static Tensor words(std::int64_t batch, std::int64_t length) {
    Random random(3);
    Tensor words = at::empty({batch, length}, at::kLong);
    for (std::int64_t i = 0; i < words.numel(); ++i)
      words.data_ptr<std::int64_t>()[i] = static_cast<std::int64_t>(random.below(3));
    return words;
  }
};

TEST_P(Contract, ShapesAndFiniteness) {
  for (const std::string dtype : {"float32", "float64"}) {
    const auto model = this->model(dtype);
    for (const auto& [batch, length] : {std::pair{2, 6}, {1, 1}, {3, 2}, {1, 0}}) {
      const Tensor logits = model.logits(words(batch, length));
      EXPECT_EQ(logits.sizes(), (std::vector<std::int64_t>{batch, length, 3}));
      EXPECT_EQ(dtype_name(logits.scalar_type()), dtype);
      EXPECT_TRUE(logits.isfinite().all().item<bool>());
    }
  }
}

TEST_P(Contract, ProbabilitiesSumToOne) {
  const auto model = this->model();
  at::NoGradGuard guard;
  double total = 0;
  for (int code = 0; code < 81; ++code) {
    const std::vector<std::int64_t> word{code / 27, code / 9 % 3, code / 3 % 3, code % 3};
    total += model.log_probabilities(at::tensor(word, at::kLong).unsqueeze(0)).exp().item<double>();
  }
  EXPECT_NEAR(total, 1, 1e-12);
}

TEST_P(Contract, GradientsMatchFiniteDifferences) {
  const auto model = this->model();
  std::vector<Tensor> leaves;
  for (const auto& [name, tensor] : model.parameters()) leaves.push_back(tensor);
  const Tensor input = words(2, 6);
  EXPECT_LT(gradient_error(
                leaves, [&] { return model.log_probabilities(input, training()).sum(); }, 12),
            1e-6);
}

// With some weights, not with all: a stack whose pops take everything tells its other actions
// nothing.
TEST_P(Contract, EveryParameterIsUsed) {
  std::set<std::string> unused;
  for (int attempt = 0; attempt == 0 || (attempt < 40 && !unused.empty()); ++attempt) {
    auto options = this->options();
    options["seed"] = 7 + attempt;
    const LanguageModel model(Alphabet({"a", "b", "c"}), options);
    if (attempt == 0)
      for (const auto& [name, tensor] : model.parameters()) unused.insert(name);
    if (attempt >= 4) {
      const at::NoGradGuard guard;
      for (const auto& [name, tensor] : model.parameters()) tensor.mul_(attempt % 2 == 0 ? 4 : 12);
    }
    model.log_probabilities(words(2, 6), training()).sum().backward();
    for (const auto& [name, tensor] : model.parameters()) {
      ASSERT_TRUE(tensor.grad().defined()) << name;
      if (tensor.grad().abs().max().item<double>() > 0) unused.erase(name);
    }
  }
  for (const auto& name : unused) ADD_FAILURE() << name;
}

TEST_P(Contract, BatchEqualsSequencesAlone) {
  const auto model = this->model();
  const Tensor input = words(4, 7);
  const Tensor together = model.logits(input);
  for (int b = 0; b < 4; ++b)
    EXPECT_LT(deviation(model.logits(input.narrow(0, b, 1)), together.narrow(0, b, 1)), 1e-12);
}

TEST_P(Contract, FutureSymbolsDoNotMatter) {
  const auto model = this->model();
  Tensor input = words(1, 7), other = input.clone();
  other.narrow(1, 4, 3).copy_((input.narrow(1, 4, 3) + 1) % 3);
  EXPECT_LT(deviation(model.logits(other).narrow(1, 0, 5), model.logits(input).narrow(1, 0, 5)),
            1e-12);
}

// The logits of words in pieces of the given lengths.
Tensor in_pieces(const LanguageModel& model, const Tensor& words,
                 const std::vector<std::int64_t>& pieces, std::int64_t expected, Random* noise) {
  auto state = model.begin(words.size(0), expected);
  std::vector<Tensor> logits;
  std::int64_t start = 0;
  for (const auto size : pieces) {
    auto [rows, next] = model.read(words.narrow(1, start, size), state, noise);
    logits.push_back(rows);
    state = next;
    start += size;
  }
  EXPECT_EQ(state.symbols, start);
  return at::cat(logits, 1);
}

TEST_P(Contract, PiecesEqualTheWhole) {
  const auto model = this->model();
  const Tensor input = words(3, 9);
  const Tensor whole = model.logits(input, training());
  whole.pow(2).sum().backward();
  std::vector<Tensor> wanted;
  for (const auto& [name, tensor] : model.parameters()) {
    wanted.push_back(tensor.grad().clone());
    tensor.mutable_grad() = Tensor();
  }
  for (const auto& pieces : std::vector<std::vector<std::int64_t>>{{9}, {3, 3, 3}, {1, 5, 0, 3}})
    for (const std::int64_t expected : {0, 9}) {
      const Tensor logits = in_pieces(model, input, pieces, expected, training());
      EXPECT_LT(deviation(logits, whole), 1e-12);
      logits.pow(2).sum().backward();
      for (std::size_t i = 0; i < wanted.size(); ++i) {
        const auto& [name, tensor] = model.parameters()[i];
        EXPECT_LT(deviation(tensor.grad(), wanted[i]), 1e-10) << name;
        tensor.mutable_grad() = Tensor();
      }
    }
}

// Gradients that end at the borders: whatever was read before is a constant.
TEST_P(Contract, NothingFlowsThroughADetachedState) {
  const auto model = this->model();
  const Tensor input = words(2, 7);
  const auto first = model.read(input.narrow(1, 0, 4), model.begin(2)).second.detached();
  model.read(input.narrow(1, 4, 3), first).first.pow(2).sum().backward();
  std::vector<Tensor> wanted;
  for (const auto& [name, tensor] : model.parameters()) {
    wanted.push_back(tensor.grad().defined() ? tensor.grad().clone() : at::zeros_like(tensor));
    tensor.mutable_grad() = Tensor();
  }
  // The same with a past that never had gradients.
  ReadingState past;
  {
    at::NoGradGuard guard;
    past = model.read(input.narrow(1, 0, 4), model.begin(2)).second;
  }
  model.read(input.narrow(1, 4, 3), past).first.pow(2).sum().backward();
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    const auto& [name, tensor] = model.parameters()[i];
    EXPECT_LT(
        deviation(tensor.grad().defined() ? tensor.grad() : at::zeros_like(tensor), wanted[i]),
        1e-12)
        << name;
  }
}

TEST_P(Contract, OneSymbolAfterTheOtherAndBranches) {
  const auto model = this->model();
  at::NoGradGuard guard;
  const Tensor input = words(2, 5);
  const Tensor whole = model.logits(input);
  auto state = model.begin(2);
  for (std::int64_t t = 0; t < 5; ++t) {
    const auto [logits, seen] = model.next(state);
    EXPECT_LT(deviation(logits, whole.select(1, t)), 1e-12);
    // Another continuation of the same state leaves it as it is.
    model.read(at::full({2, 3}, 1, at::kLong), seen);
    state = model.read(input.narrow(1, t, 1), seen).second;
  }
}

TEST_P(Contract, CudaEqualsCpu) {
  if (!at::hasCUDA()) GTEST_SKIP() << "no CUDA device, or a LibTorch without CUDA";
  const auto cpu = this->model();
  Json on_cuda = options();
  on_cuda["device"] = "cuda";
  const LanguageModel cuda(Alphabet({"a", "b", "c"}), on_cuda);
  const Tensor input = words(3, 9);
  cpu.log_probabilities(input, training()).sum().backward();
  cuda.log_probabilities(input, training()).sum().backward();
  EXPECT_LT(deviation(cuda.logits(input).cpu(), cpu.logits(input)), 1e-11);
  for (std::size_t i = 0; i < cpu.parameters().size(); ++i)
    EXPECT_LT(
        deviation(cuda.parameters()[i].second.grad().cpu(), cpu.parameters()[i].second.grad()),
        1e-10)
        << cpu.parameters()[i].first;
}

TEST_P(Contract, SameSeedSameParametersAndUnknownOptionsFail) {
  const auto a = model(), b = model();
  for (std::size_t i = 0; i < a.parameters().size(); ++i)
    EXPECT_TRUE(a.parameters()[i].second.equal(b.parameters()[i].second));
  // In the options themselves, and in every table of theirs.
  const auto refused = [](const Json& options) {
    EXPECT_THROW(LanguageModel(Alphabet({"a"}), options), std::invalid_argument) << options;
  };
  Json wrong = GetParam();
  wrong["sizze"] = 3;
  refused(wrong);
  for (const auto& [key, value] : GetParam().items()) {
    wrong = GetParam();
    Json* table = value.is_array() && value[0].is_object() ? &wrong[key][0] : &wrong[key];
    if (!table->is_object()) continue;
    (*table)["sizze"] = 3;
    refused(wrong);
  }
}

TEST_P(Contract, StatesOfOtherModelsAndWrongBatchesAreRefused) {
  const auto model = this->model(), other = this->model();
  EXPECT_THROW(model.read(words(2, 3), other.begin(2)), std::invalid_argument);
  EXPECT_THROW(model.read(words(2, 3), model.begin(3)), std::invalid_argument);
  EXPECT_THROW(model.begin(0), std::invalid_argument);
}

INSTANTIATE_TEST_SUITE_P(Registry, Contract, testing::ValuesIn(all_cases()));

TEST(LanguageModelEnd, EndSymbolMakesProbabilitiesOfAllLengthsSumBelowOne) {
  LanguageModel model(Alphabet({"a", "b"}), Json{{"end_symbol", true}, {"dtype", "float64"}});
  at::NoGradGuard guard;
  double total = 0;
  for (std::int64_t length = 0; length <= 8; ++length)
    for (int code = 0; code < 1 << length; ++code) {
      Tensor word = at::empty({1, length}, at::kLong);
      for (std::int64_t i = 0; i < length; ++i) word.data_ptr<std::int64_t>()[i] = code >> i & 1;
      total += model.log_probabilities(word).exp().item<double>();
    }
  EXPECT_LT(total, 1);
  EXPECT_GT(total, 0.9);
}

TEST(LanguageModelEnd, PiecesCloseTheString) {
  const LanguageModel model(Alphabet({"a", "b"}), Json{{"end_symbol", true}, {"dtype", "float64"}});
  const Tensor words = at::zeros({2, 5}, at::kLong);
  const Tensor wanted = model.log_probabilities(words);
  for (const std::int64_t chunk : {0, 1, 2, 5, 9}) {
    Tensor sum = at::zeros({2}, at::kDouble);
    int pieces = 0;
    model.visit_log_probabilities(words, chunk, nullptr, [&](const Tensor& piece) {
      sum = sum + piece.detach();
      ++pieces;
    });
    EXPECT_LT(deviation(sum, wanted), 1e-12) << chunk;
    EXPECT_EQ(pieces, chunk == 1 ? 5 : chunk == 2 ? 3 : 1);
  }
}

TEST(LanguageModelMemory, AWindowBoundsIt) {
  for (const std::string kind : {"nondeterministic", "vector_nondeterministic"}) {
    const LanguageModel model(Alphabet({"a", "b"}),
                              Json{{"controller", {{"kind", "elman"}, {"hidden", 4}}},
                                   {"stack", {{"kind", kind}, {"window", 5}}}});
    const Tensor words = at::zeros({2, 10}, at::kLong);
    auto state = model.begin(2);
    std::vector<std::size_t> bytes;
    for (int chunk = 0; chunk < 20; ++chunk) {
      auto [logits, next] = model.read(words, state);
      logits.sum().backward();
      state = next.detached();
      bytes.push_back(state.state->bytes());
    }
    EXPECT_EQ(bytes.front(), bytes.back()) << kind;
    EXPECT_EQ(std::set<std::size_t>(bytes.begin(), bytes.end()).size(), 1u) << kind;
  }
}

TEST(LanguageModelErrors, NameWhatWasExpected) {
  const LanguageModel model(Alphabet({"a", "b"}), Json::object());
  EXPECT_THROW(model.logits(at::zeros({2, 3})), std::invalid_argument);
  EXPECT_THROW(model.logits(at::full({2, 3}, 2, at::kLong)), std::invalid_argument);
  try {
    LanguageModel(Alphabet({"a"}), Json{{"stack", {{"kind", "superpositon"}}}});
    FAIL();
  } catch (const std::invalid_argument& error) {
    EXPECT_NE(std::string(error.what()).find("did you mean 'superposition'?"), std::string::npos)
        << error.what();
  }
}

}  // namespace
}  // namespace pushdown
