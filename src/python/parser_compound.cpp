// Compound statements: blocks, if, loops, with, try, match, definitions.
#include "python/parser_impl.h"

namespace graft::python {

// block: NEWLINE INDENT statement+ DEDENT | simple_statements. The cursor is behind the ':'. `after` and
// `header` describe the statement for the message about a missing block.
Nodes<Stmt> Parser::block(std::string_view after, uint32_t header) {
  size_t from = mark();
  if (!is(T::kNewline)) {
    simple_statements();
    return take<Stmt>(from);
  }
  end_line();
  if (!is(T::kIndent)) {
    if (is(T::kError)) fail_expected("an indented block");
    fail(at_->begin,
         "expected an indented block after " + std::string(after) + " on line " +
             std::to_string(source_.line_of(header)),
         "more indentation");
  }
  ++at_;
  statements();
  accept(T::kDedent);
  return take<Stmt>(from);
}

// Statements up to DEDENT or END. This is where syntax errors are caught: the block goes on with the next
// line that can be read.
void Parser::statements() {
  int extra_indents = 0;
  bool failed = false;
  for (;;) {
    if (is(T::kEnd)) return;
    if (is(T::kDedent)) {
      if (extra_indents == 0) return;
      --extra_indents;
      ++at_;
      continue;
    }
    if (is(T::kIndent)) {
      // The block of a header that could not be read is read without it.
      if (!failed) record(at_->end, "unexpected indent", "the indentation of the lines above");
      if (errors_.size() >= max_errors_) throw SyntaxFailure{};
      ++extra_indents;
      ++at_;
    }
    size_t from = mark();
    try {
      failed = false;
      statement();
    } catch (const SyntaxFailure&) {
      if (errors_.size() >= max_errors_) throw;
      scratch_.resize(from);
      failed = true;
      recover();
    }
  }
}

Nodes<Stmt> Parser::else_block() {
  if (!is(T::kElse)) return {};
  uint32_t header = at_->begin;
  ++at_;
  expect(T::kColon);
  return block("'else' statement", header);
}

// if_statement: "if" named_expression ":" block {"elif" named_expression ":" block} ["else" ":" block]. An
// elif is an If in the orelse of the one before; the chain is built in a loop since it may be long.
const Stmt* Parser::if_statement() {
  auto* first = make<If>(at_->begin);
  size_t from = mark();
  If* current = first;
  for (;;) {
    bool elif = is(T::kElif);
    ++at_;
    current->test = named_expression();
    expect(T::kColon);
    current->body = block(elif ? "'elif' statement" : "'if' statement", current->begin);
    push(current);
    if (!is(T::kElif)) break;
    auto* next = make<If>(at_->begin);
    size_t single = mark();
    push(next);
    current->orelse = take<Stmt>(single);
    current = next;
  }
  current->orelse = else_block();
  for (size_t i = from; i < mark(); ++i)
    const_cast<If*>(static_cast<const If*>(scratch_[i]))->end = line_end_;
  scratch_.resize(from);
  return first;
}

const Stmt* Parser::while_statement() {
  auto* node = make<While>(at_->begin);
  ++at_;
  node->test = named_expression();
  expect(T::kColon);
  node->body = block("'while' statement", node->begin);
  node->orelse = else_block();
  node->end = line_end_;
  return node;
}

const Stmt* Parser::for_statement(uint32_t begin, bool async) {
  ForBase* node = async ? static_cast<ForBase*>(make<AsyncFor>(begin)) : make<For>(begin);
  ++at_;
  node->target = target_list("assign to");
  if (!is(T::kIn)) fail_expected("'in'");
  ++at_;
  uint32_t iterable = at_->begin;
  node->iter = star_expressions();
  if (profile_ == Profile::kPython38 && text_[iterable] != '(') refuse_old_star(*node->iter);
  expect(T::kColon);
  node->body = block("'for' statement", begin);
  node->orelse = else_block();
  node->end = line_end_;
  return node;
}

const WithItem* Parser::with_item() {
  auto* item = make<WithItem>(at_->begin);
  item->context_expr = expression();
  if (accept(T::kAs)) {
    if (is(T::kStar)) require(Profile::kPython39, at_->begin, "a starred target");
    item->optional_vars = single_target();
    set_context(item->optional_vars, ExprContext::kStore, "assign to");
  }
  return finish(item);
}

// with_statement: "with" "(" with_item {"," with_item} [","] ")" ":" block | "with" with_item {"," with_item}
// ":" block
const Stmt* Parser::with_statement(uint32_t begin, bool async) {
  WithBase* node = async ? static_cast<WithBase*>(make<AsyncWith>(begin)) : make<With>(begin);
  ++at_;
  size_t from = mark();
  if (!parenthesized_with_items(from)) {
    do push(with_item());
    while (accept(T::kComma));
  }
  node->items = take<WithItem>(from);
  expect(T::kColon);
  node->body = block("'with' statement", begin);
  node->end = line_end_;
  return node;
}

// Tries the first form. It needs the bracket that opens here to close right before ':', and items that are
// plain expressions; otherwise the bracket belongs to an expression, the cursor goes back and the answer is
// false.
bool Parser::parenthesized_with_items(size_t from) {
  if (!is(T::kLeftParen) || profile_ == Profile::kPython38) return false;
  const Token* start = at_;
  int level = 0;
  const Token* close = at_;
  for (;; ++close) {
    T kind = close->kind;
    if (kind == T::kLeftParen || kind == T::kLeftBracket || kind == T::kLeftBrace) ++level;
    if (kind == T::kRightParen || kind == T::kRightBracket || kind == T::kRightBrace) --level;
    if (level == 0) break;
    if (kind == T::kNewline || kind == T::kError || kind == T::kEnd) return false;
  }
  if (close[1].kind != T::kColon) return false;
  ++at_;
  for (;;) {
    if (is(T::kRightParen) || is(T::kStar) || is(T::kYield) || (is(T::kName) && at_[1].kind == T::kWalrus))
      break;
    push(with_item());
    if (accept(T::kComma) && !is(T::kRightParen)) continue;
    if (!is(T::kRightParen)) break;
    ++at_;
    return true;
  }
  scratch_.resize(from);
  at_ = start;
  return false;
}

// try_statement: "try" ":" block (handler+ ["else" ":" block] ["finally" ":" block] | "finally" ":" block)
const Stmt* Parser::try_statement() {
  uint32_t begin = at_->begin;
  ++at_;
  expect(T::kColon);
  Nodes<Stmt> body = block("'try' statement", begin);
  bool star = is(T::kExcept) && at_[1].kind == T::kStar;
  TryBase* node = star ? static_cast<TryBase*>(make<TryStar>(begin)) : make<Try>(begin);
  node->body = body;
  size_t from = mark();
  while (is(T::kExcept)) {
    auto* handler = make<ExceptHandler>(at_->begin);
    ++at_;
    if (is(T::kStar) != star) fail(at_->begin, "cannot have both 'except' and 'except*' on the same 'try'");
    if (star) {
      require(Profile::kPython311, at_->begin, "'except*'");
      ++at_;
      if (is(T::kColon)) fail(at_->begin, "expected one or more exception types");
    }
    if (!is(T::kColon)) {
      handler->type = expression();
      if (is(T::kComma))
        fail(handler->type->begin, "multiple exception types must be parenthesized", "':' or 'as'");
      if (accept(T::kAs)) handler->name = expect_bound_name();
    }
    expect(T::kColon);
    handler->body = block(star ? "'except*' statement" : "'except' statement", handler->begin);
    handler->end = line_end_;
    push(handler);
  }
  node->handlers = take<ExceptHandler>(from);
  if (!node->handlers.empty()) node->orelse = else_block();
  if (is(T::kFinally)) {
    uint32_t header = at_->begin;
    ++at_;
    expect(T::kColon);
    node->finalbody = block("'finally' statement", header);
  } else if (node->handlers.empty()) {
    fail_expected("'except' or 'finally' block");
  }
  node->end = line_end_;
  return node;
}

const Stmt* Parser::decorated() {
  size_t from = mark();
  while (accept(T::kAt)) {
    uint32_t begin = at_->begin;
    const Expr* decorator = named_expression();
    if (profile_ == Profile::kPython38) {
      // 3.8: a dotted name, called at most once.
      const Expr* name = decorator;
      if (const auto* call = node_cast<Call>(name)) name = call->func;
      while (const auto* attribute = node_cast<Attribute>(name)) name = attribute->value;
      if (name->kind != NodeKind::kName || text_[begin] == '(')
        fail_version(Profile::kPython39, begin, "this decorator");
    }
    push(decorator);
    if (!is(T::kNewline)) fail_expected("the end of the decorator's line");
    end_line();
  }
  Nodes<Expr> decorators = take<Expr>(from);
  switch (at_->kind) {
    case T::kDef:
      return function(at_->begin, false, decorators);
    case T::kClass:
      return class_statement(decorators);
    case T::kAsync:
      return async_statement(decorators, true);
    default:
      fail_expected("'def', 'async def' or 'class' after a decorator");
  }
}

const Stmt* Parser::async_statement(Nodes<Expr> decorators, bool decorated) {
  uint32_t begin = at_->begin;
  ++at_;
  if (is(T::kDef)) return function(begin, true, decorators);
  if (!decorated && is(T::kFor)) return for_statement(begin, true);
  if (!decorated && is(T::kWith)) return with_statement(begin, true);
  fail_expected(decorated ? "'def'" : "'def', 'for' or 'with' after 'async'");
}

// function: ["async"] "def" NAME [type_parameters] "(" [parameters] ")" ["->" expression] ":" block
const Stmt* Parser::function(uint32_t begin, bool async, Nodes<Expr> decorators) {
  FunctionBase* node =
      async ? static_cast<FunctionBase*>(make<AsyncFunctionDef>(begin)) : make<FunctionDef>(begin);
  node->decorator_list = decorators;
  ++at_;
  node->name = expect_bound_name("a function name");
  node->type_params = type_parameters();
  expect(T::kLeftParen);
  node->args = parameters(T::kRightParen, true);
  if (!is(T::kRightParen)) fail_expected("',' or ')'");
  ++at_;
  if (accept(T::kArrow)) node->returns = expression();
  expect(T::kColon);
  node->body = block("function definition", begin);
  node->end = line_end_;
  return node;
}

const Stmt* Parser::class_statement(Nodes<Expr> decorators) {
  auto* node = make<ClassDef>(at_->begin);
  node->decorator_list = decorators;
  ++at_;
  node->name = expect_bound_name("a class name");
  node->type_params = type_parameters();
  if (is(T::kLeftParen)) {
    uint32_t open = at_->begin;
    ++at_;
    call_arguments(false, open, &node->bases, &node->keywords);
    expect(T::kRightParen);
  }
  expect(T::kColon);
  node->body = block("class definition", node->begin);
  node->end = line_end_;
  return node;
}

// Parameters up to `close`, which is not consumed. Lambdas have no annotations.
const Arguments* Parser::parameters(T close, bool annotations) {
  auto* node = make<Arguments>(at_->begin);
  // Pairs (parameter, default or null) lie on the stack: positional ones first, then keyword-only ones.
  size_t from = mark();
  size_t positional_only = 0;
  size_t positional = 0;
  bool seen_slash = false;
  bool seen_star = false;
  bool seen_default = false;
  auto parameter = [&](bool star) {
    auto* arg = make<Arg>(at_->begin);
    arg->arg = expect_bound_name("a parameter name");
    if (annotations && accept(T::kColon)) {
      if (star && is(T::kStar)) {
        require(Profile::kPython311, at_->begin, "a starred annotation");
        arg->annotation = star_expression();
      } else {
        arg->annotation = expression();
      }
    }
    return finish(arg);
  };
  while (!is(close)) {
    if (is(T::kSlash)) {
      if (seen_slash) fail(at_->begin, "/ may appear only once");
      if (seen_star) fail(at_->begin, "/ must be ahead of *");
      if (positional == 0) fail(at_->begin, "at least one argument must precede /", "a parameter");
      seen_slash = true;
      positional_only = positional;
      ++at_;
    } else if (is(T::kStar)) {
      if (seen_star) fail(at_->begin, "* argument may appear only once");
      seen_star = true;
      ++at_;
      if (is(T::kComma)) {
        if (at_[1].kind != T::kName)
          fail(at_[1].begin, "named arguments must follow bare *", "a parameter name");
      } else {
        node->vararg = parameter(true);
        if (is(T::kAssign)) fail(at_->begin, "var-positional argument cannot have default value", "','");
      }
    } else if (is(T::kDoubleStar)) {
      ++at_;
      node->kwarg = parameter(false);
      if (is(T::kAssign)) fail(at_->begin, "var-keyword argument cannot have default value", "','");
      accept(T::kComma);
      if (!is(close)) {
        if (is(T::kName) || is(T::kStar) || is(T::kDoubleStar) || is(T::kSlash))
          fail(at_->begin, "arguments cannot follow var-keyword argument");
        fail_expected(describe(close));
      }
      break;
    } else {
      const Arg* arg = parameter(false);
      const Expr* value = nullptr;
      if (accept(T::kAssign)) {
        value = expression();
        seen_default = seen_default || !seen_star;
      } else if (seen_default && !seen_star) {
        fail(arg->begin, "non-default argument follows default argument", "a default value");
      }
      push(arg);
      push(value);
      if (!seen_star) ++positional;
    }
    if (is(close)) break;
    if (!is(T::kComma)) fail_expected(close == T::kColon ? "',' or ':'" : "',' or ')'");
    ++at_;
  }
  size_t end = mark();
  size_t count = (end - from) / 2;
  if (count > 0) {
    auto collect = [&](size_t first, size_t last) {
      size_t start = mark();
      for (size_t i = first; i < last; ++i) push(scratch_[from + 2 * i]);
      return take<Arg>(start);
    };
    node->posonlyargs = collect(0, positional_only);
    node->args = collect(positional_only, positional);
    node->kwonlyargs = collect(positional, count);
    size_t start = mark();
    for (size_t i = 0; i < positional; ++i)
      if (const void* value = scratch_[from + 2 * i + 1]) push(value);
    node->defaults = take<Expr>(start);
    for (size_t i = positional; i < count; ++i) push(scratch_[from + 2 * i + 1]);
    node->kw_defaults = take<Expr>(start);
    scratch_.resize(from);
  }
  node->end = at_->begin > node->begin ? previous_end() : node->begin;
  return node;
}

// type_parameters: "[" type_parameter {"," type_parameter} [","] "]", or nothing
Nodes<TypeParam> Parser::type_parameters() {
  if (!is(T::kLeftBracket)) return {};
  require(Profile::kPython312, at_->begin, "a type parameter list");
  ++at_;
  if (is(T::kRightBracket)) fail(at_->begin, "Type parameter list cannot be empty", "a type parameter");
  size_t from = mark();
  auto default_value = [this](bool star) -> const Expr* {
    if (!is(T::kAssign)) return nullptr;
    require(Profile::kPython313, at_->begin, "a default of a type parameter");
    ++at_;
    return star ? star_expression() : expression();
  };
  for (;;) {
    uint32_t begin = at_->begin;
    if (accept(T::kStar)) {
      auto* parameter = make<TypeVarTuple>(begin);
      parameter->name = expect_name();
      if (is(T::kColon)) fail(at_->begin, "cannot use bound with TypeVarTuple");
      parameter->default_value = default_value(true);
      push(finish(parameter));
    } else if (accept(T::kDoubleStar)) {
      auto* parameter = make<ParamSpec>(begin);
      parameter->name = expect_name();
      if (is(T::kColon)) fail(at_->begin, "cannot use bound with ParamSpec");
      parameter->default_value = default_value(false);
      push(finish(parameter));
    } else {
      auto* parameter = make<TypeVar>(begin);
      parameter->name = expect_name("a type parameter");
      if (accept(T::kColon)) parameter->bound = expression();
      parameter->default_value = default_value(false);
      push(finish(parameter));
    }
    if (!accept(T::kComma) || is(T::kRightBracket)) break;
  }
  if (!is(T::kRightBracket)) fail_expected("',' or ']'");
  ++at_;
  return take<TypeParam>(from);
}

// match_statement: "match" subject ":" NEWLINE INDENT match_case+ DEDENT
const Stmt* Parser::match_statement() {
  auto* node = make<Match>(at_->begin);
  require(Profile::kPython310, node->begin, "a match statement");
  ++at_;
  uint32_t begin = at_->begin;
  const Expr* subject = star_named_expression();
  if (is(T::kComma)) {
    size_t from = mark();
    push(subject);
    while (accept(T::kComma)) {
      if (is(T::kColon)) break;
      push(star_named_expression());
    }
    auto* tuple = make<Tuple>(begin);
    tuple->elts = take<Expr>(from);
    subject = finish(tuple);
  } else if (subject->kind == NodeKind::kStarred) {
    fail_expected("',' after a starred subject");
  }
  node->subject = subject;
  expect(T::kColon);
  if (!is(T::kNewline)) fail_expected("the end of the line");
  end_line();
  if (!is(T::kIndent))
    fail(at_->begin, "expected an indented block after 'match' statement on line " +
                         std::to_string(source_.line_of(node->begin)));
  ++at_;
  size_t from = mark();
  do push(match_case());
  while (!is(T::kDedent) && !is(T::kEnd));
  accept(T::kDedent);
  node->cases = take<MatchCase>(from);
  node->end = line_end_;
  return node;
}

}  // namespace graft::python
