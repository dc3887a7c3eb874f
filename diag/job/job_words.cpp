#include "diag/job/job_words.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "base/text_parts.h"
#include "diag/logparse/text_search.h"

namespace ringside::job {

using namespace logs;  // most names below are its record types

namespace {

/// Words of programs that train and serve on GPUs, their launchers, and their objects. Some lack the first letter,
/// which may be a capital. "trainer" and not "train": the kernel writes of a "constraint".
constexpr auto kJobWords = std::to_array<std::string_view>(
    {"ython",     ".py",       "torch", "Torch",   "pt_main_t", "pt_data_w", "CCL",
     "ccl",       "CUDA",      "cuda",  "GPU",     "nvidia",    "NVRM",      "ray::",
     "raylet",    "ay actor",  "vllm",  "VLLM",    "sglang",    "eepspeed",  "eepSpeed",
     "egatron",   "ccelerate", "llama", "srun: ",  "slurm",     "mpirun",    "mpiexec",
     "prterun",   "orted",     "MPI",   "gloo",    "Gloo",      "mlx5_",     "ibv_",
     "libfabric", "rank ",     "rank:", "ank]",    "[rank",     "[Rank",     "trainer",
     "training",  "train-",    "_perf", "[Errno ", "DataLoader"});

/// source  names of programs that run on most hosts next to a job, as ps prints them; the kernel truncates them to 15
///         characters
constexpr auto kOtherPrograms = std::to_array<std::string_view>(
    {"chrom",       "firefox",      "nginx",    "httpd",    "apache",   "mysqld",     "mariadbd",
     "postgres",    "mongod",       "redis-",   "java",     "node",     "php",        "Xorg",
     "gnome-",      "plasma",       "snapd",    "systemd",  "dockerd",  "containerd", "kubelet",
     "prometheus",  "grafana",      "telegraf", "fluent",   "filebeat", "sshd",       "code",
     "Web Content", "Isolated Web", "slack",    "electron", "tmux",     "rsync",      "cc1plus",
     "clang",       "ninja",        "bazel",    "git"});

/// Returns whether the line names a replica of a training operator: `pretrain-worker-3`, `job-master-0`. Those are
/// numbered, while a server's replicas have hashes.
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
    case RecordKind::PythonError:  // other languages print their traces in the same form
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

int rank_in_process_name(std::string_view process) {
  const std::size_t at = process.rfind("TP");
  if (at == std::string_view::npos || contains(process, "PP") || contains(process, "DP")) return -1;
  int rank = -1;
  const char* const end = process.data() + process.size();
  const auto [behind, error] = std::from_chars(process.data() + at + 2, end, rank);
  const bool is_whole = error == std::errc() && behind == end && rank >= 0;
  return is_whole && (at == 0 || process[at - 1] == '_' || process[at - 1] == ':') ? rank : -1;
}

bool is_other_program(std::string_view process) { return starts_with_any(process, kOtherPrograms); }

}  // namespace ringside::job
