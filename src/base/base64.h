// Base64 (RFC 4648).
#pragma once
#include <string>
#include <string_view>

namespace pushdown {

std::string base64(std::string_view bytes);

}  // namespace pushdown
