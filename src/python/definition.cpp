#include "python/definition.h"

#include <algorithm>
#include <optional>

#include "python/canonical.h"

namespace graft::python {
namespace {

constexpr int kMaxAliases = 32;  // steps from name to name before a search gives up

// Walks the blocks of statements, on a stack of its own because an elif chain is as deep as it is long.
// `enter(stmt, conditional)` returns whether to go into the body of a function or class as well;
// `leave(stmt)` ends such a body.
template <class Enter, class Leave>
void walk_statements(const Nodes<Stmt>& body, Enter enter, Leave leave) {
  struct Block {
    const Nodes<Stmt>* statements;
    uint32_t next;
    bool conditional;
    const Stmt* owner;  // function or class to leave at the end
  };
  std::vector<Block> stack{{&body, 0, false, nullptr}};
  while (!stack.empty()) {
    Block& block = stack.back();
    if (block.next == block.statements->size()) {
      const Stmt* owner = block.owner;
      stack.pop_back();
      if (owner != nullptr) leave(*owner);
      continue;
    }
    const Stmt& statement = *(*block.statements)[block.next++];
    bool outer = block.conditional;
    bool inside = enter(statement, outer);
    size_t first = stack.size();
    auto add = [&](const Nodes<Stmt>& statements, bool conditional = true) {
      if (!statements.empty()) stack.push_back({&statements, 0, outer || conditional, nullptr});
    };
    switch (statement.kind) {
      case NodeKind::kFunctionDef:
      case NodeKind::kAsyncFunctionDef:
        if (inside) stack.push_back({&as<FunctionBase>(statement).body, 0, false, &statement});
        break;
      case NodeKind::kClassDef:
        if (inside) stack.push_back({&as<ClassDef>(statement).body, 0, false, &statement});
        break;
      case NodeKind::kIf:
        add(as<If>(statement).body);
        add(as<If>(statement).orelse);
        break;
      case NodeKind::kFor:
      case NodeKind::kAsyncFor:
        add(as<ForBase>(statement).body);
        add(as<ForBase>(statement).orelse);
        break;
      case NodeKind::kWhile:
        add(as<While>(statement).body);
        add(as<While>(statement).orelse);
        break;
      case NodeKind::kWith:
      case NodeKind::kAsyncWith:
        add(as<WithBase>(statement).body, false);
        break;
      case NodeKind::kTry:
      case NodeKind::kTryStar: {
        const TryBase& attempt = as<TryBase>(statement);
        add(attempt.body);
        for (const ExceptHandler* handler : attempt.handlers) add(handler->body);
        add(attempt.orelse);
        add(attempt.finalbody, false);
        break;
      }
      case NodeKind::kMatch:
        for (const MatchCase* one : as<Match>(statement).cases) add(one->body);
        break;
      default:
        break;
    }
    std::reverse(stack.begin() + static_cast<std::ptrdiff_t>(first), stack.end());
  }
}

Identifier name_of(const Stmt& definition) {
  return definition.kind == NodeKind::kClassDef ? as<ClassDef>(definition).name
                                                : as<FunctionBase>(definition).name;
}

bool is_definition(const Stmt& statement) {
  return statement.kind == NodeKind::kClassDef || FunctionBase::matches(statement.kind);
}

bool is_name(const Expr* expr, std::string_view id) {
  const auto* name = node_cast<Name>(expr);
  return name != nullptr && name->id == id;
}

// The last identifier of a dotted path: "property" of builtins.property.
std::string_view last_name(const Expr* expr) {
  if (const auto* name = node_cast<Name>(expr)) return name->id;
  if (const auto* attribute = node_cast<Attribute>(expr)) return attribute->attr;
  return {};
}

// The parts of a.b.c; empty where the expression is anything else.
std::vector<std::string_view> dotted_path(const Expr* expr) {
  std::vector<std::string_view> parts;
  while (const auto* attribute = node_cast<Attribute>(expr)) {
    parts.push_back(attribute->attr);
    expr = attribute->value;
  }
  const auto* name = node_cast<Name>(expr);
  if (name == nullptr) return {};
  parts.push_back(name->id);
  std::reverse(parts.begin(), parts.end());
  return parts;
}

// What binds a name in a scope: a definition, or an assignment with its value; neither for imports and
// unpacking.
struct Binding {
  const Stmt* definition = nullptr;
  const Expr* value = nullptr;
  bool conditional = false;
};

class Finder {
 public:
  explicit Finder(const Module& module) : module_(module) {}

