#include "bench/sample.h"

#include <algorithm>
#include <filesystem>
#include <set>
#include <unordered_map>
#include <unordered_set>

#include <fmt/format.h>

#include "base/file.h"
#include "base/json.h"
#include "base/utf8.h"
#include "bench/random.h"

namespace graft::bench {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kGraphList = "graph_list.txt";
constexpr std::string_view kOutputOrder = "sorted_output_pass_rule_names.json";
constexpr std::string_view kInputOrder = "sorted_input_pass_rule_names.json";
constexpr uint32_t kSeed = 123;
constexpr size_t kMaxFolders = 1'000'000;

std::string without_trailing_slashes(std::string path) {
  while (path.size() > 1 && path.ends_with('/')) path.pop_back();
  return path;
}

std::string last_component(std::string_view path) {
  while (path.size() > 1 && path.ends_with('/')) path.remove_suffix(1);
  size_t slash = path.rfind('/');
  return std::string(slash == std::string_view::npos ? path : path.substr(slash + 1));
}

// The name of a folder given as ".", "..", or with a trailing slash is that of the folder it stands for.
std::string folder_name(const std::string& path) {
  std::string name = last_component(path);
  if (name != "." && name != ".." && !name.empty()) return name;
  std::error_code code;
  fs::path real = fs::canonical(path, code);
  return code ? name : real.filename().string();
}

bool exists(const std::string& path) {
  std::error_code code;
  return fs::exists(path, code);
}

bool is_graph_folder(const std::string& path) {
  return is_regular_file(join_path(path, "graph_net.json")) && is_regular_file(join_path(path, "model.py"));
}

// "subgraph" or "subgraph_<digits>".
bool is_subgraph_name(std::string_view name) {
  if (name == "subgraph") return true;
  if (!name.starts_with("subgraph_")) return false;
  name.remove_prefix(9);
  return !name.empty() && std::all_of(name.begin(), name.end(), [](char c) { return c >= '0' && c <= '9'; });
}

std::string name_from_path(const std::string& path) {
  std::string name = last_component(path);
  if (!is_subgraph_name(name)) return name;
  size_t slash = path.rfind('/');
  std::string parent =
      slash == std::string::npos ? "" : last_component(std::string_view(path).substr(0, slash));
  return parent.empty() ? name : parent;
}

// The model's name, and a failure where the folder cannot be evaluated.
void inspect_graph(GraphFolder& graph) {
  graph.model_name = name_from_path(graph.path);
  auto fail = [&](Error error) {
    // Named by the line of the list where there is one: that is what the user wrote.
    if (!graph.place.file.empty() && error.place.line == 0) {
      error.message = fmt::format("{} ({})", error.message, error.place.to_string());
      error.place = graph.place;
    }
    graph.failure = std::move(error);
  };
  if (!exists(graph.path)) return fail(input_error("the graph folder does not exist", {graph.path, 0, 0}));
  if (!is_directory(graph.path)) return fail(input_error("not a graph folder", {graph.path, 0, 0}));
  for (const std::string& file : {graph.model_file(), graph.weight_meta_file(), graph.input_meta_file(),
                                  join_path(graph.path, "graph_net.json")}) {
    if (!is_regular_file(file))
      return fail(input_error("the graph folder lacks a file", {file, 0, 0},
                              "model.py, weight_meta.py, input_meta.py and graph_net.json"));
  }
  std::string file = join_path(graph.path, "graph_net.json");
  auto text = read_file(file);
  if (!text.ok()) return fail(std::move(text).error());
  auto json = Json::parse(*text, file);
  if (!json.ok()) return fail(std::move(json).error());
  if (!json->is_object()) return fail(input_error("not a JSON object", {file, 1, 1}));
  const Json* name = json->find("model_name");
  if (name == nullptr || name->is_null()) return;
  if (!name->is_string()) return fail(input_error("\"model_name\" is no text", {file, 0, 0}));
  if (!name->as_string().empty()) graph.model_name = name->as_string();
}

Result<std::vector<GraphFolder>> list_graphs(const std::string& root, const std::string& list_file) {
  GRAFT_ASSIGN_OR_RETURN(std::string text, read_file(list_file));
  if (!is_valid_utf8(text)) return input_error("the graph list is not UTF-8 text", {list_file, 0, 0});
  std::vector<GraphFolder> graphs;
  std::string_view rest = text;
  if (rest.starts_with("\xef\xbb\xbf")) rest.remove_prefix(3);
  int line_number = 0;
  while (!rest.empty()) {
    size_t end = rest.find('\n');
    std::string_view line = rest.substr(0, end);
    rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
    ++line_number;
    constexpr std::string_view kSpace = " \t\r\f\v";
    size_t first = line.find_first_not_of(kSpace);
    if (first == std::string_view::npos) continue;
    line = line.substr(first, line.find_last_not_of(kSpace) - first + 1);
    GraphFolder graph;
    graph.entry = line;
    graph.place = {list_file, line_number, 0};
    if (line.find('\0') != std::string_view::npos) {
      graph.failure = input_error("a NUL byte in a path", graph.place);
    } else {
      graph.path = without_trailing_slashes(join_path(root, line));
      inspect_graph(graph);
    }
    graphs.push_back(std::move(graph));
  }
  if (graphs.empty())
    return input_error("the graph list names no graph", {list_file, 0, 0}, "one graph folder a line");
  return graphs;
}

// Folders below `root` for which `take` holds, in sorted order, not looking inside those. Each real folder is
// visited once, so a link to a parent ends the walk there.
template <class Take>
void find_folders(const std::string& root, const std::string& relative, std::set<std::string>& seen,
                  const Take& take, std::vector<std::string>& found) {
  std::string path = relative.empty() ? root : join_path(root, relative);
  std::error_code code;
  fs::path real = fs::canonical(path, code);
  if (code || seen.size() > kMaxFolders || !seen.insert(real.string()).second) return;
  if (take(path)) {
    found.push_back(relative);
    return;
  }
  auto names = list_directory(path);
  if (!names.ok()) return;
  for (const std::string& name : *names) {
    std::string below = relative.empty() ? name : join_path(relative, name);
    if (is_directory(join_path(root, below))) find_folders(root, below, seen, take, found);
  }
}

// The place of the first occurrence of a name in an order file.
Place place_in(const std::string& text, const std::string& file, const std::string& name) {
  size_t at = text.find("\"" + name + "\"");
  if (at == std::string::npos) return {file, 0, 0};
  auto [line, column] = line_and_column(text, at);
  return {file, line, column};
}

struct Order {
  std::string file;
  std::vector<std::string> names;
};

Result<Order> order_of(const std::string& folder, std::string_view file_name) {
  Order order;
  if (folder.empty()) return order;
  order.file = join_path(folder, file_name);
  if (!exists(order.file)) return order;
  GRAFT_ASSIGN_OR_RETURN(order.names, read_pass_order(order.file));
  return order;
}

PassFile pass_file(const std::string& name, const std::string& folder, const std::string& order_file,
                   bool output) {
  PassFile pass;
  pass.name = name;
  pass.path = join_path(folder, name + ".py");
  pass.output = output;
  if (!is_regular_file(pass.path)) {
    auto text = read_file(order_file);
    Place place = text.ok() ? place_in(*text, order_file, name) : Place{order_file, 0, 0};
    pass.failure = input_error(fmt::format("pass {} is named but {} is {}", name, pass.path,
                                           exists(pass.path) ? "no file" : "absent"),
                               place);
  }
  return pass;
}

Status load_passes(Sample& sample, bool need_passes) {
  GRAFT_ASSIGN_OR_RETURN(Order output, order_of(sample.pass_dir, kOutputOrder));
  GRAFT_ASSIGN_OR_RETURN(Order input, order_of(sample.const_pass_dir, kInputOrder));
  GRAFT_ASSIGN_OR_RETURN(Order reordered, order_of(sample.pass_dir, kInputOrder));
  if (!reordered.file.empty() && exists(reordered.file)) {
    std::set<std::string> before(input.names.begin(), input.names.end());
    std::set<std::string> after(reordered.names.begin(), reordered.names.end());
    if (before != after)
      return input_error("the order of the input passes is no permutation of those in const_pass_dir",
                         {reordered.file, 0, 0}, fmt::format("the names {}", fmt::join(before, ", ")));
    input.names = reordered.names;
  }
  std::unordered_set<std::string> outputs(output.names.begin(), output.names.end());
  std::unordered_set<std::string> taken;
  for (const std::string& name : input.names) {
    bool replaced = outputs.count(name) != 0;
    if (replaced) taken.insert(name);
    sample.passes.push_back(replaced ? pass_file(name, sample.pass_dir, output.file, true)
                                     : pass_file(name, sample.const_pass_dir, input.file, false));
  }
  for (const std::string& name : output.names)
    if (taken.count(name) == 0) sample.passes.push_back(pass_file(name, sample.pass_dir, output.file, true));
  if (need_passes && output.names.empty()) {
    if (sample.pass_dir.empty())
      return input_error("there is no folder with passes", {sample.path, 0, 0}, "a folder pass_dir");
    bool absent = !exists(output.file);
    return input_error(absent ? "the order file of the passes is absent" : "the order file names no pass",
                       {output.file, 0, 0}, "a JSON list of pass names, such as [\"my_pass\"]");
  }
  return {};
}

}  // namespace

