// SHA-256 (OpenSSL's EVP): identities of texts, caches and evidence.
#pragma once

#include <memory>
#include <string>
#include <string_view>

namespace graft {

// The SHA-256 of `data` as 64 lower-case hexadecimal digits.
std::string sha256_hex(std::string_view data);

// The same over a text that comes in pieces.
class Sha256 {
 public:
  Sha256();
  Sha256(Sha256&&) noexcept;
  Sha256& operator=(Sha256&&) noexcept;
  ~Sha256();
  void update(std::string_view data);
  // The digest of everything given so far, once; then the object starts anew.
  std::string hex();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace graft
