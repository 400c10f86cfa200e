#include "base/json.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <unordered_set>

#include <fmt/format.h>

#include "base/utf8.h"

namespace graft {
namespace {

constexpr int kMaxDepth = 512;

class Reader {
 public:
  Reader(std::string_view text, std::string_view file) : text_(text), file_(file) {}

  Result<Json> document() {
    if (text_.starts_with("\xef\xbb\xbf")) at_ = 3;
    GRAFT_ASSIGN_OR_RETURN(Json value, read_value(0));
    skip_space();
    if (at_ != text_.size()) return failure("text after the JSON document", "end of file");
    return value;
  }

 private:
  Error failure(std::string message, std::string expected = {}) const {
    auto [line, column] = line_and_column(text_, at_);
    return input_error(std::move(message), {std::string(file_), line, column}, std::move(expected));
  }

  void skip_space() {
    while (at_ < text_.size() &&
           (text_[at_] == ' ' || text_[at_] == '\t' || text_[at_] == '\n' || text_[at_] == '\r'))
      ++at_;
  }

  bool take(char c) {
    skip_space();
    if (at_ < text_.size() && text_[at_] == c) {
      ++at_;
      return true;
    }
    return false;
  }

  bool take_word(std::string_view word) {
    if (text_.substr(at_, word.size()) != word) return false;
    at_ += word.size();
    return true;
  }

  Result<Json> read_value(int depth) {
    if (depth > kMaxDepth) return failure("JSON nested deeper than 512 levels");
    skip_space();
    if (at_ == text_.size()) return failure("the JSON text ends too early", "a value");
    switch (text_[at_]) {
      case '{':
        return read_object(depth);
      case '[':
        return read_array(depth);
      case '"': {
        GRAFT_ASSIGN_OR_RETURN(std::string text, read_string());
        return Json(std::move(text));
      }
      case 't':
        if (take_word("true")) return Json(true);
        break;
      case 'f':
        if (take_word("false")) return Json(false);
        break;
      case 'n':
        if (take_word("null")) return Json();
        break;
      default:
        return read_number();
    }
    return failure("not a JSON value", "an object, array, string, number, true, false or null");
  }

  Result<Json> read_object(int depth) {
    ++at_;
    Json::Object members;
    // Few keys are compared one by one, many are looked up: time must not grow with the square of the text.
    constexpr size_t kFew = 16;
    std::unordered_set<std::string> seen;
    auto is_repeated = [&](const std::string& key) {
      if (members.size() < kFew)
        return std::any_of(members.begin(), members.end(),
                           [&](const Json::Member& member) { return member.first == key; });
      if (seen.empty())
        for (const Json::Member& member : members) seen.insert(member.first);
      return !seen.insert(key).second;
    };
    if (take('}')) return Json::from_members(std::move(members));
    do {
      skip_space();
      if (at_ == text_.size() || text_[at_] != '"')
        return failure("an object member has no key", "a string in double quotes");
      size_t key_at = at_;
      GRAFT_ASSIGN_OR_RETURN(std::string key, read_string());
      if (is_repeated(key)) {
        at_ = key_at;
        return failure(fmt::format("key \"{}\" is repeated", key), "each key once");
      }
      if (!take(':')) return failure("no value behind the key", "':'");
      GRAFT_ASSIGN_OR_RETURN(Json value, read_value(depth + 1));
      members.emplace_back(std::move(key), std::move(value));
    } while (take(','));
    if (!take('}')) return failure("the object is not closed", "',' or '}'");
    return Json::from_members(std::move(members));
  }

  Result<Json> read_array(int depth) {
    ++at_;
    Json::Array items;
    if (take(']')) return Json(std::move(items));
    do {
      GRAFT_ASSIGN_OR_RETURN(Json value, read_value(depth + 1));
      items.push_back(std::move(value));
    } while (take(','));
    if (!take(']')) return failure("the array is not closed", "',' or ']'");
    return Json(std::move(items));
  }

