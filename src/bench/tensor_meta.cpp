#include "bench/tensor_meta.h"

#include <algorithm>
#include <map>
#include <unordered_map>

#include <fmt/format.h>

#include "python/literal.h"
#include "python/parser.h"

namespace graft::bench {
namespace {

using python::Literal;
using python::LiteralType;

struct Attribute {
  Literal value;
  Place place;
};
using Attributes = std::map<std::string, Attribute, std::less<>>;

Number number_of(const Literal& value) {
  return value.is_integral() ? Number::of(value.integer) : Number::of(value.real);
}

class Reader {
 public:
  explicit Reader(const python::ParsedModule& parsed) : source_(parsed.source) {}

  Result<std::vector<TensorMeta>> read(const python::Module& module) {
    for (const python::Stmt* statement : module.body) GRAFT_RETURN_IF_ERROR(read_statement(*statement));
    // std::map compares bytes, which for UTF-8 is the order of code points.
    std::vector<TensorMeta> metas;
    for (const auto& [name, definition] : classes_) {
      GRAFT_ASSIGN_OR_RETURN(TensorMeta meta, to_meta(name, definition));
      metas.push_back(std::move(meta));
    }
    return metas;
  }

 private:
  struct Definition {
    Attributes attributes;
    Place place;
  };

  Place place(const python::Node& node) const { return source_.place(node.begin); }

  Status read_statement(const python::Stmt& statement) {
    using python::NodeKind;
    switch (statement.kind) {
      case NodeKind::kClassDef:
        return read_class(python::as<python::ClassDef>(statement));
      case NodeKind::kImport:
      case NodeKind::kImportFrom:
      case NodeKind::kPass:
        return {};
      case NodeKind::kExprStmt:
        if (python::as<python::ExprStmt>(statement).value->kind == NodeKind::kConstant) return {};
        break;
      case NodeKind::kAssign:
      case NodeKind::kAnnAssign:
        return assign(statement, globals_, nullptr);
      default:
        break;
    }
    return input_error("not a statement of a tensor metadata file", place(statement),
                       "a class with constant attributes");
  }

  // `name = constant` into `scope`; names are looked up there, then in `outer`.
  Status assign(const python::Stmt& statement, Attributes& scope, const Attributes* outer) {
    const python::Expr* value = nullptr;
    std::vector<const python::Expr*> targets;
    if (const auto* assignment = python::node_cast<python::Assign>(&statement)) {
      value = assignment->value;
      targets.assign(assignment->targets.begin(), assignment->targets.end());
    } else {
      const auto& annotated = python::as<python::AnnAssign>(statement);
      if (annotated.value == nullptr) return {};
      value = annotated.value;
      targets.push_back(annotated.target);
    }
    python::LiteralOptions options;
    options.name = [&](std::string_view name) -> const Literal* {
      if (auto found = scope.find(name); found != scope.end()) return &found->second.value;
      if (outer == nullptr) return nullptr;
      auto found = outer->find(name);
      return found != outer->end() ? &found->second.value : nullptr;
    };
    GRAFT_ASSIGN_OR_RETURN(Literal literal, python::fold_literal(*value, source_, options));
    for (const python::Expr* target : targets) {
      const auto* name = python::node_cast<python::Name>(target);
      if (name == nullptr)
        return input_error("not a plain name before '='", place(*target), "name = constant");
      scope[std::string(name->id)] = {literal, place(*value)};
    }
    return {};
  }

  Status read_class(const python::ClassDef& node) {
    Definition definition;
    definition.place = place(node);
    if (!node.keywords.empty() || !node.decorator_list.empty())
      return input_error("a metadata class takes no decorator and no keyword", definition.place);
    for (auto base = node.bases.end(); base != node.bases.begin();) {
      // From the last base to the first, so that the first one wins.
      const auto* name = python::node_cast<python::Name>(*--base);
      if (name != nullptr && name->id == "object") continue;
      auto known = name != nullptr ? classes_.find(std::string(name->id)) : classes_.end();
      if (known == classes_.end())
        return input_error("the base class is not defined in this file", place(**base));
      for (const auto& [key, attribute] : known->second.attributes) definition.attributes[key] = attribute;
    }
    for (const python::Stmt* statement : node.body) {
      using python::NodeKind;
      switch (statement->kind) {
        case NodeKind::kAssign:
        case NodeKind::kAnnAssign:
          GRAFT_RETURN_IF_ERROR(assign(*statement, definition.attributes, &globals_));
          continue;
        case NodeKind::kPass:
        case NodeKind::kFunctionDef:  // callables are no metadata
        case NodeKind::kAsyncFunctionDef:
        case NodeKind::kClassDef:
          continue;
        case NodeKind::kExprStmt:
          if (python::as<python::ExprStmt>(*statement).value->kind == NodeKind::kConstant) continue;
          break;
        default:
          break;
      }
      return input_error("not a statement of a metadata class", place(*statement), "name = constant");
    }
    classes_[std::string(node.name)] = std::move(definition);
    return {};
  }

  static Error wrong_type(const char* attribute, const Attribute& found, const char* expected) {
    return input_error(fmt::format("attribute '{}' is a {}", attribute, type_name(found.value.type)),
                       found.place, expected);
  }

  // An attribute that is text; `fallback` where absent.
  Result<std::string> text(const Definition& definition, const char* key, std::string fallback) {
    auto found = definition.attributes.find(key);
    if (found == definition.attributes.end()) return fallback;
    if (!found->second.value.is_str()) return wrong_type(key, found->second, "a text");
    return found->second.value.text;
  }

