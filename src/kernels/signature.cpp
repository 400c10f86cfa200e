#include "kernels/signature.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <map>
#include <optional>

#include <fmt/core.h>

#include "base/utf8.h"

namespace graft::kernels {
namespace {

constexpr DlDataType type_of(DlTypeCode code, int bits) {
  return {code, static_cast<uint8_t>(bits), 1};
}

constexpr ElementType kVoid{"any", "void", {0, 0, 0}};
constexpr ElementType kBool{"bool", "bool", type_of(kDlBool, 8)};
constexpr ElementType kHalf{"float16", "graft::half", type_of(kDlFloat, 16)};
constexpr ElementType kBfloat16{"bfloat16", "graft::bfloat16", type_of(kDlBfloat, 16)};
constexpr ElementType kFloat{"float32", "float", type_of(kDlFloat, 32)};
constexpr ElementType kDouble{"float64", "double", type_of(kDlFloat, 64)};
constexpr ElementType kComplexFloat{"complex64", "std::complex<float>", type_of(kDlComplex, 64)};
constexpr ElementType kComplexDouble{"complex128", "std::complex<double>", type_of(kDlComplex, 128)};
// The C++ types of one width stay apart: long* and long long* do not convert into each other.
constexpr ElementType kChar{"int8", "char", type_of(kDlInt, 8)};
constexpr ElementType kInt8{"int8", "int8_t", type_of(kDlInt, 8)};
constexpr ElementType kUInt8{"uint8", "uint8_t", type_of(kDlUInt, 8)};
constexpr ElementType kShort{"int16", "int16_t", type_of(kDlInt, 16)};
constexpr ElementType kUShort{"uint16", "uint16_t", type_of(kDlUInt, 16)};
constexpr ElementType kInt{"int32", "int", type_of(kDlInt, 32)};
constexpr ElementType kUInt{"uint32", "uint32_t", type_of(kDlUInt, 32)};
constexpr ElementType kLong{"int64", "int64_t", type_of(kDlInt, 64)};
constexpr ElementType kULong{"uint64", "uint64_t", type_of(kDlUInt, 64)};
constexpr ElementType kLongLong{"int64", "long long", type_of(kDlInt, 64)};
constexpr ElementType kULongLong{"uint64", "unsigned long long", type_of(kDlUInt, 64)};
// Not an element type: marks graft::Tensor while a declaration is read.
constexpr ElementType kTensorMark{"tensor", "graft::Tensor", {0, 0, 0}};

// Names of one word (a leading std:: or graft:: dropped) on a 64-bit Linux.
const std::map<std::string_view, const ElementType*>& named_types() {
  static const std::map<std::string_view, const ElementType*> types = {
      {"int8_t", &kInt8},
      {"uint8_t", &kUInt8},
      {"int16_t", &kShort},
      {"uint16_t", &kUShort},
      {"int32_t", &kInt},
      {"uint32_t", &kUInt},
      {"int64_t", &kLong},
      {"uint64_t", &kULong},
      {"size_t", &kULong},
      {"ssize_t", &kLong},
      {"ptrdiff_t", &kLong},
      {"intptr_t", &kLong},
      {"uintptr_t", &kULong},
      {"half", &kHalf},
      {"bfloat16", &kBfloat16},
      {"Tensor", &kTensorMark},
      {"complex<float>", &kComplexFloat},
      {"complex<double>", &kComplexDouble},
  };
  return types;
}

struct Token {
  enum class Kind { kWord, kNumber, kText, kPunctuation };
  Kind kind;
  std::string_view text;
  size_t offset;
  bool is(std::string_view what) const { return text == what; }
  bool is_word() const { return kind == Kind::kWord; }
};

using Tokens = std::vector<Token>;

bool word_start(char c) {
  return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '$' || (c & 0x80) != 0;
}
bool word_part(char c) {
  return word_start(c) || std::isdigit(static_cast<unsigned char>(c)) != 0;
}

class Scanner {
 public:
  explicit Scanner(std::string_view text) : text_(text) {}

