#include "python/lexer.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <utility>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#include "python/character_class.h"
#include "python/unicode.h"

namespace graft::python {
namespace {

// Limits of CPython's tokenizer, and one for a logical line: its tokens lie in memory together.
constexpr size_t kMaxBrackets = 200;
constexpr size_t kMaxIndents = 100;
constexpr size_t kMaxLineTokens = size_t{1} << 24;

constexpr std::array<bool, 256> make_ascii_words() {
  std::array<bool, 256> table{};
  for (size_t c = 0; c < 0x80; ++c) table[c] = kClasses[c] == kIdentifier || kClasses[c] == kDigit;
  return table;
}
constexpr std::array<bool, 256> kAsciiWords = make_ascii_words();

// Operators that are complete when no character of kExtends follows.
constexpr std::array<TokenKind, 256> make_singles() {
  using T = TokenKind;
  std::array<T, 256> table{};
  for (T& kind : table) kind = T::kError;
  constexpr std::pair<char, T> kOperators[] = {
      {',', T::kComma},   {':', T::kColon},   {'.', T::kDot},       {'=', T::kAssign},
      {'+', T::kPlus},    {'-', T::kMinus},   {'*', T::kStar},      {'/', T::kSlash},
      {'%', T::kPercent}, {'|', T::kBar},     {'&', T::kAmpersand}, {'^', T::kCaret},
      {'<', T::kLess},    {'>', T::kGreater}, {'@', T::kAt},        {';', T::kSemicolon}};
  for (const auto& [c, kind] : kOperators) table[static_cast<unsigned char>(c)] = kind;
  return table;
}
constexpr std::array<TokenKind, 256> kSingles = make_singles();
constexpr std::array<bool, 256> make_extends() {
  std::array<bool, 256> table{};
  for (char c : std::string_view("=*/<>.0123456789")) table[static_cast<unsigned char>(c)] = true;
  return table;
}
constexpr std::array<bool, 256> kExtends = make_extends();

bool is_ascii_word(char c) {
  return kAsciiWords[static_cast<unsigned char>(c)];
}
// Keywords: a perfect hash of the word packed into eight bytes, found at compile time.
struct Keyword8 {
  uint64_t word = 0;
  TokenKind kind = TokenKind::kName;
};
constexpr uint64_t pack(std::string_view word) {
  uint64_t value = 0;
  for (size_t i = 0; i < word.size(); ++i)
    value |= static_cast<uint64_t>(static_cast<unsigned char>(word[i])) << (8 * i);
  return value;
}
constexpr size_t kKeywordBits = 7;
struct KeywordTable {
  uint64_t factor = 0;
  std::array<Keyword8, size_t{1} << kKeywordBits> slots{};
};
constexpr size_t keyword_slot(uint64_t word, uint64_t factor) {
  return (word * factor) >> (64 - kKeywordBits);
}
constexpr KeywordTable make_keywords() {
  struct Entry {
    std::string_view word;
    TokenKind kind;
  };
  constexpr Entry kEntries[] = {{"False", TokenKind::kFalse},
                                {"None", TokenKind::kNone},
                                {"True", TokenKind::kTrue},
                                {"and", TokenKind::kAnd},
                                {"as", TokenKind::kAs},
                                {"assert", TokenKind::kAssert},
                                {"async", TokenKind::kAsync},
                                {"await", TokenKind::kAwait},
                                {"break", TokenKind::kBreak},
                                {"class", TokenKind::kClass},
                                {"continue", TokenKind::kContinue},
                                {"def", TokenKind::kDef},
                                {"del", TokenKind::kDel},
                                {"elif", TokenKind::kElif},
                                {"else", TokenKind::kElse},
                                {"except", TokenKind::kExcept},
                                {"finally", TokenKind::kFinally},
                                {"for", TokenKind::kFor},
                                {"from", TokenKind::kFrom},
                                {"global", TokenKind::kGlobal},
                                {"if", TokenKind::kIf},
                                {"import", TokenKind::kImport},
                                {"in", TokenKind::kIn},
                                {"is", TokenKind::kIs},
                                {"lambda", TokenKind::kLambda},
                                {"nonlocal", TokenKind::kNonlocal},
                                {"not", TokenKind::kNot},
                                {"or", TokenKind::kOr},
                                {"pass", TokenKind::kPass},
                                {"raise", TokenKind::kRaise},
                                {"return", TokenKind::kReturn},
                                {"try", TokenKind::kTry},
                                {"while", TokenKind::kWhile},
                                {"with", TokenKind::kWith},
                                {"yield", TokenKind::kYield}};
  KeywordTable table;
  table.factor = 0x9E3779B97F4A7C15U;
  for (;;) {
    table.slots = {};
    bool clash = false;
    for (const Entry& entry : kEntries) {
      Keyword8& slot = table.slots[keyword_slot(pack(entry.word), table.factor)];
      if (slot.word != 0) {
        clash = true;
        break;
      }
      slot = {pack(entry.word), entry.kind};
    }
    if (!clash) return table;
    table.factor = table.factor * 6364136223846793005U + 1442695040888963407U;
  }
}
constexpr KeywordTable kKeywords = make_keywords();

TokenKind keyword_or_name(const char* word, size_t length) {
  if (length < 2 || length > 8) return TokenKind::kName;
  uint64_t value;
  std::memcpy(&value, word, 8);  // the text's padding makes this safe
  if constexpr (std::endian::native == std::endian::big) value = __builtin_bswap64(value);
  value &= ~uint64_t{0} >> (64 - 8 * length);
  const Keyword8& slot = kKeywords.slots[keyword_slot(value, kKeywords.factor)];
  return slot.word == value ? slot.kind : TokenKind::kName;
}

struct Operator {
  uint8_t length = 0;
  TokenKind kind = TokenKind::kError;
};

// The longest operator at `p`.
Operator match_operator(const char* p) {
  using T = TokenKind;
  char second = p[1];
  bool assign = second == '=';
  auto pick = [assign](T plain, T augmented) { return assign ? Operator{2, augmented} : Operator{1, plain}; };
  switch (p[0]) {
    case ':':
      return pick(T::kColon, T::kWalrus);
    case ',':
      return {1, T::kComma};
    case ';':
      return {1, T::kSemicolon};
    case '.':
      return second == '.' && p[2] == '.' ? Operator{3, T::kEllipsis} : Operator{1, T::kDot};
    case '~':
      return {1, T::kTilde};
    case '+':
      return pick(T::kPlus, T::kPlusAssign);
    case '-':
      return second == '>' ? Operator{2, T::kArrow} : pick(T::kMinus, T::kMinusAssign);
    case '*':
      if (second == '*') return p[2] == '=' ? Operator{3, T::kDoubleStarAssign} : Operator{2, T::kDoubleStar};
      return pick(T::kStar, T::kStarAssign);
    case '/':
      if (second == '/')
        return p[2] == '=' ? Operator{3, T::kDoubleSlashAssign} : Operator{2, T::kDoubleSlash};
      return pick(T::kSlash, T::kSlashAssign);
    case '%':
      return pick(T::kPercent, T::kPercentAssign);
    case '@':
      return pick(T::kAt, T::kAtAssign);
    case '&':
      return pick(T::kAmpersand, T::kAmpersandAssign);
    case '|':
      return pick(T::kBar, T::kBarAssign);
    case '^':
      return pick(T::kCaret, T::kCaretAssign);
    case '=':
      return pick(T::kAssign, T::kEqual);
    case '!':
      return pick(T::kExclamation, T::kNotEqual);
    case '<':
      if (second == '<') return p[2] == '=' ? Operator{3, T::kLeftShiftAssign} : Operator{2, T::kLeftShift};
      return pick(T::kLess, T::kLessEqual);
    case '>':
      if (second == '>') return p[2] == '=' ? Operator{3, T::kRightShiftAssign} : Operator{2, T::kRightShift};
      return pick(T::kGreater, T::kGreaterEqual);
    default:
      return {};
  }
}

}  // namespace

std::string_view describe(TokenKind kind) {
  static constexpr std::string_view kTexts[] = {
#define GRAFT_PYTHON_TOKEN(name, text) text,
      GRAFT_PYTHON_TOKENS(GRAFT_PYTHON_TOKEN)
#undef GRAFT_PYTHON_TOKEN
  };
  return kTexts[static_cast<size_t>(kind)];
}

Lexer::Lexer(const SourceText& source, Profile profile, std::vector<TextRange>& comments)
    : source_(source),
      text_(source.text().data()),
      size_(source.size()),
      profile_(profile),
      comments_(comments),
      tokens_(64) {}

bool Lexer::fail(size_t offset, std::string message, std::string expected) {
  error_ = {static_cast<uint32_t>(offset), std::move(message), std::move(expected)};
  return false;
}

const Token* Lexer::next_line() {
  count_ = 0;
  bool blank = true;
  bool good = true;
  while (good && blank && at_ < size_) good = indentation(&blank);
  if (good && at_ < size_) {
    good = tokens_of_line();
  } else if (good) {
    while (indents_.size() > 1) {
      indents_.pop_back();
      alt_indents_.pop_back();
      push(TokenKind::kDedent, size_, size_);
    }
    push(TokenKind::kEnd, size_, size_);
  }
  if (!good) {
    // error_.offset may lie before tokens already made (an open bracket); offsets of tokens never go back.
    size_t offset = count_ > 0 ? std::max(error_.offset, tokens_[count_ - 1].end) : error_.offset;
    push(TokenKind::kError, offset, offset);
  }
  for (size_t i = count_; i < count_ + 3; ++i)
    tokens_[i] = {tokens_[count_ - 1].end, tokens_[count_ - 1].end};
  return tokens_.data();
}

void Lexer::resume_after(uint32_t offset) {
  bool inside_brackets = !brackets_.empty();
  brackets_.clear();
  fstrings_.clear();
  auto next_line_begin = [this](size_t at) {
    const void* line_end = std::memchr(text_ + at, '\n', size_ - at);
    return line_end == nullptr ? size_ : static_cast<size_t>(static_cast<const char*>(line_end) - text_) + 1;
  };
  at_ = next_line_begin(offset);
  // Deeper lines are most likely the rest of the bracket.
  while (inside_brackets && at_ < size_) {
    size_t column = 0;
    while (text_[at_ + column] == ' ' || text_[at_ + column] == '\t') ++column;
    if (column <= indents_.back()) break;
    at_ = next_line_begin(at_);
  }
  // What is read again is not collected twice.
  while (!comments_.empty() && comments_.back().begin >= at_) comments_.pop_back();
}

void Lexer::comment() {
  size_t begin = at_;
  const void* line_end = std::memchr(text_ + at_, '\n', size_ - at_);
  at_ = line_end == nullptr ? size_ : static_cast<size_t>(static_cast<const char*>(line_end) - text_);
  comments_.push_back({static_cast<uint32_t>(begin), static_cast<uint32_t>(at_)});
}

// After a backslash at at_: moves to the next line.
bool Lexer::continuation_line() {
  if (at_ + 1 >= size_) return fail(at_, "unexpected end of file after a line continuation", "another line");
  if (text_[at_ + 1] != '\n')
    return fail(at_ + 1, "unexpected character after line continuation character", "the end of the line");
  at_ += 2;
  if (at_ >= size_) return fail(at_, "unexpected end of file after a line continuation", "another line");
  return true;
}

// In 3.9 a line that begins with a continuation keeps the depth of the line before, whatever its blanks.
bool Lexer::old_continued_line(bool* blank) {
  if (!continuation_line()) return false;
  while (class_of(text_[at_]) == kSpace) ++at_;
  *blank = text_[at_] == '\n';
  if (*blank) ++at_;
  return true;
}

// At the start of a physical line. A line without code is passed over (*blank); else INDENT and DEDENT tokens
// are pushed.
bool Lexer::indentation(bool* blank) {
  uint32_t column = 0;
  uint32_t alt_column = 0;
  uint32_t continued_column = 0;
  size_t line_begin = at_;
#if defined(__SSE2__)
  const __m128i blanks = _mm_set1_epi8(' ');
  for (;;) {
    __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(text_ + at_));
    auto others = ~static_cast<unsigned>(_mm_movemask_epi8(_mm_cmpeq_epi8(bytes, blanks)));
    auto count = static_cast<uint32_t>(std::min(std::countr_zero(others), 16));
    at_ += count;
    column += count;
    if (count < 16) break;
  }
  alt_column = column;
#endif
  for (;;) {
    char c = text_[at_];
    if (c == ' ') {
      ++column;
      ++alt_column;
      ++at_;
    } else if (c == '\t') {
      column = (column / 8 + 1) * 8;
      ++alt_column;
      ++at_;
    } else if (c == '\f') {
      column = alt_column = 0;
      ++at_;
    } else if (c == '\\' && before(Profile::kPython39)) {
      break;  // the blanks before it decide the depth
    } else if (c == '\\' && before(Profile::kPython310)) {
      return old_continued_line(blank);
    } else if (c == '\\') {
      // The first backslash decides the depth of what follows.
      if (continued_column == 0) continued_column = column;
      if (!continuation_line()) return false;
    } else {
      break;
    }
  }
  if (at_ < size_ && text_[at_] == '#') comment();
  if (at_ >= size_ || text_[at_] == '\n') {
    if (at_ < size_) ++at_;
    *blank = true;
    return true;
  }
  *blank = false;
  if (continued_column != 0) column = alt_column = continued_column;
  auto inconsistent = [this, line_begin] {
    return fail(line_begin, "inconsistent use of tabs and spaces in indentation",
                "the indentation of the lines above");
  };
  if (column == indents_.back()) return alt_column == alt_indents_.back() || inconsistent();
  if (column > indents_.back()) {
    if (indents_.size() >= kMaxIndents)
      return fail(at_, "too many levels of indentation", "at most 99 levels");
    if (alt_column <= alt_indents_.back()) return inconsistent();
    indents_.push_back(column);
    alt_indents_.push_back(alt_column);
    push(TokenKind::kIndent, line_begin, at_);
    return true;
  }
  while (column < indents_.back()) {
    indents_.pop_back();
    alt_indents_.pop_back();
    push(TokenKind::kDedent, at_, at_);
  }
  if (column != indents_.back()) {
    count_ = 0;
    return fail(at_, "unindent does not match any outer indentation level",
                "the indentation of an enclosing block");
  }
  if (alt_column != alt_indents_.back()) {
    count_ = 0;
    return inconsistent();
  }
  return true;
}

