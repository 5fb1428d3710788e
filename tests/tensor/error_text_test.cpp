#include "tensor/error_text.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <functional>
#include <stdexcept>
#include <vector>

#include "base/json.h"
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
  const std::string torch = said([] { at::ones({2, 3}).matmul(at::ones({2, 3})); });
  EXPECT_EQ(torch.find("Exception raised from"), torch.npos) << torch;
  EXPECT_NE(torch.find("2x3"), torch.npos) << torch;
}

}  // namespace
}  // namespace pushdown::error_text_test
