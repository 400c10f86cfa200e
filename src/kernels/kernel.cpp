#include "kernels/kernel.h"

#include <fmt/core.h>

namespace graft::kernels {

Result<std::shared_ptr<CppSource>> CppSource::create(std::string source, std::string_view function,
                                                     CompileOptions options) {
  auto functions = callable_functions(source, function);
  if (!functions.ok()) {
    Error error = functions.error();
    error.place.file = options.origin.file.empty() ? std::string(kSourceName) : options.origin.file;
    if (error.place.line > 0) error.place.line += options.origin.line - 1;
    return error;
  }
  std::shared_ptr<CppSource> result(new CppSource());
  result->source_ = std::move(source);
  result->options_ = std::move(options);
  result->functions_ = std::move(*functions);
  return result;
}

const CompileResult& CppSource::compile_locked() {
  if (!result_) result_ = kernels::compile(translation_unit(source_, functions_), source_, options_);
  return *result_;
}

const CompileResult& CppSource::compile() {
  std::lock_guard lock(mutex_);
  return compile_locked();
}

bool CppSource::compiled() {
  std::lock_guard lock(mutex_);
  return result_ && result_->ok();
}

CppSource::Loaded CppSource::load(size_t index) {
  std::lock_guard lock(mutex_);
  const CompileResult& compiled = compile_locked();
  if (!compiled.ok()) return {nullptr, compiled.failure};
  if (!library_) {
    auto library = Library::load(compiled.object.path);
    if (!library.ok()) return {nullptr, CompileFailure{library.error(), {}}};
    library_ = *library;
  }
  auto address = library_->symbol(fmt::format("graft_call_{}", index));
  if (!address.ok()) return {nullptr, CompileFailure{address.error(), {}}};
  return {reinterpret_cast<Trampoline>(*address), {}};
}

bool is_contiguous(const DlTensor& tensor) {
  if (tensor.strides == nullptr) return true;
  int64_t expected = 1;
  bool ordered = true;
  for (int32_t i = tensor.ndim; i-- > 0;) {
    if (tensor.shape[i] == 0) return true;
    if (tensor.shape[i] == 1) continue;
    ordered = ordered && tensor.strides[i] == expected;
    expected *= tensor.shape[i];
  }
  return ordered;
}

std::string dtype_name(DlDataType dtype) {
  const char* base = nullptr;
  switch (dtype.code) {
    case kDlInt:
      base = "int";
      break;
    case kDlUInt:
      base = "uint";
      break;
    case kDlFloat:
      base = "float";
      break;
    case kDlBfloat:
      base = "bfloat";
      break;
    case kDlComplex:
      base = "complex";
      break;
    case kDlBool:
      return "bool";
    default:
      return fmt::format("dtype {}x{}", dtype.code, dtype.bits);
  }
  return fmt::format("{}{}", base, dtype.bits);
}

namespace {

bool fits(DlDataType given, DlDataType wanted) {
  if (given == wanted) return true;
  if (wanted.bits == 0) return given.bits % 8 == 0;
  if (wanted.code != kDlUInt || given.bits != wanted.bits || given.lanes != 1) return false;
  // Unsigned words stand for the bits of types C++ has no name for.
  return given.code != kDlInt && (wanted.bits == 8 || wanted.bits == 16);
}

}  // namespace

std::string mismatch(const DlTensor& tensor, const Parameter& parameter) {
  if (tensor.device.type != kDlCpu && tensor.device.type != kDlCudaHost) return "expected a CPU tensor";
  if (parameter.kind == Parameter::Kind::kTensor) return {};
  if (!fits(tensor.dtype, parameter.type->dtype))
    return fmt::format("expected {}, got {}", parameter.type->name, dtype_name(tensor.dtype));
  if (!is_contiguous(tensor)) {
    std::string strides, sizes;
    for (int32_t i = 0; i < tensor.ndim; ++i) {
      sizes += fmt::format("{}{}", i > 0 ? ", " : "", tensor.shape[i]);
      strides += fmt::format("{}{}", i > 0 ? ", " : "", tensor.strides[i]);
    }
    return fmt::format(
        "expected a contiguous tensor, got sizes ({}) with strides ({}); pass x.contiguous(), or let the "
        "kernel take a "
        "graft::Tensor",
        sizes, strides);
  }
  return {};
}

}  // namespace graft::kernels
