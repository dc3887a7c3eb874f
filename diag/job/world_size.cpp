#include "diag/job/world_size.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "base/text_parts.h"
#include "diag/logparse/init_records.h"
#include "diag/logparse/message.h"
#include "diag/logparse/torch_lines.h"

namespace ringside::job {
namespace {

using logs::MessageId;

std::int64_t number_in(std::string_view text) {
  std::int64_t number = -1;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

}  // namespace

void WorldSize::know(std::int64_t ranks) {
  if (ranks > 1 && ranks <= kMostRanks) ranks_ = std::max(ranks_, static_cast<int>(ranks));
}

void WorldSize::take(const logs::Record& record) {
  if (record.kind == logs::RecordKind::CommEvent) {
    const auto& comm = record.as<logs::CommEvent>();
    if (comm.rank >= 0) know(comm.nranks);
    return;
  }
  if (record.kind != logs::RecordKind::Message) return;
  switch (record.as<logs::Message>().id) {
    case MessageId::AnalyserField:
      return know(logs::message_number(record, "size"));
    case MessageId::TorchGroupOptions:
      return know(number_in(logs::value_of_key(logs::message_argument(record, "pairs"), "size")));
    case MessageId::InitBarrierTimeout:
      return know(logs::message_number(record, "world"));
    default:
      return;
  }
}

int world_of_command(std::string_view text) {
  struct Option {
    std::string_view launcher, name;
  };
  static constexpr std::array kOptions = {Option{"mpirun", " -np "},
                                          Option{"mpirun", " -n "},
                                          Option{"mpiexec", " -n "},
                                          Option{"mpiexec", " -np "},
                                          Option{"prterun", " -n "},
                                          Option{"horovodrun", " -np "},
                                          Option{"srun", " --ntasks="},
                                          Option{"srun", " -n "},
                                          Option{"srun", " -n"},
                                          Option{"torchrun", "nproc_per_node="},
                                          Option{"torchrun", "nproc-per-node="},
                                          Option{"torchrun", "nproc_per_node "},
                                          Option{"torchrun", "nproc-per-node "}};
  for (const Option& one : kOptions) {
    const std::size_t at = text.find(one.launcher);
    const std::size_t option =
        at == std::string_view::npos ? at : text.find(one.name, at + one.launcher.size());
    if (option == std::string_view::npos) continue;
    // With several hosts, each has as many ranks: another option gives the number of hosts.
    const std::size_t hosts = text.find("nnodes", at);
    const bool is_one_host = hosts == std::string_view::npos ||
                             number_in(text.substr(std::min(text.size(), hosts + 7))) == 1;
    const std::int64_t world = number_in(text.substr(option + one.name.size()));
    const bool is_torch = one.launcher == "torchrun";
    if (world >= 2 && world <= kMostRanks && (!is_torch || is_one_host))
      return static_cast<int>(world);
  }
  return 0;
}

int world_in(std::string_view text) {
  // `Completed store-based barrier for key:store_based_barrier_key:1 with 4 nodes.`
  if (contains(text, "ompleted store-based barrier")) {
    const std::size_t with = text.find(" with ");
    const std::int64_t world =
        with == std::string_view::npos ? -1 : number_in(text.substr(with + 6));
    return world >= 2 && world <= kMostRanks ? static_cast<int>(world) : 0;
  }
  if (const int world = world_of_command(text); world > 0) return world;
  struct SizeWord {
    std::string_view before;
    bool is_fraction;  ///< whether the number follows a slash
  };
  constexpr SizeWord kKeys[] = {{"world_size", false},    {"world size", false},
                                {"WORLD_SIZE", false},    {"MEMBER:", true},
                                {"Starting with", false}, {"nranks", false},
                                {" world=", false},       {"num_processes", false},
                                {"Num processes", false}, {"total_gpus", false}};
  for (const SizeWord& key : kKeys) {
    const std::size_t at = text.find(key.before);
    if (at == std::string_view::npos) continue;
    // Groups within the job have similar names: `tensor_model_parallel_world_size`.
    const std::string_view before = text.substr(0, at);
    if (before.ends_with("parallel_") || before.ends_with("parallel ") ||
        before.ends_with("local_") || before.ends_with("local ") || before.ends_with("LOCAL_")) {
      continue;
    }
    std::size_t from = at + key.before.size();
    if (key.is_fraction) {
      from = text.find('/', from);
      if (from == std::string_view::npos) continue;
    }
    const std::size_t number = text.find_first_of("0123456789", from);
    if (number == std::string_view::npos || number - from > 4) continue;
    const std::int64_t world = number_in(text.substr(number));
    if (world >= 2 && world <= kMostRanks) return static_cast<int>(world);
  }
  return 0;
}

}  // namespace ringside::job
