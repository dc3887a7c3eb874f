#include "engine/transport/rdma/verbs_library.h"

#include <dlfcn.h>
#include <fmt/format.h>

namespace ringside {
namespace {

struct LoadedVerbs {
  VerbsLibrary library;
  Status status;
};

template <typename Function>
void find_symbol(void* handle, const char* name, Function& function, Status& status) {
  function = reinterpret_cast<Function>(::dlsym(handle, name));
  if (function == nullptr && status) {
    status = Error{ErrorCode::Unsupported, fmt::format("libibverbs.so.1 has no {}", name),
                   "update rdma-core"};
  }
}

LoadedVerbs load_verbs() {
  LoadedVerbs loaded;
  void* const handle = ::dlopen("libibverbs.so.1", RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    loaded.status =
        Error{ErrorCode::Unsupported, fmt::format("no RDMA without libibverbs: {}", ::dlerror()),
              "install rdma-core (libibverbs1, ibverbs-providers)"};
    return loaded;
  }
  VerbsLibrary& library = loaded.library;
  const auto find = [&](const char* name, auto& function) {
    find_symbol(handle, name, function, loaded.status);
  };
  find("ibv_get_device_list", library.get_device_list);
  find("ibv_free_device_list", library.free_device_list);
  find("ibv_get_device_name", library.get_device_name);
  find("ibv_open_device", library.open_device);
  find("ibv_close_device", library.close_device);
  find("ibv_query_port", library.query_port);
  find("ibv_alloc_pd", library.alloc_pd);
  find("ibv_dealloc_pd", library.dealloc_pd);
  find("ibv_reg_mr", library.reg_mr);
  find("ibv_dereg_mr", library.dereg_mr);
  find("ibv_create_cq", library.create_cq);
  find("ibv_destroy_cq", library.destroy_cq);
  find("ibv_create_qp", library.create_qp);
  find("ibv_modify_qp", library.modify_qp);
  find("ibv_destroy_qp", library.destroy_qp);
  find("ibv_get_async_event", library.get_async_event);
  find("ibv_ack_async_event", library.ack_async_event);
  find("ibv_event_type_str", library.event_type_str);
  Status may_lack;
  find_symbol(handle, "ibv_reg_mr_iova2", library.reg_mr_iova2, may_lack);
  find_symbol(handle, "ibv_reg_dmabuf_mr", library.reg_dmabuf_mr, may_lack);
  return loaded;
}

}  // namespace

Result<const VerbsLibrary*> verbs_library() {
  static const LoadedVerbs kLoaded = load_verbs();
  if (!kLoaded.status) return kLoaded.status.error();
  return &kLoaded.library;
}

}  // namespace ringside