  // Follows the parts from `scope`. On failure `missing` is the number of the part that was not found.
  std::optional<Target> follow(const Nodes<Stmt>& scope, const std::vector<std::string_view>& parts,
                               size_t& missing) {
    missing = 0;
    std::optional<Target> found = lookup(scope, parts[0]);
    if (!found && &scope != &module_.body) found = lookup(module_.body, parts[0]);
    for (size_t i = 1; found && i < parts.size(); ++i) {
      missing = i;
      bool ambiguous = found->ambiguous;
      if (parts[i] == "<locals>") {
        if (found->kind != Target::Kind::kFunction || ++i == parts.size()) return std::nullopt;
        missing = i;
        found = lookup(as<FunctionBase>(*found->node).body, parts[i]);
      } else {
        if (found->kind != Target::Kind::kClass) return std::nullopt;
        found = attribute(as<ClassDef>(*found->node), parts[i]);
      }
      if (found) found->ambiguous |= ambiguous;
    }
    return found;
  }

 private:
  std::vector<Binding> bindings(const Nodes<Stmt>& scope, std::string_view name) const {
    std::vector<Binding> found;
    for (const ScopedStatement& scoped : statements_of_scope(scope)) {
      const Stmt& statement = *scoped.node;
      if (is_definition(statement)) {
        if (name_of(statement) == name) found.push_back({&statement, nullptr, scoped.conditional});
      } else if (const auto* assign = node_cast<Assign>(&statement)) {
        for (const Expr* target : assign->targets) {
          if (is_name(target, name))
            found.push_back({nullptr, assign->value, scoped.conditional});
          else if (unpacks(target, name))
            found.push_back({nullptr, nullptr, scoped.conditional});
        }
      } else if (const auto* annotated = node_cast<AnnAssign>(&statement)) {
        if (annotated->value != nullptr && is_name(annotated->target, name))
          found.push_back({nullptr, annotated->value, scoped.conditional});
      } else if (const auto* from = node_cast<ImportFrom>(&statement)) {
        for (const Alias* alias : from->names)
          if ((present(alias->asname) ? alias->asname : alias->name) == name)
            found.push_back({nullptr, nullptr, scoped.conditional});
      } else if (const auto* import = node_cast<Import>(&statement)) {
        for (const Alias* alias : import->names)
          if ((present(alias->asname) ? alias->asname : alias->name.substr(0, alias->name.find('.'))) == name)
            found.push_back({nullptr, nullptr, scoped.conditional});
      } else if (const auto* deletion = node_cast<Delete>(&statement)) {
        for (const Expr* target : deletion->targets)
          if (is_name(target, name) && !scoped.conditional) found.clear();
      }
    }
    return found;
  }

  static bool unpacks(const Expr* target, std::string_view name) {
    const Nodes<Expr>* elements = nullptr;
    if (const auto* tuple = node_cast<Tuple>(target)) elements = &tuple->elts;
    if (const auto* list = node_cast<List>(target)) elements = &list->elts;
    if (elements == nullptr) return false;
    return std::any_of(elements->begin(), elements->end(),
                       [&](const Expr* element) { return is_name(element, name); });
  }

  std::optional<Target> lookup(const Nodes<Stmt>& scope, std::string_view name) {
    if (steps_ == kMaxAliases) return std::nullopt;
    ++steps_;
    std::vector<Binding> all = bindings(scope, name);
    if (all.empty()) return std::nullopt;
    const Binding& last = all.back();
    std::optional<Target> found;
    if (last.definition != nullptr)
      found = of_definition(all);
    else if (last.value != nullptr)
      found = of_value(scope, *last.value);
    if (found) found->ambiguous |= all.size() > 1 && last.conditional;
    return found;
  }