bool Lexer::tokens_of_line() {
  for (;;) {
    const char* p = text_ + at_;
    // The commonest tokens, without a call: blanks, words of ASCII letters, operators of one character.
    while (count_ < kMaxLineTokens) {
      char c = *p;
      uint8_t kind = class_of(c);
      if (kind == kSpace) {
        ++p;
      } else if (kind == kIdentifier) {
        const char* end = p;
        while (is_ascii_word(*end)) ++end;
        auto length = static_cast<size_t>(end - p);
        if (static_cast<unsigned char>(*end) >= 0x80 || (length <= 2 && class_of(*end) == kQuote)) break;
        push(keyword_or_name(p, length), static_cast<size_t>(p - text_), static_cast<size_t>(end - text_));
        p = end;
      } else if (kind == kPunctuation) {
        TokenKind single = kSingles[static_cast<unsigned char>(c)];
        if (single == TokenKind::kError || kExtends[static_cast<unsigned char>(p[1])] || !fstrings_.empty())
          break;
        auto offset = static_cast<size_t>(p - text_);
        push(single, offset, offset + 1);
        ++p;
      } else {
        break;
      }
    }
    at_ = static_cast<size_t>(p - text_);
    if (count_ >= kMaxLineTokens)
      return fail(at_, "the logical line has too many tokens", "at most 16777216 tokens");
    char c = *p;
    switch (class_of(c)) {
      case kIdentifier:
        if (!name()) return false;
        break;
      case kPunctuation:
        if (c == '.' && is_digit(text_[at_ + 1])) {
          if (!number()) return false;
          break;
        }
        if (!operator_token()) return false;
        break;
      case kDigit:
        if (!number()) return false;
        break;
      case kQuote:
        if (!string(at_, 0, false)) return false;
        break;
      case kHash:
        comment();
        break;
      case kLineEnd:
        if (brackets_.empty()) {
          push(TokenKind::kNewline, at_, at_ + 1);
          ++at_;
          return true;
        }
        ++at_;
        break;
      case kContinuation:
        if (!continuation_line()) return false;
        break;
      default:
        if (at_ < size_) {
          size_t end = at_;
          if (c > ' ' && c < 0x7F)
            return fail(at_, std::string("invalid character '") + c + "'", "a Python token");
          uint32_t code = decode_utf8(source_.text(), &end);
          static constexpr char kHex[] = "0123456789ABCDEF";
          return fail(
              at_,
              std::string("invalid non-printable character U+00") + kHex[(code >> 4) & 15] + kHex[code & 15],
              "a Python token");
        }
        // The end of a text without a final line end.
        if (!fstrings_.empty() && brackets_.back().open == 'f')
          return fail(fstrings_.back().offset, "f-string: expecting '}'", "'}'");
        if (!brackets_.empty())
          return fail(brackets_.back().offset,
                      std::string("'") + (brackets_.back().open == 'f' ? '{' : brackets_.back().open) +
                          "' was never closed",
                      "the closing bracket");
        push(TokenKind::kNewline, at_, at_);
        return true;
    }
  }
}

