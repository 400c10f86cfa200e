// The device literals of a model's text, turned to the device of a run.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "python/parser.h"

namespace graft::graph {

// The text of the module with the type string of every device literal replaced by the type of `device`
// ("cuda:1" -> "cuda"); an index stays, and every other byte. Rewritten are `device.type("...")`,
// `x.to(device(type="..."))` with exactly that one argument, and the keyword `device=device(type="...")` of
// any call; `device` may be written `torch.device`.
std::string rewrite_device_literals(const python::ParsedModule& module, std::string_view device);

// Parses first.
Result<std::string> rewrite_device_literals(std::string text, std::string_view device, std::string file = {});

}  // namespace graft::graph
