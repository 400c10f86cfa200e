// JSON values: a strict RFC 8259 reader that says where a text is wrong, and one writer with stable output.
//
// Objects keep the order in which members were added or read. A repeated key in a text is an error. Integers
// that fit are kept as int64, everything else numeric as double. Non-finite doubles are written as null,
// since JSON has no word for them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/result.h"

namespace graft {

class Json {
 public:
  using Array = std::vector<Json>;
  using Member = std::pair<std::string, Json>;
  using Object = std::vector<Member>;

  Json() = default;                                              // null
  Json(std::nullptr_t) {}                                        // NOLINT(google-explicit-constructor)
  Json(bool value) : value_(value) {}                            // NOLINT(google-explicit-constructor)
  Json(int value) : value_(int64_t{value}) {}                    // NOLINT(google-explicit-constructor)
  Json(int64_t value) : value_(value) {}                         // NOLINT(google-explicit-constructor)
  Json(uint64_t value) : value_(static_cast<int64_t>(value)) {}  // NOLINT(google-explicit-constructor)
  Json(double value) : value_(value) {}                          // NOLINT(google-explicit-constructor)
  Json(std::string value) : value_(std::move(value)) {}          // NOLINT(google-explicit-constructor)
  Json(std::string_view value) : value_(std::string(value)) {}   // NOLINT(google-explicit-constructor)
  Json(const char* value) : value_(std::string(value)) {}        // NOLINT(google-explicit-constructor)
  Json(Array value) : value_(std::move(value)) {}                // NOLINT(google-explicit-constructor)

  static Json array() { return Json(Array{}); }
  static Json object(std::initializer_list<Member> members = {});
  // An object of these members, whose keys differ.
  static Json from_members(Object members);

  bool is_null() const { return std::holds_alternative<std::monostate>(value_); }
  bool is_bool() const { return std::holds_alternative<bool>(value_); }
  bool is_int() const { return std::holds_alternative<int64_t>(value_); }
  bool is_number() const { return is_int() || std::holds_alternative<double>(value_); }
  bool is_string() const { return std::holds_alternative<std::string>(value_); }
  bool is_array() const { return std::holds_alternative<Array>(value_); }
  bool is_object() const { return std::holds_alternative<Object>(value_); }

  // Typed access. The caller has checked the kind; a wrong kind gives the neutral value (false, 0, empty).
  bool as_bool() const;
  int64_t as_int() const;
  double as_double() const;
  const std::string& as_string() const;
  const Array& items() const;
  const Object& members() const;
  Array& items();

  // The member `key`, or nullptr when absent or when this is not an object.
  const Json* find(std::string_view key) const;
  // The member `key`; a shared null value when absent.
  const Json& operator[](std::string_view key) const;
  // Sets a member (replacing an earlier one in place), turning null into an object. Returns *this.
  Json& set(std::string key, Json value);
  // Appends to an array, turning null into an array.
  void push_back(Json value);

  // indent < 0: one line without spaces, for protocols. Otherwise that many spaces a level; arrays of scalars
  // stay on one line.
  std::string dump(int indent = -1) const;

  // Reads exactly one JSON document. `file` is named in errors. Nesting deeper than 512 levels is an error.
  static Result<Json> parse(std::string_view text, std::string_view file = {});

  friend bool operator==(const Json&, const Json&) = default;

 private:
  std::variant<std::monostate, bool, int64_t, double, std::string, Array, Object> value_;
};

}  // namespace graft
