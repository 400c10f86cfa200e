// Any text is read or refused as a kernel's source; what is accepted makes a translation unit that reads the
// same again.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "kernels/preamble.h"
#include "kernels/signature.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::string_view source(reinterpret_cast<const char*>(data), size);
  auto functions = graft::kernels::callable_functions(source, "");
  if (!functions.ok()) return 0;
  for (const graft::kernels::Function& function : *functions) {
    if (!function.obstacle.empty() || function.name.empty() || function.line < 1) std::abort();
    for (const graft::kernels::Parameter& parameter : function.parameters)
      if (parameter.kind != graft::kernels::Parameter::Kind::kTensor && parameter.type == nullptr)
        std::abort();
    // The declaration as it is printed is itself a definition once a body follows (outside namespaces).
    if (function.name.find("::") != std::string::npos) continue;
    auto again = graft::kernels::read_functions(function.declaration() + " {}");
    if (!again.ok() || again->size() != 1) std::abort();
    if (again->front().declaration() != function.declaration()) std::abort();
  }
  (void)graft::kernels::translation_unit(source, *functions);
  return 0;
}