  Result<Tokens> run() {
    while (at_ < text_.size()) {
      char c = text_[at_];
      if (c == '\n') {
        line_start_ = true;
        ++at_;
      } else if (std::isspace(static_cast<unsigned char>(c)) != 0) {
        ++at_;
      } else if (rest().starts_with("\\\n")) {
        at_ += 2;
      } else if (c == '#' && line_start_) {
        GRAFT_RETURN_IF_ERROR(skip_directive());
      } else if (rest().starts_with("//")) {
        at_ = std::min(text_.find('\n', at_), text_.size());
      } else if (rest().starts_with("/*")) {
        GRAFT_RETURN_IF_ERROR(skip_comment());
      } else {
        line_start_ = false;
        GRAFT_RETURN_IF_ERROR(token());
      }
    }
    return std::move(tokens_);
  }

 private:
  std::string_view rest() const { return text_.substr(at_); }

  Error error(size_t offset, std::string message) const {
    auto [line, column] = line_and_column(text_, offset);
    return input_error(std::move(message), {"", line, column});
  }

  // To the end of the line, with continuation lines; a comment may reach over the end.
  Status skip_directive() {
    while (at_ < text_.size() && text_[at_] != '\n') {
      if (rest().starts_with("\\\n")) {
        at_ += 2;
      } else if (rest().starts_with("\\\r\n")) {
        at_ += 3;
      } else if (rest().starts_with("//")) {
        at_ = std::min(text_.find('\n', at_), text_.size());
      } else if (rest().starts_with("/*")) {
        GRAFT_RETURN_IF_ERROR(skip_comment());
      } else {
        ++at_;
      }
    }
    return {};
  }

  Status skip_comment() {
    size_t end = text_.find("*/", at_ + 2);
    if (end == std::string_view::npos) return error(at_, "comment without an end");
    at_ = end + 2;
    return {};
  }

  Status token() {
    size_t start = at_;
    char c = text_[at_];
    if (word_start(c)) {
      while (at_ < text_.size() && word_part(text_[at_])) ++at_;
      std::string_view word = text_.substr(start, at_ - start);
      static constexpr std::array<std::string_view, 9> kPrefixes = {"R",  "u8R", "uR", "UR", "LR",
                                                                    "u8", "u",   "U",  "L"};
      bool prefix = std::find(kPrefixes.begin(), kPrefixes.end(), word) != kPrefixes.end();
      if (prefix && at_ < text_.size() && text_[at_] == '"')
        return word.ends_with('R') ? raw_text(start) : quoted(start, '"');
      if (prefix && !word.ends_with('R') && at_ < text_.size() && text_[at_] == '\'')
        return quoted(start, '\'');
      add(Token::Kind::kWord, start);
    } else if (std::isdigit(static_cast<unsigned char>(c)) != 0) {
      // A ' between digits is part of the number.
      while (at_ < text_.size() &&
             (word_part(text_[at_]) || text_[at_] == '.' ||
              (text_[at_] == '\'' && at_ + 1 < text_.size() && word_part(text_[at_ + 1])) ||
              ((text_[at_] == '+' || text_[at_] == '-') &&
               std::string_view("eEpP").find(text_[at_ - 1]) != std::string_view::npos)))
        ++at_;
      add(Token::Kind::kNumber, start);
    } else if (c == '"' || c == '\'') {
      return quoted(start, c);
    } else {
      at_ += rest().starts_with("::") || rest().starts_with("->") ? 2 : 1;
      add(Token::Kind::kPunctuation, start);
    }
    return {};
  }

  Status quoted(size_t start, char quote) {
    for (++at_; at_ < text_.size() && text_[at_] != '\n'; ++at_) {
      if (text_[at_] == '\\') {
        ++at_;
      } else if (text_[at_] == quote) {
        ++at_;
        add(Token::Kind::kText, start);
        return {};
      }
    }
    return error(start, quote == '"' ? "string without an end" : "character constant without an end");
  }

  Status raw_text(size_t start) {
    size_t open = text_.find('(', at_);
    if (open == std::string_view::npos || open - at_ > 17) return error(start, "raw string without an end");
    std::string close = ")" + std::string(text_.substr(at_ + 1, open - at_ - 1)) + "\"";
    size_t end = text_.find(close, open);
    if (end == std::string_view::npos) return error(start, "raw string without an end");
    at_ = end + close.size();
    add(Token::Kind::kText, start);
    return {};
  }

  void add(Token::Kind kind, size_t start) {
    tokens_.push_back({kind, text_.substr(start, at_ - start), start});
  }

  std::string_view text_;
  size_t at_ = 0;
  bool line_start_ = true;
  Tokens tokens_;
};

char closing(std::string_view open) {
  return open == "(" ? ')' : open == "[" ? ']' : open == "{" ? '}' : '\0';
}

class Reader {
 public:
  Reader(std::string_view text, Tokens tokens) : text_(text), tokens_(std::move(tokens)) {}

