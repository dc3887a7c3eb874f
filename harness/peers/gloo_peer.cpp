#include <fmt/format.h>
#include <gloo/allgather.h>
#include <gloo/allgatherv.h>
#include <gloo/allreduce.h>
#include <gloo/allreduce_halving_doubling.h>
#include <gloo/allreduce_ring_chunked.h>
#include <gloo/alltoall.h>
#include <gloo/barrier_all_to_all.h>
#include <gloo/broadcast.h>
#include <gloo/config.h>
#include <gloo/gather.h>
#include <gloo/math.h>
#include <gloo/reduce.h>
#include <gloo/rendezvous/context.h>
#include <gloo/rendezvous/file_store.h>
#include <gloo/scatter.h>
#include <gloo/transport/tcp/device.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <exception>
#include <map>
#include <tuple>

#include "base/vocabulary.h"
#include "harness/peers/peer.h"

/// Calls by Gloo, over TCP on loopback: it has no shared memory.
namespace ringside {
namespace {

using Clock = std::chrono::steady_clock;
using GlooContext = std::shared_ptr<gloo::rendezvous::Context>;
using Reduction = void (*)(void*, const void*, const void*, std::size_t);

template <typename T>
Reduction reduction_of(RedOp op) {
  switch (op) {
    case RedOp::Prod:
      return &gloo::product<T>;
    case RedOp::Max:
      return &gloo::max<T>;
    case RedOp::Min:
      return &gloo::min<T>;
    default:
      return &gloo::sum<T>;
  }
}

/// An all-reduce of sums by the fastest of Gloo's algorithms, which is found at the first calls. Two of them are bound to
/// a buffer and reduce in place: the input is copied there.
template <typename T>
class AllReduce {
 public:
  AllReduce(const GlooContext& context, T* output, std::size_t count)
      : context_(context),
        output_(output),
        count_(count),
        halving_(context, {output}, static_cast<int>(count)),
        ring_(context, {output}, static_cast<int>(count)) {}

  void run(const T* input) {
    if (choice_ >= 0) return run(input, choice_);
    constexpr int kTries = 3;
    std::array<double, kAlgorithms> times{};
    for (int algorithm = 0; algorithm < kAlgorithms; ++algorithm) {
      run(input, algorithm);
      const auto begin = Clock::now();
      for (int i = 0; i < kTries; ++i) run(input, algorithm);
      times.at(static_cast<std::size_t>(algorithm)) =
          std::chrono::duration<double>(Clock::now() - begin).count();
    }
    // All ranks choose by the times of the slowest.
    gloo::AllreduceOptions slowest(context_);
    slowest.setOutput(times.data(), times.size());
    slowest.setReduceFunction(Reduction(&gloo::max<double>));
    gloo::allreduce(slowest);
    choice_ = static_cast<int>(std::min_element(times.begin(), times.end()) - times.begin());
    run(input, choice_);
  }

 private:
  static constexpr int kAlgorithms = 3;

  void run(const T* input, int algorithm) {
    if (algorithm == 0) {
      gloo::AllreduceOptions options(context_);
      options.setInput(const_cast<T*>(input), count_);
      options.setOutput(output_, count_);
      options.setReduceFunction(Reduction(&gloo::sum<T>));
      return gloo::allreduce(options);
    }
    std::copy_n(input, count_, output_);
    if (algorithm == 1) return halving_.run();
    ring_.run();
  }

  const GlooContext context_;
  T* const output_;
  const std::size_t count_;
  gloo::AllreduceHalvingDoubling<T> halving_;
  gloo::AllreduceRingChunked<T> ring_;
  int choice_ = -1;
};

class GlooLibrary final : public PeerLibrary {
 public:
  GlooLibrary(const PeerSetup& setup, GlooContext context)
      : rank_(setup.rank), nranks_(setup.nranks), context_(std::move(context)) {}
  GlooLibrary(const GlooLibrary&) = delete;
  GlooLibrary& operator=(const GlooLibrary&) = delete;
  ~GlooLibrary() override {
    // The rank that leaves first breaks the others' connections.
    try {
      gloo::BarrierAllToAll(context_).run();
    } catch (const std::exception&) {
      return;
    }
  }

  [[nodiscard]] std::string name() const override {
    return fmt::format("Gloo {}.{}.{} (tcp)", GLOO_VERSION_MAJOR, GLOO_VERSION_MINOR,
                       GLOO_VERSION_PATCH);
  }

  [[nodiscard]] Status check(const CollectiveCall& call) const override {
    if (call.collective == Collective::ReduceScatter || call.collective == Collective::SendRecv) {
      return Error{ErrorCode::Unsupported, fmt::format("{} by Gloo", to_string(call.collective)),
                   "give all_reduce, all_gather, all_gather_v, broadcast, reduce, all_to_all, "
                   "gather or scatter"};
    }
    if (is_reduction(call.collective) && (call.op == RedOp::Avg || call.op == RedOp::PreMulSum)) {
      return Error{ErrorCode::Unsupported, fmt::format("{} by Gloo", to_string(call.op)),
                   "give sum, prod, max or min"};
    }
    switch (call.type) {
      case DataType::Int8:
      case DataType::Uint8:
      case DataType::Int32:
      case DataType::Int64:
      case DataType::Uint64:
      case DataType::Float32:
      case DataType::Float64:
        return {};
      default:
        return Error{ErrorCode::Unsupported, fmt::format("{} by Gloo", to_string(call.type)),
                     "give int8, uint8, int32, int64, uint64, float or double"};
    }
  }