// A word that needs a closer look: a string prefix or one with other than ASCII characters.
bool Lexer::name() {
  const char* begin = text_ + at_;
  const char* p = begin;
  unsigned char seen = 0;
  while (is_word(*p)) seen = static_cast<unsigned char>(seen | static_cast<unsigned char>(*p++));
  auto length = static_cast<size_t>(p - begin);
  if (length <= 2 && class_of(*p) == kQuote) {
    // A string prefix: r, u, b, f, br, rb, fr or rf in any case.
    uint8_t flags = 0;
    int plain = 0;
    bool formatted = false;
    bool valid = true;
    for (const char* q = begin; q < p; ++q) {
      switch (*q | 0x20) {
        case 'r':
          valid = valid && (flags & token_flag::kRaw) == 0;
          flags |= token_flag::kRaw;
          break;
        case 'b':
          flags |= token_flag::kBytes;
          ++plain;
          break;
        case 'f':
          formatted = true;
          ++plain;
          break;
        case 'u':
          plain += length == 1 ? 1 : 2;  // u stands alone
          break;
        default:
          valid = false;
      }
    }
    if (valid && plain <= 1) {
      auto prefix = static_cast<size_t>(begin - text_);
      at_ = static_cast<size_t>(p - text_);
      return string(prefix, flags, formatted);
    }
  }
  size_t first = at_;
  at_ = static_cast<size_t>(p - text_);
  if (seen >= 0x80) {
    std::string_view word(begin, length);
    size_t bad = find_non_identifier(word);
    if (bad != std::string_view::npos) {
      size_t after = bad;
      uint32_t code = decode_utf8(word, &after);
      std::string message = "invalid character '" + std::string(word.substr(bad, after - bad)) + "' (U+";
      char digits[9];
      int count = 0;
      for (uint32_t rest = code; rest != 0 || count < 4; rest >>= 4)
        digits[count++] = "0123456789ABCDEF"[rest & 15];
      while (count > 0) message += digits[--count];
      return fail(first + bad, message + ")", "a character that may stand in a name");
    }
    push(TokenKind::kName, first, at_, token_flag::kNonAscii);
    return true;
  }
  push(keyword_or_name(begin, length), first, at_);
  return true;
}

