#include "core.h"

namespace graft::bindings {

void bind_kernels(nanobind::module_& module) {
  (void)module;
}

}  // namespace graft::bindings
