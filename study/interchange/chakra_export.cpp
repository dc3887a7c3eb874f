#include "study/interchange/chakra_export.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <span>
#include <tuple>
#include <utility>

#include "base/json.h"
#include "study/interchange/chakra_file.h"

namespace ringside::study {
namespace {

using hangs::Group;
using hangs::Op;
using hangs::Program;
using hangs::Step;
using Kind = hangs::Step::Kind;

constexpr std::int64_t kMostWritten = 50'000'000;  // nodes of all ranks: some GB of files

chakra::CollectiveType type_of(Op op) {
  switch (op) {
    case Op::AllGather:
      return chakra::ALL_GATHER;
    case Op::ReduceScatter:
      return chakra::REDUCE_SCATTER;
    case Op::Broadcast:
      return chakra::BROADCAST;
    case Op::Reduce:
      return chakra::REDUCE;
    case Op::AllToAll:
      return chakra::ALL_TO_ALL;
    case Op::Barrier:
      return chakra::BARRIER;
    case Op::AllReduce:
    case Op::Send:
    case Op::Recv:
      break;
  }
  return chakra::ALL_REDUCE;
}

chakra::Attribute* add(chakra::Node& node, const char* name) {
  chakra::Attribute* const attribute = node.add_attr();
  attribute->set_name(name);
  return attribute;
}

/// The nodes of one rank, in the order of its calls.
class RankExport {
 public:
  RankExport(const Program& program, int rank)
      : program_(program), own_(program.programs[static_cast<std::size_t>(rank)]), rank_(rank) {
    chakra::GlobalMetadata metadata;
    metadata.set_version(kChakraVersion);
    append_message(metadata, bytes_);
  }

  std::string run() {
    for (int iteration = 0; iteration < own_.iterations; ++iteration) {
      const std::vector<Step>& body = own_.body_of(iteration);
      for (std::size_t i = 0; i < body.size();) {
        const std::span<const Step> steps(body.data() + i, hangs::bundle_length(body, i));
        take(steps);
        i += steps.size();
      }
    }
    return std::move(bytes_);
  }

 private:
  using Ids = std::set<std::uint64_t>;
  /// Streams as the player has them: one of kernels that are not calls, one for each group, one for each peer of
  /// transfers; those that have names.
  using Stream = std::tuple<int, int, int>;  // name, group, peer
  struct Last {
    Ids ids;  ///< several that began together
    std::set<int> groups;
  };

  static Stream stream_of(const Step& step) {
    constexpr int kNone = -1;
    if (step.stream >= 0 || step.kind != Kind::Call) return {step.stream, kNone, kNone};
    return {kNone, step.group, hangs::is_p2p(step.op) && step.bundle == 0 ? step.peer : kNone};
  }

  void take(std::span<const Step> steps) {
    const Step& step = steps.front();
    switch (step.kind) {
      case Kind::Compute: {
        chakra::Node node = work("compute", step);
        add(node, "is_cpu_op")->set_bool_val(true);
        host_ = {put(node, host_)};
        return;
      }
      case Kind::Kernel: {
        chakra::Node node = work("kernel", step);
        add(node, "is_cpu_op")->set_bool_val(false);
        put_on(step, {&node, 1});
        return;
      }
      case Kind::Call: {
        std::vector<chakra::Node> nodes;
        for (const Step& one : steps) nodes.push_back(call(one));
        if (nodes.size() > 1) {
          ++sets_;
          for (chakra::Node& node : nodes) add(node, "group_call")->set_int64_val(sets_);
        }
        put_on(step, nodes);
        return;
      }
      case Kind::Join:
      case Kind::Synchronize:
        for (const auto& [stream, last] : last_) {
          if (step.group >= 0 && !last.groups.contains(step.group)) continue;
          if (step.stream >= 0 && std::get<0>(stream) != step.stream) continue;
          waited_.insert(last.ids.begin(), last.ids.end());
        }
        if (step.kind == Kind::Synchronize) {
          chakra::Node node = work("synchronize", step);  // takes no time: it waits
          add(node, "is_cpu_op")->set_bool_val(true);
          Ids after = waited_;
          after.insert(host_.begin(), host_.end());
          host_ = {put(node, after)};
        }
        return;
      case Kind::Rendezvous:
      case Kind::Halt:
        return;
    }
  }

  static chakra::Node work(const char* name, const Step& step) {
    chakra::Node node;
    node.set_name(name);
    node.set_type(chakra::COMP_NODE);
    constexpr std::int64_t kMicro = 1000;
    node.set_duration_micros(static_cast<std::uint64_t>((step.time.count() + kMicro / 2) / kMicro));
    add(node, "duration_nanos")->set_int64_val(step.time.count());
    return node;
  }