  // The definition that is bound last, together with the accessors of a property before it.
  static std::optional<Target> of_definition(const std::vector<Binding>& all) {
    Target target;
    for (const Binding& binding : all) {
      if (binding.definition == nullptr) {
        target = {};
        continue;
      }
      const Node* node = binding.definition;
      if (node->kind == NodeKind::kClassDef) {
        target = {};
        target.kind = Target::Kind::kClass;
        target.node = node;
        continue;
      }
      const FunctionBase& function = as<FunctionBase>(*node);
      Target next;
      next.node = node;
      for (const Expr* decorator : function.decorator_list) {
        const auto* attribute = node_cast<Attribute>(decorator);
        if (attribute != nullptr && is_name(attribute->value, function.name) &&
            target.kind == Target::Kind::kProperty) {
          next = target;
          if (attribute->attr == "getter")
            next.getter = node;
          else if (attribute->attr == "setter")
            next.setter = node;
          else if (attribute->attr == "deleter")
            next.deleter = node;
        } else if (last_name(decorator) == "property") {
          next.kind = Target::Kind::kProperty;
          next.getter = node;
        }
      }
      target = next;
    }
    if (target.kind == Target::Kind::kProperty) target.node = first_accessor(target);
    return target;
  }

  static const Node* first_accessor(const Target& target) {
    return target.getter != nullptr   ? target.getter
           : target.setter != nullptr ? target.setter
                                      : target.deleter;
  }

  std::optional<Target> of_value(const Nodes<Stmt>& scope, const Expr& value) {
    if (value.kind == NodeKind::kLambda) {
      Target target;
      target.kind = Target::Kind::kLambda;
      target.node = &value;
      return target;
    }
    if (const auto* call = node_cast<Call>(&value)) return of_property_call(scope, *call);
    std::vector<std::string_view> parts = dotted_path(&value);
    size_t missing = 0;
    return parts.empty() ? std::nullopt : follow(scope, parts, missing);
  }

  std::optional<Target> of_property_call(const Nodes<Stmt>& scope, const Call& call) {
    if (!is_name(call.func, "property")) return std::nullopt;
    Target target;
    target.kind = Target::Kind::kProperty;
    auto set = [&](const Node*& accessor, const Expr* value) {
      const auto* constant = node_cast<Constant>(value);
      if (constant != nullptr && constant->value.is(ConstantType::kNone)) return true;
      std::optional<Target> found = of_value(scope, *value);
      if (!found || found->kind == Target::Kind::kClass || found->kind == Target::Kind::kProperty)
        return false;
      accessor = found->node;
      target.ambiguous |= found->ambiguous;
      return true;
    };
    const Node** accessors[] = {&target.getter, &target.setter, &target.deleter};
    for (uint32_t i = 0; i < call.args.size() && i < 3; ++i)
      if (!set(*accessors[i], call.args[i])) return std::nullopt;
    for (const Keyword* keyword : call.keywords) {
      const Node** accessor = keyword->arg == "fget"   ? &target.getter
                              : keyword->arg == "fset" ? &target.setter
                              : keyword->arg == "fdel" ? &target.deleter
                                                       : nullptr;
      if (accessor != nullptr && !set(*accessor, keyword->value)) return std::nullopt;
    }
    target.node = first_accessor(target);
    return target.node == nullptr ? std::nullopt : std::optional(target);
  }

  // A member of a class or, where it has none of that name, of its bases in this module, depth first.
  std::optional<Target> attribute(const ClassDef& owner, std::string_view name) {
    std::optional<Target> found = lookup(owner.body, name);
    if (found || !bindings(owner.body, name).empty()) return found;
    for (const Expr* base : owner.bases) {
      std::vector<std::string_view> parts = dotted_path(base);
      size_t missing = 0;
      if (parts.empty()) continue;
      std::optional<Target> parent = follow(module_.body, parts, missing);
      // A class may name an earlier one of its own name as its base; the search by name would only find
      // itself.
      if (!parent || parent->kind != Target::Kind::kClass || parent->node == &owner) continue;
      found = attribute(as<ClassDef>(*parent->node), name);
      if (found) return found;
    }
    return std::nullopt;
  }

