// Text -> tokens, one logical line at a time.
//
// The parser never looks back over a logical line's end, so the token buffer holds one logical line and is
// reused: memory stays with the longest line and the buffer stays in the cache. A line is [INDENT |
// DEDENT...] tokens NEWLINE; the last one is [DEDENT...] END. F-strings come as START, MIDDLE, '{' ... '}',
// END for all profiles (PEP 701).
//
// A text that cannot be tokenised ends its line with an ERROR token; error() says what and where. The parser
// reports it when it gets there, so an earlier syntax error comes first, as in CPython.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "python/parser.h"
#include "python/source.h"
#include "python/token.h"

namespace graft::python {

// What is wrong at an offset, before it has a file, a line and a column.
struct LexError {
  uint32_t offset = 0;
  std::string message;
  std::string expected;
};

class Lexer {
 public:
  Lexer(const SourceText& source, Profile profile, std::vector<TextRange>& comments);

  // Tokenises the next logical line into the buffer and returns its first token. At least two END tokens
  // follow the last one, so that looking ahead by two is safe everywhere.
  const Token* next_line();
  // The last token of the line in the buffer: NEWLINE, END or ERROR.
  const Token* last() const { return tokens_.data() + count_ - 1; }
  // Valid while the last token is ERROR.
  const LexError& error() const { return error_; }
  // Whether a bracket is open at the end of the buffer, and where the innermost is that is open at the end of
  // the buffer; only inside an unfinished line.
  bool bracket_open() const { return !brackets_.empty(); }
  uint32_t open_bracket() const { return brackets_.back().offset; }

  // After an ERROR: gives up the rest of the physical line at `offset`, all open brackets and f-strings, and
  // the deeper lines that follow when a bracket was open.
  void resume_after(uint32_t offset);

 private:
  struct Bracket {
    uint32_t offset;
    char open;  // '(', '[', '{'; 'f' for the '{' of an f-string's field
  };
  struct FString {
    uint32_t offset;  // of the prefix
    char quote;
    bool triple;
    bool raw;
    bool in_text;           // scanning text (also that of a format specification), not a field's expression
    uint8_t depth;          // fields open: 1 in a field, 2 in a field of its format specification, ...
    size_t field_level[3];  // brackets open inside each of these fields, its '{' included
  };

  void push(TokenKind kind, size_t begin, size_t end, uint8_t flags = 0) {
    if (count_ + 4 > tokens_.size()) [[unlikely]]
      grow();
    Token& token = tokens_[count_++];
    token.begin = static_cast<uint32_t>(begin);
    token.end = static_cast<uint32_t>(end);
    token.kind = kind;
    token.flags = flags;
  }
  [[gnu::noinline]] void grow() { tokens_.resize(tokens_.size() * 2); }

  // All of these return false after fail().
  bool fail(size_t offset, std::string message, std::string expected = {});
  bool indentation(bool* blank);
  bool old_continued_line(bool* blank);
  bool tokens_of_line();
  bool name();
  bool number();
  bool radix_number(unsigned char radix_letter);
  bool end_of_number(const char* what);
  bool decimal_digits();
  bool string(size_t begin, uint8_t flags, bool formatted);
  bool operator_token();
  bool open(char bracket);
  bool close(char bracket);
  bool fstring_text();
  bool continuation_line();
  void comment();
  bool before(Profile version) const { return profile_ != Profile::kDefault && profile_ < version; }

  const SourceText& source_;
  const char* text_;
  size_t size_;
  Profile profile_;
  std::vector<TextRange>& comments_;

  size_t at_ = 0;
  std::vector<Token> tokens_;
  size_t count_ = 0;
  LexError error_;

  std::vector<uint32_t> indents_{0};      // columns with tabs to 8
  std::vector<uint32_t> alt_indents_{0};  // columns with tabs to 1
  std::vector<Bracket> brackets_;
  std::vector<FString> fstrings_;
};

}  // namespace graft::python
