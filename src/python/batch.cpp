#include "python/batch.h"

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <system_error>
#include <thread>

#include "base/file.h"
#include "base/json.h"

namespace graft::python {
namespace {

namespace fs = std::filesystem;

Status add_folder(const std::string& folder, std::vector<BatchInput>& inputs) {
  std::error_code error;
  std::vector<std::string> files;
  fs::recursive_directory_iterator it(folder, fs::directory_options::skip_permission_denied, error);
  if (error) return os_error("read", folder, error.value());
  for (; it != fs::recursive_directory_iterator(); it.increment(error)) {
    if (error) return os_error("read", folder, error.value());
    std::error_code ignored;
    if (it->path().extension() == ".py" && it->is_regular_file(ignored)) files.push_back(it->path().string());
  }
  std::sort(files.begin(), files.end());
  for (std::string& file : files) inputs.push_back({file, file, nullptr});
  return {};
}

Status add_records(const std::string& path, std::vector<BatchInput>& inputs) {
  GRAFT_ASSIGN_OR_RETURN(std::string content, read_file(path));
  std::string_view rest = content;
  for (int line = 1; !rest.empty(); ++line) {
    size_t end = std::min(rest.find('\n'), rest.size());
    std::string_view text = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    if (text.find_first_not_of(" \t\r") == std::string_view::npos) continue;
    Result<Json> record = Json::parse(text, path);
    if (!record.ok()) {
      record.error().place.line = line;
      return std::move(record).error();
    }
    const Json& model = (*record)["model.py"];
    if (!model.is_string())
      return input_error("a record without the text \"model.py\"", {path, line, 1}, "one JSON object a line");
    const Json& name = (*record)["name"];
    std::string label = name.is_string() ? name.as_string() : std::to_string(line);
    inputs.push_back({path + ":" + label, path, std::make_shared<const std::string>(model.as_string())});
  }
  return {};
}

}  // namespace

Result<std::vector<BatchInput>> collect_inputs(const std::vector<std::string>& paths) {
  std::vector<BatchInput> inputs;
  for (const std::string& path : paths) {
    if (is_directory(path))
      GRAFT_RETURN_IF_ERROR(add_folder(path, inputs));
    else if (path.ends_with(".jsonl"))
      GRAFT_RETURN_IF_ERROR(add_records(path, inputs));
    else if (is_regular_file(path))
      inputs.push_back({path, path, nullptr});
    else
      return input_error("no such file or folder", Place{path});
  }
  return inputs;
}

Result<std::string> read_input(const BatchInput& input) {
  if (input.bytes != nullptr) return *input.bytes;
  return read_file(input.path);
}

void parallel_for(size_t count, int jobs, const std::function<void(size_t)>& work) {
  std::atomic<size_t> next = 0;
  auto run = [&] {
    for (size_t i = next++; i < count; i = next++) work(i);
  };
  std::vector<std::jthread> helpers;
  for (size_t i = 1; i < std::min(count, static_cast<size_t>(std::max(jobs, 1))); ++i)
    helpers.emplace_back(run);
  run();
}

}  // namespace graft::python
