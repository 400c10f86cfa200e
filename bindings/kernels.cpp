// graft._core.Kernel: a C++ kernel called on the memory of tensors.
#include "kernels/kernel.h"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <array>
#include <memory>
#include <utility>

#include <fmt/core.h>

#include "core.h"

namespace graft::bindings {
namespace {

namespace nb = nanobind;
using namespace graft::kernels;

constexpr size_t kMaxArguments = 64;
PyObject* compile_error_type = nullptr;

// For texts that may be cut inside a character, or hold bytes that are no text.
[[noreturn]] void raise_text(PyObject* type, const std::string& text) {
  nb::object value =
      nb::steal(PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "replace"));
  if (value.is_valid()) PyErr_SetObject(type, value.ptr());
  throw nb::python_error();
}

[[noreturn]] void raise_type_error(const std::string& text) {
  raise_text(PyExc_TypeError, text);
}

[[noreturn]] void raise_compile_error(const CompileFailure& failure) {
  raise_text(compile_error_type, failure.to_string());
}

// The exchange interface of a tensor type, or nullptr. The few types a program passes are remembered; the
// references that keep a remembered type from being replaced by another at its address are never given back.
const DlExchangeApi* exchange_api(PyTypeObject* type) {
  struct Entry {
    PyTypeObject* type = nullptr;
    const DlExchangeApi* api = nullptr;
  };
  static std::array<Entry, 8> known;
  static size_t next = 0;
  for (const Entry& entry : known)
    if (entry.type == type) return entry.api;

  const DlExchangeApi* api = nullptr;
  PyObject* capsule = PyObject_GetAttrString(reinterpret_cast<PyObject*>(type), "__dlpack_c_exchange_api__");
  if (capsule == nullptr) {
    PyErr_Clear();
  } else {
    if (PyCapsule_IsValid(capsule, "dlpack_exchange_api") != 0) {
      auto* header =
          static_cast<const DlExchangeHeader*>(PyCapsule_GetPointer(capsule, "dlpack_exchange_api"));
      while (header != nullptr && header->major != 1) header = header->previous;
      api = reinterpret_cast<const DlExchangeApi*>(header);
      if (api != nullptr && api->tensor_from_object == nullptr) api = nullptr;
    }
    Py_DECREF(capsule);
  }
  if (next < known.size()) {
    Py_INCREF(reinterpret_cast<PyObject*>(type));
    known[next++] = {type, api};
  }
  return api;
}

class Kernel {
 public:
  static constexpr size_t kNoFunction = ~size_t{0};

  Kernel(std::shared_ptr<CppSource> source, size_t index) : source_(std::move(source)), index_(index) {}

  const CppSource& source() const { return *source_; }
  CppSource& source() { return *source_; }
  bool callable() const { return index_ != kNoFunction; }
  const Function& function() const { return source_->functions()[index_]; }

  std::string names() const {
    std::string text;
    for (const Function& function : source_->functions()) text += (text.empty() ? "" : ", ") + function.name;
    return text;
  }

  Kernel pick(const std::string& name) const {
    const auto& functions = source_->functions();
    for (size_t i = 0; i < functions.size(); ++i)
      if (functions[i].name == name) return Kernel(source_, i);
    PyErr_SetString(PyExc_AttributeError,
                    fmt::format("the kernel has no function '{}'; it has: {}", name, names()).c_str());
    throw nb::python_error();
  }

  void compile() {
    const CompileResult* result = nullptr;
    {
      nb::gil_scoped_release release;
      result = &source_->compile();
    }
    if (!result->ok()) raise_compile_error(*result->failure);
  }

  nb::object call(const nb::args& arguments) {
    if (!callable())
      raise_type_error(
          fmt::format("the source defines several functions ({}): call one of them by its name", names()));
    const Function& function = this->function();
    size_t count = arguments.size();
    if (count > function.parameters.size() || count < function.required() || count > kMaxArguments)
      raise_type_error(fmt::format("{} takes {} arguments, got {}", function.declaration(),
                                   function.parameters.size(), count));

    std::array<Value, kMaxArguments> values;
    std::array<TensorView, kMaxArguments> views;
    std::vector<nb::object> kept;  // what must live until the call is over
    for (size_t i = 0; i < count; ++i) {
      PyObject* argument = PyTuple_GetItem(arguments.ptr(), static_cast<Py_ssize_t>(i));
      if (function.parameters[i].kind == Parameter::Kind::kScalar)
        scalar(argument, i, &values[i]);
      else
        tensor(argument, i, &values[i], &views[i], &kept);
    }
    if (trampoline_ == nullptr) load();

    char message[512];
    Value result{};
    int code = 0;
    {
      nb::gil_scoped_release release;
      code = trampoline_(values.data(), static_cast<int>(count), &result, message, sizeof message);
    }
    if (code != 0) raise_text(PyExc_RuntimeError, fmt::format("kernel {}: {}", function.name, message));
    if (function.result == nullptr) return nb::none();
    if (function.result->dtype.code == kDlFloat) return nb::float_(result.real);
    if (function.result->dtype.code == kDlBool) return nb::bool_(result.integer != 0);
    if (function.result->dtype.code == kDlUInt) return nb::int_(static_cast<uint64_t>(result.integer));
    return nb::int_(result.integer);
  }

