// Brackets: tuples, lists, sets, dictionaries, comprehensions, calls and subscripts.
#include "python/parser_impl.h"

namespace graft::python {

const Expr* Parser::parenthesized() {
  uint32_t begin = at_->begin;
  ++at_;
  if (is(T::kRightParen)) {
    auto* tuple = make<Tuple>(begin);
    ++at_;
    return finish(tuple);
  }
  if (is(T::kYield)) {
    const Expr* value = yield_expression();
    expect(T::kRightParen);
    return value;
  }
  const Expr* first = star_named_expression();
  if (is(T::kRightParen)) {
    if (first->kind == NodeKind::kStarred && profile_ != Profile::kPython38)
      fail(first->begin, "cannot use starred expression here", "a comma after it");
    ++at_;
    return first;
  }
  if (is(T::kComma)) {
    size_t from = mark();
    push(first);
    while (accept(T::kComma)) {
      if (is(T::kRightParen)) break;
      push(star_named_expression());
    }
    expect(T::kRightParen);
    auto* tuple = make<Tuple>(begin);
    tuple->elts = take<Expr>(from);
    return finish(tuple);
  }
  if (at_comprehension()) {
    if (first->kind == NodeKind::kStarred)
      fail(first->begin, "iterable unpacking cannot be used in comprehension");
    auto* generator = make<GeneratorExp>(begin);
    generator->elt = first;
    generator->generators = comprehension_clauses();
    expect(T::kRightParen);
    return finish(generator);
  }
  fail_expected("',' or ')'");
}

const Expr* Parser::list_display() {
  uint32_t begin = at_->begin;
  ++at_;
  size_t from = mark();
  if (!is(T::kRightBracket)) {
    const Expr* first = star_named_expression();
    if (at_comprehension()) {
      if (first->kind == NodeKind::kStarred)
        fail(first->begin, "iterable unpacking cannot be used in comprehension");
      auto* comprehension = make<ListComp>(begin);
      comprehension->elt = first;
      comprehension->generators = comprehension_clauses();
      expect(T::kRightBracket);
      return finish(comprehension);
    }
    push(first);
    while (accept(T::kComma)) {
      if (is(T::kRightBracket)) break;
      push(star_named_expression());
    }
  }
  if (!is(T::kRightBracket)) fail_expected("',' or ']'");
  ++at_;
  auto* list = make<List>(begin);
  list->elts = take<Expr>(from);
  return finish(list);
}

const Expr* Parser::brace_display() {
  uint32_t begin = at_->begin;
  ++at_;
  size_t from = mark();
  if (is(T::kRightBrace) || is(T::kDoubleStar)) return dict_display(begin, from);
  uint32_t first_begin = at_->begin;
  const Expr* first = star_named_expression();
  if (first->kind == NodeKind::kNamedExpr && first->begin == first_begin)
    require(Profile::kPython39, first_begin, "an assignment expression in a set");
  if (is(T::kColon) && first->kind != NodeKind::kStarred) {
    // A key may only be a named expression in parentheses, which are no part of its range.
    if (first->kind == NodeKind::kNamedExpr && first->begin == first_begin) fail_expected("',' or '}'");
    ++at_;
    const Expr* value = expression();
    if (at_comprehension()) {
      auto* comprehension = make<DictComp>(begin);
      comprehension->key = first;
      comprehension->value = value;
      comprehension->generators = comprehension_clauses();
      expect(T::kRightBrace);
      return finish(comprehension);
    }
    push(first);
    push(value);
    return dict_display(begin, from);
  }
  if (at_comprehension()) {
    if (first->kind == NodeKind::kStarred)
      fail(first->begin, "iterable unpacking cannot be used in comprehension");
    auto* comprehension = make<SetComp>(begin);
    comprehension->elt = first;
    comprehension->generators = comprehension_clauses();
    expect(T::kRightBrace);
    return finish(comprehension);
  }
  push(first);
  while (accept(T::kComma)) {
    if (is(T::kRightBrace)) break;
    push(star_named_expression());
  }
  if (!is(T::kRightBrace)) fail_expected("',' or '}'");
  ++at_;
  auto* set = make<Set>(begin);
  set->elts = take<Expr>(from);
  return finish(set);
}

// The rest of a dictionary. Keys and values alternate on the stack since `from`, where the first pair may lie
// already; a null key stands for "**".
const Expr* Parser::dict_display(uint32_t begin, size_t from) {
  bool more = mark() == from || accept(T::kComma);
  while (more && !is(T::kRightBrace)) {
    if (accept(T::kDoubleStar)) {
      push(nullptr);
      push(bitwise_or());
      if (at_comprehension()) fail(at_->begin, "dict unpacking cannot be used in dict comprehension");
    } else {
      push(expression());
      if (!is(T::kColon)) fail_expected("':' after a dictionary key");
      ++at_;
      push(expression());
    }
    more = accept(T::kComma);
  }
  if (!is(T::kRightBrace)) fail_expected("',' or '}'");
  ++at_;
  auto* dict = make<Dict>(begin);
  size_t end = mark();
  size_t pairs = (end - from) / 2;
  if (pairs > 0) {
    for (size_t i = 0; i < pairs; ++i) push(scratch_[from + 2 * i + 1]);
    dict->values = take<Expr>(end);
    for (size_t i = 0; i < pairs; ++i) scratch_[from + i] = scratch_[from + 2 * i];
    scratch_.resize(from + pairs);
    dict->keys = take<Expr>(from);
  }
  return finish(dict);
}

Nodes<Comprehension> Parser::comprehension_clauses() {
  size_t from = mark();
  while (at_comprehension()) {
    auto* clause = make<Comprehension>(at_->begin);
    clause->is_async = accept(T::kAsync);
    expect(T::kFor);
    clause->target = target_list("assign to");
    if (!is(T::kIn)) fail_expected("'in'");
    ++at_;
    clause->iter = disjunction();
    size_t conditions = mark();
    while (accept(T::kIf)) push(disjunction());
    clause->ifs = take<Expr>(conditions);
    push(finish(clause));
  }
  return take<Comprehension>(from);
}

const Expr* Parser::call(const Expr* function, uint32_t begin) {
  auto* node = make<Call>(begin);
  node->func = function;
  uint32_t open = at_->begin;
  ++at_;
  call_arguments(true, open, &node->args, &node->keywords);
  expect(T::kRightParen);
  return finish(node);
}

// 3.8 refuses a keyword given twice while parsing, later versions while compiling.
void Parser::refuse_repeated(size_t from, Identifier name) {
  for (size_t i = from; i < mark(); ++i) {
    const auto* earlier = node_cast<Keyword>(static_cast<const Node*>(scratch_[i]));
    if (earlier != nullptr && earlier->arg == name) fail(at_[-1].begin, "keyword argument repeated");
  }
}

// Behind "(" at `open`, up to ")", which is not consumed here but belongs to the range of a lone generator.
void Parser::call_arguments(bool allow_generator, uint32_t open, Nodes<Expr>* arguments,
                            Nodes<Keyword>* keywords) {
  if (is(T::kRightParen)) return;
  // Positional arguments and keywords lie on the stack in the order of the text and are told apart at the
  // end.
  size_t from = mark();
  size_t named = 0;
  bool unpacked_mapping = false;
  for (;;) {
    if (is(T::kName) && at_[1].kind == T::kAssign) {
      auto* keyword = make<Keyword>(at_->begin);
      keyword->arg = expect_bound_name();
      if (profile_ == Profile::kPython38) refuse_repeated(from, keyword->arg);
      ++at_;
      keyword->value = expression();
      if (at_comprehension())
        fail(keyword->begin, "invalid syntax. Maybe you meant '==' or ':=' instead of '='?", "',' or ')'");
      push(finish(keyword));
      ++named;
    } else if (is(T::kDoubleStar)) {
      auto* keyword = make<Keyword>(at_->begin);
      ++at_;
      keyword->value = expression();
      push(finish(keyword));
      ++named;
      unpacked_mapping = true;
    } else if (is(T::kStar)) {
      if (unpacked_mapping)
        fail(at_->begin, "iterable argument unpacking follows keyword argument unpacking");
      auto* starred = make<Starred>(at_->begin);
      ++at_;
      starred->value = expression();
      push(finish(starred));
    } else {
      uint32_t begin = at_->begin;
      const Expr* value = named_expression();
      if (at_comprehension()) {
        auto* generator = make<GeneratorExp>(begin);
        generator->elt = value;
        generator->generators = comprehension_clauses();
        bool alone = mark() == from && is(T::kRightParen);
        if (!alone || !allow_generator)
          fail(begin, "Generator expression must be parenthesized", "parentheses around it");
        generator->begin = open;
        generator->end = at_->end;
        push(generator);
        break;
      }
      if (is(T::kAssign))
        fail(begin, "expression cannot contain assignment, perhaps you meant \"==\"?",
             "a parameter name before '='");
      if (named > 0)
        fail(begin, unpacked_mapping ? "positional argument follows keyword argument unpacking"
                                     : "positional argument follows keyword argument");
      push(value);
    }
    if (!accept(T::kComma)) break;
    if (is(T::kRightParen)) break;
  }
  if (!is(T::kRightParen)) fail_expected("',' or ')'");
  size_t end = mark();
  if (named == end - from) {
    *keywords = take<Keyword>(from);
    return;
  }
  if (named > 0) {
    size_t kept = from;
    for (size_t i = from; i < end; ++i) {
      const void* element = scratch_[i];
      if (static_cast<const Node*>(element)->kind == NodeKind::kKeyword)
        push(element);
      else
        scratch_[kept++] = element;
    }
    *keywords = take<Keyword>(end);
    scratch_.resize(kept);
  }
  *arguments = take<Expr>(from);
}

const Expr* Parser::subscript(const Expr* value, uint32_t begin) {
  auto* node = make<Subscript>(begin);
  node->value = value;
  ++at_;
  uint32_t first_begin = at_->begin;
  const Expr* first = slice_item();
  if (is(T::kComma) || first->kind == NodeKind::kStarred) {
    size_t from = mark();
    push(first);
    while (accept(T::kComma)) {
      if (is(T::kRightBracket)) break;
      push(slice_item());
    }
    auto* tuple = make<Tuple>(first_begin);
    tuple->elts = take<Expr>(from);
    first = finish(tuple);
  }
  if (!is(T::kRightBracket)) fail_expected("',' or ']'");
  ++at_;
  node->slice = first;
  return finish(node);
}

const Expr* Parser::slice_item() {
  uint32_t begin = at_->begin;
  if (is(T::kStar)) {
    require(Profile::kPython311, begin, "a starred expression in a subscript");
    auto* starred = make<Starred>(begin);
    ++at_;
    starred->value = expression();
    return finish(starred);
  }
  const Expr* lower = nullptr;
  if (!is(T::kColon)) {
    lower = named_expression();
    if (lower->kind == NodeKind::kNamedExpr && text_[begin] != '(')
      require(Profile::kPython310, begin, "an assignment expression in a subscript");
    if (!is(T::kColon) || (lower->kind == NodeKind::kNamedExpr && text_[begin] != '(')) return lower;
  }
  auto* slice = make<Slice>(begin);
  slice->lower = lower;
  ++at_;
  auto ends = [this] { return is(T::kComma) || is(T::kRightBracket) || is(T::kColon); };
  if (!ends()) slice->upper = expression();
  if (accept(T::kColon) && !ends()) slice->step = expression();
  return finish(slice);
}

}  // namespace graft::python
