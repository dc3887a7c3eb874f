#pragma once

#include <cstddef>
#include <string>

#include "base/result.h"

namespace ringside {

/// The NCCL functions that a benchmark compares with, from the libnccl that is found at run time.
///
/// source  nccl.h of 2.24: types, enumerators and results. DataType and RedOp have NCCL's numbers; float8 exists since
///         2.24
struct NcclLibrary {
  using Comm = void*;
  using Stream = void*;  ///< cudaStream_t
  using Code = int;      ///< ncclResult_t
  struct UniqueId {
    char bytes[128] = {};
  };
  static constexpr Code kSuccess = 0, kInProgress = 7;

  Code (*get_version)(int* version) = nullptr;
  Code (*get_unique_id)(UniqueId* id) = nullptr;
  Code (*comm_init_rank)(Comm* comm, int nranks, UniqueId id, int rank) = nullptr;
  Code (*comm_destroy)(Comm comm) = nullptr;
  Code (*comm_abort)(Comm comm) = nullptr;
  Code (*comm_get_async_error)(Comm comm, Code* error) = nullptr;
  const char* (*get_error_string)(Code code) = nullptr;
  Code (*all_reduce)(const void* from, void* to, std::size_t count, int type, int op, Comm comm,
                     Stream stream) = nullptr;
  Code (*broadcast)(const void* from, void* to, std::size_t count, int type, int root, Comm comm,
                    Stream stream) = nullptr;
  Code (*reduce)(const void* from, void* to, std::size_t count, int type, int op, int root,
                 Comm comm, Stream stream) = nullptr;
  Code (*all_gather)(const void* from, void* to, std::size_t count, int type, Comm comm,
                     Stream stream) = nullptr;
  Code (*reduce_scatter)(const void* from, void* to, std::size_t count, int type, int op, Comm comm,
                         Stream stream) = nullptr;

  /// Loads the library, which stays loaded until the process ends.
  /// errors  Unsupported: the library is not found, or lacks a function, which the error names
  static Result<NcclLibrary> open(const std::string& name = "libnccl.so.2");
};

}  // namespace ringside
