#include "diag/job/job_words.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "diag/logparse/text_search.h"

namespace ringside::job {

using namespace logs;  // its records are this folder's daily words

namespace {

/// Of programs that train and serve on GPUs, their launchers, and what only they deal with. "trainer" and not "train":
/// the kernel writes of a "constraint".
constexpr std::array kJobWords = {
    std::string_view{"ython"},    std::string_view{".py"},       std::string_view{"torch"},
    std::string_view{"Torch"},    std::string_view{"pt_main_t"}, std::string_view{"pt_data_w"},
    std::string_view{"CCL"},      std::string_view{"ccl"},       std::string_view{"CUDA"},
    std::string_view{"cuda"},     std::string_view{"GPU"},       std::string_view{"nvidia"},
    std::string_view{"NVRM"},     std::string_view{"ray::"},     std::string_view{"raylet"},
    std::string_view{"ay actor"}, std::string_view{"vllm"},      std::string_view{"VLLM"},
    std::string_view{"sglang"},   std::string_view{"eepspeed"},  std::string_view{"eepSpeed"},
    std::string_view{"egatron"},  std::string_view{"ccelerate"}, std::string_view{"llama"},
    std::string_view{"srun: "},   std::string_view{"slurm"},     std::string_view{"mpirun"},
    std::string_view{"mpiexec"},  std::string_view{"prterun"},   std::string_view{"orted"},
    std::string_view{"MPI"},      std::string_view{"gloo"},      std::string_view{"Gloo"},
    std::string_view{"mlx5_"},    std::string_view{"ibv_"},      std::string_view{"libfabric"},
    std::string_view{"rank "},    std::string_view{"rank:"},     std::string_view{"ank]"},
    std::string_view{"[rank"},    std::string_view{"[Rank"},     std::string_view{"trainer"},
    std::string_view{"training"}, std::string_view{"train-"},    std::string_view{"_perf"},
    std::string_view{"[Errno "},  std::string_view{"DataLoader"}};

/// source  names of what runs on most hosts beside a job, as ps prints them; the kernel cuts them at 15 characters
constexpr std::array kOtherPrograms = {
    std::string_view{"chrom"},       std::string_view{"firefox"},
    std::string_view{"nginx"},       std::string_view{"httpd"},
    std::string_view{"apache"},      std::string_view{"mysqld"},
    std::string_view{"mariadbd"},    std::string_view{"postgres"},
    std::string_view{"mongod"},      std::string_view{"redis-"},
    std::string_view{"java"},        std::string_view{"node"},
    std::string_view{"php"},         std::string_view{"Xorg"},
    std::string_view{"gnome-"},      std::string_view{"plasma"},
    std::string_view{"snapd"},       std::string_view{"systemd"},
    std::string_view{"dockerd"},     std::string_view{"containerd"},
    std::string_view{"kubelet"},     std::string_view{"prometheus"},
    std::string_view{"grafana"},     std::string_view{"telegraf"},
    std::string_view{"fluent"},      std::string_view{"filebeat"},
    std::string_view{"sshd"},        std::string_view{"code"},
    std::string_view{"Web Content"}, std::string_view{"Isolated Web"},
    std::string_view{"slack"},       std::string_view{"electron"},
    std::string_view{"tmux"},        std::string_view{"rsync"},
    std::string_view{"cc1plus"},     std::string_view{"clang"},
    std::string_view{"ninja"},       std::string_view{"bazel"},
    std::string_view{"git"}};

/// `pretrain-worker-3`, `job-master-0`: a replica of a training operator's, numbered and not hashed as a server's is.
bool names_replica(std::string_view line) {
  for (const std::string_view word : {"worker-", "master-", "launcher-", "replica-"}) {
    const std::size_t at = find_text(line, word);
    const std::size_t end = at == std::string_view::npos ? at : at + word.size();
    if (end < line.size() && line[end] >= '0' && line[end] <= '9') return true;
  }
  return false;
}

}  // namespace

bool is_of_anybody(MessageId id) {
  switch (id) {
    case MessageId::TooManyOpenFiles:
    case MessageId::KernelOom:
    case MessageId::KernelAer:
    case MessageId::KernelBlocked:
    case MessageId::KernelFileServer:
    case MessageId::KubernetesEnded:
    case MessageId::ProcessCrashed:
    case MessageId::CrashFrame:
      return true;
    default:
      return false;
  }
}

bool is_of_job(const Record& record) {
  if (record.level != Level::None) return true;
  switch (record.kind) {
    case RecordKind::Message:
      if (!is_of_anybody(record.as<Message>().id)) return true;
      break;
    case RecordKind::PythonError:  // other languages end their traces alike
    case RecordKind::Unknown:
    case RecordKind::Continuation:
    case RecordKind::Fragment:
    case RecordKind::Text:
      break;
    default:
      return true;
  }
  return names_replica(record.line) ||
         std::any_of(kJobWords.begin(), kJobWords.end(), [&](std::string_view word) {
           return find_text(record.line, word) != std::string_view::npos;
         });
}

std::string_view killed_process(const Record& record) {
  const std::string_view name = message_argument(record, "name");
  if (!name.empty()) return name;
  // `oom-kill:constraint=..,task=python3,pid=4711,uid=0`
  constexpr std::string_view kKey = "task=";
  const std::size_t at = find_text(record.line, kKey);
  if (at == std::string_view::npos) return {};
  const std::string_view task = record.line.substr(at + kKey.size());
  return task.substr(0, task.find(','));
}

int rank_in_process_name(std::string_view process) {
  const std::size_t at = process.rfind("TP");
  if (at == std::string_view::npos || process.find("PP") != std::string_view::npos ||
      process.find("DP") != std::string_view::npos)
    return -1;
  int rank = -1;
  const char* const end = process.data() + process.size();
  const auto [behind, error] = std::from_chars(process.data() + at + 2, end, rank);
  const bool is_whole = error == std::errc() && behind == end && rank >= 0;
  return is_whole && (at == 0 || process[at - 1] == '_' || process[at - 1] == ':') ? rank : -1;
}

bool is_other_program(std::string_view process) {
  return std::any_of(kOtherPrograms.begin(), kOtherPrograms.end(),
                     [&](std::string_view name) { return process.starts_with(name); });
}

}  // namespace ringside::job
