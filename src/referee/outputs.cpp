#include "referee/outputs.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

namespace graft::referee {
namespace {

constexpr size_t kMaxOutputs = 10'000;
constexpr size_t kMaxDimensions = 64;

Error malformed(std::string_view what) {
  return fault(fmt::format("the description of the outputs is malformed: {}", what));
}

std::optional<std::vector<int64_t>> integers(const Json& list) {
  if (!list.is_array() || list.items().size() > kMaxDimensions) return std::nullopt;
  std::vector<int64_t> result;
  for (const Json& item : list.items()) {
    if (!item.is_int()) return std::nullopt;
    result.push_back(item.as_int());
  }
  return result;
}

std::optional<std::vector<std::string>> names(const Json& list) {
  if (!list.is_array() || list.items().size() > kMaxOutputs) return std::nullopt;
  std::vector<std::string> result;
  for (const Json& item : list.items()) {
    if (!item.is_string()) return std::nullopt;
    result.push_back(item.as_string());
  }
  return result;
}

}  // namespace

int64_t TensorSlot::count() const {
  int64_t count = 1;
  for (int64_t extent : shape) count *= extent;
  return count;
}

Json TensorSlot::to_json() const {
  Json extents = Json::array();
  for (int64_t extent : shape) extents.push_back(extent);
  return Json::object({{"name", name},
                       {"dtype", bench::dtype_name(dtype)},
                       {"shape", std::move(extents)},
                       {"offset", static_cast<int64_t>(offset)}});
}

std::optional<TensorSlot> place_tensor(std::string name, bench::DType dtype, std::vector<int64_t> shape,
                                       size_t& total) {
  constexpr size_t kAlignment = 64;
  size_t bytes = bench::item_size(dtype);
  for (int64_t extent : shape) {
    if (extent < 0 || __builtin_mul_overflow(bytes, static_cast<size_t>(extent), &bytes)) return std::nullopt;
  }
  TensorSlot slot{std::move(name), dtype, std::move(shape), total, bytes};
  size_t padded = 0;
  if (__builtin_add_overflow(bytes, kAlignment - 1, &padded)) return std::nullopt;
  padded = padded / kAlignment * kAlignment;
  if (__builtin_add_overflow(total, padded, &total)) return std::nullopt;
  return slot;
}

std::string OutputInfo::to_string() const {
  return is_tensor ? fmt::format("{}[{}]", dtype, fmt::join(shape, ", ")) : dtype;
}

Result<OutputReport> read_output_report(const Json& reply) {
  const Json& list = reply["outputs"];
  if (!list.is_array() || list.items().size() > kMaxOutputs) return malformed("no list of outputs");
  OutputReport report;
  for (const Json& item : list.items()) {
    OutputInfo info;
    if (!item["dtype"].is_string()) return malformed("an output without a type");
    info.dtype = item["dtype"].as_string();
    if (const Json* shape = item.find("shape")) {
      auto extents = integers(*shape);
      if (!extents) return malformed("a shape that is no list of integers");
      info.is_tensor = true;
      info.shape = std::move(*extents);
    }
    if (const Json* stride = item.find("stride")) {
      info.stride = integers(*stride);
      if (!info.stride) return malformed("a stride that is no list of integers");
    }
    info.value = item["value"].as_string();
    if (const Json* aliases = item.find("aliases")) {
      auto found = names(*aliases);
      if (!found) return malformed("aliases that are no list of names");
      info.aliases = std::move(*found);
    }
    report.outputs.push_back(std::move(info));
  }
  auto changed = names(reply["inputs_changed"]);
  if (!changed) return malformed("no list of changed inputs");
  report.inputs_changed = std::move(*changed);
  return report;
}

}  // namespace graft::referee
