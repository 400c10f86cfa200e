#include "graph/device.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "python/visitor.h"

namespace graft::graph {
namespace {

using python::node_cast;

const python::Constant* string_constant(const python::Expr* expression) {
  const auto* constant = node_cast<python::Constant>(expression);
  return constant != nullptr && constant->value.is(python::ConstantType::kStr) ? constant : nullptr;
}

// `device` or `torch.device`.
bool names_device(const python::Expr* expression) {
  if (const auto* name = node_cast<python::Name>(expression)) return name->id == "device";
  const auto* attribute = node_cast<python::Attribute>(expression);
  if (attribute == nullptr || attribute->attr != "device") return false;
  const auto* base = node_cast<python::Name>(attribute->value);
  return base != nullptr && base->id == "torch";
}

// The "..." of device(type="..."), or nullptr.
const python::Constant* device_type(const python::Expr* expression) {
  const auto* call = node_cast<python::Call>(expression);
  if (call == nullptr || !names_device(call->func)) return nullptr;
  for (const python::Keyword* keyword : call->keywords) {
    if (keyword->arg == "type") return string_constant(keyword->value);
  }
  return nullptr;
}

}  // namespace

std::string rewrite_device_literals(const python::ParsedModule& module, std::string_view device) {
  const std::string_view type = device.substr(0, device.find(':'));
  std::vector<const python::Constant*> literals;
  python::walk(*module.module, [&](const python::Node& node) {
    const auto* call = node_cast<python::Call>(&node);
    if (call == nullptr) return;
    for (const python::Keyword* keyword : call->keywords) {
      if (keyword->arg == "device") literals.push_back(device_type(keyword->value));
    }
    const auto* method = node_cast<python::Attribute>(call->func);
    if (method == nullptr) return;
    if (method->attr == "to" && call->args.size() == 1 && call->keywords.empty()) {
      literals.push_back(device_type(call->args[0]));
    }
    if (method->attr == "type" && names_device(method->value) && !call->args.empty()) {
      literals.push_back(string_constant(call->args[0]));
    }
  });
  std::erase(literals, nullptr);
  std::sort(literals.begin(), literals.end(),
            [](const python::Constant* a, const python::Constant* b) { return a->begin < b->begin; });
  literals.erase(std::unique(literals.begin(), literals.end()), literals.end());

  const std::string_view text = module.source.text();
  std::string out;
  out.reserve(text.size() + literals.size() * type.size());
  uint32_t copied = 0;
  for (const python::Constant* literal : literals) {
    const char quote = text[literal->end - 1];
    out += text.substr(copied, literal->begin - copied);
    out += quote;
    out += type;
    out += quote;
    copied = literal->end;
  }
  out += text.substr(copied);
  return out;
}

Result<std::string> rewrite_device_literals(std::string text, std::string_view device, std::string file) {
  GRAFT_ASSIGN_OR_RETURN(const python::ParsedModule module,
                         python::parse_text(std::move(text), std::move(file)));
  return rewrite_device_literals(module, device);
}

}  // namespace graft::graph
