// The part of the importer that follows one function body and makes nodes of it.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "graph/graph.h"
#include "graph/importer.h"
#include "graph/scope.h"
#include "python/ast.h"

namespace graft::graph {

class Evaluator {
 public:
  Evaluator(const ModuleScope& scope, const ImportOptions& options) : scope_(scope), options_(options) {}

  // Makes the graph of `function`. May be called once.
  Result<Graph> run(const python::FunctionBase& function);

 private:
  struct Frame;
  // What a name or expression stands for: a graph value, or something only the reader of the text knows.
  struct Meaning {
    enum class Kind { kValue, kGlobal, kSelf, kFunction };
    Kind kind = Kind::kValue;
    Value value;       // kValue
    std::string path;  // kGlobal: dotted name; kSelf: dotted path below self, maybe empty
    const python::FunctionBase* function = nullptr;  // kFunction
    Frame* closure = nullptr;                        // kFunction: where it was defined; null at module level
  };
  // The local names of a function call.
  struct Frame {
    std::unordered_map<std::string_view, Meaning> names;
    Frame* outer = nullptr;
    bool returned = false;
    bool broke = false;
    bool continued = false;
    Value result;
  };

  Frame* new_frame(Frame* outer);
  Status bind_parameters(const python::FunctionBase& function);
  Status run_body(const python::Nodes<python::Stmt>& body);
  Status run_statement(const python::Stmt& statement);
  Status run_for(const python::For& loop);
  Status assign(const python::Expr& target, Meaning meaning, const python::Node& at);
  Status assign_augmented(const python::AugAssign& statement);
  Status unpack(const python::Nodes<python::Expr>& targets, Value value, const python::Node& at);

  Result<Value> evaluate(const python::Expr& expression, std::string_view wanted_name = {});
  Result<Meaning> resolve(const python::Expr& expression, std::string_view wanted_name = {});
  Result<Meaning> resolve_name(const python::Name& name);
  Result<Meaning> resolve_attribute(const python::Attribute& attribute, std::string_view wanted_name);
  Result<Value> value_of(Meaning meaning, const python::Node& at, std::string_view wanted_name);
  Result<Value> evaluate_constant(const python::Constant& constant);
  Result<Value> evaluate_sequence(const python::Nodes<python::Expr>& elements, ValueKind kind);
  Result<Value> evaluate_binary(const python::BinOp& binary, std::string_view wanted_name);
  Result<Value> evaluate_unary(const python::UnaryOp& unary, std::string_view wanted_name);
  Result<Value> evaluate_compare(const python::Compare& compare, std::string_view wanted_name);
  Result<Value> evaluate_bool_op(const python::BoolOp& operation);
  Result<Value> evaluate_subscript(const python::Subscript& subscript, std::string_view wanted_name);
  Result<Value> evaluate_comprehension(const python::Expr& element,
                                       const python::Nodes<python::Comprehension>& generators,
                                       const python::Node& at);
  Status run_generators(const python::Nodes<python::Comprehension>& generators, uint32_t index,
                        const std::function<Status()>& body);
  Result<Value> evaluate_call(const python::Call& call, std::string_view wanted_name);
  Result<Value> evaluate_hint(const python::Call& call, std::string_view hint, std::string_view wanted_name);
  Result<Value> call_global(const python::Call& call, const std::string& dotted, std::vector<Value> args,
                            std::vector<Keyword> kwargs, std::string_view wanted_name);
  Result<Value> call_function(const python::Call& call, const Meaning& callee, const std::vector<Value>& args,
                              const std::vector<Keyword>& kwargs);
  // The value of a builtin on constants: slice(), float("inf"), range(3), ...; nothing where it must become a
  // node.
  Result<bool> call_builtin(const python::Call& call, std::string_view name, const std::vector<Value>& args,
                            const std::vector<Keyword>& kwargs, Value& result);
  Result<Value> make_device(const python::Call& call, const std::vector<Value>& args,
                            const std::vector<Keyword>& kwargs);

  Result<Value> add_operator(std::string_view function, std::vector<Value> args, const python::Node& at,
                             std::string_view wanted_name);
  Result<NodeId> add_node(Op op, std::string_view target, std::string_view wanted_name,
                          std::vector<Value> args, std::vector<Keyword> kwargs, const python::Node& at);
  // The error where a trace would run the function or value of this dotted name as Python; `holds` says
  // whether its arguments hold nodes.
  Status check_static(const std::string& dotted, bool holds, const python::Node& at) const;
  // The members of a constant sequence, or an error that says what is not one.
  Result<std::vector<Value>> constant_items(Value value, const python::Node& at);
  bool holds_node(Value value) const;
  Lines lines_of(const python::Node& node) const;
  Place place_of(const python::Node& node) const { return scope_.module->source.place(node.begin); }
  Error error_at(const python::Node& node, std::string message, std::string expected = {},
                 std::string hint = {}) const {
    return input_error(std::move(message), place_of(node), std::move(expected), std::move(hint));
  }
  std::string_view source_of(const python::Node& node) const {
    return scope_.module->source.text().substr(node.begin, node.end - node.begin);
  }

  const ModuleScope& scope_;
  ImportOptions options_;
  Graph graph_;
  std::vector<std::unique_ptr<Frame>> frames_;  // all ever made: closures keep them alive
  Frame* frame_ = nullptr;
  std::string_view self_name_;
  std::vector<std::string_view> module_names_in_progress_;
  int depth_ = 0;       // of nested expressions
  int call_depth_ = 0;  // of functions being followed
};

}  // namespace graft::graph
