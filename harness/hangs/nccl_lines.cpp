#include <fmt/format.h>

#include <algorithm>

#include "harness/hangs/hang_logs.h"

namespace ringside::hangs {
namespace {

const char* function_name(Op op) {
  switch (op) {
    case Op::AllReduce:
    case Op::Barrier:
      return "AllReduce";
    case Op::AllGather:
      return "AllGather";
    case Op::ReduceScatter:
      return "ReduceScatter";
    case Op::Broadcast:
      return "Broadcast";
    case Op::Reduce:
      return "Reduce";
    case Op::Send:
    case Op::AllToAll:
      return "Send";
    case Op::Recv:
      break;
  }
  return "Recv";
}

/// Returns an artificial address, the same for the same object.
std::uint64_t address(std::uint64_t salt, int rank, int what) {
  const auto place = static_cast<std::uint64_t>(rank) * 256 + static_cast<std::uint64_t>(what);
  return 0x7f0000000000U + salt * 0x100000000U + place * 0x10000U;
}

class NcclLog {
 public:
  NcclLog(const HangCase& hang, int rank) : hang_(hang), rank_(rank) {
    const int local = rank % hang.program.ranks_per_host;
    // From 2.26 on only warnings carry a time, and there are none here.
    prefix_ = fmt::format("node-{}:{}:{} [{}] NCCL INFO ", rank / hang.program.ranks_per_host,
                          4200 + rank, 4200 + rank, local);
  }

  std::vector<LogLine> start() {
    say_version();
    begin(0);
    return std::move(lines_);
  }

  std::vector<LogLine> lines() {
    say_version();
    for (const int group : hang_.program.group_of[static_cast<std::size_t>(rank_)]) {
      if (group < 0 || !is_used(group)) continue;
      const std::string comm = begin(group);
      lines_.push_back({-1, prefix_ + comm + " - Init COMPLETE\n"});
    }
    for (const Record& record : hang_.play.ranks[static_cast<std::size_t>(rank_)].records) {
      call(record);
    }
    return std::move(lines_);
  }

 private:
  [[nodiscard]] bool is_used(int group) const {
    const auto& records = hang_.play.ranks[static_cast<std::size_t>(rank_)].records;
    return std::any_of(records.begin(), records.end(),
                       [group](const Record& record) { return record.step->group == group; });
  }

  void say_version() {
    if (rank_ != 0) return;
    lines_.push_back({-3, fmt::format("NCCL version {}+cuda12.4\n", hang_.recorder.release.nccl)});
  }

  /// returns  the beginning of the lines about the group's creation
  std::string begin(int group) {
    const Group& own = hang_.program.groups[static_cast<std::size_t>(group)];
    const int local = rank_ % hang_.program.ranks_per_host;
    std::string comm = fmt::format(
        "ncclCommInitRank comm {:#x} rank {} nranks {} cudaDev {} nvmlDev {} busId {:x} commId "
        "{:#x}",
        address(1, rank_, group), group_rank(own, rank_), own.ranks.size(), local, local,
        0x18000 + local * 0x11000, communicator_id(hang_, group));
    lines_.push_back({-2, prefix_ + comm + " - Init START\n"});
    return comm;
  }

  void call(const Record& record) {
    const Step& step = *record.step;
    const Group& own = hang_.program.groups[static_cast<std::size_t>(step.group)];
    const auto members = static_cast<int>(own.ranks.size());
    if (step.op == Op::AllToAll) {
      // PyTorch makes one communicator for a group of sends and receives.
      for (int peer = 0; peer < members; ++peer) {
        line(record, "Send", step.count / members, peer);
        line(record, "Recv", step.count / members, peer);
      }
      return;
    }
    line(record, function_name(step.op), step.count,
         is_p2p(step.op) || has_root(step.op) ? step.peer : 0);
  }

  void line(const Record& record, const char* function, std::int64_t count, int root) {
    const Step& step = *record.step;
    const Group& own = hang_.program.groups[static_cast<std::size_t>(step.group)];
    lines_.push_back(
        {record.created,
         fmt::format("{}{}: opCount {:x} sendbuff {:#x} recvbuff {:#x} count {} datatype {} op 0 "
                     "root {} comm {:#x} [nranks={}] stream {:#x}\n",
                     prefix_, function, record.collective_seq, address(2, rank_, step.site),
                     address(3, rank_, step.site), count, static_cast<int>(step.type), root,
                     address(1, rank_, step.group), own.ranks.size(),
                     address(4, rank_, step.group))});
  }

  const HangCase& hang_;
  int rank_;
  std::string prefix_;
  std::vector<LogLine> lines_;
};

}  // namespace

std::uint64_t communicator_id(const HangCase& hang, int group) {
  return 0x5eed00000000U + hang.seed % 65521 * 4096 + static_cast<std::uint64_t>(group);
}

std::int64_t call_lines(const HangCase& hang) {
  std::int64_t lines = 0;
  for (const RankHistory& rank : hang.play.ranks) {
    for (const Record& record : rank.records) {
      const Group& group = hang.program.groups[static_cast<std::size_t>(record.step->group)];
      lines +=
          record.step->op == Op::AllToAll ? 2 * static_cast<std::int64_t>(group.ranks.size()) : 1;
    }
  }
  return lines;
}

std::vector<LogLine> start_lines(const HangCase& hang, int rank) {
  return NcclLog(hang, rank).start();
}

std::vector<LogLine> nccl_lines(const HangCase& hang, int rank) {
  return NcclLog(hang, rank).lines();
}

}  // namespace ringside::hangs