bool Lexer::open(char bracket) {
  if (brackets_.size() >= kMaxBrackets) return fail(at_, "too many nested parentheses", "at most 200 levels");
  brackets_.push_back({static_cast<uint32_t>(at_), bracket});
  return true;
}

bool Lexer::close(char bracket) {
  if (brackets_.empty()) return fail(at_, std::string("unmatched '") + bracket + "'");
  Bracket top = brackets_.back();
  bool field = top.open == 'f';
  char wanted = top.open == '(' ? ')' : top.open == '[' ? ']' : '}';
  if (bracket != wanted) {
    if (field) return fail(at_, std::string("f-string: unmatched '") + bracket + "'", "'}'");
    std::string message = std::string("closing parenthesis '") + bracket +
                          "' does not match opening parenthesis '" + top.open + "'";
    uint32_t line = source_.line_of(top.offset);
    if (line != source_.line_of(static_cast<uint32_t>(at_))) message += " on line " + std::to_string(line);
    return fail(at_, message, std::string("'") + wanted + "'");
  }
  brackets_.pop_back();
  if (field) {
    FString& string = fstrings_.back();
    --string.depth;
    string.in_text = true;
  }
  return true;
}

bool Lexer::operator_token() {
  char c = text_[at_];
  switch (c) {
    case '(':
    case '[':
    case '{':
      if (!open(c)) return false;
      push(c == '('   ? TokenKind::kLeftParen
           : c == '[' ? TokenKind::kLeftBracket
                      : TokenKind::kLeftBrace,
           at_, at_ + 1);
      ++at_;
      return true;
    case ')':
    case ']':
    case '}': {
      if (!close(c)) return false;
      push(c == ')'   ? TokenKind::kRightParen
           : c == ']' ? TokenKind::kRightBracket
                      : TokenKind::kRightBrace,
           at_, at_ + 1);
      ++at_;
      if (c == '}' && !fstrings_.empty() && fstrings_.back().in_text) return fstring_text();
      return true;
    }
    default:
      break;
  }
  if (c == ':' && !fstrings_.empty()) {
    FString& string = fstrings_.back();
    if (brackets_.size() == string.field_level[string.depth - 1]) {
      push(TokenKind::kColon, at_, at_ + 1);
      ++at_;
      string.in_text = true;
      return fstring_text();
    }
  }
  Operator found = match_operator(text_ + at_);
  push(found.kind, at_, at_ + found.length);
  at_ += found.length;
  return true;
}

}  // namespace graft::python
