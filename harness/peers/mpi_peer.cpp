#include <fmt/format.h>
#include <mpi.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <numeric>

#include "base/vocabulary.h"
#include "harness/peers/peer.h"

/// Calls by MPI. Ranks are those of MPI_COMM_WORLD, which mpirun has started.
namespace ringside {
namespace {

MPI_Datatype type_of(DataType type) {
  switch (type) {
    case DataType::Int8:
      return MPI_INT8_T;
    case DataType::Uint8:
      return MPI_UINT8_T;
    case DataType::Int32:
      return MPI_INT32_T;
    case DataType::Uint32:
      return MPI_UINT32_T;
    case DataType::Int64:
      return MPI_INT64_T;
    case DataType::Uint64:
      return MPI_UINT64_T;
    case DataType::Float32:
      return MPI_FLOAT;
    case DataType::Float64:
      return MPI_DOUBLE;
    default:
      return MPI_DATATYPE_NULL;
  }
}

MPI_Op op_of(RedOp op) {
  switch (op) {
    case RedOp::Sum:
      return MPI_SUM;
    case RedOp::Prod:
      return MPI_PROD;
    case RedOp::Max:
      return MPI_MAX;
    case RedOp::Min:
      return MPI_MIN;
    default:
      return MPI_OP_NULL;
  }
}

Status checked(int code, const char* what) {
  if (code == MPI_SUCCESS) return {};
  std::array<char, MPI_MAX_ERROR_STRING> text{};
  int length = 0;
  MPI_Error_string(code, text.data(), &length);
  return Error{ErrorCode::System, fmt::format("{}: {}", what, text.data())};
}

/// Initialises MPI when the plugin is loaded by a rank of mpirun: MPI fails where ringside has asked PMIx before.
[[gnu::constructor]] void start_early() {
  if (std::getenv("OMPI_COMM_WORLD_RANK") != nullptr) MPI_Init(nullptr, nullptr);
}

class MpiLibrary final : public PeerLibrary {
 public:
  MpiLibrary(int rank, int nranks) : rank_(rank), nranks_(nranks) {}
  MpiLibrary(const MpiLibrary&) = delete;
  MpiLibrary& operator=(const MpiLibrary&) = delete;
  ~MpiLibrary() override { MPI_Finalize(); }

  [[nodiscard]] std::string name() const override {
    std::array<char, MPI_MAX_LIBRARY_VERSION_STRING> text{};
    int length = 0;
    MPI_Get_library_version(text.data(), &length);
    const std::string whole = text.data();
    return whole.substr(0, whole.find_first_of(",\n"));
  }

  [[nodiscard]] Status check(const CollectiveCall& call) const override {
    if (type_of(call.type) == MPI_DATATYPE_NULL) {
      return Error{ErrorCode::Unsupported, fmt::format("{} by MPI", to_string(call.type)),
                   "give int8, uint8, int32, uint32, int64, uint64, float or double"};
    }
    if (is_reduction(call.collective) && op_of(call.op) == MPI_OP_NULL) {
      return Error{ErrorCode::Unsupported, fmt::format("{} by MPI", to_string(call.op)),
                   "give sum, prod, max or min"};
    }
    // MPI counts elements, and the places of blocks, by int.
    constexpr std::int64_t kMost = std::numeric_limits<int>::max();
    const std::int64_t elements = std::accumulate(
        call.counts.begin(), call.counts.end(), call.counts.empty() ? call.count : std::int64_t{0});
    if (elements > kMost) {
      return Error{ErrorCode::Unsupported, fmt::format("{} elements in one call by MPI", elements),
                   fmt::format("give a size of at most {} elements", kMost)};
    }
    return {};
  }

  Status run(const CollectiveCall& call) override {
    return checked(start(call), to_string(call.collective));
  }

 private:
  int start(const CollectiveCall& call) {
    const void* const in = call.input;
    void* const out = call.output;
    const int count = static_cast<int>(call.count);
    const int root = to_int(call.root);
    MPI_Datatype type = type_of(call.type);
    MPI_Op op = op_of(call.op);
    MPI_Comm world = MPI_COMM_WORLD;
    switch (call.collective) {
      case Collective::AllReduce:
        return MPI_Allreduce(in, out, count, type, op, world);
      case Collective::Reduce:
        return MPI_Reduce(in, out, count, type, op, root, world);
      case Collective::ReduceScatter:
        return MPI_Reduce_scatter_block(in, out, count, type, op, world);
      case Collective::AllGather:
        return MPI_Allgather(in, count, type, out, count, type, world);
      case Collective::AllToAll:
        return MPI_Alltoall(in, count, type, out, count, type, world);
      case Collective::Gather:
        return MPI_Gather(in, count, type, out, count, type, root, world);
      case Collective::Scatter:
        return MPI_Scatter(in, count, type, out, count, type, root, world);
      case Collective::Broadcast:
        // MPI broadcasts in place: the root's output is a copy.
        if (rank_ == root) {
          std::memcpy(out, in, static_cast<std::size_t>(call.count) * size_of(call.type).value);
        }
        return MPI_Bcast(out, count, type, root, world);
      case Collective::AllGatherV: {
        const std::vector<int> counts(call.counts.begin(), call.counts.end());
        std::vector<int> places(counts.size());
        std::exclusive_scan(counts.begin(), counts.end(), places.begin(), 0);
        return MPI_Allgatherv(in, counts[static_cast<std::size_t>(rank_)], type, out, counts.data(),
                              places.data(), type, world);
      }
      default: {
        const int next = (rank_ + 1) % nranks_;
        const int previous = (rank_ + nranks_ - 1) % nranks_;
        return MPI_Sendrecv(in, count, type, next, 0, out, count, type, previous, 0, world,
                            MPI_STATUS_IGNORE);
      }
    }
  }

  const int rank_;
  const int nranks_;
};

}  // namespace
}  // namespace ringside

extern "C" [[gnu::visibility("default")]] ringside::Result<std::unique_ptr<ringside::PeerLibrary>>
ringside_make_peer(const ringside::PeerSetup& setup) {
  using namespace ringside;
  int is_started = 0;
  MPI_Initialized(&is_started);
  if (is_started == 0) RINGSIDE_TRY(checked(MPI_Init(nullptr, nullptr), "MPI_Init"));
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  int rank = 0;
  int nranks = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &nranks);
  if (rank != setup.rank || nranks != setup.nranks) {
    MPI_Finalize();
    return Error{ErrorCode::System,
                 fmt::format("rank {} of {} is rank {} of {} for MPI", setup.rank, setup.nranks,
                             rank, nranks),
                 "start the ranks by the mpirun of this MPI"};
  }
  return std::unique_ptr<PeerLibrary>(std::make_unique<MpiLibrary>(rank, nranks));
}
