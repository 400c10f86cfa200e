// CPython's inspect.BlockFinder, fed by what Python's tokenize module makes of the text from some line on.
#include <algorithm>
#include <vector>

#include "python/canonical.h"
#include "python/segment.h"

namespace graft::python {
namespace {

constexpr int kMaxFStringDepth = 100;

enum class Type { kOther, kNewline, kNl, kComment, kIndent, kDedent };

bool is_name_byte(char c) {
  auto byte = static_cast<unsigned char>(c);
  return byte >= 0x80 || byte == '_' || (byte >= '0' && byte <= '9') ||
         ((byte | 0x20) >= 'a' && (byte | 0x20) <= 'z');
}

bool is_string_prefix(std::string_view word) {
  if (word.size() > 2) return false;
  std::string lower(word);
  for (char& c : lower) c = static_cast<char>(c | 0x20);
  constexpr std::string_view kPrefixes[] = {"b", "r", "u", "f", "br", "rb", "fr", "rf"};
  return std::find(std::begin(kPrefixes), std::end(kPrefixes), lower) != std::end(kPrefixes);
}

class BlockScan {
 public:
  BlockScan(const SourceText& source, uint32_t first, Profile profile)
      : text_(source.text()),
        at_(source.line_begin(first)),
        row_(first),
        last_(first),
        nested_fstrings_(profile == Profile::kDefault || minor_version(profile) >= 12),
        strict_(minor_version(profile) >= 12 && profile != Profile::kDefault) {}

  // False where tokenizing ends in an error that getblock() lets through.
  bool run() {
    indents_.push_back(0);
    while (at_ < text_.size() && !done_) {
      if (depth_ == 0 && !continued_ && !start_of_line()) continue;
      if (done_) break;
      continued_ = false;
      if (!rest_of_line()) return false;
    }
    // The end of the text inside brackets is an error of the tokenizer.
    return done_ || (depth_ == 0 && !continued_);
  }

  uint32_t last() const { return last_; }

 private:
  // The indentation of a new statement. False when the line is done with (blank or comment), or everything
  // is.
  bool start_of_line() {
    size_t line_begin = at_;
    uint32_t column = 0;
    for (; at_ < text_.size(); ++at_) {
      char c = text_[at_];
      if (c == ' ')
        ++column;
      else if (c == '\t')
        column = (column / 8 + 1) * 8;
      else if (c == '\f')
        column = 0;
      else
        break;
    }
    if (at_ == text_.size()) return false;
    auto width = static_cast<uint32_t>(at_ - line_begin);
    if (text_[at_] == '#') {
      event(Type::kComment, {}, row_, width);
      skip_to_line_end();
    }
    if (at_ == text_.size() || text_[at_] == '\n') {
      event(Type::kNl, {}, row_, width);
      next_row();
      return false;
    }
    if (column > indents_.back()) {
      indents_.push_back(column);
      event(Type::kIndent, {}, row_, width);
    }
    while (!done_ && column < indents_.back()) {
      if (std::find(indents_.begin(), indents_.end(), column) == indents_.end()) {
        done_ = true;  // an IndentationError ends the block quietly
        return false;
      }
      indents_.pop_back();
      event(Type::kDedent, {}, row_, width);
    }
    return !done_;
  }

  // Tokens up to and including the line's end.
  bool rest_of_line() {
    while (at_ < text_.size() && !done_) {
      char c = text_[at_];
      if (c == ' ' || c == '\t' || c == '\f') {
        ++at_;
      } else if (c == '\n') {
        event(depth_ > 0 ? Type::kNl : Type::kNewline, {}, row_, 0);
        next_row();
        return true;
      } else if (c == '#') {
        event(Type::kComment, {}, row_, column());
        skip_to_line_end();
      } else if (c == '\\' && at_ + 1 < text_.size() && text_[at_ + 1] == '\n') {
        ++at_;
        next_row();
        continued_ = true;
        return true;
      } else if (c == '"' || c == '\'') {
        if (!string(false)) return false;
      } else if (c >= '0' && c <= '9') {
        size_t begin = at_;
        while (at_ < text_.size() && (is_name_byte(text_[at_]) || text_[at_] == '.')) ++at_;
        event(Type::kOther, text_.substr(begin, at_ - begin), row_, 0);
      } else if (is_name_byte(c)) {
        size_t begin = at_;
        while (at_ < text_.size() && is_name_byte(text_[at_])) ++at_;
        std::string_view word = text_.substr(begin, at_ - begin);
        if (at_ < text_.size() && (text_[at_] == '"' || text_[at_] == '\'') && is_string_prefix(word)) {
          if (!string(word.find_first_of("fF") != std::string_view::npos)) return false;
        } else {
          event(Type::kOther, word, row_, 0);
        }
      } else {
        if (c == '(' || c == '[' || c == '{') ++depth_;
        if (c == ')' || c == ']' || c == '}') {
          --depth_;
          if (strict_ && depth_ < 0) {
            // From 3.12 on a closing bracket too many counts as the end of the logical line, at the token
            // before it.
            event(Type::kNewline, {}, previous_row_, 0);
            done_ = true;
            return true;
          }
        }
        event(Type::kOther, text_.substr(at_, 1), row_, 0);
        ++at_;
      }
    }
    return true;
  }

  // A string that begins at the quote. False where it does not end and tokenizing fails for that.
  bool string(bool formatted) {
    char quote = text_[at_];
    bool triple = text_.substr(at_, 3) == std::string(3, quote);
    uint32_t row = row_;
    size_t begin = at_;
    at_ += triple ? 3 : 1;
    if (!string_body(quote, triple, formatted && nested_fstrings_, 0)) {
      if (triple || strict_) return false;
      at_ = begin + 1;  // tokenize makes an error token of the quote and goes on behind it
      row_ = row;
    }
    event(Type::kOther, "\"\"", row, 0);
    return true;
  }

