#include "diag/hangdetect/readers/op_name.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <utility>

#include "diag/logparse/cursor.h"

namespace ringside::hang {
namespace {

struct OpName {
  std::string_view letters;  ///< the name without case, `_` and trailing variants
  Op op;
};

// A name precedes each name that it starts with: "reducescatter" precedes "reduce".
constexpr std::array<OpName, 23> kOps = {{
    {"allreducebarrier", Op::Barrier},
    {"allreduce", Op::AllReduce},
    {"broadcast", Op::Broadcast},
    {"reducescatter", Op::ReduceScatter},
    {"reduce", Op::Reduce},
    {"allgather", Op::AllGather},
    {"alltoall", Op::AllToAll},
    {"gather", Op::Gather},
    {"scatter", Op::Scatter},
    {"barrier", Op::Barrier},
    {"monitoredbarrier", Op::Barrier},
    {"send", Op::Send},
    {"recv", Op::Recv},
    {"receive", Op::Recv},
    {"isend", Op::Send},
    {"ssend", Op::Send},
    {"issend", Op::Send},
    {"bsend", Op::Send},
    {"rsend", Op::Send},
    {"irecv", Op::Recv},
    {"coalesced", Op::Coalesced},
    {"groupend", Op::Coalesced},
    {"bcast", Op::Broadcast},
}};

int number_at(std::string_view text) {
  int value = -1;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc{} && end != text.data() ? value : -1;
}

}  // namespace

Op op_of(std::string_view name) {
  std::string letters;
  for (const char c : name) {
    if (c != '_' && c != '-' && c != ' ') {
      letters += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    }
  }
  // MPI's own functions, and their names for a profiler.
  for (const std::string_view prefix : {"pmpi", "mpi"}) {
    if (std::string_view(letters).starts_with(prefix)) letters.erase(0, prefix.size());
  }
  const auto found = std::find_if(kOps.begin(), kOps.end(), [&](const OpName& known) {
    return letters.starts_with(known.letters);
  });
  return found == kOps.end() ? Op::Other : found->op;
}

OpText parse_op(std::string_view profiling_name) {
  OpText text;
  const std::size_t colon = profiling_name.find(':');
  if (colon != std::string_view::npos) text.backend = profiling_name.substr(0, colon);
  std::string_view rest =
      colon == std::string_view::npos ? profiling_name : profiling_name.substr(colon + 1);
  const std::size_t blank = rest.find(' ');
  text.name = rest.substr(0, blank);
  text.op = op_of(text.name);
  if (blank == std::string_view::npos) return text;
  const std::string_view peers = rest.substr(blank + 1);
  if (const std::size_t to = peers.find("->"); to != std::string_view::npos) {
    text.source = number_at(logs::trimmed(peers.substr(0, to)));
    text.target = number_at(logs::trimmed(peers.substr(to + 2)));
  } else if (const std::size_t from = peers.find("<-"); from != std::string_view::npos) {
    text.target = number_at(logs::trimmed(peers.substr(0, from)));
    text.source = number_at(logs::trimmed(peers.substr(from + 2)));
  }
  return text;
}

const char* to_string(Op op) {
  switch (op) {
    case Op::AllReduce:
      return "all_reduce";
    case Op::Broadcast:
      return "broadcast";
    case Op::Reduce:
      return "reduce";
    case Op::AllGather:
      return "all_gather";
    case Op::ReduceScatter:
      return "reduce_scatter";
    case Op::AllToAll:
      return "all_to_all";
    case Op::Gather:
      return "gather";
    case Op::Scatter:
      return "scatter";
    case Op::Barrier:
      return "barrier";
    case Op::Send:
      return "send";
    case Op::Recv:
      return "recv";
    case Op::Coalesced:
      return "coalesced";
    case Op::Other:
      break;
  }
  return "call";
}

bool is_like_nccl(std::string_view backend) {
  constexpr std::array<std::string_view, 8> kAlike = {"nccl",  "nccl2", "ncclx", "rccl",
                                                      "rcclx", "mccl",  "hccl",  "xccl"};
  return std::find(kAlike.begin(), kAlike.end(), backend) != kAlike.end();
}

bool has_root(Op op) {
  return op == Op::Broadcast || op == Op::Reduce || op == Op::Gather || op == Op::Scatter;
}

bool needs_everybody(Op op) {
  return op == Op::AllReduce || op == Op::AllGather || op == Op::ReduceScatter ||
         op == Op::AllToAll || op == Op::Barrier;
}

}  // namespace ringside::hang
