// Source encodings: the coding cookie (PEP 263) and the codecs it may name.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace graft::python {

struct Cookie {
  std::string codec;  // as written, normalised as CPython's tokenizer does: "utf-8", "iso-8859-1", or lower
                      // case as written
  size_t offset = 0;  // of the name
  int line = 0;       // 1 or 2
};

// The cookie in a comment of the first line, or of the second one when the first holds nothing but a comment.
std::optional<Cookie> find_cookie(std::string_view bytes);

// Decodes `bytes` to UTF-8 and sets cookie.codec to the codec's own name. A file in UTF-8 under another
// spelling comes back unchanged and unchecked. The error for an unknown codec names it; the one for an
// undecodable byte has its place.
Result<std::string> decode(std::string bytes, Cookie& cookie, const std::string& file);

}  // namespace graft::python