std::string GraphFolder::model_file() const {
  return join_path(path, "model.py");
}
std::string GraphFolder::weight_meta_file() const {
  return join_path(path, "weight_meta.py");
}
std::string GraphFolder::input_meta_file() const {
  return join_path(path, "input_meta.py");
}

Result<Sample> load_sample(const std::string& path, const SampleOptions& options) {
  Sample sample;
  sample.path = without_trailing_slashes(path);
  if (!exists(sample.path)) return input_error("the sample folder does not exist", {sample.path, 0, 0});
  if (!is_directory(sample.path)) return input_error("not a folder", {sample.path, 0, 0}, "a sample folder");
  sample.name = folder_name(sample.path);

  std::string list = options.graph_list.empty() ? join_path(sample.path, kGraphList) : options.graph_list;
  if (!options.graph_list.empty() || exists(list)) {
    GRAFT_ASSIGN_OR_RETURN(sample.graphs, list_graphs(sample.path, list));
  } else {
    std::vector<std::string> found;
    std::set<std::string> seen;
    find_folders(sample.path, "", seen, is_graph_folder, found);
    if (found.empty())
      return input_error("no graph here", {sample.path, 0, 0},
                         "a graph_list.txt, or a folder with model.py and graph_net.json");
    for (const std::string& relative : found) {
      GraphFolder graph;
      graph.entry = relative.empty() ? sample.name : relative;
      graph.path = relative.empty() ? sample.path : join_path(sample.path, relative);
      inspect_graph(graph);
      sample.graphs.push_back(std::move(graph));
    }
  }

  auto pick = [&](const std::string& given, std::string_view standard) -> std::string {
    if (!given.empty()) return given;
    std::string folder = join_path(sample.path, standard);
    return exists(folder) ? folder : "";
  };
  sample.pass_dir = pick(options.pass_dir, "pass_dir");
  sample.const_pass_dir = pick(options.const_pass_dir, "const_pass_dir");
  for (const std::string& folder : {options.pass_dir, options.const_pass_dir})
    if (!folder.empty() && !is_directory(folder))
      return input_error("the folder of passes does not exist", {folder, 0, 0});
  if (Status status = load_passes(sample, options.need_passes); !status.ok())
    sample.pass_failure = std::move(status).error();
  return sample;
}