  Result<std::vector<Function>> run() {
    GRAFT_RETURN_IF_ERROR(check_brackets());
    scope(tokens_.size(), "", false);
    if (too_deep_) return input_error("namespaces are nested more than 64 deep", {"", 1, 1});
    return std::move(functions_);
  }

 private:
  using Span = std::pair<size_t, size_t>;  // token indices [first, second)

  const Token& token(size_t index) const { return tokens_[index]; }
  bool is(size_t index, std::string_view what) const {
    return index < tokens_.size() && tokens_[index].is(what);
  }

  Status check_brackets() {
    std::vector<size_t> open;
    partner_.assign(tokens_.size(), 0);
    for (size_t i = 0; i < tokens_.size(); ++i) {
      if (token(i).kind != Token::Kind::kPunctuation) continue;
      if (closing(token(i).text) != '\0') {
        open.push_back(i);
      } else if (is(i, ")") || is(i, "]") || is(i, "}")) {
        if (open.empty() || closing(token(open.back()).text) != token(i).text[0]) return bracket_error(i);
        partner_[open.back()] = i;
        open.pop_back();
      }
    }
    if (!open.empty()) return bracket_error(open.back());
    return {};
  }

  Error bracket_error(size_t index) const {
    auto [line, column] = line_and_column(text_, token(index).offset);
    return input_error(fmt::format("'{}' without its counterpart", token(index).text), {"", line, column});
  }

  // Past a <...> list that opens at `index`.
  size_t past_angles(size_t index, size_t end) const {
    int depth = 0;
    for (; index < end; ++index) {
      if (closing(token(index).text) != '\0') {
        index = partner_[index];
      } else if (is(index, "<")) {
        ++depth;
      } else if (is(index, ">") && --depth == 0) {
        return index + 1;
      }
    }
    return end;
  }

  // Past [[...]], __attribute__((...)), alignas(...) at `index`, or `index` itself.
  size_t past_attributes(size_t index, size_t end) const {
    while (index < end) {
      if (is(index, "[") && is(index + 1, "[")) {
        index = partner_[index] + 1;
      } else if ((is(index, "__attribute__") || is(index, "alignas") || is(index, "__declspec")) &&
                 is(index + 1, "(")) {
        index = partner_[index + 1] + 1;
      } else {
        break;
      }
    }
    return index;
  }

  // The declarations of a namespace, up to token `end`.
  void scope(size_t end, const std::string& prefix, bool unnamed) {
    if (depth_ == 64) too_deep_ = true;
    if (too_deep_) {
      at_ = end;
      return;
    }
    ++depth_;
    while (at_ < end) {
      if (is(at_, ";") || is(at_, "}")) {
        ++at_;
      } else if (is(at_, "extern") && at_ + 2 < end && token(at_ + 1).kind == Token::Kind::kText &&
                 is(at_ + 2, "{")) {
        size_t close = partner_[at_ + 2];
        at_ += 3;
        scope(close, prefix, unnamed);
        at_ = close + 1;
      } else if (is(at_, "namespace") || (is(at_, "inline") && is(at_ + 1, "namespace"))) {
        namespace_block(end, prefix, unnamed);
      } else {
        declaration(end, prefix, unnamed);
      }
    }
    --depth_;
  }

  void namespace_block(size_t end, const std::string& prefix, bool unnamed) {
    at_ += is(at_, "inline") ? 2 : 1;
    at_ = past_attributes(at_, end);
    std::string name;
    while (at_ < end && !is(at_, "{") && !is(at_, ";")) {
      if (token(at_).is_word() || is(at_, "::")) name += token(at_).text;
      ++at_;
    }
    if (!is(at_, "{")) return;  // an alias
    size_t close = partner_[at_++];
    scope(close, name.empty() ? prefix : prefix + name + "::", unnamed || name.empty());
    at_ = close + 1;
  }