  [[nodiscard]] chakra::Node call(const Step& step) const {
    const Group& group = program_.groups[static_cast<std::size_t>(step.group)];
    const auto size = static_cast<std::int64_t>(size_of(step.type).value);
    chakra::Node node;
    node.set_name(fmt::format("{}_{}", hangs::to_string(step.op), group.desc));
    add(node, "is_cpu_op")->set_bool_val(false);
    add(node, "pg_name")->set_string_val(group.name);
    add(node, "pg_desc")->set_string_val(group.desc);
    add(node, "data_type")->set_string_val(to_string(step.type));
    const std::int64_t given = step.op == Op::ReduceScatter
                                   ? step.count * static_cast<std::int64_t>(group.ranks.size())
                                   : step.count;
    add(node, "comm_size")->set_int64_val(given * size);
    if (!hangs::is_p2p(step.op)) {
      node.set_type(chakra::COMM_COLL_NODE);
      add(node, "comm_type")->set_int64_val(type_of(step.op));
      if (hangs::has_root(step.op)) {
        add(node, "root_rank")->set_int32_val(group.ranks[static_cast<std::size_t>(step.peer)]);
      }
      return node;
    }
    const bool is_send = step.op == Op::Send;
    const int peer = group.ranks[static_cast<std::size_t>(step.peer)];
    node.set_type(is_send ? chakra::COMM_SEND_NODE : chakra::COMM_RECV_NODE);
    add(node, "comm_src")->set_int32_val(is_send ? rank_ : peer);
    add(node, "comm_dst")->set_int32_val(is_send ? peer : rank_);
    add(node, "comm_tag")->set_int32_val(group.family);
    return node;
  }

  /// step   the first of the steps that begin together
  void put_on(const Step& step, std::span<chakra::Node> nodes) {
    Ids after = waited_;
    after.insert(host_.begin(), host_.end());
    Last& last = last_[stream_of(step)];
    after.insert(last.ids.begin(), last.ids.end());
    last.ids.clear();
    for (chakra::Node& node : nodes) last.ids.insert(put(node, after));
    if (step.kind == Kind::Call) last.groups.insert(step.group);
    if (!step.async) waited_ = last.ids;  // which wait for the same nodes
  }

  std::uint64_t put(chakra::Node& node, const Ids& after) {
    node.set_id(++ids_);
    for (const std::uint64_t id : after) node.add_data_deps(id);
    append_message(node, bytes_);
    return ids_;
  }

  const Program& program_;
  const hangs::RankProgram& own_;
  const int rank_;
  std::string bytes_;
  std::uint64_t ids_ = 0;
  std::int64_t sets_ = 0;  ///< sends and receives that began together, so far
  Ids waited_;             ///< by the next node on the GPU
  Ids host_;               ///< by the next node of the host
  std::map<Stream, Last> last_;
};

std::int64_t nodes_of(const Program& program) {
  std::int64_t nodes = 0;
  for (const hangs::RankProgram& own : program.programs) {
    nodes += static_cast<std::int64_t>(own.body.size()) * own.iterations;
  }
  return nodes;
}

}  // namespace

Result<std::vector<std::string>> export_chakra(
    const Program& program,
    const std::function<Status(const std::string& name, const std::string& bytes)>& write) {
  if (const std::int64_t nodes = nodes_of(program); nodes > kMostWritten) {
    return Error{ErrorCode::InvalidArgument, fmt::format("{} nodes", nodes),
                 fmt::format("give fewer ranks or iterations: {} at most", kMostWritten)};
  }
  std::vector<std::string> left_out;
  const auto is_rendezvous = [](const hangs::RankProgram& own) {
    return std::ranges::count(own.body, Kind::Rendezvous, &Step::kind) > 0;
  };
  if (std::ranges::any_of(program.programs, is_rendezvous)) {
    left_out.emplace_back("rendezvous: hosts that wait for each other through the store");
  }
  std::string groups = "{";
  for (const Group& group : program.groups) {
    groups += fmt::format("{}{}: [{}]", groups.size() > 1 ? ",\n " : "", quoted_json(group.name),
                          fmt::join(group.ranks, ", "));
  }
  RINGSIDE_TRY(write("comm_groups.json", groups + "}\n"));
  for (int rank = 0; rank < program.ranks; ++rank) {
    RINGSIDE_TRY(write(fmt::format("ringside.{}.et", rank), RankExport(program, rank).run()));
  }
  return left_out;
}

}  // namespace ringside::study