  Status run(const CollectiveCall& call) override {
    try {
      start(call);
    } catch (const std::exception& thrown) {
      return Error{ErrorCode::System,
                   fmt::format("{}: Gloo: {}", to_string(call.collective), thrown.what())};
    }
    return {};
  }

 private:
  void start(const CollectiveCall& call) {
    switch (call.type) {
      case DataType::Int8:
        return start_as<std::int8_t>(call);
      case DataType::Uint8:
        return start_as<std::uint8_t>(call);
      case DataType::Int32:
        return start_as<std::int32_t>(call);
      case DataType::Int64:
        return start_as<std::int64_t>(call);
      case DataType::Uint64:
        return start_as<std::uint64_t>(call);
      case DataType::Float64:
        return start_as<double>(call);
      default:
        return start_as<float>(call);
    }
  }

  template <typename T>
  void start_as(const CollectiveCall& call) {
    T* const in = static_cast<T*>(const_cast<void*>(call.input));
    T* const out = static_cast<T*>(call.output);
    const auto count = static_cast<std::size_t>(call.count);
    const auto all = count * static_cast<std::size_t>(nranks_);
    const int root = to_int(call.root);
    const bool is_root = rank_ == root;
    switch (call.collective) {
      case Collective::AllReduce: {
        if (call.op == RedOp::Sum) return all_reduce_sum(in, out, count);
        gloo::AllreduceOptions options(context_);
        options.setInput(in, count);
        options.setOutput(out, count);
        options.setReduceFunction(reduction_of<T>(call.op));
        return gloo::allreduce(options);
      }
      case Collective::Reduce: {
        // Gloo writes partial results into the output of every rank.
        if (!is_root) scratch_.resize(std::max(scratch_.size(), count * sizeof(T)));
        gloo::ReduceOptions options(context_);
        options.setInput(in, count);
        options.setOutput(is_root ? out : reinterpret_cast<T*>(scratch_.data()), count);
        options.setRoot(root);
        options.setReduceFunction(reduction_of<T>(call.op));
        return gloo::reduce(options);
      }
      case Collective::AllGather: {
        gloo::AllgatherOptions options(context_);
        options.setInput(in, count);
        options.setOutput(out, all);
        return gloo::allgather(options);
      }
      case Collective::AllGatherV: {
        gloo::AllgathervOptions options(context_);
        const std::vector<std::size_t> counts(call.counts.begin(), call.counts.end());
        options.setInput(in, counts[static_cast<std::size_t>(rank_)]);
        options.setOutput(out, counts);
        return gloo::allgatherv(options);
      }
      case Collective::AllToAll: {
        gloo::AlltoallOptions options(context_);
        options.setInput(in, all);
        options.setOutput(out, all);
        return gloo::alltoall(options);
      }
      case Collective::Gather: {
        gloo::GatherOptions options(context_);
        options.setInput(in, count);
        if (is_root) options.setOutput(out, all);
        options.setRoot(root);
        return gloo::gather(options);
      }
      case Collective::Scatter: {
        gloo::ScatterOptions options(context_);
        std::vector<T*> blocks;
        for (int rank = 0; is_root && rank < nranks_; ++rank) {
          blocks.push_back(in + static_cast<std::size_t>(rank) * count);
        }
        if (is_root) options.setInputs(blocks, count);
        options.setOutput(out, count);
        options.setRoot(root);
        return gloo::scatter(options);
      }
      default: {
        gloo::BroadcastOptions options(context_);
        if (is_root) options.setInput(in, count);
        options.setOutput(out, count);
        options.setRoot(root);
        return gloo::broadcast(options);
      }
    }
  }

  template <typename T>
  void all_reduce_sum(const T* in, T* out, std::size_t count) {
    static std::map<std::pair<T*, std::size_t>, std::unique_ptr<AllReduce<T>>> known;
    auto& one = known[{out, count}];
    if (!one) one = std::make_unique<AllReduce<T>>(context_, out, count);
    one->run(in);
  }

  const int rank_;
  const int nranks_;
  const GlooContext context_;
  std::vector<std::byte> scratch_;
};

}  // namespace
}  // namespace ringside

extern "C" [[gnu::visibility("default")]] ringside::Result<std::unique_ptr<ringside::PeerLibrary>>
ringside_make_peer(const ringside::PeerSetup& setup) {
  using namespace ringside;
  try {
    gloo::transport::tcp::attr where;
    where.iface = "lo";
    auto device = gloo::transport::tcp::CreateDevice(where);
    gloo::rendezvous::FileStore store(setup.folder);
    auto context = std::make_shared<gloo::rendezvous::Context>(setup.rank, setup.nranks);
    context->connectFullMesh(store, device);
    return std::unique_ptr<PeerLibrary>(std::make_unique<GlooLibrary>(setup, std::move(context)));
  } catch (const std::exception& thrown) {
    return Error{ErrorCode::System, fmt::format("Gloo: {}", thrown.what())};
  }
}
