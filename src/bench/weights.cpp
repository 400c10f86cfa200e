#include <charconv>

#include <fmt/format.h>

#include "base/file.h"
#include "base/json.h"
#include "bench/score.h"
#include "python/literal.h"
#include "python/parser.h"

namespace graft::bench {
namespace {

Result<std::map<int, double>> json_weights(const std::string& path) {
  GRAFT_ASSIGN_OR_RETURN(std::string text, read_file(path));
  GRAFT_ASSIGN_OR_RETURN(Json json, Json::parse(text, path));
  if (!json.is_object()) return input_error("not a JSON object", {path, 1, 1}, "{\"<level>\": weight, ...}");
  std::map<int, double> weights;
  for (const auto& [key, value] : json.members()) {
    int level = 0;
    auto [end, code] = std::from_chars(key.data(), key.data() + key.size(), level);
    if (code != std::errc() || end != key.data() + key.size() || !value.is_number())
      return input_error(fmt::format("\"{}\" is no level with a weight", key), {path, 0, 0},
                         "\"<level>\": number");
    weights[level] = value.as_double();
  }
  return weights;
}

Result<std::map<int, double>> python_weights(const std::string& path) {
  GRAFT_ASSIGN_OR_RETURN(python::ParsedModule parsed, python::parse_file(path));
  const python::FunctionDef* function = nullptr;
  for (const python::Stmt* statement : parsed.module->body)
    if (const auto* definition = python::node_cast<python::FunctionDef>(statement);
        definition != nullptr && definition->name == "get_weights")
      function = definition;
  if (function == nullptr) return input_error("no function get_weights()", {path, 1, 1});
  const auto* last = python::node_cast<python::Return>(function->body[function->body.size() - 1]);
  if (last == nullptr || last->value == nullptr)
    return input_error("get_weights() does not end in a return of weights",
                       parsed.source.place(function->begin));
  GRAFT_ASSIGN_OR_RETURN(python::Literal value, python::fold_literal(*last->value, parsed.source));
  Place place = parsed.source.place(last->value->begin);
  if (!value.is(python::LiteralType::kDict)) return input_error("get_weights() returns no dict", place);
  std::map<int, double> weights;
  for (size_t i = 0; i < value.keys.size(); ++i) {
    const python::Literal& key = value.keys[i];
    const python::Literal& weight = value.items[i];
    bool level =
        key.is(python::LiteralType::kInt) && key.integer >= kStrictestLevel && key.integer <= kLoosestLevel;
    if (!level || !weight.is_number())
      return input_error("not a level with a weight", parsed.source.place(key.begin),
                         "an int from -10 to 5: a number");
    weights[static_cast<int>(key.integer)] = weight.real;
  }
  return weights;
}

}  // namespace

Result<std::map<int, double>> read_weights(const std::string& path) {
  return path.ends_with(".py") ? python_weights(path) : json_weights(path);
}

}  // namespace graft::bench
