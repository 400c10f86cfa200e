#include "graph/strict_rules.h"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

#include "graph/signatures.h"
#include "python/visitor.h"

namespace graft::graph {
namespace {

using python::node_cast;

template <size_t N>
bool among(const std::array<std::string_view, N>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

// `dotted` is `module` or lies below it.
bool below(std::string_view dotted, std::string_view module) {
  return dotted.starts_with(module) && (dotted.size() == module.size() || dotted[module.size()] == '.');
}

bool is_blocked_import(std::string_view dotted) {
  constexpr std::array<std::string_view, 18> kModules = {"pass_bench",
                                                         "graph_net",
                                                         "graph_net_bench",
                                                         "torch.nn",
                                                         "torch.ops",
                                                         "torch.autograd",
                                                         "torch._dynamo",
                                                         "torch._inductor",
                                                         "torch.compiler",
                                                         "torch.jit",
                                                         "torch._C",
                                                         "torch.fx",
                                                         "gc",
                                                         "inspect",
                                                         "ctypes",
                                                         "importlib",
                                                         "builtins",
                                                         "pass_mgr"};
  if (std::any_of(kModules.begin(), kModules.end(),
                  [&](std::string_view module) { return below(dotted, module); })) {
    return true;
  }
  return below(dotted, "graft") && !below(dotted, "graft.kernels") && !below(dotted, "graft.pattern") &&
         dotted != "graft";
}

// Methods of a tensor that look at it, view it, copy or convert it, or fill fresh memory: no computation of
// the model's.
bool is_harmless_method(std::string_view name) {
  static const std::unordered_set<std::string_view> kNames = {"size",
                                                              "stride",
                                                              "dim",
                                                              "ndimension",
                                                              "numel",
                                                              "nelement",
                                                              "element_size",
                                                              "data_ptr",
                                                              "storage_offset",
                                                              "is_contiguous",
                                                              "is_floating_point",
                                                              "is_complex",
                                                              "is_cuda",
                                                              "item",
                                                              "tolist",
                                                              "get_device",
                                                              "contiguous",
                                                              "view",
                                                              "view_as",
                                                              "reshape",
                                                              "reshape_as",
                                                              "expand",
                                                              "expand_as",
                                                              "permute",
                                                              "transpose",
                                                              "t",
                                                              "movedim",
                                                              "swapaxes",
                                                              "unsqueeze",
                                                              "squeeze",
                                                              "flatten",
                                                              "unflatten",
                                                              "ravel",
                                                              "narrow",
                                                              "select",
                                                              "unbind",
                                                              "chunk",
                                                              "split",
                                                              "detach",
                                                              "alias",
                                                              "to",
                                                              "type",
                                                              "half",
                                                              "float",
                                                              "double",
                                                              "bfloat16",
                                                              "int",
                                                              "long",
                                                              "bool",
                                                              "cuda",
                                                              "cpu",
                                                              "clone",
                                                              "new_empty",
                                                              "new_zeros",
                                                              "new_ones",
                                                              "new_full",
                                                              "new_empty_strided",
                                                              "fill_",
                                                              "zero_",
                                                              "copy_",
                                                              "record_stream",
                                                              "requires_grad_",
                                                              "as_strided",
                                                              "data",
                                                              "untyped_storage",
                                                              "is_same_size",
                                                              "resize_"};
  return kNames.contains(name);
}

// Methods that Python's own containers and texts have as well.
bool is_container_method(std::string_view name) {
  constexpr std::array<std::string_view, 8> kNames = {"index", "count", "sort", "values",
                                                      "split", "copy",  "add",  "pop"};
  return among(kNames, name);
}

bool is_tensor_attribute(std::string_view name) {
  constexpr std::array<std::string_view, 14> kNames = {
      "shape", "dtype",    "device",        "ndim",       "is_cuda",      "stride", "size",
      "numel", "data_ptr", "is_contiguous", "contiguous", "element_size", "T",      "layout"};
  return among(kNames, name);
}

std::string dotted_text(const python::Expr* expression) {
  std::vector<std::string_view> parts;
  while (const auto* attribute = node_cast<python::Attribute>(expression)) {
    parts.push_back(attribute->attr);
    expression = attribute->value;
  }
  const auto* name = node_cast<python::Name>(expression);
  if (name == nullptr) return {};
  std::string out(name->id);
  for (size_t i = parts.size(); i-- > 0;) {
    out += '.';
    out += parts[i];
  }
  return out;
}

class StrictChecker {
 public:
  StrictChecker(const python::ParsedModule& module, const SourceRuleOptions& options,
                std::vector<Violation>& violations)
      : module_(module), options_(options), violations_(violations) {
    for (const Violation& violation : violations) reported_.insert(violation.place.line);
  }

  void run() {
    read_aliases();
    python::walk(*module_.module, [&](const python::Node& node) { check_everywhere(node); });
    for (const python::Stmt* statement : module_.module->body) {
      const auto* function = node_cast<python::FunctionBase>(statement);
      if (function != nullptr && is_exempt(*function)) continue;
      check_statement(*statement);
    }
  }

 private:
  bool is_exempt(const python::FunctionBase& function) const {
    return !options_.helper && (function.name == "pattern" || function.name == "replacement_args");
  }

  void report(std::string_view rule, std::string message, const python::Node& at) {
    Violation violation;
    violation.rule = rule;
    violation.message = std::move(message);
    violation.place = module_.source.place(at.begin);
    // One fault of a line under one name is enough; the published rules have been here first.
    if (!seen_.insert(std::string(rule) + ":" + std::to_string(violation.place.line)).second) return;
    if (rule == "blocked-call" && reported_.contains(violation.place.line)) return;
    violations_.push_back(std::move(violation));
  }

  // What names stand for, followed through any number of assignments. A name that is bound twice keeps every
  // meaning of torch.
  void read_aliases() {
    python::walk(*module_.module, [&](const python::Node& node) {
      if (const auto* import = node_cast<python::Import>(&node)) {
        for (const python::Alias* alias : import->names) {
          if (python::present(alias->asname)) {
            aliases_[alias->asname] = alias->name;
          } else {
            const std::string_view root = alias->name.substr(0, alias->name.find('.'));
            aliases_[root] = root;
          }
        }
      } else if (const auto* from = node_cast<python::ImportFrom>(&node)) {
        if (!python::present(from->module)) return;
        for (const python::Alias* alias : from->names) {
          aliases_[python::present(alias->asname) ? alias->asname : alias->name] =
              std::string(from->module) + "." + std::string(alias->name);
        }
      }
    });
    // Assignments, until nothing new is learned.
    for (int round = 0; round < 8; ++round) {
      bool learned = false;
      auto learn = [&](const python::Expr* target, const python::Expr* value) {
        const auto* name = node_cast<python::Name>(target);
        if (name == nullptr || value == nullptr) return;
        const std::string dotted = dotted_text(value);
        if (dotted.empty()) return;
        const std::string resolved = resolve(dotted);
        if (!below(resolved, "torch") || dotted == name->id) return;
        learned = aliases_.insert_or_assign(name->id, resolved).second || learned;
      };
      python::walk(*module_.module, [&](const python::Node& node) {
        if (const auto* assign = node_cast<python::Assign>(&node)) {
          for (const python::Expr* target : assign->targets) {
            learn(target, assign->value);
            const auto* targets = node_cast<python::Tuple>(target);
            const auto* values = node_cast<python::Tuple>(assign->value);
            if (targets == nullptr || values == nullptr) continue;
            for (uint32_t i = 0; i < std::min(targets->elts.size(), values->elts.size()); ++i) {
              learn(targets->elts[i], values->elts[i]);
            }
          }
        } else if (const auto* annotated = node_cast<python::AnnAssign>(&node)) {
          learn(annotated->target, annotated->value);
        } else if (const auto* walrus = node_cast<python::NamedExpr>(&node)) {
          learn(walrus->target, walrus->value);
        }
      });
      if (!learned) break;
    }
  }

  std::string resolve(const std::string& dotted) const {
    const size_t dot = dotted.find('.');
    const auto found = aliases_.find(std::string_view(dotted).substr(0, dot));
    if (found == aliases_.end()) return dotted;
    return found->second + (dot == std::string::npos ? "" : dotted.substr(dot));
  }
  std::string resolve(const python::Expr* expression) const {
    const std::string dotted = dotted_text(expression);
    return dotted.empty() ? dotted : resolve(dotted);
  }

  // --- rules for the whole file
  // --------------------------------------------------------------------------------------------
  void check_everywhere(const python::Node& node) {
    if (const auto* import = node_cast<python::Import>(&node)) {
      for (const python::Alias* alias : import->names) {
        if (is_blocked_import(alias->name) && !reported_.contains(line(node))) {
          report("blocked-import", "module '" + std::string(alias->name) + "' must not be imported by a pass",
                 node);
        }
      }
    } else if (const auto* from = node_cast<python::ImportFrom>(&node)) {
      if (!python::present(from->module)) return;
      for (const python::Alias* alias : from->names) {
        const std::string full = std::string(from->module) + "." + std::string(alias->name);
        const bool star_of_torch = alias->name == "*" && below(from->module, "torch");
        const bool blocked = is_blocked_import(from->module) || is_blocked_import(full) || star_of_torch;
        if (blocked && !reported_.contains(line(node))) {
          report("blocked-import", "'" + full + "' must not be imported by a pass", node);
        }
      }
    } else if (const auto* assign = node_cast<python::Assign>(&node)) {
      for (const python::Expr* target : assign->targets) check_patch(*target);
    } else if (const auto* augmented = node_cast<python::AugAssign>(&node)) {
      check_patch(*augmented->target);
    } else if (const auto* attribute = node_cast<python::Attribute>(&node)) {
      const std::string base = resolve(attribute->value);
      if (attribute->attr == "__dict__" && below(base, "torch")) {
        report("dynamic-access", "'" + base + ".__dict__' reaches functions of torch by name", node);
      }
      if (base == "sys" && (attribute->attr == "modules" || attribute->attr == "_getframe")) {
        report("dynamic-access",
               "'sys." + std::string(attribute->attr) + "' reaches what a pass must not touch", node);
      }
    } else if (const auto* function = node_cast<python::FunctionBase>(&node)) {
      check_decorators(function->decorator_list);
    } else if (const auto* class_ = node_cast<python::ClassDef>(&node)) {
      check_decorators(class_->decorator_list);
    }
  }

  int line(const python::Node& node) const { return module_.source.place(node.begin).line; }

  void check_patch(const python::Expr& target) {
    if (target.kind != python::NodeKind::kAttribute) return;
    const std::string resolved = resolve(&target);
    if (below(resolved, "torch") || below(resolved, "builtins") || below(resolved, "triton")) {
      report("patches-torch", "'" + resolved + "' must not be replaced by a pass", target);
    }
  }

  void check_decorators(const python::Nodes<python::Expr>& decorators) {
    for (const python::Expr* decorator : decorators) {
      const std::string resolved = resolve(decorator);
      if (below(resolved, "torch") && resolved != "torch.fx.wrap") {
        report("blocked-decorator", "decorator '" + resolved + "' lets torch do the work", *decorator);
      }
    }
  }

  // --- rules for everything but the exempt functions
  // --------------------------------------------------------------------------
  void check_statement(const python::Stmt& statement) {
    python::walk(statement, [&](const python::Node& node) {
      if (const auto* function = node_cast<python::FunctionBase>(&node)) {
        if (!is_kernel(*function)) check_tensors(*function);
      } else if (const auto* call = node_cast<python::Call>(&node)) {
        check_call(*call);
      } else if (const auto* name = node_cast<python::Name>(&node)) {
        if (!options_.helper && name->ctx == python::ExprContext::kLoad &&
            (name->id == "pattern" || name->id == "replacement_args") &&
            !binds_locally(statement, name->id)) {
          report(
              "calls-exempt",
              "'" + std::string(name->id) + "' is for matching only and must not be used by the replacement",
              node);
        }
      }
    });
  }

  static bool binds_locally(const python::Stmt& statement, std::string_view id) {
    bool found = false;
    python::walk(statement, [&](const python::Node& node) {
      if (const auto* parameter = node_cast<python::Arg>(&node)) found = found || parameter->arg == id;
      if (const auto* name = node_cast<python::Name>(&node)) {
        found = found || (name->id == id && name->ctx == python::ExprContext::kStore);
      }
    });
    return found;
  }

  void check_call(const python::Call& call) {
    const std::string resolved = resolve(call.func);
    constexpr std::array<std::string_view, 9> kAllowed = {
        "torch.empty",     "torch.empty_like", "torch.zeros",     "torch.zeros_like", "torch.ones",
        "torch.ones_like", "torch.full",       "torch.full_like", "torch.as_tensor"};
    if (below(resolved, "torch") && !among(kAllowed, resolved)) {
      report("blocked-call", "'" + resolved + "' is called", call);
    }
    constexpr std::array<std::string_view, 8> kDynamic = {
        "__import__", "eval", "exec", "compile", "globals", "locals", "importlib.import_module",
        "breakpoint"};
    if (among(kDynamic, resolved))
      report("dynamic-access", "'" + resolved + "' can reach anything by name", call);
    constexpr std::array<std::string_view, 6> kReflective = {"getattr", "setattr", "vars",
                                                             "dir",     "hasattr", "delattr"};
    if (among(kReflective, resolved) && !call.args.empty() && below(resolve(call.args[0]), "torch")) {
      report("dynamic-access", "'" + resolved + "' reaches functions of torch by name", call);
    }
    auto check_value = [&](const python::Expr* value) {
      const std::string handed = resolve(value);
      if (below(handed, "torch") && find_function(preferred_name(handed)) != nullptr) {
        report("torch-value", "'" + handed + "' is handed to a function that can call it", *value);
      }
    };
    for (const python::Expr* argument : call.args) check_value(argument);
    for (const python::Keyword* keyword : call.keywords) check_value(keyword->value);
  }

  bool is_kernel(const python::FunctionBase& function) const {
    return std::any_of(function.decorator_list.begin(), function.decorator_list.end(),
                       [&](const python::Expr* decorator) {
                         const auto* call = node_cast<python::Call>(decorator);
                         return below(resolve(call != nullptr ? call->func : decorator), "triton");
                       });
  }

  // Statements of a function, nested functions left out: those are looked at by themselves.
  template <class Visit>
  static void walk_own(const python::FunctionBase& function, Visit visit) {
    for (const python::Stmt* statement : function.body) {
      python::walk(*statement, [&](const python::Node& node) {
        if (python::FunctionBase::matches(node.kind) || node.kind == python::NodeKind::kClassDef) {
          return python::Visit::kSkipChildren;
        }
        visit(node);
        return python::Visit::kContinue;
      });
    }
  }

  void check_tensors(const python::FunctionBase& function) {
    std::unordered_set<std::string_view> parameters;
    auto add_parameter = [&](const python::Arg* argument) { parameters.insert(argument->arg); };
    for (const python::Arg* argument : function.args->posonlyargs) add_parameter(argument);
    for (const python::Arg* argument : function.args->args) add_parameter(argument);
    for (const python::Arg* argument : function.args->kwonlyargs) add_parameter(argument);

    tensors_.clear();
    walk_own(function, [&](const python::Node& node) {
      const auto* attribute = node_cast<python::Attribute>(&node);
      const auto* name = attribute != nullptr ? node_cast<python::Name>(attribute->value) : nullptr;
      if (name == nullptr || !parameters.contains(name->id)) return;
      const bool known = find_method(attribute->attr) != nullptr || is_harmless_method(attribute->attr);
      const bool method = known && !is_container_method(attribute->attr);
      if (method || is_tensor_attribute(attribute->attr)) tensors_.insert(name->id);
    });
    for (int round = 0; round < 4; ++round) {
      const size_t before = tensors_.size();
      walk_own(function, [&](const python::Node& node) {
        const auto* assign = node_cast<python::Assign>(&node);
        if (assign == nullptr || !is_tensor(assign->value)) return;
        for (const python::Expr* target : assign->targets) {
          if (const auto* name = node_cast<python::Name>(target)) tensors_.insert(name->id);
        }
      });
      if (tensors_.size() == before) break;
    }
    walk_own(function, [&](const python::Node& node) { check_tensor_use(node, parameters); });
  }

  bool is_tensor(const python::Expr* expression) const {
    if (const auto* name = node_cast<python::Name>(expression)) return tensors_.contains(name->id);
    if (const auto* subscript = node_cast<python::Subscript>(expression)) return is_tensor(subscript->value);
    if (const auto* attribute = node_cast<python::Attribute>(expression)) {
      return (attribute->attr == "T" || attribute->attr == "mT" || attribute->attr == "data") &&
             is_tensor(attribute->value);
    }
    if (const auto* binary = node_cast<python::BinOp>(expression))
      return is_tensor(binary->left) || is_tensor(binary->right);
    if (const auto* call = node_cast<python::Call>(expression)) {
      if (below(resolve(call->func), "torch")) return true;
      const auto* method = node_cast<python::Attribute>(call->func);
      if (method == nullptr || !is_tensor(method->value)) return false;
      constexpr std::array<std::string_view, 12> kPlain = {
          "size",     "stride", "dim",    "numel",          "nelement",      "element_size",
          "data_ptr", "item",   "tolist", "storage_offset", "is_contiguous", "get_device"};
      return !among(kPlain, method->attr);
    }
    return false;
  }

  void check_tensor_use(const python::Node& node, const std::unordered_set<std::string_view>& parameters) {
    auto operator_on = [&](const python::Expr* operand, std::string_view text) {
      if (!is_tensor(operand)) return false;
      report("tensor-operator", "operator '" + std::string(text) + "' on a tensor lets torch compute", node);
      return true;
    };
    if (const auto* binary = node_cast<python::BinOp>(&node)) {
      const std::string_view text = python::operator_text(binary->op);
      if (binary->op == python::BinaryOperator::kMatMult) {
        report("tensor-operator", "operator '@' lets torch compute", node);
      } else if (!operator_on(binary->left, text)) {
        operator_on(binary->right, text);
      }
    } else if (const auto* unary = node_cast<python::UnaryOp>(&node)) {
      if (unary->op != python::UnaryOperator::kNot)
        operator_on(unary->operand, python::operator_text(unary->op));
    } else if (const auto* augmented = node_cast<python::AugAssign>(&node)) {
      operator_on(augmented->target, std::string(python::operator_text(augmented->op)) + "=");
    } else if (const auto* compare = node_cast<python::Compare>(&node)) {
      const python::CompareOperator op = compare->ops[0];
      if (op != python::CompareOperator::kIs && op != python::CompareOperator::kIsNot) {
        operator_on(compare->left, python::operator_text(op));
      }
    } else if (const auto* call = node_cast<python::Call>(&node)) {
      const auto* method = node_cast<python::Attribute>(call->func);
      if (method == nullptr || is_harmless_method(method->attr) || find_method(method->attr) == nullptr)
        return;
      const auto* name = node_cast<python::Name>(method->value);
      const bool parameter =
          name != nullptr && parameters.contains(name->id) && !is_container_method(method->attr);
      if (parameter || is_tensor(method->value)) {
        report("tensor-method", "method '." + std::string(method->attr) + "()' lets torch compute", node);
      }
    }
  }

  const python::ParsedModule& module_;
  const SourceRuleOptions& options_;
  std::vector<Violation>& violations_;
  std::unordered_map<std::string_view, std::string> aliases_;
  std::unordered_set<int> reported_;  // lines the published rules object to
  std::unordered_set<std::string> seen_;
  std::unordered_set<std::string_view> tensors_;
};

}  // namespace

void check_strict_rules(const python::ParsedModule& module, const SourceRuleOptions& options,
                        std::vector<Violation>& violations) {
  StrictChecker(module, options, violations).run();
}

}  // namespace graft::graph