  // An attribute that is a number or None.
  Result<std::optional<Number>> number(const Definition& definition, const char* key,
                                       std::optional<Number> fallback) {
    auto found = definition.attributes.find(key);
    if (found == definition.attributes.end()) return fallback;
    const Literal& value = found->second.value;
    if (value.is_none()) return std::optional<Number>();
    if (!value.is_number()) return wrong_type(key, found->second, "a number or None");
    return std::optional<Number>(number_of(value));
  }

  static void flatten(const Literal& value, std::vector<Number>& out) {
    if (value.is_number()) out.push_back(number_of(value));
    for (const Literal& item : value.items) flatten(item, out);
  }

  // The first part of `data` that is neither a number nor a list; null: none.
  static const Literal* not_a_number(const Literal& value) {
    if (value.is_number()) return nullptr;
    if (!value.is_sequence()) return &value;
    for (const Literal& item : value.items)
      if (const Literal* found = not_a_number(item)) return found;
    return nullptr;
  }

  Result<TensorMeta> to_meta(const std::string& class_name, const Definition& definition) {
    TensorMeta meta;
    meta.class_name = class_name;
    meta.place = definition.place;
    meta.shape_place = definition.place;
    if (definition.attributes.find("name") == definition.attributes.end())
      return input_error(fmt::format("class {} has no attribute 'name'", class_name), definition.place,
                         "name = \"<parameter of forward>\"");
    GRAFT_ASSIGN_OR_RETURN(meta.name, text(definition, "name", {}));
    GRAFT_ASSIGN_OR_RETURN(std::string dtype, text(definition, "dtype", "float32"));
    auto known = dtype_from_name(dtype);
    if (!known)
      return input_error(fmt::format("no tensor dtype '{}'", dtype),
                         definition.attributes.find("dtype")->second.place,
                         "a dtype of torch, such as \"torch.float32\"");
    meta.dtype = *known;
    GRAFT_ASSIGN_OR_RETURN(meta.device, text(definition, "device", "cpu"));
    if (auto original = definition.attributes.find("original_name");
        original != definition.attributes.end() && original->second.value.is_str())
      meta.original_name = original->second.value.text;
    GRAFT_ASSIGN_OR_RETURN(auto mean, number(definition, "mean", Number::of(0.0)));
    GRAFT_ASSIGN_OR_RETURN(auto deviation, number(definition, "std", Number::of(1.0)));
    meta.mean = mean ? std::optional(mean->real) : std::nullopt;
    meta.std = deviation ? std::optional(deviation->real) : std::nullopt;
    GRAFT_ASSIGN_OR_RETURN(meta.min_val, number(definition, "min_val", std::nullopt));
    GRAFT_ASSIGN_OR_RETURN(meta.max_val, number(definition, "max_val", std::nullopt));
    GRAFT_RETURN_IF_ERROR(read_shape(definition, meta));
    GRAFT_RETURN_IF_ERROR(read_data(definition, meta));
    return meta;
  }

  Status read_shape(const Definition& definition, TensorMeta& meta) {
    auto found = definition.attributes.find("shape");
    if (found == definition.attributes.end()) return {};
    meta.shape_place = found->second.place;
    if (!found->second.value.is_sequence()) return wrong_type("shape", found->second, "a list of integers");
    int64_t count = 1;
    for (const Literal& extent : found->second.value.items) {
      if (!extent.is(LiteralType::kInt) || extent.integer < 0)
        return input_error("the shape has an extent that is no non-negative integer", meta.shape_place);
      if (__builtin_mul_overflow(count, std::max<int64_t>(extent.integer, 1), &count) ||
          count > (int64_t{1} << 48))
        return input_error("the shape has too many elements", meta.shape_place);
      meta.shape.push_back(extent.integer);
    }
    return {};
  }

  Status read_data(const Definition& definition, TensorMeta& meta) {
    auto found = definition.attributes.find("data");
    if (found == definition.attributes.end() || found->second.value.is_none()) return {};
    if (const Literal* odd = not_a_number(found->second.value))
      return input_error(fmt::format("'data' holds a {}", type_name(odd->type)), found->second.place,
                         "None or a list of numbers");
    TensorData data;
    data.place = found->second.place;
    flatten(found->second.value, data.elements);
    meta.data = std::move(data);
    return {};
  }

  const python::SourceText& source_;
  Attributes globals_;
  std::map<std::string, Definition> classes_;
};

}  // namespace

int64_t TensorMeta::element_count() const {
  int64_t count = 1;
  for (int64_t extent : shape) count *= extent;
  return count;
}

Result<std::vector<TensorMeta>> parse_tensor_meta(std::string_view text, const std::string& file) {
  GRAFT_ASSIGN_OR_RETURN(python::ParsedModule parsed, python::parse_text(std::string(text), file));
  return Reader(parsed).read(*parsed.module);
}

std::vector<TensorMeta> effective_tensors(const std::vector<TensorMeta>& metas) {
  std::vector<TensorMeta> tensors;
  std::unordered_map<std::string, size_t> position;
  for (const TensorMeta& meta : metas) {
    auto [known, is_new] = position.emplace(meta.name, tensors.size());
    if (is_new)
      tensors.push_back(meta);
    else
      tensors[known->second] = meta;
  }
  return tensors;
}

}  // namespace graft::bench
