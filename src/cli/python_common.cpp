#include "cli/python_common.h"

#include <algorithm>
#include <thread>

namespace graft::cli {

Option profile_option(std::string* value) {
  Option option;
  option.name = "--profile";
  option.help =
      "whose grammar and rules; the default accepts every form up to 3.13 and follows 3.11 where versions "
      "differ";
  option.text = value;
  option.choices = {"default", "3.8", "3.9", "3.10", "3.11", "3.12", "3.13"};
  return option;
}

Option jobs_option(int* value) {
  Option option;
  option.name = "-j,--jobs";
  option.help = "threads; 0 for one per core";
  option.number = value;
  option.minimum = 0;
  return option;
}

int effective_jobs(int value) {
  return value > 0 ? value : std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

std::string with_caret(const Error& error, std::string_view line_text) {
  constexpr size_t kWidth = 200;  // bytes of the line that are shown, around the column
  std::string text = error.to_string();
  if (error.place.line <= 0 || error.place.column <= 0) return text;
  // The byte at the column, which counts code points.
  size_t at = 0;
  for (int column = 1; column < error.place.column && at < line_text.size(); ++column) {
    ++at;
    while (at < line_text.size() && (static_cast<unsigned char>(line_text[at]) & 0xC0) == 0x80) ++at;
  }
  size_t begin = at > kWidth / 2 ? at - kWidth / 2 : 0;
  while (begin < at && (static_cast<unsigned char>(line_text[begin]) & 0xC0) == 0x80) ++begin;
  size_t end = std::min(line_text.size(), begin + kWidth);
  while (end < line_text.size() && (static_cast<unsigned char>(line_text[end]) & 0xC0) == 0x80) ++end;
  std::string shown(line_text.substr(begin, end - begin));
  std::string padding;
  for (char c : line_text.substr(begin, at - begin)) {
    if ((static_cast<unsigned char>(c) & 0xC0) != 0x80) padding += c == '\t' ? '\t' : ' ';
  }
  for (char& c : shown)
    if ((c >= 0 && c < ' ' && c != '\t') || c == '\x7f') c = ' ';
  return text + "\n    " + shown + "\n    " + padding + "^";
}

}  // namespace graft::cli
