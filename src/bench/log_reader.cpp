#include "bench/log_reader.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <optional>

#include <fmt/format.h>

#include "base/file.h"
#include "base/utf8.h"

namespace graft::bench {
namespace {

bool contains(std::string_view line, std::string_view part) {
  return line.find(part) != std::string_view::npos;
}

bool is_space(char c) {
  return c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v';
}

std::vector<std::string_view> words(std::string_view text) {
  std::vector<std::string_view> out;
  size_t at = 0;
  while (at < text.size()) {
    while (at < text.size() && is_space(text[at])) ++at;
    size_t first = at;
    while (at < text.size() && !is_space(text[at])) ++at;
    if (at > first) out.push_back(text.substr(first, at - first));
  }
  return out;
}

bool is_word(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  });
}

// A key and the text behind it.
struct Field {
  std::string_view key;
  std::string_view value;
};

// "<tag>[key]: value" anywhere in the line.
std::optional<Field> bracket_field(std::string_view line, std::string_view tag, bool plain_word) {
  for (size_t at = line.find(tag); at != std::string_view::npos; at = line.find(tag, at + 1)) {
    std::string_view rest = line.substr(at + tag.size());
    if (!rest.starts_with('[')) continue;
    size_t close = rest.find("]: ");
    if (close == std::string_view::npos || close < 2) continue;
    Field field{rest.substr(1, close - 1), rest.substr(close + 3)};
    if (field.value.empty() || (plain_word && !is_word(field.key))) continue;
    return field;
  }
  return std::nullopt;
}

// "[Config] key: value", the key without white space.
std::optional<Field> config_field(std::string_view line) {
  constexpr std::string_view kTag = "[Config] ";
  for (size_t at = line.find(kTag); at != std::string_view::npos; at = line.find(kTag, at + 1)) {
    std::string_view rest = line.substr(at + kTag.size());
    size_t end = rest.find(": ");
    if (end == std::string_view::npos || end == 0) continue;
    Field field{rest.substr(0, end), rest.substr(end + 2)};
    if (field.value.empty() || std::any_of(field.key.begin(), field.key.end(), is_space)) continue;
    return field;
  }
  return std::nullopt;
}

// Python's int() or float() of a word.
std::optional<double> number(std::string_view word) {
  if (word.starts_with('+')) word.remove_prefix(1);
  if (word.find_first_of("()") != std::string_view::npos) return std::nullopt;
  double value = 0;
  auto [end, code] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (end != word.data() + word.size() || code == std::errc::invalid_argument) return std::nullopt;
  // Too large or too small for a double: its limits, as float() gives.
  if (code == std::errc::result_out_of_range) value = std::strtod(std::string(word).c_str(), nullptr);
  return value;
}

// What decides the status of a sample.
struct Flags {
  bool eager = false;
  bool compiled = false;
  bool shape = false;
  bool type = false;
  bool error = false;
  bool pass_miss = false;

  void take(std::string_view line) {
    if (contains(line, "[Datatype][eager]"))
      eager = true;
    else if (contains(line, "[Datatype][compiled]"))
      compiled = true;
    else if (contains(line, "[Shape]") && contains(line, "match:True"))
      shape = true;
    else if (contains(line, "[DataType]") && contains(line, "match:True"))
      type = true;
    else if (contains(line, "all_close"))
      eager = compiled = shape = true;
    else if (contains(line, "No passes modified"))
      pass_miss = true;
    error = error || contains(line, "Exception:") || contains(line, "Error:");
  }

  GraphStatus status() const {
    if (!eager) return GraphStatus::kEagerFail;
    if (!compiled) return GraphStatus::kCompileFail;
    if (!shape) return GraphStatus::kShapeMismatch;
    if (!type) return GraphStatus::kTypeMismatch;
    if (error) return GraphStatus::kRuntimeFail;
    if (pass_miss) return GraphStatus::kPassMiss;
    return GraphStatus::kCorrect;
  }
};

Status take_fields(std::string_view line, LogSample& sample, const Place& place) {
  auto not_numbers = [&](std::string_view text) {
    return input_error(fmt::format("'{}' is no number", text), place, "numbers behind the colon");
  };
  if (auto config = config_field(line)) {
    sample.config[std::string(config->key)] = config->value;
  } else if (auto performance = bracket_field(line, "[Performance]", true)) {
    sample.performance[std::string(performance->key)] = performance->value;
  } else if (auto datatype = bracket_field(line, "[Datatype]", true)) {
    std::vector<std::string> names;
    for (std::string_view word : words(datatype->value)) names.emplace_back(word);
    sample.datatypes[std::string(datatype->key)] = std::move(names);
  } else if (auto correctness = bracket_field(line, "[Correctness]", false)) {
    std::vector<double> numbers;
    for (std::string_view word : words(correctness->value)) {
      auto value = number(word);
      if (!value) return not_numbers(word);
      numbers.push_back(*value);
    }
    sample.correctness[fmt::format("[{}]", correctness->key)] = std::move(numbers);
  } else if (auto speedup = bracket_field(line, "[Speedup]", true)) {
    auto list = words(speedup->value);
    auto value = list.empty() ? std::nullopt : number(list.front());
    if (!value) return not_numbers(speedup->value);
    sample.speedup[std::string(speedup->key)] = *value;
  }
  return {};
}

