#include "cli/attach/attach_answer.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "base/append.h"
#include "base/one_line.h"
#include "base/temporary.h"
#include "cli/verb.h"
#include "diag/report/hang_report.h"

namespace ringside::cli {
namespace {

/// One line of the text: one source, or all sources of one kind with equal results, because a job may have hundreds of
/// ranks.
struct SourceLine {
  std::string what, where, said;
  bool has_answered = false;
  std::size_t count = 1;
};

std::vector<SourceLine> lines_of(const std::vector<attach::Source>& sources) {
  std::vector<SourceLine> lines;
  std::map<std::string, std::size_t> known;
  for (const attach::Source& one : sources) {
    const bool is_of_rank = one.what == "dump" || one.what == "stack" || one.what == "pipe";
    const std::string key =
        fmt::format("{}|{}|{}", one.what, one.has_answered, one.has_answered ? "" : one.said);
    if (const auto found = known.find(key); is_of_rank && found != known.end()) {
      ++lines[found->second].count;
      continue;
    }
    if (is_of_rank) known[key] = lines.size();
    lines.push_back({one.what, one.where, one.said, one.has_answered});
  }
  return lines;
}

const char* state_text(attach::JobState state) {
  switch (state) {
    case attach::JobState::Moves:
      return "The job moves: ranks launched or completed calls while it was asked.";
    case attach::JobState::Still:
      return "The job is still: no rank launched or completed a call while it was asked.";
    case attach::JobState::Gone:
      return "The job ended while it was asked.";
    case attach::JobState::Unknown:
      break;
  }
  return "Whether the job moves is not known: no RAS service gave enough reports, and no control "
         "plane enough dumps.";
}

/// Removes the folder, which will not exist, from the files that the evidence names.
void name_files_alone(const std::string& folder, hang::Verdict& verdict) {
  const auto shorten = [&](hang::Explanation& one) {
    for (hang::Evidence& evidence : one.evidence) {
      if (evidence.file.starts_with(folder + "/")) evidence.file.erase(0, folder.size() + 1);
    }
  };
  shorten(verdict.best);
  std::ranges::for_each(verdict.others, shorten);
}

}  // namespace

Result<std::unique_ptr<AttachAnswer>> ask_job(const attach::Request& request,
                                              const std::string& folder,
                                              const attach::OnStep& on_step) {
  RINGSIDE_TRY(attach::Gathered gathered, attach::gather(request, folder, on_step));
  if (gathered.files == 0) {
    return Error{ErrorCode::NotFound, "no process of the job gave a report, a dump or a stack",
                 "add a source: --worker ADDRESS, --store HOST:PORT or --pid PID"};
  }
  RINGSIDE_TRY(hang::Examination examined, hang::examine({folder}));
  return std::make_unique<AttachAnswer>(AttachAnswer{std::move(gathered), std::move(examined)});
}

Result<std::unique_ptr<AttachAnswer>> ask_job(const attach::Request& request,
                                              const attach::OnStep& on_step) {
  RINGSIDE_TRY(const TemporaryFolder folder, TemporaryFolder::make("attach"));
  RINGSIDE_TRY(std::unique_ptr<AttachAnswer> answer, ask_job(request, folder.path(), on_step));
  name_files_alone(folder.path(), answer->examined.verdict);
  return answer;
}

std::string answer_text(const AttachAnswer& answer) {
  std::string text = fmt::format("{}\n", state_text(answer.gathered.state));
  text += hang::report_text(answer.examined);
  append(text, "\nAsked, in {:.1f} s:\n", answer.gathered.took.count());
  for (const SourceLine& line : lines_of(answer.gathered.sources)) {
    append(text, "  {:<11} {}{}: {}\n", line.what, one_line(line.where),
           line.count > 1 ? fmt::format(" and {} more", line.count - 1) : "",
           line.has_answered ? one_line(line.said) : "no answer (" + one_line(line.said) + ")");
  }
  return text;
}

Json answer_json(const AttachAnswer& answer) {
  Json sources = Json::array();
  for (const attach::Source& one : answer.gathered.sources) {
    sources.push_back({{"what", one.what},
                       {"where", one_line(one.where)},
                       {"has_answered", one.has_answered},
                       {"said", one_line(one.said)}});
  }
  return {{"schema", "ringside.attach/1"},
          {"state", attach::to_string(answer.gathered.state)},
          {"took_s", answer.gathered.took.count()},
          {"sources", std::move(sources)},
          {"hang", hang::report_json(answer.examined)}};
}

Error with_attach_help(Error error) {
  const bool is_absent = error.code == ErrorCode::PeerGone || error.code == ErrorCode::Unreachable;
  if (!is_absent || !error.help.empty()) return error;
  error.help =
      "NCCL 2.24 and later listens on localhost:28028 of each host (NCCL_RAS_ADDR); a job of ours "
      "with bench --status PORT or NCCL_RAS_ADDR. Other sources: --worker, --store, --pid";
  return error;
}

int answer_status(const AttachAnswer& answer) {
  const hang::Kind kind = answer.examined.verdict.best.kind;
  const bool is_still = answer.gathered.state == attach::JobState::Still;
  if (kind == hang::Kind::Unknown && !is_still) return kRunFailed;
  return kind == hang::Kind::NotAHang ? kFine : kFinding;
}

}  // namespace ringside::cli
