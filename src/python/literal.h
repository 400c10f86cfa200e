// Constant expressions of a program as values, without running it: what declarations and metadata are made
// of.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "python/ast.h"
#include "python/source.h"

namespace graft::python {

enum class LiteralType : uint8_t { kNone, kBool, kInt, kBigInt, kFloat, kStr, kBytes, kList, kTuple, kDict };

// "None", "bool", "int", "float", "str", ... as Python names the type.
std::string_view type_name(LiteralType type);

struct Literal {
  LiteralType type = LiteralType::kNone;
  uint32_t begin = 0;   // byte offset of the expression it came from
  int64_t integer = 0;  // kInt; kBool as 0 or 1
  double real = 0.0;    // kFloat; also kInt and kBool as a float
  std::string text;     // kStr (UTF-8), kBytes; kBigInt: the decimal digits, with a minus sign where negative
  std::vector<Literal> items;  // kList, kTuple; kDict: the values
  std::vector<Literal> keys;   // kDict: keys[i] goes with items[i]; each once, in order of first appearance

  bool is(LiteralType t) const { return type == t; }
  bool is_none() const { return type == LiteralType::kNone; }
  bool is_str() const { return type == LiteralType::kStr; }
  bool is_sequence() const { return type == LiteralType::kList || type == LiteralType::kTuple; }
  // bool, int or float; not kBigInt.
  bool is_number() const {
    return type == LiteralType::kBool || type == LiteralType::kInt || type == LiteralType::kFloat;
  }
  bool is_integral() const { return type == LiteralType::kBool || type == LiteralType::kInt; }

  static Literal of_bool(bool value);
  static Literal of_int(int64_t value);
  static Literal of_float(double value);
  static Literal of_str(std::string value);
};

// Whether Python's == holds (1 == 1.0 == True; a list is never a tuple; NaN differs from itself).
bool equal(const Literal& a, const Literal& b);

struct LiteralOptions {
  // Ints beyond int64 become kBigInt; otherwise they are errors. No arithmetic is done on them but a sign.
  bool big_integers = false;
  // The value of a plain name the program has assigned; null: unknown. Asked before the names inf and nan.
  std::function<const Literal*(std::string_view name)> name;
};

// Understands: constants, lists, tuples, dicts (also ** of dicts and * of sequences), names given by
// `options`, inf and nan (bare or as an attribute of math, numpy, np or torch), float(...) and int(...) of a
// number or a text, list(), tuple() and dict() without or with one constant argument, unary + - ~ not,
// arithmetic on numbers, + and * of texts and sequences, `a if b else c`. Everything else is an error with
// the place of the part that is not constant. int arithmetic that leaves int64 is an error.
Result<Literal> fold_literal(const Expr& expression, const SourceText& source,
                             const LiteralOptions& options = {});

}  // namespace graft::python
