#pragma once

#include <ringside/communicator.h>

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "python/src/base.h"
#include "python/src/messages.h"
#include "python/src/work.h"

namespace ringside::pytorch {

/// A process group for tensors of the host, over ringside's engine.
///
/// Calls run on the group's thread, in the order in which they were made; messages of send and recv do not wait for
/// them, nor for each other, except those of the same direction, peer and tag.
class Backend : public BackendBase {
 public:
  using Tensors = std::vector<at::Tensor>;
  struct Settings {
    std::chrono::milliseconds join_limit;  ///< for a rank to come to the group
    std::chrono::milliseconds call_limit;  ///< a call in which nothing moves for so long fails
    std::string name;                      ///< of the group, in dumps
    std::string description;               ///< likewise
    std::vector<int> job_ranks = {};       ///< as RankNames
  };

  /// Waits for all ranks of the group.
  /// errors  throws std::runtime_error
  Backend(StorePtr store, int rank, int size, const Settings& settings);
  ~Backend() override;

  const std::string getBackendName() const override { return "ringside"; }

  WorkPtr broadcast(Tensors& tensors, const c10d::BroadcastOptions& options) override;
  WorkPtr allreduce(Tensors& tensors, const c10d::AllreduceOptions& options) override;
  WorkPtr allreduce_coalesced(Tensors& tensors,
                              const c10d::AllreduceCoalescedOptions& options) override;
  WorkPtr reduce(Tensors& tensors, const c10d::ReduceOptions& options) override;
  WorkPtr allgather(std::vector<Tensors>& outputs, Tensors& inputs,
                    const c10d::AllgatherOptions& options) override;
  WorkPtr allgather_coalesced(std::vector<Tensors>& outputs, Tensors& inputs,
                              const c10d::AllgatherOptions& options) override;
  WorkPtr _allgather_base(at::Tensor& output, at::Tensor& input,
                          const c10d::AllgatherOptions& options) override;
  WorkPtr gather(std::vector<Tensors>& outputs, Tensors& inputs,
                 const c10d::GatherOptions& options) override;
  WorkPtr scatter(Tensors& outputs, std::vector<Tensors>& inputs,
                  const c10d::ScatterOptions& options) override;
  WorkPtr reduce_scatter(Tensors& outputs, std::vector<Tensors>& inputs,
                         const c10d::ReduceScatterOptions& options) override;
  WorkPtr _reduce_scatter_base(at::Tensor& output, at::Tensor& input,
                               const c10d::ReduceScatterOptions& options) override;
  WorkPtr alltoall_base(at::Tensor& output, at::Tensor& input, std::vector<int64_t>& output_splits,
                        std::vector<int64_t>& input_splits,
                        const c10d::AllToAllOptions& options) override;
  WorkPtr alltoall(Tensors& outputs, Tensors& inputs,
                   const c10d::AllToAllOptions& options) override;
#if TORCH_VERSION_MAJOR >= 2
  WorkPtr allgather_into_tensor_coalesced(Tensors& outputs, Tensors& inputs,
                                          const c10d::AllgatherOptions& options) override;
  WorkPtr reduce_scatter_tensor_coalesced(Tensors& outputs, Tensors& inputs,
                                          const c10d::ReduceScatterOptions& options) override;
#endif
  WorkPtr send(Tensors& tensors, int peer, int tag) override;
  WorkPtr recv(Tensors& tensors, int peer, int tag) override;
  WorkPtr recvAnysource(Tensors& tensors, int tag) override;
  WorkPtr barrier(const c10d::BarrierOptions& options) override;
  void monitoredBarrier(const c10d::BarrierOptions& options, bool names_all) override;

  void setSequenceNumberForGroup() override {}
  uint64_t getSequenceNumberForGroup() override { return calls_; }

  /// Leaves the group in an orderly way, or with a reason that all ranks report. Later calls fail.
  void leave(const std::string& why = {});

 private:
  /// One call of a collective of this group, before it begins.
  struct Draft {
    c10d::OpType type = c10d::OpType::UNKNOWN;
    const char* name = "";
    std::vector<Call> calls = {};
    Tensors outputs = {};                                        ///< of the user
    Tensors kept = {};                                           ///< used by the calls
    std::vector<std::pair<at::Tensor, at::Tensor>> copies = {};  ///< afterwards: to, from
  };
  at::Tensor readable(Draft& draft, const at::Tensor& input) const;
  at::Tensor writable(Draft& draft, const at::Tensor& output) const;
  at::Tensor changeable(Draft& draft, const at::Tensor& tensor) const;
  void add_messages(Draft& draft, const Tensors& outputs, const Tensors& inputs) const;
  void add_gather(Draft& draft, Collective collective, const Tensors& outputs,
                  const at::Tensor& input, int root) const;
  void add_reduce_scatter(Draft& draft, const at::Tensor& output, const Tensors& inputs,
                          const c10d::ReduceOp& op) const;
  WorkPtr start(Draft draft);
  Message message(Tensors& tensors, int peer, int tag, bool is_send);
  std::shared_ptr<Communicator> communicator() const;

  const StorePtr store_;
  const std::chrono::milliseconds limit_;
  const std::string name_;
  const std::shared_ptr<const RankNames> names_;
  std::shared_ptr<Communicator> communicator_;
  std::unique_ptr<Messages> messages_;
  std::atomic<uint64_t> calls_{0};
  int barriers_ = 0;
};

}  // namespace ringside::pytorch
