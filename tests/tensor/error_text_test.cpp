#include "tensor/error_text.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <functional>
#include <stdexcept>
#include <vector>

#include "base/json.h"
#include "support/message.h"
#include "tensor/torch.h"

namespace pushdown::error_text_test {
namespace {

std::string said(const std::function<void()>& action) {
  try {
    action();
  } catch (const std::exception& error) {
    return error_text(error);
  }
  return "no error";
}

TEST(ErrorText, DoesNotNameTheLibraries) {
  EXPECT_EQ(said([] { throw std::invalid_argument("[here] this is wrong"); }),
            "[here] this is wrong");
  EXPECT_EQ(said([] { throw std::bad_alloc(); }), "[memory] not enough memory");
  EXPECT_EQ(said([] { std::vector<int>().reserve(std::size_t{1} << 62); }),
            "[memory] not enough memory: the list is too long");
  EXPECT_EQ(said([] { std::filesystem::rename("/nowhere/at all", "x"); }),
            "cannot use '/nowhere/at all': No such file or directory");
  EXPECT_EQ(said([] { throw std::system_error(EAGAIN, std::generic_category()); }),
            "system error: Resource temporarily unavailable");
  const std::string json = said([] { Json(1).at("x"); });
  EXPECT_TRUE(json.starts_with("[json] ")) << json;
  EXPECT_EQ(json.find("exception"), json.npos) << json;
  // Dimensions, indices and the tensors of a list count from 1; sizes stay as they are.
  const auto contains = [](const std::string& text, const std::string& part) {
    EXPECT_CONTAINS(text, part);
  };
  contains(said([] {
             at::ones({2, 3}) + at::ones({2, 5});
           }),
           "size of tensor a (3) must match the size of tensor b (5) at non-singleton dimension 2");
  const auto cat = said([] { at::cat({at::ones({2, 3}), at::ones({2, 5})}); });
  contains(cat, "except in dimension 1");
  contains(cat, "size 3 but got size 5 for tensor number 2 in the list");
  contains(said([] {
             at::stack({at::ones({2, 3}), at::ones({4, 5})});
           }),
           "[2, 3] at entry 1 and [4, 5] at entry 2");
  contains(said([] { at::ones({2, 3}).sum({1, 1}); }), "dim 2 appears multiple times");
  contains(said([] { at::ones({2, 3}).expand({4, 3}); }), "at non-singleton dimension 1");
  const std::string torch = said([] { at::ones({2, 3}).matmul(at::ones({2, 3})); });
  EXPECT_EQ(torch.find("Exception raised from"), torch.npos) << torch;
  EXPECT_CONTAINS(torch, "2x3");
}

}  // namespace
}  // namespace pushdown::error_text_test
