#include "diag/hangdetect/verdict/call_names.h"

#include <fmt/format.h>

#include <utility>

namespace ringside::hang {

bool has_dumps(const Job& job) {
  for (int rank = 0; rank < job.world(); ++rank) {
    const RankDump* dump = job.rank(rank).dump;
    if (dump != nullptr && !dump->is_inferred()) return true;
  }
  return false;
}

std::string fold_ranks(const std::vector<int>& ranks) {
  // Smallest number of ranks at equal distances that are abbreviated.
  constexpr std::size_t kFewest = 4;
  std::string text;
  for (std::size_t first = 0; first < ranks.size();) {
    std::size_t last = first;
    const int step = first + 1 < ranks.size() ? ranks[first + 1] - ranks[first] : 0;
    while (last + 1 < ranks.size() && ranks[last + 1] - ranks[last] == step) ++last;
    if (step != 1 && last - first + 1 < kFewest) last = first;
    text += fmt::format("{}{}", text.empty() ? "" : ",", ranks[first]);
    if (last > first) text += fmt::format("-{}", ranks[last]);
    if (last > first && step != 1) text += fmt::format(":{}", step);
    first = last + 1;
  }
  return text;
}

std::string call_text(const Signature& signature) {
  if (signature.op == Op::Barrier) return "barrier";
  const std::string name = signature.op == Op::Other ? signature.name : to_string(signature.op);
  if (signature.name.empty()) return name.empty() ? to_string(signature.op) : name;
  const std::string& sizes =
      signature.input_count > 0 || signature.outputs == "[]" ? signature.inputs : signature.outputs;
  std::string root = signature.root >= 0 ? fmt::format(", root {}", signature.root) : "";
  if (signature.source >= 0 || signature.target >= 0) {
    root += signature.op == Op::Send ? fmt::format(", to {}", signature.target)
                                     : fmt::format(", from {}", signature.source);
  }
  if (signature.tag >= 0) root += fmt::format(", tag {}", signature.tag);
  if (!signature.label.empty()) root += fmt::format(", {}", signature.label);
  return fmt::format("{}({}{}{}{})", name, sizes, signature.types.empty() ? "" : " ",
                     signature.types, root);
}

std::string call_title(const Job& job, int group, const Call& call) {
  const Signature& signature = job.signature(call);
  const bool has_own_name = signature.op == Op::Other && !signature.name.empty();
  const std::string name = has_own_name ? signature.name : to_string(signature.op);
  return fmt::format("{} {} of {}", name, call.sequence, title_of(job.group(group)));
}

Stack last_stack(const Job& job, int rank) {
  const RankDump* dump = job.rank(rank).dump;
  if (dump == nullptr || dump->calls.empty()) return {};
  return job.names().stack(dump->calls.back().stack);
}

Evidence evidence_of(const Job& job, int rank, const Call& call, std::string text) {
  const RankDump& dump = *job.rank(rank).dump;
  const auto number = static_cast<std::int64_t>(call.record);
  // In dumps made from log lines, the index is a line number.
  if (dump.version == "log") return {dump.path, -1, number, std::move(text)};
  return {dump.path, number, -1, std::move(text)};
}

}  // namespace ringside::hang
