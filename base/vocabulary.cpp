#include "base/vocabulary.h"

#include <fmt/format.h>

#include <array>

#include "base/suggest.h"

namespace ringside {
namespace {

// Each table is indexed by the enumerator's value.
constexpr std::array<std::string_view, kCollectiveCount> kCollectives{
    "broadcast", "reduce", "all_gather", "reduce_scatter", "all_reduce", "send_recv",
    "send",      "recv",   "all_to_all", "scatter",        "gather",     "all_gather_v"};
constexpr std::array<std::string_view, 3> kProtocols{"ll", "ll128", "simple"};
// NCCL's names, in the same order
constexpr std::array<std::string_view, kCollectiveCount> kNcclCollectives{
    "Broadcast", "Reduce", "AllGather", "ReduceScatter", "AllReduce", "SendRecv",
    "Send",      "Recv",   "AlltoAll",  "Scatter",       "Gather",    "AllGatherV"};
constexpr std::array<std::string_view, 3> kNcclProtocols{"LL", "LL128", "Simple"};
// nccl-tests' spellings
constexpr std::array<std::string_view, 12> kDataTypes{"int8",   "uint8",    "int32",  "uint32",
                                                      "int64",  "uint64",   "half",   "float",
                                                      "double", "bfloat16", "f8e4m3", "f8e5m2"};
constexpr std::array<std::uint64_t, 12> kDataTypeSizes{1, 1, 4, 4, 8, 8, 2, 4, 8, 2, 1, 1};
constexpr std::array<std::string_view, 6> kRedOps{"sum", "prod", "max", "min", "avg", "mulsum"};
constexpr std::array<std::string_view, 9> kPrimitives{"copy",
                                                      "send",
                                                      "copy_send",
                                                      "recv",
                                                      "recv_copy_send",
                                                      "recv_reduce_send",
                                                      "recv_reduce_copy",
                                                      "recv_reduce_copy_send",
                                                      "recv_send"};

constexpr auto kAlgorithmNames = [] {
  std::array<std::string_view, kAlgorithmCount> names;
  for (std::size_t i = 0; i < names.size(); ++i) names[i] = kAlgorithmFacts[i].name;
  return names;
}();
constexpr auto kNcclAlgorithmNames = [] {
  std::array<std::string_view, kAlgorithmCount> names;
  for (std::size_t i = 0; i < names.size(); ++i) names[i] = kAlgorithmFacts[i].nccl_name;
  return names;
}();

template <typename Enum, std::size_t N>
const char* name_of(Enum value, const std::array<std::string_view, N>& names) {
  const auto index = static_cast<std::size_t>(value);
  RINGSIDE_ASSERT(index < N, "enumerator {} of {}", index, N);
  return names[index].data();
}

template <typename Enum, std::size_t N>
Result<Enum> parse_name(std::string_view text, std::string_view what,
                        const std::array<std::string_view, N>& names) {
  for (std::size_t i = 0; i < N; ++i) {
    if (names[i] == text) return static_cast<Enum>(i);
  }
  if (text.empty()) {
    return Error{ErrorCode::InvalidArgument, fmt::format("no {} given", what),
                 suggestion("", names)};
  }
  return Error{ErrorCode::InvalidArgument, fmt::format("unknown {} '{}'", what, text),
               suggestion(text, names)};
}

}  // namespace

const char* to_string(Collective collective) { return name_of(collective, kCollectives); }
const char* to_string(Algorithm algorithm) { return name_of(algorithm, kAlgorithmNames); }
const char* to_string(Protocol protocol) { return name_of(protocol, kProtocols); }
const char* to_string(DataType type) { return name_of(type, kDataTypes); }
const char* to_string(RedOp op) { return name_of(op, kRedOps); }
const char* to_string(Primitive primitive) { return name_of(primitive, kPrimitives); }

const char* nccl_name(Collective collective) { return name_of(collective, kNcclCollectives); }
const char* nccl_name(Algorithm algorithm) { return name_of(algorithm, kNcclAlgorithmNames); }
const char* nccl_name(Protocol protocol) { return name_of(protocol, kNcclProtocols); }

Result<Collective> parse_collective(std::string_view text) {
  return parse_name<Collective>(text, "collective", kCollectives);
}
Result<Algorithm> parse_algorithm(std::string_view text) {
  return parse_name<Algorithm>(text, "algorithm", kAlgorithmNames);
}
Result<Protocol> parse_protocol(std::string_view text) {
  return parse_name<Protocol>(text, "protocol", kProtocols);
}
Result<DataType> parse_data_type(std::string_view text) {
  return parse_name<DataType>(text, "data type", kDataTypes);
}
Result<RedOp> parse_redop(std::string_view text) {
  return parse_name<RedOp>(text, "reduction", kRedOps);
}

Status check_algorithm(Collective collective, Algorithm algorithm) {
  if (has_algorithm(collective, algorithm)) return {};
  std::string known;
  for (const AlgorithmFacts& facts : kAlgorithmFacts) {
    if (!facts.collectives.contains(collective)) continue;
    known += fmt::format("{}{}", known.empty() ? "" : ", ", facts.name);
  }
  return Error{
      ErrorCode::Unsupported,
      fmt::format("no {} by the {} algorithm", to_string(collective), to_string(algorithm)),
      fmt::format("there is {}", known)};
}

std::span<const std::string_view> collective_names() { return kCollectives; }
std::span<const std::string_view> algorithm_names() { return kAlgorithmNames; }

Bytes size_of(DataType type) { return {kDataTypeSizes[static_cast<std::size_t>(type)]}; }

bool is_reduction(Collective collective) {
  return collective == Collective::AllReduce || collective == Collective::ReduceScatter ||
         collective == Collective::Reduce;
}

bool has_root(Collective collective) {
  return collective == Collective::Broadcast || collective == Collective::Reduce ||
         collective == Collective::Gather || collective == Collective::Scatter;
}

bool can_reduce(Algorithm algorithm, DataType type, RedOp op) {
  const Reductions reductions = facts_of(algorithm).reductions;
  if (reductions == Reductions::All) return true;
  if (reductions == Reductions::Unscaled) return op != RedOp::Avg && op != RedOp::PreMulSum;
  switch (type) {
    case DataType::Int32:
    case DataType::Uint32:
    case DataType::Int64:
    case DataType::Uint64:
    case DataType::Float16:
    case DataType::Bfloat16:
      return op == RedOp::Sum || op == RedOp::Min || op == RedOp::Max;
    case DataType::Float32:
    case DataType::Float64:
      return op == RedOp::Sum;
    default:
      return false;
  }
}

double busbw_factor(Collective collective, int ranks) {
  RINGSIDE_ASSERT(ranks >= 1, "{} ranks", ranks);
  const double n = ranks;
  switch (collective) {
    case Collective::AllReduce:
      return 2 * (n - 1) / n;
    case Collective::AllGather:
    case Collective::ReduceScatter:
    case Collective::AllToAll:
    case Collective::Scatter:
    case Collective::Gather:
    case Collective::AllGatherV:
      return (n - 1) / n;
    case Collective::Broadcast:
    case Collective::Reduce:
    case Collective::SendRecv:
    case Collective::Send:
    case Collective::Recv:
      return 1;
  }
  return 1;
}

}  // namespace ringside