  const Module& module_;
  int steps_ = 0;
};

// 3.8 looks for the class by a regular expression over the lines: the first at the top of the file, else the
// least indented.
const ClassDef* class_by_line_search(const ParsedModule& module, std::string_view name) {
  const SourceText& source = module.source;
  std::optional<std::pair<std::string_view, uint32_t>> best;
  for (uint32_t line = 1; line <= source.line_count(); ++line) {
    std::string_view text = source.line_text(line);
    size_t indent = std::min(text.find_first_not_of(" \t\f\v\r"), text.size());
    std::string_view rest = text.substr(indent);
    if (!rest.starts_with("class")) continue;
    rest.remove_prefix(5);
    rest.remove_prefix(std::min(rest.find_first_not_of(" \t\f\v\r"), rest.size()));
    if (!rest.starts_with(name)) continue;
    rest.remove_prefix(name.size());
    auto next = static_cast<unsigned char>(rest.empty() ? ' ' : rest[0]);
    if (next == '_' || next >= 0x80 || (next >= '0' && next <= '9') ||
        ((next | 0x20) >= 'a' && (next | 0x20) <= 'z'))
      continue;
    std::pair candidate(text.substr(0, indent), line);
    if (!best || (indent == 0 ? !best->first.empty() : candidate < *best)) best = candidate;
  }
  if (!best) return nullptr;
  for (const Definition& definition : all_definitions(*module.module))
    if (definition.node->kind == NodeKind::kClassDef &&
        source.line_of(definition.node->begin) == best->second)
      return &as<ClassDef>(*definition.node);
  return nullptr;
}

}  // namespace

std::vector<ScopedStatement> statements_of_scope(const Nodes<Stmt>& body) {
  std::vector<ScopedStatement> found;
  walk_statements(
      body,
      [&](const Stmt& statement, bool conditional) {
        found.push_back({&statement, conditional});
        return false;
      },
      [](const Stmt&) {});
  return found;
}

std::vector<Definition> all_definitions(const Module& module) {
  std::vector<Definition> found;
  std::string prefix;
  walk_statements(
      module.body,
      [&](const Stmt& statement, bool) {
        if (!is_definition(statement)) return false;
        std::string qualname = prefix;
        qualname += name_of(statement);
        prefix = qualname + (statement.kind == NodeKind::kClassDef ? "." : ".<locals>.");
        found.push_back({&statement, std::move(qualname)});
        return true;
      },
      [&](const Stmt& statement) {
        size_t own = name_of(statement).size() + (statement.kind == NodeKind::kClassDef ? 1 : 10);
        prefix.resize(prefix.size() - own);
      });
  return found;
}

Result<Target> find_target(const ParsedModule& module, std::string_view qualname, Profile profile) {
  std::vector<std::string_view> parts;
  for (std::string_view rest = qualname;;) {
    size_t dot = rest.find('.');
    parts.push_back(rest.substr(0, dot));
    if (parts.back().empty())
      return input_error("'" + std::string(qualname) + "' is no qualified name", {}, "names joined by dots");
    if (dot == std::string_view::npos) break;
    rest.remove_prefix(dot + 1);
  }
  Finder finder(*module.module);
  size_t missing = 0;
  std::optional<Target> found = finder.follow(module.module->body, parts, missing);
  if (!found)
    return input_error("no function, class, property or lambda '" + std::string(parts[missing]) + "' of '" +
                           std::string(qualname) + "' in this module",
                       Place{module.source.file()}, {},
                       "`graft python hash --definitions` lists what a file defines");
  int minor = minor_version(profile);
  if (found->kind == Target::Kind::kClass && minor < 13) {
    std::vector<Definition> all = all_definitions(*module.module);
    std::string own;
    for (const Definition& definition : all)
      if (definition.node == found->node) own = definition.qualname;
    const Node* first = nullptr;
    int count = 0;
    for (const Definition& definition : all) {
      if (definition.node->kind != NodeKind::kClassDef || definition.qualname != own) continue;
      if (count++ == 0) first = definition.node;
    }
    if (minor == 8) first = class_by_line_search(module, as<ClassDef>(*found->node).name);
    if (first == nullptr)
      return input_error(
          "CPython 3.8 takes a line that is no class statement for '" + std::string(qualname) + "'",
          Place{module.source.file()});
    found->node = first;
    found->ambiguous |= count > 1;
  }
  return *found;
}

}  // namespace graft::python