  Result<Json> read_number() {
    size_t start = at_;
    auto digits = [&] {
      size_t first = at_;
      while (at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9') ++at_;
      return at_ - first;
    };
    bool integral = true;
    if (at_ < text_.size() && text_[at_] == '-') ++at_;
    size_t first_digit = at_;
    size_t count = digits();
    bool valid = count == 1 || (count > 1 && text_[first_digit] != '0');
    if (valid && at_ < text_.size() && text_[at_] == '.') {
      integral = false;
      ++at_;
      valid = digits() > 0;
    }
    if (valid && at_ < text_.size() && (text_[at_] == 'e' || text_[at_] == 'E')) {
      integral = false;
      ++at_;
      if (at_ < text_.size() && (text_[at_] == '+' || text_[at_] == '-')) ++at_;
      valid = digits() > 0;
    }
    if (!valid) {
      at_ = start;
      return failure("not a JSON value", "an object, array, string, number, true, false or null");
    }
    const char* begin = text_.data() + start;
    const char* end = text_.data() + at_;
    if (integral) {
      int64_t value = 0;
      if (std::from_chars(begin, end, value).ec == std::errc()) return Json(value);
    }
    double value = 0;
    if (std::from_chars(begin, end, value).ec != std::errc()) {
      at_ = start;
      return failure("the number does not fit a double");
    }
    return Json(value);
  }

  Result<unsigned> read_hex4() {
    unsigned value = 0;
    auto [end, code] =
        std::from_chars(text_.data() + at_, text_.data() + std::min(at_ + 4, text_.size()), value, 16);
    if (code != std::errc() || end != text_.data() + at_ + 4)
      return failure("broken \\u escape", "four hexadecimal digits");
    at_ += 4;
    return value;
  }

  Result<std::string> read_string() {
    ++at_;
    std::string out;
    while (true) {
      size_t run = at_;
      while (at_ < text_.size() && text_[at_] != '"' && text_[at_] != '\\' &&
             static_cast<unsigned char>(text_[at_]) >= 0x20)
        ++at_;
      out.append(text_.substr(run, at_ - run));
      if (at_ == text_.size()) return failure("the string is not closed", "'\"'");
      if (text_[at_] == '"') {
        ++at_;
        break;
      }
      if (text_[at_] != '\\') return failure("control character in a string", "an escape such as \\n");
      ++at_;
      if (at_ == text_.size()) return failure("the string is not closed", "'\"'");
      char c = text_[at_++];
      switch (c) {
        case '"':
        case '\\':
        case '/':
          out += c;
          break;
        case 'b':
          out += '\b';
          break;
        case 'f':
          out += '\f';
          break;
        case 'n':
          out += '\n';
          break;
        case 'r':
          out += '\r';
          break;
        case 't':
          out += '\t';
          break;
        case 'u': {
          GRAFT_ASSIGN_OR_RETURN(unsigned code, read_hex4());
          if (code >= 0xD800 && code < 0xDC00) {
            if (!take_word("\\u")) return failure("lone surrogate in a string", "a \\u pair");
            GRAFT_ASSIGN_OR_RETURN(unsigned low, read_hex4());
            if (low < 0xDC00 || low > 0xDFFF) return failure("lone surrogate in a string", "a \\u pair");
            code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
          } else if (code >= 0xDC00 && code <= 0xDFFF) {
            return failure("lone surrogate in a string", "a \\u pair");
          }
          append_utf8(out, code);
          break;
        }
        default:
          --at_;
          return failure("unknown escape in a string", "one of \\\" \\\\ \\/ \\b \\f \\n \\r \\t \\u");
      }
    }
    if (!is_valid_utf8(out)) return failure("string is not valid UTF-8");
    return out;
  }

  std::string_view text_;
  std::string_view file_;
  size_t at_ = 0;
};

void write_string(std::string& out, std::string_view text) {
  out += '"';
  for (char c : text) {
    switch (c) {
      case '"':
        out += "\\\"";
        break;
      case '\\':
        out += "\\\\";
        break;
      case '\n':
        out += "\\n";
        break;
      case '\r':
        out += "\\r";
        break;
      case '\t':
        out += "\\t";
        break;
      default:
        if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f)
          out += fmt::format("\\u{:04x}", static_cast<unsigned>(static_cast<unsigned char>(c)));
        else
          out += c;
    }
  }
  out += '"';
}

bool is_scalar(const Json& value) {
  return !value.is_array() && !value.is_object();
}

void write(std::string& out, const Json& value, int indent, int level) {
  auto newline = [&](int to) {
    if (indent < 0) return;
    out += '\n';
    out.append(static_cast<size_t>(indent) * static_cast<size_t>(to), ' ');
  };
  if (value.is_null()) {
    out += "null";
  } else if (value.is_bool()) {
    out += value.as_bool() ? "true" : "false";
  } else if (value.is_int()) {
    out += std::to_string(value.as_int());
  } else if (value.is_number()) {
    double number = value.as_double();
    if (!std::isfinite(number)) {
      out += "null";
    } else {
      char buffer[40];
      auto end = std::to_chars(buffer, buffer + sizeof buffer, number).ptr;
      std::string_view text(buffer, static_cast<size_t>(end - buffer));
      out += text;
      // Keep it a float for readers that tell 1 from 1.0.
      if (text.find_first_of(".eE") == std::string_view::npos) out += ".0";
    }
  } else if (value.is_string()) {
    write_string(out, value.as_string());
  } else if (value.is_array()) {
    const auto& items = value.items();
    bool flat = true;
    for (const Json& item : items) flat = flat && is_scalar(item);
    out += '[';
    for (size_t i = 0; i < items.size(); ++i) {
      if (i > 0) out += flat && indent >= 0 ? ", " : ",";
      if (!flat) newline(level + 1);
      write(out, items[i], indent, level + 1);
    }
    if (!flat) newline(level);
    out += ']';
  } else {
    const auto& members = value.members();
    out += '{';
    for (size_t i = 0; i < members.size(); ++i) {
      if (i > 0) out += ',';
      newline(level + 1);
      write_string(out, members[i].first);
      out += indent < 0 ? ":" : ": ";
      write(out, members[i].second, indent, level + 1);
    }
    if (!members.empty()) newline(level);
    out += '}';
  }
}

}  // namespace

Json Json::object(std::initializer_list<Member> members) {
  Json json;
  json.value_ = Object(members);
  return json;
}

Json Json::from_members(Object members) {
  Json json;
  json.value_ = std::move(members);
  return json;
}

bool Json::as_bool() const {
  return is_bool() && std::get<bool>(value_);
}

int64_t Json::as_int() const {
  if (is_int()) return std::get<int64_t>(value_);
  return 0;
}

double Json::as_double() const {
  if (is_int()) return static_cast<double>(std::get<int64_t>(value_));
  if (is_number()) return std::get<double>(value_);
  return 0;
}

const std::string& Json::as_string() const {
  static const std::string empty;
  return is_string() ? std::get<std::string>(value_) : empty;
}

const Json::Array& Json::items() const {
  static const Array empty;
  return is_array() ? std::get<Array>(value_) : empty;
}

const Json::Object& Json::members() const {
  static const Object empty;
  return is_object() ? std::get<Object>(value_) : empty;
}

Json::Array& Json::items() {
  if (!is_array()) value_ = Array{};
  return std::get<Array>(value_);
}

const Json* Json::find(std::string_view key) const {
  for (const Member& member : members())
    if (member.first == key) return &member.second;
  return nullptr;
}

const Json& Json::operator[](std::string_view key) const {
  static const Json null;
  const Json* found = find(key);
  return found != nullptr ? *found : null;
}

Json& Json::set(std::string key, Json value) {
  if (!is_object()) value_ = Object{};
  auto& object = std::get<Object>(value_);
  for (Member& member : object) {
    if (member.first == key) {
      member.second = std::move(value);
      return *this;
    }
  }
  object.emplace_back(std::move(key), std::move(value));
  return *this;
}

void Json::push_back(Json value) {
  items().push_back(std::move(value));
}

std::string Json::dump(int indent) const {
  std::string out;
  write(out, *this, indent, 0);
  return out;
}

Result<Json> Json::parse(std::string_view text, std::string_view file) {
  return Reader(text, file).document();
}

}  // namespace graft
