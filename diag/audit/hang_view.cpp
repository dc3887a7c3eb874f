#include "diag/audit/hang_view.h"

#include <algorithm>
#include <utility>

#include "diag/audit/facts.h"
#include "diag/hangdetect/examine.h"
#include "diag/job/world_size.h"

namespace ringside::audit {

using namespace logs;  // its records are this folder's daily words

namespace {

Speaker speaker_of(const JobFacts& facts, std::uint32_t index) {
  const ProcessFacts& process = facts.processes[index];
  Speaker speaker;
  if (process.host >= 0) speaker.host = facts.hosts[static_cast<std::size_t>(process.host)].name;
  speaker.pid = process.pid;
  speaker.launcher_rank = process.launcher_rank;
  return speaker;
}

bool is_one_of(const Record& record, std::span<const MessageId> ids) {
  return std::any_of(ids.begin(), ids.end(), [&](MessageId id) { return is_message(record, id); });
}

/// How many ranks the job has, where something beside the catalogue's lines says it.  returns  0: nothing does
int ranks_of_job(const JobFacts& facts) {
  if (facts.world() != nullptr && facts.world()->nranks > 0) return facts.world()->nranks;
  job::WorldSize size;
  for (const KeptLine& line : facts.plain_of(PlainLine::WorldSize).kept)
    size.know(job::world_in(line.quoted.text));
  return size.ranks();
}

}  // namespace

job::ProcessRanks ranks_of_processes(const JobFacts& facts) {
  job::ProcessRanks ranks;
  const auto host_of = [&](std::int32_t host) {
    return host < 0 ? std::string_view() : facts.hosts[static_cast<std::size_t>(host)].name;
  };
  for (const ProcessFacts& process : facts.processes)
    ranks.know(host_of(process.host), process.pid, process.rank);
  if (facts.world() == nullptr) return ranks;
  for (const Member& member : facts.world()->members)
    ranks.know_gpu(host_of(member.host), member.bus_id, member.rank);
  return ranks;
}

HangView::HangView(const JobFacts& facts) : facts_(facts) {
  lines_ = facts.messages.kept_lines();
  std::vector<hang::SpokenRecord> records;
  records.reserve(lines_.size());
  // Each line's place is its number among these: hangdetect names it so.
  for (const KeptMessage* line : lines_) {
    records.push_back({line->record(), speaker_of(facts, line->process())});
    records.back().record.place = {0, static_cast<std::uint32_t>(records.size() - 1)};
  }
  const auto where = [](Place place) -> std::pair<std::string, std::int64_t> {
    return {std::string(), place.line};
  };
  said_ = std::make_unique<hang::Examination>(hang::examine_records(
      records, where, {ranks_of_job(facts), facts.is_of_job, ranks_of_processes(facts)}));
}

HangView::~HangView() = default;

int HangView::ranks() const { return said_->facts.known_world; }

const KeptMessage* HangView::line_of(std::int64_t line) const {
  const bool is_there = line >= 0 && line < static_cast<std::int64_t>(lines_.size());
  return is_there ? lines_[static_cast<std::size_t>(line)] : nullptr;
}

std::vector<const hang::Explanation*> HangView::resting_on(std::span<const MessageId> ids) const {
  std::vector<const hang::Explanation*> found;
  const auto take = [&](const hang::Explanation& one) {
    const bool rests =
        std::any_of(one.evidence.begin(), one.evidence.end(), [&](const hang::Evidence& evidence) {
          const KeptMessage* line = line_of(evidence.line);
          return line != nullptr && is_one_of(line->record(), ids);
        });
    if (rests) found.push_back(&one);
  };
  take(said_->verdict.best);
  for (const hang::Explanation& other : said_->verdict.others) take(other);
  return found;
}

std::vector<const KeptMessage*> HangView::quoted_by(const hang::Explanation& one) const {
  std::vector<const KeptMessage*> lines;
  for (const hang::Evidence& evidence : one.evidence) {
    const KeptMessage* line = line_of(evidence.line);
    if (line != nullptr) lines.push_back(line);
  }
  return lines;
}

Evidence HangView::evidence_of(const hang::Explanation& one, std::span<const MessageId> ids) const {
  Evidence quoted;
  Evidence others;
  for (const KeptMessage* line : lines_) {
    const bool is_quoted =
        std::any_of(one.evidence.begin(), one.evidence.end(),
                    [&](const hang::Evidence& some) { return line_of(some.line) == line; });
    if (is_quoted) quoted.add(line->place(), line->process(), line->line());
    if (!is_quoted && is_one_of(line->record(), ids))
      others.add(line->place(), line->process(), line->line());
  }
  if (!others.empty()) quoted.mix(others);
  return quoted;
}

}  // namespace ringside::audit
