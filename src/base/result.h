// Errors as values. No exception crosses a library border of Graft: a function that can fail returns a
// Result<T>.
//
// An Error says where (file:line:column, all optional), what went wrong, what was expected, and the next
// step.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

namespace graft {

// A place in a text a person can open. Lines and columns count from 1; 0 means unknown. Columns count Unicode
// code points.
struct Place {
  std::string file;
  int line = 0;
  int column = 0;

  // "file:line:column" with the unknown parts left out.
  std::string to_string() const;
};

// Whose turn it is after the failure. The command line maps each kind to an exit code (see exit_code()).
enum class ErrorKind {
  kInput,        // the request or a file given by the user is wrong
  kMissing,      // the machine lacks something (Python, torch, a GPU, a compiler)
  kFault,        // a fault of Graft itself
  kInterrupted,  // the user stopped the work
};

struct Error {
  ErrorKind kind = ErrorKind::kFault;
  std::string message;   // one sentence, no trailing full stop
  Place place;           // where; empty when the failure is not about a text
  std::string expected;  // what would have been right; may be empty
  std::string hint;      // the next step for the reader; may be empty

  // One line: place, message, expected and hint, as the command line prints it.
  std::string to_string() const;
};

Error input_error(std::string message, Place place = {}, std::string expected = {}, std::string hint = {});
Error missing_error(std::string message, std::string hint);
Error fault(std::string message);
// An input error about `path` carrying the text of the errno value `code`.
Error os_error(std::string_view action, std::string_view path, int code);

// The exit code of the command line for a failure of this kind: 2, 3, 4 or 130.
int exit_code(ErrorKind kind);

// Either a T or an Error.
template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value)
      : state_(std::in_place_index<0>, std::move(value)) {}  // NOLINT(google-explicit-constructor)
  Result(Error error)
      : state_(std::in_place_index<1>, std::move(error)) {}  // NOLINT(google-explicit-constructor)

  bool ok() const { return state_.index() == 0; }
  explicit operator bool() const { return ok(); }

  T& value() & { return std::get<0>(state_); }
  const T& value() const& { return std::get<0>(state_); }
  T&& value() && { return std::get<0>(std::move(state_)); }
  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T&& operator*() && { return std::move(*this).value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }

  Error& error() & { return std::get<1>(state_); }
  const Error& error() const& { return std::get<1>(state_); }
  Error&& error() && { return std::get<1>(std::move(state_)); }

 private:
  std::variant<T, Error> state_;
};

// Success without a value, or an Error.
class [[nodiscard]] Status {
 public:
  Status() = default;
  Status(Error error) : error_(std::move(error)) {}  // NOLINT(google-explicit-constructor)

  bool ok() const { return !error_.has_value(); }
  explicit operator bool() const { return ok(); }
  const Error& error() const& { return *error_; }
  Error&& error() && { return *std::move(error_); }

 private:
  std::optional<Error> error_;
};

// GRAFT_RETURN_IF_ERROR(expr): returns the Error of a Status or Result expression from the enclosing
// function.
#define GRAFT_RETURN_IF_ERROR(expr)                                   \
  do {                                                                \
    auto graft_status_ = (expr);                                      \
    if (!graft_status_.ok()) return std::move(graft_status_).error(); \
  } while (false)

#define GRAFT_CONCAT_INNER_(a, b) a##b
#define GRAFT_CONCAT_(a, b) GRAFT_CONCAT_INNER_(a, b)
// GRAFT_ASSIGN_OR_RETURN(auto x, expr): binds the value of a Result, or returns its Error from the enclosing
// function.
#define GRAFT_ASSIGN_OR_RETURN(declaration, expr)                     \
  auto GRAFT_CONCAT_(graft_result_, __LINE__) = (expr);               \
  if (!GRAFT_CONCAT_(graft_result_, __LINE__).ok())                   \
    return std::move(GRAFT_CONCAT_(graft_result_, __LINE__)).error(); \
  declaration = std::move(GRAFT_CONCAT_(graft_result_, __LINE__)).value()

}  // namespace graft