Result<std::vector<std::string>> find_samples(const std::string& path) {
  std::string root = without_trailing_slashes(path);
  if (!is_directory(root)) return input_error(exists(root) ? "not a folder" : "no such folder", {root, 0, 0});
  auto has_list = [](const std::string& folder) { return is_regular_file(join_path(folder, kGraphList)); };
  if (has_list(root) || is_graph_folder(root)) return std::vector<std::string>{root};
  std::vector<std::string> found;
  std::set<std::string> seen;
  find_folders(root, "", seen, has_list, found);
  if (found.empty()) return std::vector<std::string>{root};
  for (std::string& relative : found) relative = join_path(root, relative);
  return found;
}

Result<std::vector<std::string>> read_pass_order(const std::string& file) {
  GRAFT_ASSIGN_OR_RETURN(std::string text, read_file(file));
  GRAFT_ASSIGN_OR_RETURN(Json json, Json::parse(text, file));
  if (!json.is_array())
    return input_error("the order file is no JSON list", {file, 1, 1},
                       "a list of pass names, such as [\"my_pass\"]");
  std::vector<std::string> names;
  std::unordered_set<std::string> seen;
  size_t position = 0;
  for (const Json& item : json.items()) {
    ++position;
    if (!item.is_string())
      return input_error(fmt::format("entry {} of the order file is no text", position), {file, 0, 0},
                         "a pass name");
    const std::string& name = item.as_string();
    Place place = place_in(text, file, name);
    if (name.empty() || name.find_first_of(std::string_view("/\\\0", 3)) != std::string::npos ||
        name == "." || name == "..")
      return input_error(fmt::format("\"{}\" is no pass name", name), place,
                         "a file name without folder and .py");
    if (name.ends_with(".py"))
      return input_error(fmt::format("\"{}\" is no pass name", name), place,
                         fmt::format("\"{}\", without .py", name.substr(0, name.size() - 3)));
    if (!seen.insert(name).second)
      return input_error(fmt::format("pass \"{}\" is named twice", name), place, "each pass once");
    names.push_back(name);
  }
  return names;
}

std::vector<size_t> apply_pass_limits(const std::vector<std::string>& functions, int function_limit,
                                      int pattern_limit, bool strict) {
  PythonRandom random(kSeed);
  // `count` of `population` indices, ascending.
  auto choose = [&](size_t population, size_t count) {
    std::vector<size_t> chosen;
    if (strict) {
      chosen = random.sample(population, count);
      std::sort(chosen.begin(), chosen.end());
    } else {
      for (size_t i = 0; i < count; ++i) chosen.push_back(i);
    }
    return chosen;
  };

  std::vector<size_t> kept;
  std::unordered_map<std::string, size_t> number;  // of a distinct function, in rule order
  for (const std::string& function : functions) number.emplace(function, number.size());
  if (function_limit >= 0 && number.size() > static_cast<size_t>(function_limit)) {
    std::vector<bool> stays(number.size(), false);
    for (size_t i : choose(number.size(), static_cast<size_t>(function_limit))) stays[i] = true;
    for (size_t i = 0; i < functions.size(); ++i)
      if (stays[number[functions[i]]]) kept.push_back(i);
  } else {
    for (size_t i = 0; i < functions.size(); ++i) kept.push_back(i);
  }
  if (pattern_limit < 0 || kept.size() <= static_cast<size_t>(pattern_limit)) return kept;
  std::vector<size_t> limited;
  for (size_t i : choose(kept.size(), static_cast<size_t>(pattern_limit))) limited.push_back(kept[i]);
  return limited;
}

}  // namespace graft::bench
