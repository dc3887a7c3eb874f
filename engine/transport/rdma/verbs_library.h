#pragma once

#include <infiniband/verbs.h>

#include "base/result.h"

namespace ringside {

/// The functions of libibverbs, which is loaded on first use: programs that never use RDMA neither need nor load it.
/// Inline functions of its header (ibv_post_send, ibv_poll_cq, ...) are called directly.
struct VerbsLibrary {
  decltype(&::ibv_get_device_list) get_device_list = nullptr;
  decltype(&::ibv_free_device_list) free_device_list = nullptr;
  decltype(&::ibv_get_device_name) get_device_name = nullptr;
  decltype(&::ibv_open_device) open_device = nullptr;
  decltype(&::ibv_close_device) close_device = nullptr;
  int (*query_port)(ibv_context* context, std::uint8_t port, void* attributes) = nullptr;
  decltype(&::ibv_alloc_pd) alloc_pd = nullptr;
  decltype(&::ibv_dealloc_pd) dealloc_pd = nullptr;
  ibv_mr* (*reg_mr)(ibv_pd* pd, void* address, std::size_t length, int access) = nullptr;
  /// Registers memory with access flags that an adapter may ignore; null: the library is too old.
  ibv_mr* (*reg_mr_iova2)(ibv_pd* pd, void* address, std::size_t length, std::uint64_t iova,
                          unsigned access) = nullptr;
  /// Registers a dma-buf; null: the library is too old.
  ibv_mr* (*reg_dmabuf_mr)(ibv_pd* pd, std::uint64_t offset, std::size_t length, std::uint64_t iova,
                           int fd, int access) = nullptr;
  decltype(&::ibv_dereg_mr) dereg_mr = nullptr;
  decltype(&::ibv_create_cq) create_cq = nullptr;
  decltype(&::ibv_destroy_cq) destroy_cq = nullptr;
  decltype(&::ibv_create_qp) create_qp = nullptr;
  decltype(&::ibv_modify_qp) modify_qp = nullptr;
  decltype(&::ibv_destroy_qp) destroy_qp = nullptr;
  decltype(&::ibv_get_async_event) get_async_event = nullptr;
  decltype(&::ibv_ack_async_event) ack_async_event = nullptr;
  decltype(&::ibv_event_type_str) event_type_str = nullptr;
};

/// Threads  any
/// Loads the library at the first call.
/// errors   Unsupported: it is missing or too old
Result<const VerbsLibrary*> verbs_library();

}  // namespace ringside
