// SHA-256 (OpenSSL's EVP): identities of texts, caches and evidence.
#pragma once

#include <string>
#include <string_view>

namespace graft {

// The SHA-256 of `data` as 64 lower-case hexadecimal digits.
std::string sha256_hex(std::string_view data);

}  // namespace graft