// The name a row of the log goes by at level t for a dtype as the log writes it.
std::string row_key(const std::string& dtype_text, int t) {
  auto dtype = dtype_from_name(dtype_text);
  // Python's type names ("float", of outputs that are no tensors) are no dtypes, nor are aliases.
  if (!dtype || dtype_name(*dtype) != dtype_text) return "[equal]";
  return decisive_key(*dtype, t);
}

}  // namespace

Result<Log> parse_log(std::string_view text, const std::string& file) {
  if (!is_valid_utf8(text)) return input_error("the log is not UTF-8 text", {file, 0, 0});
  Log log;
  log.file = file;
  size_t slash = file.rfind('/');
  log.name = slash == std::string::npos ? file : file.substr(slash + 1);
  if (size_t dot = log.name.rfind('.'); dot != std::string::npos && dot > 0) log.name.resize(dot);
  Flags flags;
  int line_number = 0;
  while (!text.empty()) {
    size_t end = text.find('\n');
    std::string_view line = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    if (line.ends_with('\r')) line.remove_suffix(1);
    Place place{file, ++line_number, 0};
    constexpr std::string_view kProcessing = "[Processing]";
    size_t start = line.find(kProcessing);
    if (start != std::string_view::npos) {
      if (!log.samples.empty()) log.samples.back().status = flags.status();
      flags = {};
      LogSample sample;
      auto path = words(line.substr(start + kProcessing.size()));
      if (!path.empty()) sample.model_path = path.back();
      sample.place = place;
      log.samples.push_back(std::move(sample));
      flags.take(line);
      continue;
    }
    if (log.samples.empty()) continue;
    flags.take(line);
    GRAFT_RETURN_IF_ERROR(take_fields(line, log.samples.back(), place));
  }
  if (!log.samples.empty()) log.samples.back().status = flags.status();
  return log;
}

Result<std::vector<Log>> read_logs(const std::string& path) {
  std::vector<std::string> files;
  if (is_directory(path)) {
    GRAFT_ASSIGN_OR_RETURN(std::vector<std::string> names, list_directory(path));
    for (const std::string& name : names) {
      std::string file = join_path(path, name);
      if ((name.ends_with(".log") || name.ends_with(".txt")) && is_regular_file(file)) files.push_back(file);
    }
  } else {
    files.push_back(path);
  }
  std::vector<Log> logs;
  for (const std::string& file : files) {
    GRAFT_ASSIGN_OR_RETURN(std::string text, read_file(file));
    GRAFT_ASSIGN_OR_RETURN(Log log, parse_log(text, file));
    if (!log.samples.empty()) logs.push_back(std::move(log));
  }
  return logs;
}

Result<std::vector<ScoredGraph>> scored_graphs(const Log& log) {
  std::vector<ScoredGraph> graphs;
  for (const LogSample& sample : log.samples) {
    ScoredGraph graph;
    graph.graph = sample.model_path;
    graph.status = sample.status;
    graph.place = sample.place;
    if (auto speedup = sample.speedup.find("e2e"); speedup != sample.speedup.end())
      graph.speedup = speedup->second;
    if (sample.status == GraphStatus::kCorrect) {
      auto equal = sample.correctness.find("[equal]");
      size_t outputs = equal != sample.correctness.end() ? equal->second.size() : 0;
      static const std::vector<std::string> kNone;
      auto found = sample.datatypes.find("eager");
      const auto& dtypes = found != sample.datatypes.end() ? found->second : kNone;
      if (dtypes.size() < outputs)
        return input_error(fmt::format("graph {} has {} outputs but {} eager dtypes", sample.model_path,
                                       outputs, dtypes.size()),
                           sample.place, "one dtype for each output in [Datatype][eager]");
      for (int t = kStrictestLevel; t <= kLoosestLevel; ++t) {
        bool correct = true;
        for (size_t i = 0; i < outputs && correct; ++i) {
          auto row = sample.correctness.find(row_key(dtypes[i], t));
          correct = row != sample.correctness.end() && i < row->second.size() && row->second[i] != 0;
        }
        graph.correct[level_index(t)] = correct;
      }
    }
    graphs.push_back(std::move(graph));
  }
  return graphs;
}

}  // namespace graft::bench
