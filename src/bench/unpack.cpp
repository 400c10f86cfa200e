#include "bench/unpack.h"

#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <map>
#include <unordered_map>

#include <fmt/format.h>

#include "base/file.h"
#include "base/json.h"

namespace graft::bench {
namespace {

namespace fs = std::filesystem;

// The script of a sample: evaluates it and leaves log and score in a workspace, as PassBench's own samples
// do. It takes the package pass_bench from the tree the script really lies in, or an installed one.
constexpr std::string_view kEntryScript = R"SH(#!/bin/bash
# Evaluates the passes in pass_dir on the graphs of this sample.
# $PASS_BENCH_WORKSPACE (default /tmp/workspace_pass_bench_test) gets validation.log and aggregated_score.json.
sample="$(dirname "$0")"
tree="$(dirname "$(dirname "$(realpath "$0")")")"
if [ -f "$tree/pass_bench/__init__.py" ]; then
  export PYTHONPATH="$tree${PYTHONPATH:+:$PYTHONPATH}"
elif ! python3 -c 'import pass_bench' 2>/dev/null; then
  echo "Python module pass_bench not found"
  exit 255
fi

workspace="${PASS_BENCH_WORKSPACE:-/tmp/workspace_pass_bench_test}"
mkdir -p "$workspace" || exit 1
matched="$(mktemp)" || exit 1
trap 'rm -f "$matched"' EXIT
device="${PASS_BENCH_DEVICE:-cuda}"
method=pass_mgr

config="$(python3 - "$matched" "$sample" <<'PY'
import base64, json, sys
matched, sample = sys.argv[1:]
print(base64.b64encode(json.dumps({
    "pass_match_result_file_path": matched,
    "input_pass_rule_dir": sample + "/const_pass_dir",
    "output_pass_rule_dir": sample + "/pass_dir",
    "output_pass_pattern_limit": 100,
    "output_pass_replacement_func_limit": 1,
}).encode()).decode())
PY
)"

python3 -m pass_bench.torch.test_compiler \
  --model-path-prefix "$sample" --allow-list "$sample/graph_list.txt" \
  --compiler "$method" --device "$device" --warmup 25 --trials 100 --config "$config" 2>&1 |
  tee "$workspace/validation.log"

answer="$(cat "$matched")"
echo "Has Any pass matched? [$answer]"
if [ "$method" = pass_mgr ] && [ "$answer" = False ]; then
  echo "Pass testing early exits on pass mismatch."
fi

python3 -m pass_bench.aggregate_es_scores --benchmark-path "$workspace/validation.log" --sample-id 1 \
  --disable-aggregation-mode --fpdb 0.1 --output-json-file-path "$workspace/aggregated_score.json"
)SH";

struct Record {
  std::string name;
  std::string folder;
  std::vector<std::pair<std::string, std::string>> files;  // name and text
  Place place;
};