  // One declaration from at_ on; a function definition is recorded.
  void declaration(size_t end, const std::string& prefix, bool unnamed) {
    size_t first = at_;
    bool is_template = false, is_type = false, initializer = false, has_parameters = false;
    while (at_ < end) {
      if (is(at_, "template") && is(at_ + 1, "<")) {
        is_template = true;
        at_ = past_angles(at_ + 1, end);
        continue;
      }
      if (is(at_, ";")) {
        alias({first, at_});
        ++at_;
        return;
      }
      if (is(at_, "{")) {
        size_t body = at_;
        at_ = partner_[at_] + 1;
        if (initializer || is_type || !has_parameters) {
          // A braced value or a class: more may follow up to the semicolon, except behind a body we do not
          // know.
          if (!initializer && !is_type) return;
          continue;
        }
        if (!is_template) function({first, body}, prefix, unnamed);
        return;
      }
      if (is(at_, "=") && !is(at_ - 1, "operator")) initializer = true;
      if (is(at_, "class") || is(at_, "struct") || is(at_, "union") || is(at_, "enum") || is(at_, "concept"))
        is_type = is_type || type_head();
      if (is(at_, "(")) has_parameters = true;
      at_ = closing(token(at_).text) != '\0' ? partner_[at_] + 1 : at_ + 1;
    }
  }

  // True when the class keyword at at_ starts a definition ("struct S {", "struct S : B {"), not a type in a
  // function's declaration ("struct S f(").
  bool type_head() const {
    for (size_t i = at_; i < tokens_.size(); ++i) {
      if (is(i, "{")) return true;
      if (is(i, "(") || is(i, ";")) {
        if (is(i, "(") && i > 0 && (is(i - 1, "alignas") || is(i - 1, "__attribute__"))) {
          i = partner_[i];
          continue;
        }
        return false;
      }
    }
    return false;
  }

  // using NAME = TYPE;  typedef TYPE NAME;
  void alias(Span span) {
    auto [first, last] = span;
    if (is(first, "using") && last - first > 3 && is(first + 2, "=")) {
      if (const ElementType* type = element_type({first + 3, last})) aliases_[token(first + 1).text] = type;
    } else if (is(first, "typedef") && last - first > 2) {
      if (const ElementType* type = element_type({first + 1, last - 1}))
        aliases_[token(last - 1).text] = type;
    }
  }

  // The type that exactly these tokens name (cv-qualifiers dropped), or nullptr. `used`: how many tokens the
  // longest type at the front takes; then what follows is left alone.
  const ElementType* element_type(Span span, size_t* used = nullptr) const {
    size_t at = span.first;
    int longs = 0;
    bool is_unsigned = false, is_signed = false, is_short = false, builtin = false;
    std::string_view base;
    const ElementType* named = nullptr;
    for (; at < span.second; ++at) {
      const Token& t = token(at);
      if (t.is("const") || t.is("volatile") || t.is("struct")) continue;
      if (t.is("unsigned")) {
        is_unsigned = builtin = true;
      } else if (t.is("signed")) {
        is_signed = builtin = true;
      } else if (t.is("long")) {
        ++longs;
        builtin = true;
      } else if (t.is("short")) {
        is_short = builtin = true;
      } else if (t.is("int") || t.is("char") || t.is("float") || t.is("double") || t.is("bool") ||
                 t.is("void")) {
        base = t.text;
        builtin = true;
      } else if (!builtin && named == nullptr && (t.is_word() || t.is("::"))) {
        std::string name;
        size_t next = at;
        if (is(next, "::")) ++next;
        if ((is(next, "std") || is(next, "graft")) && is(next + 1, "::")) next += 2;
        if (next >= span.second || !token(next).is_word()) return nullptr;
        name = token(next).text;
        if (name == "complex" && is(next + 1, "<") && is(next + 3, ">"))
          name += "<" + std::string(token(next + 2).text) + ">", next += 3;
        if (is(next + 1, "::") || is(next + 1, "<")) return nullptr;
        if (auto known = aliases_.find(name); known != aliases_.end()) {
          named = known->second;
        } else if (auto standard = named_types().find(name); standard != named_types().end()) {
          named = standard->second;
        } else {
          return nullptr;
        }
        at = next;
      } else {
        break;
      }
    }
    if (used != nullptr)
      *used = at - span.first;
    else if (at != span.second)
      return nullptr;
    if (named != nullptr) return named;
    if (!builtin) return nullptr;
    if (base == "float") return &kFloat;
    if (base == "double") return longs == 0 ? &kDouble : nullptr;
    if (base == "bool") return &kBool;
    if (base == "void") return &kVoid;
    if (base == "char") return is_unsigned ? &kUInt8 : is_signed ? &kInt8 : &kChar;
    if (is_short) return is_unsigned ? &kUShort : &kShort;
    if (longs == 1) return is_unsigned ? &kULong : &kLong;
    if (longs == 2) return is_unsigned ? &kULongLong : &kLongLong;
    return is_unsigned ? &kUInt : &kInt;
  }

