// Tokens of a Python text.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace graft::python {

// X(name, "as an error message shows it"). Binary operators and their augmented forms are in one order.
#define GRAFT_PYTHON_TOKENS(X)        \
  X(End, "the end of the file")       \
  X(Newline, "the end of the line")   \
  X(Indent, "an indent")              \
  X(Dedent, "a dedent")               \
  X(Name, "a name")                   \
  X(Number, "a number")               \
  X(String, "a string")               \
  X(FStringStart, "an f-string")      \
  X(FStringMiddle, "f-string text")   \
  X(FStringEnd, "the f-string's end") \
  X(Error, "an invalid token")        \
  X(LeftParen, "'('")                 \
  X(RightParen, "')'")                \
  X(LeftBracket, "'['")               \
  X(RightBracket, "']'")              \
  X(LeftBrace, "'{'")                 \
  X(RightBrace, "'}'")                \
  X(Colon, "':'")                     \
  X(Comma, "','")                     \
  X(Semicolon, "';'")                 \
  X(Dot, "'.'")                       \
  X(Ellipsis, "'...'")                \
  X(Arrow, "'->'")                    \
  X(Exclamation, "'!'")               \
  X(Assign, "'='")                    \
  X(Walrus, "':='")                   \
  X(Tilde, "'~'")                     \
  X(Plus, "'+'")                      \
  X(Minus, "'-'")                     \
  X(Star, "'*'")                      \
  X(At, "'@'")                        \
  X(Slash, "'/'")                     \
  X(Percent, "'%'")                   \
  X(DoubleStar, "'**'")               \
  X(LeftShift, "'<<'")                \
  X(RightShift, "'>>'")               \
  X(Bar, "'|'")                       \
  X(Caret, "'^'")                     \
  X(Ampersand, "'&'")                 \
  X(DoubleSlash, "'//'")              \
  X(PlusAssign, "'+='")               \
  X(MinusAssign, "'-='")              \
  X(StarAssign, "'*='")               \
  X(AtAssign, "'@='")                 \
  X(SlashAssign, "'/='")              \
  X(PercentAssign, "'%='")            \
  X(DoubleStarAssign, "'**='")        \
  X(LeftShiftAssign, "'<<='")         \
  X(RightShiftAssign, "'>>='")        \
  X(BarAssign, "'|='")                \
  X(CaretAssign, "'^='")              \
  X(AmpersandAssign, "'&='")          \
  X(DoubleSlashAssign, "'//='")       \
  X(Equal, "'=='")                    \
  X(NotEqual, "'!='")                 \
  X(Less, "'<'")                      \
  X(LessEqual, "'<='")                \
  X(Greater, "'>'")                   \
  X(GreaterEqual, "'>='")             \
  X(False, "'False'")                 \
  X(None, "'None'")                   \
  X(True, "'True'")                   \
  X(And, "'and'")                     \
  X(As, "'as'")                       \
  X(Assert, "'assert'")               \
  X(Async, "'async'")                 \
  X(Await, "'await'")                 \
  X(Break, "'break'")                 \
  X(Class, "'class'")                 \
  X(Continue, "'continue'")           \
  X(Def, "'def'")                     \
  X(Del, "'del'")                     \
  X(Elif, "'elif'")                   \
  X(Else, "'else'")                   \
  X(Except, "'except'")               \
  X(Finally, "'finally'")             \
  X(For, "'for'")                     \
  X(From, "'from'")                   \
  X(Global, "'global'")               \
  X(If, "'if'")                       \
  X(Import, "'import'")               \
  X(In, "'in'")                       \
  X(Is, "'is'")                       \
  X(Lambda, "'lambda'")               \
  X(Nonlocal, "'nonlocal'")           \
  X(Not, "'not'")                     \
  X(Or, "'or'")                       \
  X(Pass, "'pass'")                   \
  X(Raise, "'raise'")                 \
  X(Return, "'return'")               \
  X(Try, "'try'")                     \
  X(While, "'while'")                 \
  X(With, "'with'")                   \
  X(Yield, "'yield'")

enum class TokenKind : uint8_t {
#define GRAFT_PYTHON_TOKEN(name, text) k##name,
  GRAFT_PYTHON_TOKENS(GRAFT_PYTHON_TOKEN)
#undef GRAFT_PYTHON_TOKEN
};
inline constexpr size_t kTokenKinds = static_cast<size_t>(TokenKind::kYield) + 1;

// "'('", "a name": for messages.
std::string_view describe(TokenKind kind);

inline bool is_keyword(TokenKind kind) {
  return kind >= TokenKind::kFalse;
}

// Token flags. What the scanner saw on its way is kept, so that most literals need no second look.
namespace token_flag {
// Names and strings.
inline constexpr uint8_t kNonAscii = 1;
// Strings and f-string parts.
inline constexpr uint8_t kBackslash = 2;
inline constexpr uint8_t kTriple = 4;
inline constexpr uint8_t kRaw = 8;
inline constexpr uint8_t kBytes = 16;
inline constexpr uint8_t kInSpec = 64;  // an f-string part inside a format specification
// Numbers.
inline constexpr uint8_t kFloat = 1;      // a point or an exponent
inline constexpr uint8_t kImaginary = 2;  // ends in j
inline constexpr uint8_t kRadix = 4;      // 0x, 0o or 0b
inline constexpr uint8_t kUnderscore = 8;
}  // namespace token_flag

struct Token {
  uint32_t begin = 0;
  uint32_t end = 0;
  TokenKind kind = TokenKind::kEnd;
  uint8_t flags = 0;
};

}  // namespace graft::python