bool is_letter_or_digit(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

// A plain file name a record may carry further files under.
bool is_file_member(std::string_view name) {
  if (name.size() > 200 || name.starts_with('.')) return false;
  bool plain = std::all_of(name.begin(), name.end(), [](char c) {
    return is_letter_or_digit(c) || c == '_' || c == '-' || c == '.' || c == '+' || c == '=';
  });
  return plain && (name.ends_with(".py") || name.ends_with(".json") || name.ends_with(".txt"));
}

Result<Record> to_record(const Json& json, Place place) {
  Record record;
  record.place = place;
  if (!json.is_object()) return input_error("the record is no JSON object", place);
  const Json& name = json["name"];
  if (!name.is_string() || name.as_string().empty())
    return input_error("the record has no name", place, "a member \"name\"");
  record.name = name.as_string();
  record.folder = safe_folder_name(record.name);
  if (record.folder.empty())
    return input_error(fmt::format("the name \"{}\" gives no folder name", record.name), place);
  for (const char* needed : {"model.py", "weight_meta.py", "graph_net.json"}) {
    if (json.find(needed) == nullptr)
      return input_error(fmt::format("record {} has no \"{}\"", record.name, needed), place,
                         "the members model.py, weight_meta.py and graph_net.json");
  }
  for (const auto& [key, value] : json.members()) {
    if (!is_file_member(key)) continue;
    if (value.is_string()) {
      record.files.emplace_back(key, value.as_string());
    } else if (key.ends_with(".json") && (value.is_object() || value.is_array())) {
      record.files.emplace_back(key, value.dump(2) + "\n");
    } else {
      return input_error(fmt::format("member \"{}\" of record {} is no text", key, record.name), place);
    }
  }
  if (json.find("input_meta.py") == nullptr) record.files.emplace_back("input_meta.py", "");
  return record;
}

Result<std::vector<Record>> read_records(const std::string& file, const UnpackOptions& options) {
  GRAFT_ASSIGN_OR_RETURN(std::string text, read_file(file));
  std::vector<Record> records;
  std::unordered_map<std::string, int> line_of_name;
  std::map<std::string, const std::string*> found;
  for (const std::string& name : options.only) found[name] = nullptr;
  std::string_view rest = text;
  int line_number = 0;
  while (!rest.empty()) {
    size_t end = rest.find('\n');
    std::string_view line = rest.substr(0, end);
    rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
    ++line_number;
    if (line.find_first_not_of(" \t\r") == std::string_view::npos) continue;
    auto json = Json::parse(line, file);
    if (!json.ok()) {
      Error error = std::move(json).error();
      error.place.line += line_number - 1;
      return error;
    }
    GRAFT_ASSIGN_OR_RETURN(Record record, to_record(*json, {file, line_number, 0}));
    auto [known, is_new] = line_of_name.emplace(record.name, line_number);
    if (!is_new)
      return input_error(fmt::format("a second record is called {}", record.name), record.place,
                         fmt::format("another name than in line {}", known->second));
    if (!options.only.empty()) {
      if (found.count(record.name) == 0) continue;
      found[record.name] = &known->first;
    }
    // Further lines are still checked.
    if (options.limit >= 0 && records.size() >= static_cast<size_t>(options.limit)) continue;
    records.push_back(std::move(record));
  }
  if (line_of_name.empty())
    return input_error("the file has no record", {file, 0, 0}, "one JSON object a line");
  for (const auto& [name, seen] : found)
    if (seen == nullptr) return input_error(fmt::format("no record is called {}", name), {file, 0, 0});
  std::unordered_map<std::string, const Record*> by_folder;
  for (const Record& record : records) {
    auto [known, is_new] = by_folder.emplace(record.folder, &record);
    if (!is_new)
      return input_error(fmt::format("records {} and {} give the same folder {}", known->second->name,
                                     record.name, record.folder),
                         record.place);
  }
  return records;
}

Status write_file(const std::string& path, std::string_view content) {
  std::FILE* out = std::fopen(path.c_str(), "wbe");
  if (out == nullptr) return os_error("write", path, errno);
  bool written = std::fwrite(content.data(), 1, content.size(), out) == content.size();
  int code = errno;
  if (std::fclose(out) != 0 && written) return os_error("write", path, errno);
  if (!written) return os_error("write", path, code);
  return {};
}

Status write_sample(const Record& record, const std::string& folder) {
  std::string graph = fmt::format("graphs/{}", record.folder);
  std::string graph_folder = join_path(folder, graph);
  GRAFT_RETURN_IF_ERROR(make_directories(graph_folder));
  GRAFT_RETURN_IF_ERROR(make_directories(join_path(folder, "pass_dir")));
  for (const auto& [name, text] : record.files)
    GRAFT_RETURN_IF_ERROR(write_file(join_path(graph_folder, name), text));
  GRAFT_RETURN_IF_ERROR(write_file(join_path(folder, "graph_list.txt"), graph + "\n"));
  std::string script = join_path(folder, "entry.sh");
  GRAFT_RETURN_IF_ERROR(write_file(script, kEntryScript));
  if (chmod(script.c_str(), 0755) != 0) return os_error("make executable", script, errno);
  return {};
}

// A folder beside the samples in which they are made, so that moving them into place is a rename. Removed at
// the end.
class Workshop {
 public:
  static Result<Workshop> open(const std::string& directory) {
    GRAFT_RETURN_IF_ERROR(make_directories(directory));
    std::string pattern = join_path(directory, ".unpack-XXXXXX");
    if (mkdtemp(pattern.data()) == nullptr) return os_error("write to", directory, errno);
    return Workshop(std::move(pattern));
  }
  Workshop(Workshop&& other) noexcept : path_(std::exchange(other.path_, {})) {}
  Workshop& operator=(Workshop&&) = delete;
  Workshop(const Workshop&) = delete;
  Workshop& operator=(const Workshop&) = delete;
  ~Workshop() {
    std::error_code ignored;
    if (!path_.empty()) fs::remove_all(path_, ignored);
  }
  std::string fresh(const std::string& folder) const { return join_path(path_, "new-" + folder); }
  std::string old(const std::string& folder) const { return join_path(path_, "old-" + folder); }

 private:
  explicit Workshop(std::string path) : path_(std::move(path)) {}
  std::string path_;
};

bool present(const std::string& path) {
  struct stat info {};
  return lstat(path.c_str(), &info) == 0;
}

}  // namespace

Result<std::vector<UnpackedSample>> unpack(const std::string& file, const std::string& directory,
                                           const UnpackOptions& options) {
  GRAFT_ASSIGN_OR_RETURN(std::vector<Record> records, read_records(file, options));
  std::vector<UnpackedSample> samples;
  for (const Record& record : records) {
    std::string path = join_path(directory, record.folder);
    if (!options.force && present(path))
      return input_error("the sample folder exists", {path, 0, 0},
                         "an empty place, or --force to replace it");
    samples.push_back({record.name, path});
  }
  GRAFT_ASSIGN_OR_RETURN(Workshop workshop, Workshop::open(directory));
  for (const Record& record : records)
    GRAFT_RETURN_IF_ERROR(write_sample(record, workshop.fresh(record.folder)));
  for (size_t i = 0; i < records.size(); ++i) {
    const std::string& folder = records[i].folder;
    const std::string& path = samples[i].path;
    std::string old = workshop.old(folder);
    bool replaced = present(path);
    if (replaced && std::rename(path.c_str(), old.c_str()) != 0) return os_error("replace", path, errno);
    if (std::rename(workshop.fresh(folder).c_str(), path.c_str()) != 0) {
      int code = errno;
      if (replaced && std::rename(old.c_str(), path.c_str()) != 0) return os_error("restore", path, errno);
      return os_error("create", path, code);
    }
  }
  return samples;
}

std::string safe_folder_name(std::string_view name) {
  std::string out;
  for (char c : name) {
    if (c == '/' || c == '\\')
      out += "__";
    else if (is_letter_or_digit(c) || c == '.' || c == '_' || c == '-' || c == '+' || c == '=')
      out += c;
    else
      out += '_';
  }
  size_t first = out.find_first_not_of('.');
  if (first == std::string::npos) return {};
  out.erase(0, first);
  // File systems end at 255 bytes; what is cut off still counts for telling folders apart through the error
  // about equal ones.
  constexpr size_t kLongest = 200;
  if (out.size() > kLongest) out.resize(kLongest);
  return out;
}

}  // namespace graft::bench