  std::string text_of(Span span) const {
    std::string text;
    for (size_t i = span.first; i < span.second; ++i) {
      bool apart = !text.empty() && (word_part(text.back()) ||
                                     std::string_view(">*&,").find(text.back()) != std::string_view::npos);
      if (apart && token(i).is_word()) text += ' ';
      text += token(i).text;
    }
    return text;
  }

  void function(Span head, const std::string& prefix, bool unnamed) {
    // The declarator: the last word before the first parenthesis that is no attribute's.
    size_t open = head.first;
    while (open < head.second && !is(open, "(")) {
      size_t past = past_attributes(open, head.second);
      if (past != open)
        open = past;
      else if (is(open, "<"))
        open = past_angles(open, head.second);
      else
        ++open;
    }
    if (open >= head.second || open == head.first) return;
    size_t name = open - 1;
    if (!token(name).is_word()) return;  // operator+, a destructor, decltype(...)
    if (name > head.first && (is(name - 1, "::") || is(name - 1, "operator") || is(name - 1, "~"))) return;

    Function result;
    result.name = prefix + std::string(token(name).text);
    result.line = line_and_column(text_, token(name).offset).first;
    result.internal = unnamed;
    size_t type_first = head.first;
    for (size_t i = head.first; i < name;) {
      size_t past = past_attributes(i, name);
      if (past == i && (is(i, "static") || is(i, "inline") || is(i, "constexpr") || is(i, "consteval") ||
                        is(i, "extern") || token(i).kind == Token::Kind::kText || is(i, "__inline__") ||
                        is(i, "__forceinline"))) {
        result.internal = result.internal || !(is(i, "extern") || token(i).kind == Token::Kind::kText);
        past = i + 1;
      }
      if (past == i) break;
      i = type_first = past;
    }
    result_type({type_first, name}, partner_[open], head.second, &result);
    parameters({open + 1, partner_[open]}, &result);
    functions_.push_back(std::move(result));
  }

  void result_type(Span span, size_t close, size_t end, Function* function) const {
    if (is(span.first, "auto")) {
      for (size_t i = close + 1; i < end; ++i)
        if (is(i, "->")) span = {i + 1, end};
    }
    const ElementType* type = element_type(span);
    if (type == &kVoid) return;
    if (type == nullptr || type == &kTensorMark || type == &kHalf || type == &kBfloat16 ||
        type->dtype.code == kDlComplex) {
      function->obstacle = fmt::format("it returns '{}'", text_of(span));
      return;
    }
    function->result = type;
  }

  void parameters(Span span, Function* function) const {
    if (span.second - span.first == 1 && is(span.first, "void")) return;
    size_t first = span.first;
    int angles = 0;
    for (size_t i = span.first; i <= span.second; ++i) {
      if (i < span.second) {
        if (closing(token(i).text) != '\0') i = partner_[i];
        if (is(i, "<")) ++angles;
        if (is(i, ">") && angles > 0) --angles;
        if (!is(i, ",") || angles > 0) continue;
      }
      if (i > first) parameter({first, i}, function);
      first = i + 1;
    }
  }

  void parameter(Span span, Function* function) const {
    Parameter result;
    size_t end = span.first;
    while (end < span.second && !is(end, "="))
      end = closing(token(end).text) != '\0' ? partner_[end] + 1 : end + 1;
    result.has_default = end < span.second;
    std::string written = text_of({span.first, std::min(end, span.second)});
    auto obstacle = [&] {
      if (function->obstacle.empty())
        function->obstacle =
            fmt::format("its parameter {} is '{}'", function->parameters.size() + 1, written);
      function->parameters.push_back(result);
    };
    size_t at = past_attributes(span.first, end);
    size_t used = 0;
    const ElementType* type = element_type({at, end}, &used);
    if (type == nullptr) return obstacle();
    for (size_t i = at; i < at + used; ++i) result.is_const = result.is_const || is(i, "const");
    at += used;
    int stars = 0;
    bool reference = false;
    for (; at < end; ++at) {
      if (is(at, "*")) {
        ++stars;
      } else if (is(at, "&")) {
        reference = true;
      } else if (!is(at, "const") && !is(at, "volatile") && !is(at, "__restrict__") &&
                 !is(at, "__restrict") && !is(at, "restrict")) {
        break;
      }
    }
    if (at < end && token(at).is_word()) result.name = token(at++).text;
    for (at = past_attributes(at, end); at < end && is(at, "[") && stars <= 1; at = partner_[at] + 1) ++stars;
    bool plain = at == end && stars <= 1;
    if (type == &kTensorMark) {
      if (!plain || stars != 0) return obstacle();
      result.kind = Parameter::Kind::kTensor;
    } else if (stars == 1) {
      if (!plain || reference) return obstacle();
      result.kind = Parameter::Kind::kPointer;
      result.type = type;
    } else {
      bool number =
          type->dtype.bits != 0 && type->dtype.code != kDlComplex && type != &kHalf && type != &kBfloat16;
      if (!plain || !number || (reference && !result.is_const)) return obstacle();
      result.type = type;
    }
    function->parameters.push_back(std::move(result));
  }

