#include "engine/cuda/nccl_library.h"

#include <dlfcn.h>
#include <fmt/format.h>

namespace ringside {

Result<NcclLibrary> NcclLibrary::open(const std::string& name) {
  void* const handle = ::dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    return Error{ErrorCode::Unsupported, fmt::format("no NCCL: {}", ::dlerror()),
                 "install libnccl2, or name its folder in LD_LIBRARY_PATH"};
  }
  NcclLibrary library;
  Status status;
  const auto find = [&](const char* symbol, auto& function) {
    function =
        reinterpret_cast<std::remove_reference_t<decltype(function)>>(::dlsym(handle, symbol));
    if (function != nullptr || !status) return;
    status = Error{ErrorCode::Unsupported, fmt::format("{} has no {}", name, symbol),
                   "use NCCL 2.18 or newer"};
  };
  find("ncclGetVersion", library.get_version);
  find("ncclGetUniqueId", library.get_unique_id);
  find("ncclCommInitRank", library.comm_init_rank);
  find("ncclCommDestroy", library.comm_destroy);
  find("ncclCommAbort", library.comm_abort);
  find("ncclCommGetAsyncError", library.comm_get_async_error);
  find("ncclGetErrorString", library.get_error_string);
  find("ncclAllReduce", library.all_reduce);
  find("ncclBroadcast", library.broadcast);
  find("ncclReduce", library.reduce);
  find("ncclAllGather", library.all_gather);
  find("ncclReduceScatter", library.reduce_scatter);
  RINGSIDE_TRY(status);
  return library;
}

}  // namespace ringside