  bool string_body(char quote, bool triple, bool formatted, int depth) {
    while (at_ < text_.size()) {
      char c = text_[at_];
      if (c == '\\') {
        if (at_ + 1 < text_.size() && text_[at_ + 1] == '\n') ++row_;
        at_ += 2;
      } else if (c == quote && (!triple || text_.substr(at_, 3) == std::string(3, quote))) {
        at_ += triple ? 3 : 1;
        return true;
      } else if (c == '\n') {
        if (!triple) return false;
        ++at_;
        ++row_;
      } else if (formatted && c == '{' && text_.substr(at_, 2) == "{{") {
        at_ += 2;
      } else if (formatted && c == '{') {
        ++at_;
        if (depth >= kMaxFStringDepth || !field(quote, triple, depth + 1)) return false;
      } else {
        ++at_;
      }
    }
    return false;
  }

  // A replacement field after its '{', up to and including its '}'.
  bool field(char quote, bool triple, int depth) {
    int level = 0;
    while (at_ < text_.size()) {
      char c = text_[at_];
      if (c == '}' && level == 0) {
        ++at_;
        return true;
      }
      if (c == ':' && level == 0) {
        ++at_;
        return format_spec(quote, triple, depth);
      }
      if (c == '(' || c == '[' || c == '{') ++level;
      if (c == ')' || c == ']' || c == '}') --level;
      if (c == '\n') ++row_;
      if (c == '#') {
        skip_to_line_end();
        continue;
      }
      if (c == '"' || c == '\'') {
        size_t word = at_;
        while (word > 0 && is_name_byte(text_[word - 1])) --word;
        std::string_view prefix = text_.substr(word, at_ - word);
        bool inner_triple = text_.substr(at_, 3) == std::string(3, c);
        bool formatted = is_string_prefix(prefix) && prefix.find_first_of("fF") != std::string_view::npos;
        at_ += inner_triple ? 3 : 1;
        if (!string_body(c, inner_triple, formatted, depth)) return false;
        continue;
      }
      ++at_;
    }
    return false;
  }

  bool format_spec(char quote, bool triple, int depth) {
    while (at_ < text_.size()) {
      char c = text_[at_];
      if (c == quote && !triple) return false;
      ++at_;
      if (c == '}') return true;
      if (c == '\n') ++row_;
      if (c == '{' && (depth >= kMaxFStringDepth || !field(quote, triple, depth + 1))) return false;
    }
    return false;
  }

  // BlockFinder.tokeneater. `token` is empty for types that have no text of interest.
  void event(Type type, std::string_view token, uint32_t row, uint32_t column) {
    previous_row_ = row;
    if (!started_ && !in_decorator_) {
      if (token == "@") {
        in_decorator_ = true;
      } else if (token == "def" || token == "class" || token == "lambda") {
        is_lambda_ = token == "lambda";
        started_ = true;
      }
      pass_line_ = true;
    } else if (type == Type::kNewline) {
      pass_line_ = false;
      last_ = row;
      if (is_lambda_) done_ = true;
      in_decorator_ = false;
    } else if (pass_line_) {
      return;
    } else if (type == Type::kIndent) {
      if (!has_body_column_ && started_) {
        has_body_column_ = true;
        body_column_ = column;
      }
      ++block_depth_;
      pass_line_ = true;
    } else if (type == Type::kDedent) {
      if (--block_depth_ <= 0) done_ = true;
    } else if (type == Type::kComment) {
      if (has_body_column_ && column >= body_column_) last_ = row;
    } else if (block_depth_ == 0 && type != Type::kNl) {
      done_ = true;
    }
  }

  uint32_t column() const {
    size_t line = at_;
    while (line > 0 && text_[line - 1] != '\n') --line;
    auto characters = std::count_if(text_.begin() + static_cast<std::ptrdiff_t>(line),
                                    text_.begin() + static_cast<std::ptrdiff_t>(at_),
                                    [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; });
    return static_cast<uint32_t>(characters);
  }

  void skip_to_line_end() { at_ = std::min(text_.find('\n', at_), text_.size()); }
  void next_row() {
    if (at_ < text_.size()) ++at_;
    ++row_;
  }

  std::string_view text_;
  size_t at_;
  uint32_t row_;
  uint32_t previous_row_ = 0;
  uint32_t last_;
  bool nested_fstrings_;  // replacement fields may hold the quotes of their string
  bool strict_;           // errors of the C tokenizer, which tokenize uses from 3.12 on
  int depth_ = 0;         // open brackets; negative behind a closing one too many
  bool continued_ = false;
  bool done_ = false;
  std::vector<uint32_t> indents_;

  bool started_ = false;
  bool in_decorator_ = false;
  bool is_lambda_ = false;
  bool pass_line_ = false;
  bool has_body_column_ = false;
  uint32_t body_column_ = 0;
  int block_depth_ = 0;
};

}  // namespace

Result<uint32_t> block_end_by_tokens(const SourceText& source, uint32_t first, Profile profile) {
  BlockScan scan(source, first, profile);
  if (!scan.run())
    return input_error("Python finds no end of the text that begins here",
                       Place{source.file(), static_cast<int>(first), 1},
                       "a line that begins outside of strings");
  return std::min(scan.last(), source.line_count());
}

}  // namespace graft::python
