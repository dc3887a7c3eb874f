#include "engine/cuda/nccl_executor.h"

#include <fmt/format.h>

#include <atomic>
#include <cstring>
#include <utility>
#include <vector>

#include "engine/runtime/bootstrap/bootstrap.h"
#include "engine/runtime/calls/failure.h"
#include "engine/runtime/host/wait.h"
#include "engine/runtime/whole_call_executor.h"

namespace ringside {
namespace {

Status check_nccl(const NcclLibrary& library, NcclLibrary::Code code, const char* what) {
  if (code == NcclLibrary::kSuccess) return {};
  return Error{ErrorCode::System, fmt::format("{}: {}", what, library.get_error_string(code)),
               "NCCL_DEBUG=INFO logs more"};
}

class NcclExecutor final : public WholeCallExecutor {
 public:
  NcclExecutor(const NcclLibrary& library, NcclStream stream, const ExecutorSetup& setup,
               NcclLibrary::Comm comm)
      : WholeCallExecutor(setup, "nccl"),
        library_(library),
        stream_(std::move(stream)),
        comm_(comm) {
    wait_.deadline = setup.op_timeout;
    wait_.clock = &setup.bootstrap.clock();
  }
  NcclExecutor(const NcclExecutor&) = delete;
  NcclExecutor& operator=(const NcclExecutor&) = delete;
  ~NcclExecutor() override {
    if (comm_ != nullptr) static_cast<void>(library_.comm_destroy(comm_));
  }

  [[nodiscard]] Result<Choice> choose(const CollectiveCall& call) const override {
    switch (call.collective) {
      case Collective::AllReduce:
      case Collective::Broadcast:
      case Collective::Reduce:
      case Collective::AllGather:
      case Collective::ReduceScatter:
        break;
      default:
        return Error{ErrorCode::Unsupported, fmt::format("{} by NCCL", to_string(call.collective)),
                     "give all_reduce, broadcast, reduce, all_gather or reduce_scatter"};
    }
    if (is_reduction(call.collective) && call.op == RedOp::PreMulSum) {
      return Error{ErrorCode::Unsupported, "mulsum by NCCL", "give another operation"};
    }
    return choice_of(call);
  }

  void run(CallPlan& /*plan*/, const CollectiveCall& call, std::uint32_t /*sequence*/) override {
    Status done = check_nccl(library_, enqueue(call), "NCCL");
    if (done) done = wait();
    if (done) return;
    setup_.failure.set(done.error());
    // Ends the kernels on this rank; the communicator notifies the other ranks of the failure.
    if (comm_ != nullptr) static_cast<void>(library_.comm_abort(std::exchange(comm_, nullptr)));
  }
  void abort() noexcept override { is_aborted_.store(true, std::memory_order_relaxed); }

 private:
  NcclLibrary::Code enqueue(const CollectiveCall& call) {
    const auto count = static_cast<std::size_t>(call.count);
    const int type = static_cast<int>(call.type);
    const int op = static_cast<int>(call.op);
    const int root = to_int(call.root);
    switch (call.collective) {
      case Collective::Broadcast:
        return library_.broadcast(call.input, call.output, count, type, root, comm_,
                                  stream_.stream);
      case Collective::Reduce:
        return library_.reduce(call.input, call.output, count, type, op, root, comm_,
                               stream_.stream);
      case Collective::AllGather:
        return library_.all_gather(call.input, call.output, count, type, comm_, stream_.stream);
      case Collective::ReduceScatter:
        return library_.reduce_scatter(call.input, call.output, count, type, op, comm_,
                                       stream_.stream);
      default:
        return library_.all_reduce(call.input, call.output, count, type, op, comm_, stream_.stream);
    }
  }

  Status wait() {
    Waiter waiter(wait_);
    for (;;) {
      RINGSIDE_TRY(const bool is_idle, stream_.is_idle());
      if (is_idle) return {};
      if (is_aborted_.load(std::memory_order_relaxed)) {
        return Error{ErrorCode::Aborted, "the call by NCCL was stopped"};
      }
      NcclLibrary::Code error = NcclLibrary::kSuccess;
      switch (waiter.pause()) {
        case Waiter::Advice::LookAgain:
          break;
        case Waiter::Advice::AskAboutPeer:
          RINGSIDE_TRY(check_nccl(library_, library_.comm_get_async_error(comm_, &error),
                                  "ncclCommGetAsyncError"));
          if (error == NcclLibrary::kInProgress) break;
          RINGSIDE_TRY(check_nccl(library_, error, "NCCL"));
          break;
        case Waiter::Advice::GiveUp:
          return Error{ErrorCode::Timeout,
                       fmt::format("a call by NCCL did not end within {} s",
                                   Seconds(wait_.deadline).count()),
                       "look for a rank that has not made the call, or allow more time"};
      }
    }
  }

  const NcclLibrary& library_;
  const NcclStream stream_;
  NcclLibrary::Comm comm_;  ///< null: aborted
  WaitPolicy wait_;
  std::atomic<bool> is_aborted_{false};
};

}  // namespace

Result<std::unique_ptr<Executor>> make_nccl_executor(const NcclLibrary& library,
                                                     const NcclStream& stream,
                                                     const ExecutorSetup& setup) {
  const CallSettings& settings = setup.settings;
  if (settings.algorithm || settings.protocol || settings.nchannels != 0 ||
      settings.slot.value != 0) {
    return Error{ErrorCode::InvalidArgument, "settings for calls that NCCL runs",
                 "set NCCL's variables instead: NCCL_ALGO, NCCL_PROTO, NCCL_MAX_NCHANNELS"};
  }
  const int me = to_int(setup.bootstrap.rank());
  NcclLibrary::UniqueId id;
  if (me == 0) {
    RINGSIDE_TRY(check_nccl(library, library.get_unique_id(&id), "ncclGetUniqueId"));
  }
  RINGSIDE_TRY(const std::vector<std::byte> all,
               setup.bootstrap.all_gather(std::as_bytes(std::span(&id, 1)), setup.deadline));
  std::memcpy(&id, all.data(), sizeof id);
  NcclLibrary::Comm comm = nullptr;
  RINGSIDE_TRY(check_nccl(library, library.comm_init_rank(&comm, setup.bootstrap.nranks(), id, me),
                          "ncclCommInitRank"));
  return std::unique_ptr<Executor>(std::make_unique<NcclExecutor>(library, stream, setup, comm));
}

}  // namespace ringside
