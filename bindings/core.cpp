#include "core.h"

#include "base/version.h"

namespace graft::bindings {

void raise(const Error& error) {
  std::string text = error.to_string();
  if (error.kind == ErrorKind::kInput) throw nanobind::value_error(text.c_str());
  PyErr_SetString(PyExc_RuntimeError, text.c_str());
  throw nanobind::python_error();
}

}  // namespace graft::bindings

NB_MODULE(_core, module) {
  module.doc() = "The native part of Graft.";
  module.attr("__version__") = graft::kVersion;
  graft::bindings::bind_doorbell(module);
  graft::bindings::bind_kernels(module);
}