  std::string_view text_;
  Tokens tokens_;
  std::vector<size_t> partner_;  // of an opening bracket: its closing one
  size_t at_ = 0;
  int depth_ = 0;  // of nested scopes
  bool too_deep_ = false;
  std::map<std::string_view, const ElementType*, std::less<>> aliases_;
  std::vector<Function> functions_;
};

}  // namespace

size_t Function::required() const {
  return static_cast<size_t>(
      std::count_if(parameters.begin(), parameters.end(), [](const Parameter& p) { return !p.has_default; }));
}

std::string Function::declaration() const {
  std::string text = fmt::format("{} {}(", result == nullptr ? "void" : result->cpp, name);
  for (size_t i = 0; i < parameters.size(); ++i) {
    const Parameter& parameter = parameters[i];
    if (i > 0) text += ", ";
    if (parameter.kind == Parameter::Kind::kTensor) {
      text += "graft::Tensor";
    } else if (parameter.type != nullptr) {
      if (parameter.kind == Parameter::Kind::kPointer && parameter.is_const) text += "const ";
      text += parameter.type->cpp;
      if (parameter.kind == Parameter::Kind::kPointer) text += "*";
    } else {
      text += "?";
    }
    if (!parameter.name.empty()) text += " " + parameter.name;
  }
  return text + ")";
}

Result<std::vector<Function>> read_functions(std::string_view source) {
  GRAFT_ASSIGN_OR_RETURN(Tokens tokens, Scanner(source).run());
  return Reader(source, std::move(tokens)).run();
}

Result<std::vector<Function>> callable_functions(std::string_view source, std::string_view wanted) {
  GRAFT_ASSIGN_OR_RETURN(std::vector<Function> all, read_functions(source));
  std::vector<Function> chosen;
  std::string reasons;
  int reasons_line = 0;
  for (Function& function : all) {
    if (wanted.empty() ? function.internal : function.name != wanted) continue;
    if (!function.obstacle.empty()) {
      if (!reasons.empty()) reasons += "; ";
      if (reasons_line == 0) reasons_line = function.line;
      reasons +=
          fmt::format("'{}' cannot be called from Python because {}", function.name, function.obstacle);
      continue;
    }
    for (const Function& other : chosen) {
      if (other.name != function.name) continue;
      // The branches of an #if may repeat a declaration.
      if (other.declaration() == function.declaration()) break;
      return input_error(fmt::format("two functions are called '{}'", function.name), {"", function.line, 0},
                         "one function of a name",
                         "rename one, or make it static to keep it for the kernel's own use");
    }
    bool known = std::any_of(chosen.begin(), chosen.end(),
                             [&](const Function& other) { return other.name == function.name; });
    if (!known) chosen.push_back(std::move(function));
  }
  if (!chosen.empty()) return chosen;
  constexpr const char* kExpected =
      "a function whose parameters are pointers to numbers, graft::Tensor, integers, floating-point numbers "
      "or bool";
  if (!reasons.empty()) return input_error(std::move(reasons), {"", reasons_line, 0}, kExpected);
  if (wanted.empty())
    return input_error("the source defines no function that can be called", {"", 1, 1}, kExpected);
  std::string names;
  for (const Function& function : all) names += (names.empty() ? "" : ", ") + function.name;
  return input_error(fmt::format("the source defines no function '{}'", wanted), {"", 1, 1},
                     names.empty() ? "a function definition" : "one of: " + names);
}

}  // namespace graft::kernels
