#include "base/result.h"

#include <cerrno>
#include <cstring>

#include <fmt/core.h>

namespace graft {

std::string Place::to_string() const {
  std::string text = file;
  if (line > 0) text += (text.empty() ? "line " : ":") + std::to_string(line);
  if (line > 0 && column > 0) text += ":" + std::to_string(column);
  return text;
}

std::string Error::to_string() const {
  std::string where = place.to_string();
  std::string text = where.empty() ? message : where + ": " + message;
  if (!expected.empty()) text += "; expected " + expected;
  if (!hint.empty()) text += "; " + hint;
  return text;
}

Error input_error(std::string message, Place place, std::string expected, std::string hint) {
  return {ErrorKind::kInput, std::move(message), std::move(place), std::move(expected), std::move(hint)};
}

Error missing_error(std::string message, std::string hint) {
  return {ErrorKind::kMissing, std::move(message), {}, {}, std::move(hint)};
}

Error fault(std::string message) {
  return {
      ErrorKind::kFault, std::move(message), {}, {}, "please report this with the command that caused it"};
}

Error os_error(std::string_view action, std::string_view path, int code) {
  return input_error(fmt::format("cannot {}: {}", action, std::strerror(code)), {std::string(path), 0, 0});
}

int exit_code(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::kInput:
      return 2;
    case ErrorKind::kMissing:
      return 3;
    case ErrorKind::kFault:
      return 4;
    case ErrorKind::kInterrupted:
      return 130;
  }
  return 4;
}

}  // namespace graft
