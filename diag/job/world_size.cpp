#include "diag/job/world_size.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <initializer_list>

#include "base/text_parts.h"
#include "diag/logparse/init_records.h"
#include "diag/logparse/message.h"
#include "diag/logparse/torch_lines.h"

namespace ringside::job {
namespace {

using logs::MessageId;

constexpr std::string_view kBlanks = " \t\r\n";

std::int64_t number_in(std::string_view text) {
  std::int64_t number = -1;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

/// Returns the number of ranks of a job; 0 if it is not plausible.
int plausible_world(std::int64_t ranks) {
  return ranks >= 2 && ranks <= kMostRanks ? static_cast<int>(ranks) : 0;
}

/// Beginnings of names that are programs, never values of options.
constexpr std::array<std::string_view, 7> kProgramNames{"mpirun",   "mpiexec",    "prterun", "srun",
                                                        "torchrun", "horovodrun", "python"};

/// Returns how many words an option of a launcher takes as its value. Options that are not listed take one.
int count_values(std::string_view option) {
  static constexpr std::array<std::string_view, 6> kPairs{"--mca",     "-mca",  "--prtemca",
                                                          "--pmixmca", "-genv", "-env"};
  static constexpr std::array<std::string_view, 18> kFlags{"--allow-run-as-root",
                                                           "--oversubscribe",
                                                           "--tag-output",
                                                           "--report-bindings",
                                                           "--display-map",
                                                           "--use-hwthread-cpus",
                                                           "--exclusive",
                                                           "--overlap",
                                                           "--label",
                                                           "--unbuffered",
                                                           "--pty",
                                                           "--verbose",
                                                           "--standalone",
                                                           "--no-python",
                                                           "-l",
                                                           "-u",
                                                           "-v",
                                                           "-K"};
  if (std::ranges::find(kPairs, option) != kPairs.end()) return 2;
  const bool has_value = contains(option, '=') || (option.size() > 2 && option[1] != '-' &&
                                                   contains("0123456789", option[2]));  // -n4
  return has_value || std::ranges::find(kFlags, option) != kFlags.end() ? 0 : 1;
}

/// The options of a launcher, from the end of its name to the program that it starts.
struct LauncherOptions {
  std::size_t at = std::string_view::npos;  ///< offset of the launcher's name; npos: there is none
  std::string_view text = {};
};

/// Returns the text up to the program that a launcher starts. The program's own options follow it.
std::string_view until_program(std::string_view text) {
  int values = 0;  // words that still belong to the option before them
  for (std::size_t begin = text.find_first_not_of(kBlanks); begin < text.size();) {
    const std::size_t end = std::min(text.find_first_of(kBlanks, begin), text.size());
    const std::string_view word = text.substr(begin, end - begin);
    const std::string_view name = word.substr(word.rfind('/') + 1);
    const bool is_program = starts_with_any(name, kProgramNames) || name.ends_with(".py");
    if (word.starts_with('-')) {
      values = count_values(word);
    } else if (is_program || (values == 0 && !contains(word, '=') && word != "\\")) {
      return text.substr(0, begin);
    } else {
      values = std::max(values - 1, 0);
    }
    begin = text.find_first_not_of(kBlanks, end);
  }
  return text;
}

/// Returns the options of the launcher's first mention that has any.
LauncherOptions find_options(std::string_view text, std::string_view launcher) {
  for (std::size_t at = text.find(launcher); at != std::string_view::npos;
       at = text.find(launcher, at + 1)) {
    const std::size_t end = std::min(text.find_first_of(kBlanks, at), text.size());
    const std::string_view options = until_program(text.substr(end));
    if (contains(options, '-') || contains(options, '=')) return {at, options};
  }
  return {text.find(launcher), {}};
}

/// A command of torchrun.
struct Launch {
  std::size_t at = std::string_view::npos;  ///< offset of its name; npos: there is none
  std::int64_t ranks = 1;                   ///< processes that it starts; -1: unknown
  std::int64_t nodes = 1;                   ///< nodes that take part; -1: unknown
};

Launch read_torchrun(std::string_view text) {
  const LauncherOptions options = find_options(text, "torchrun");
  Launch launch{.at = options.at};
  const auto read = [&](std::initializer_list<std::string_view> names, std::int64_t& number) {
    for (const std::string_view name : names) {
      const std::size_t at = options.text.find(name);
      if (at == std::string_view::npos) continue;
      number = number_in(options.text.substr(std::min(at + name.size() + 1, options.text.size())));
      return;
    }
  };
  read({"nproc_per_node", "nproc-per-node"}, launch.ranks);
  read({"nnodes"}, launch.nodes);
  return launch;
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
  static constexpr std::array kOptions = {
      Option{"mpirun", " -np "},    Option{"mpirun", " -n "},  Option{"mpiexec", " -n "},
      Option{"mpiexec", " -np "},   Option{"prterun", " -n "}, Option{"horovodrun", " -np "},
      Option{"srun", " --ntasks="}, Option{"srun", " -n "},    Option{"srun", " -n"}};
  const Launch torch = read_torchrun(text);
  for (const Option& one : kOptions) {
    const LauncherOptions options = find_options(text, one.launcher);
    const std::size_t option = options.text.find(one.name);
    if (option == std::string_view::npos) continue;
    const std::int64_t tasks = number_in(options.text.substr(option + one.name.size()));
    if (tasks < 1 || tasks > kMostRanks) continue;
    if (torch.at == std::string_view::npos || torch.at < options.at) {
      if (tasks >= 2) return static_cast<int>(tasks);
      continue;
    }
    // Each task is an agent of torchrun, one per node, that starts `ranks` processes.
    const bool is_complete = torch.nodes < 2 || torch.nodes == tasks;
    return is_complete ? plausible_world(tasks * torch.ranks) : 0;
  }
  // The command of one node does not start the ranks of the others.
  return torch.nodes == 1 ? plausible_world(torch.ranks) : 0;
}

int world_in(std::string_view text) {
  // `Completed store-based barrier for key:store_based_barrier_key:1 with 4 nodes.`
  if (contains(text, "ompleted store-based barrier")) {
    const std::size_t with = text.find(" with ");
    return with == std::string_view::npos ? 0 : plausible_world(number_in(text.substr(with + 6)));
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
  const auto read_at = [&](const SizeWord& key, std::size_t at) -> int {
    // Groups within the job have similar names: `tensor_model_parallel_world_size`.
    const std::string_view before = text.substr(0, at);
    if (before.ends_with("parallel_") || before.ends_with("parallel ") ||
        before.ends_with("local_") || before.ends_with("local ") || before.ends_with("LOCAL_")) {
      return 0;
    }
    std::size_t from = at + key.before.size();
    if (key.is_fraction) {
      from = text.find('/', from);
      if (from == std::string_view::npos) return 0;
    }
    const std::size_t number = text.find_first_of("0123456789", from);
    if (number == std::string_view::npos || number - from > 4) return 0;
    return plausible_world(number_in(text.substr(number)));
  };
  for (const SizeWord& key : kKeys) {
    for (std::size_t at = text.find(key.before); at != std::string_view::npos;
         at = text.find(key.before, at + 1)) {
      if (const int world = read_at(key, at); world > 0) return world;
    }
  }
  return 0;
}

}  // namespace ringside::job