 private:
  std::string where(size_t index) const {
    const Parameter& parameter = function().parameters[index];
    return fmt::format("kernel {}, argument {}{}", function().name, index + 1,
                       parameter.name.empty() ? "" : " (" + parameter.name + ")");
  }

  void load() {
    CppSource::Loaded loaded;
    {
      nb::gil_scoped_release release;
      loaded = source_->load(index_);
    }
    if (loaded.failure) raise_compile_error(*loaded.failure);
    trampoline_ = loaded.call;
  }

  void scalar(PyObject* argument, size_t index, Value* value) const {
    const DlDataType type = function().parameters[index].type->dtype;
    if (type.code == kDlFloat) {
      value->real = PyFloat_AsDouble(argument);
      if (value->real == -1.0 && PyErr_Occurred() != nullptr) wrong_scalar(argument, index, "a number");
      return;
    }
    nb::object number = nb::steal(PyNumber_Index(argument));
    if (!number.is_valid()) wrong_scalar(argument, index, type.code == kDlBool ? "a bool" : "an integer");
    if (type.code == kDlUInt && type.bits == 64) {
      value->integer = static_cast<int64_t>(PyLong_AsUnsignedLongLong(number.ptr()));
      if (PyErr_Occurred() != nullptr) wrong_scalar(argument, index, "an integer from 0 to 2^64 - 1");
      return;
    }
    int overflow = 0;
    int64_t integer = PyLong_AsLongLongAndOverflow(number.ptr(), &overflow);
    int64_t low = type.code == kDlInt ? -(int64_t{1} << (type.bits - 2)) * 2 : 0;
    int64_t high = type.code == kDlBool   ? 1
                   : type.code == kDlUInt ? (int64_t{1} << type.bits) - 1
                                          : -(low + 1);
    if (overflow != 0 || integer < low || integer > high)
      wrong_scalar(argument, index, fmt::format("an integer from {} to {}", low, high));
    value->integer = integer;
  }

  [[noreturn]] void wrong_scalar(PyObject* argument, size_t index, const std::string& expected) const {
    PyErr_Clear();
    std::string given = nb::repr(nb::handle(argument)).c_str();
    if (given.size() > 60) given = given.substr(0, 57) + "...";
    raise_type_error(fmt::format("{}: expected {}, got {}", where(index), expected, given));
  }

  void tensor(PyObject* argument, size_t index, Value* value, TensorView* view,
              std::vector<nb::object>* kept) const {
    DlTensor own;
    const DlTensor* tensor = &own;
    if (const DlExchangeApi* api = exchange_api(Py_TYPE(argument)); api != nullptr) {
      if (api->tensor_from_object(argument, &own) != 0) refused(index);
    } else {
      // Frameworks without the exchange interface: an owning capsule, released after the call.
      nb::object capsule = nb::steal(PyObject_CallMethod(argument, "__dlpack__", nullptr));
      if (!capsule.is_valid()) {
        if (PyErr_ExceptionMatches(PyExc_AttributeError) == 0) throw nb::python_error();
        PyErr_Clear();
        nb::object type_name = nb::handle(reinterpret_cast<PyObject*>(Py_TYPE(argument))).attr("__name__");
        raise_type_error(fmt::format("{}: expected a tensor, got {}", where(index),
                                     nb::borrow<nb::str>(type_name).c_str()));
      }
      auto* managed = static_cast<DlManagedTensor*>(PyCapsule_GetPointer(capsule.ptr(), "dltensor"));
      if (managed == nullptr) throw nb::python_error();
      tensor = &managed->tensor;
      kept->push_back(std::move(capsule));
    }
    const Parameter& parameter = function().parameters[index];
    if (std::string wrong = mismatch(*tensor, parameter); !wrong.empty())
      throw nb::value_error(fmt::format("{}: {}", where(index), wrong).c_str());
    void* data = static_cast<char*>(tensor->data) + tensor->byte_offset;
    if (parameter.kind == Parameter::Kind::kPointer) {
      value->pointer = data;
      return;
    }
    const int64_t* strides = tensor->strides != nullptr ? tensor->strides : row_major(*tensor, kept);
    *view = {data, tensor->shape, strides, tensor->ndim, tensor->dtype.code, tensor->dtype.bits};
    value->pointer = view;
  }

