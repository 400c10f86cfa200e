// The part of DLPack's C interface that kernels are called through: the common memory layout of tensors of
// all frameworks. Names and layouts are those of the specification (dmlc.github.io/dlpack, version 1.3); only
// what is used is declared.
#pragma once

#include <cstdint>

namespace graft::kernels {

enum DlDeviceType : int32_t { kDlCpu = 1, kDlCuda = 2, kDlCudaHost = 3 };

struct DlDevice {
  int32_t type;
  int32_t id;
};

enum DlTypeCode : uint8_t {
  kDlInt = 0,
  kDlUInt = 1,
  kDlFloat = 2,
  kDlBfloat = 4,
  kDlComplex = 5,
  kDlBool = 6
};

struct DlDataType {
  uint8_t code;
  uint8_t bits;
  uint16_t lanes;
  friend bool operator==(const DlDataType&, const DlDataType&) = default;
};

struct DlTensor {
  void* data;
  DlDevice device;
  int32_t ndim;
  DlDataType dtype;
  int64_t* shape;
  int64_t* strides;  // in elements; nullptr: contiguous in row-major order
  uint64_t byte_offset;
};

// What a "dltensor" capsule holds.
struct DlManagedTensor {
  DlTensor tensor;
  void* manager_context;
  void (*deleter)(DlManagedTensor* self);
};

struct DlExchangeHeader {
  uint32_t major;
  uint32_t minor;
  DlExchangeHeader* previous;
};

// What the capsule "dlpack_exchange_api" of a tensor type points to. A consumer that knows major version 1
// may use it.
struct DlExchangeApi {
  DlExchangeHeader header;
  void* managed_tensor_allocator;
  void* managed_tensor_from_object;
  void* managed_tensor_to_object;
  // Fills `out` with a view of the tensor; no ownership moves. May be null. 0, or -1 with a Python exception
  // set.
  int (*tensor_from_object)(void* object, DlTensor* out);
  int (*current_work_stream)(int32_t device_type, int32_t device_id, void** out_stream);
};

}  // namespace graft::kernels
