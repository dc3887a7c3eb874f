// Replaces the rdma transport in builds without the headers of libibverbs.
#include "engine/transport/rdma/rdma.h"

namespace ringside {
namespace {

Error built_without() {
  return {ErrorCode::Unsupported, "this ringside was built without RDMA",
          "install libibverbs-dev (rdma-core) and build it again"};
}

}  // namespace

Result<std::unique_ptr<TransportState>> open_rdma(const LocalSite& /*here*/) {
  return built_without();
}
Result<std::unique_ptr<RecvEnd>> make_rdma_recv_end(Joint /*joint*/) { return built_without(); }
Result<std::unique_ptr<SendEnd>> make_rdma_send_end(Joint /*joint*/) { return built_without(); }

}  // namespace ringside