  // Turns the pending exception of a tensor that DLPack cannot describe into one that names the argument.
  // Only the first line is kept: behind it torch puts a stack trace of its own.
  [[noreturn]] void refused(size_t index) const {
    std::string reason = "not describable by DLPack";
    {
      nb::python_error error;
      std::string text = nb::str(error.value()).c_str();
      if (!text.empty()) reason = text.substr(0, text.find('\n'));
    }
    throw nb::value_error(fmt::format("{}: {}", where(index), reason).c_str());
  }

  // Strides of a tensor that leaves them out, kept in a bytes object.
  static const int64_t* row_major(const DlTensor& tensor, std::vector<nb::object>* kept) {
    std::vector<int64_t> strides(static_cast<size_t>(tensor.ndim) + 1, 1);
    for (int32_t i = tensor.ndim; i-- > 0;)
      strides[static_cast<size_t>(i)] =
          i + 1 == tensor.ndim ? 1 : strides[static_cast<size_t>(i) + 1] * tensor.shape[i + 1];
    kept->push_back(nb::bytes(strides.data(), strides.size() * sizeof(int64_t)));
    return reinterpret_cast<const int64_t*>(nb::borrow<nb::bytes>(kept->back()).c_str());
  }

  std::shared_ptr<CppSource> source_;
  size_t index_;
  Trampoline trampoline_ = nullptr;
};

void make_kernel(Kernel* self, std::string source, const std::string& function,
                 std::vector<std::string> flags, double timeout, std::string file, int line) {
  if (!(timeout > 0 && timeout <= 1e6))
    throw nb::value_error("timeout is not a number of seconds between 0 and a million");
  CompileOptions options;
  options.flags = std::move(flags);
  options.timeout = std::chrono::milliseconds(static_cast<int64_t>(timeout * 1000));
  options.origin = {std::move(file), line};
  auto read = value_or_raise(CppSource::create(std::move(source), function, std::move(options)));
  size_t index = read->functions().size() == 1 ? 0 : Kernel::kNoFunction;
  new (self) Kernel(std::move(read), index);
}

}  // namespace

void bind_kernels(nb::module_& module) {
  compile_error_type =
      PyErr_NewExceptionWithDoc("graft.kernels.CompileError",
                                "A kernel that could not be compiled or loaded; the text holds the "
                                "compiler's messages.",
                                PyExc_RuntimeError, nullptr);
  if (compile_error_type == nullptr) throw nb::python_error();
  module.attr("CompileError") = nb::borrow(compile_error_type);

  nb::class_<Kernel>(module, "Kernel", nb::is_weak_referenceable())
      .def("__init__", &make_kernel, nb::arg("source"), nb::arg("function"), nb::arg("flags"),
           nb::arg("timeout"), nb::arg("file"), nb::arg("line"))
      .def("__call__", &Kernel::call)
      .def("compile", &Kernel::compile,
           "Compiles now, or takes the object from the cache. Raises CompileError.")
      .def_prop_ro("compiled", [](Kernel& self) { return self.source().compiled(); })
      .def_prop_ro(
          "cached",
          [](Kernel& self) {
            self.compile();
            return self.source().compile().object.cached;
          },
          "True when the object was in the cache already; compiles first.")
      .def_prop_ro(
          "path",
          [](Kernel& self) {
            self.compile();
            return self.source().compile().object.path;
          },
          "The shared object; compiles first.")
      .def_prop_ro("functions",
                   [](const Kernel& self) {
                     std::vector<std::string> declarations;
                     for (const Function& function : self.source().functions())
                       declarations.push_back(function.declaration());
                     return declarations;
                   })
      .def("__getitem__", &Kernel::pick)
      .def("__getattr__",
           [](const Kernel& self, const std::string& name) -> nb::object {
             if (name == "__name__" && self.callable()) return nb::cast(self.function().name);
             if (name.starts_with("__")) {
               PyErr_SetString(PyExc_AttributeError, name.c_str());
               throw nb::python_error();
             }
             return nb::cast(self.pick(name));
           })
      .def("__repr__", [](const Kernel& self) {
        std::string text = "<graft kernel";
        for (const Function& function : self.source().functions()) text += " " + function.declaration();
        return text + ">";
      });
}

}  // namespace graft::bindings
