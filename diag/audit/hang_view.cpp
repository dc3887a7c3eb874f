#include "diag/audit/hang_view.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "diag/audit/facts.h"
#include "diag/hangdetect/examine.h"
#include "diag/job/world_size.h"
#include "diag/logparse/host_records.h"
#include "diag/logparse/ras_records.h"

namespace ringside::audit {

using namespace logs;  // most names below are its record types

namespace {

Speaker speaker_of(const JobFacts& facts, std::uint32_t index) {
  const ProcessFacts& process = facts.processes[index];
  Speaker speaker;
  speaker.host = facts.host_name(process.host);
  speaker.pid = process.pid;
  speaker.launcher_rank = process.launcher_rank;
  return speaker;
}

/// Returns the number of ranks of the job, from lines that are not in the catalogue.
/// returns  0: unknown
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
  for (const ProcessFacts& process : facts.processes)
    ranks.know(facts.host_name(process.host), process.pid, process.rank);
  if (facts.world() == nullptr) return ranks;
  for (const Member& member : facts.world()->members)
    ranks.know_gpu(facts.host_name(member.host), member.bus_id, member.rank);
  return ranks;
}

bool LinesOf::has(const SeenLine& line) const {
  switch (line.source) {
    case SeenLine::Source::Program:
      return program;
    case SeenLine::Source::Ras:
      return ras;
    default:
      return std::any_of(messages.begin(), messages.end(),
                         [&](MessageId id) { return is_message(line.message->record(), id); });
  }
}

namespace {

/// A record for hangdetect, and the line that it was made from.
struct Seen {
  SeenLine line;
  hang::AttributedRecord spoken;
};

class RecordRebuilder {
 public:
  explicit RecordRebuilder(const JobFacts& facts) : facts_(facts) {}

  void add_messages() {
    for (const KeptMessage* message : facts_.messages.kept_lines()) {
      seen_.push_back({{SeenLine::Source::Catalogue, message->place(), message->process(),
                        message->line(), message},
                       {message->record(), speaker_of(facts_, message->process())}});
    }
  }

  void add_programs() {
    for (const KeptLine& line : facts_.plain_of(PlainLine::Occupied).kept)
      add(SeenLine::Source::Program, line.quoted, Record{});
    for (const PythonErrorFact& error : facts_.python_errors) {
      Record record;
      auto& payload = record.make<PythonError>();
      payload.type = error.type;
      payload.text = error.text;
      add(SeenLine::Source::Program, error.quoted, record);
    }
  }

  void add_ras() {
    for (const RasFact& fact : facts_.ras) {
      Record record;
      if (fact.is_rank) {
        auto& rank = record.make<RasRank>();
        rank.state = fact.is_dead      ? RasRank::State::Dead
                     : fact.is_missing ? RasRank::State::Missing
                                       : RasRank::State::Present;
        rank.rank = fact.rank;
        rank.operation = fact.operation;
        rank.status = fact.status;
        rank.host = fact.host;
      } else {
        auto& comm = record.make<RasComm>();
        comm.nranks = fact.nranks;
        comm.ranks_missing = fact.missing;
        comm.status = fact.status;
        comm.errors = fact.errors;
      }
      add(SeenLine::Source::Ras, fact.quoted, record);
    }
  }

  /// Returns the lines in the order of the logs.
  [[nodiscard]] std::vector<Seen> take() {
    std::stable_sort(seen_.begin(), seen_.end(),
                     [](const Seen& a, const Seen& b) { return a.line.place < b.line.place; });
    return std::move(seen_);
  }

 private:
  void add(SeenLine::Source source, const QuotedLine& quoted, Record record) {
    record.line = quoted.text;
    record.place = quoted.place;
    seen_.push_back({{source, quoted.place, quoted.process, quoted.text, nullptr},
                     {record, speaker_of(facts_, quoted.process)}});
  }

  const JobFacts& facts_;
  std::vector<Seen> seen_;
};

}  // namespace

HangView::HangView(const JobFacts& facts) {
  RecordRebuilder rebuilder(facts);
  rebuilder.add_messages();
  rebuilder.add_programs();
  rebuilder.add_ras();
  std::vector<hang::AttributedRecord> records;
  for (Seen& one : rebuilder.take()) {
    lines_.push_back(one.line);
    lines_.back().at = facts.where(one.line.place);
    records.push_back(std::move(one.spoken));
  }
  // A file is named by its number.
  const auto where = [&](Place place) -> std::pair<std::string, std::int64_t> {
    const FileLine at = facts.where(place);
    return {std::to_string(at.file), static_cast<std::int64_t>(at.line)};
  };
  hang::KnownJob known{.ranks = ranks_of_job(facts),
                       .hosts = static_cast<int>(facts.hosts.size()),
                       .is_of_job = facts.is_of_job,
                       .processes = ranks_of_processes(facts)};
  for (const CommFacts& comm : facts.comms) {
    if (comm.nranks != facts.comms.front().nranks) continue;
    for (const Member& member : comm.members) known.calls_of[member.rank] += member.ncalls;
  }
  examination_ = std::make_unique<hang::Examination>(hang::examine_records(records, where, known));
}

HangView::~HangView() = default;

namespace {

/// Returns the places of the lines that an explanation quotes.
std::vector<FileLine> places_of(const hang::Explanation& one) {
  std::vector<FileLine> places;
  for (const hang::Evidence& evidence : one.evidence) {
    std::uint32_t file = 0;
    const char* const end = evidence.file.data() + evidence.file.size();
    const bool is_number = std::from_chars(evidence.file.data(), end, file).ptr == end;
    if (evidence.file.empty() || !is_number || evidence.line < 0) continue;
    places.push_back({file, static_cast<std::uint64_t>(evidence.line)});
  }
  return places;
}

bool are_at(const std::vector<FileLine>& places, const SeenLine& line) {
  return std::any_of(places.begin(), places.end(), [&](const FileLine& at) {
    return at.file == line.at.file && at.line == line.at.line;
  });
}

}  // namespace

std::vector<const hang::Explanation*> HangView::explanations_quoting(const LinesOf& lines) const {
  std::vector<const hang::Explanation*> found;
  const auto take = [&](const hang::Explanation& one) {
    const std::vector<FileLine> places = places_of(one);
    const bool rests = std::any_of(lines_.begin(), lines_.end(), [&](const SeenLine& line) {
      return are_at(places, line) && lines.has(line);
    });
    if (rests) found.push_back(&one);
  };
  take(examination_->verdict.best);
  for (const hang::Explanation& other : examination_->verdict.others) take(other);
  return found;
}

std::vector<SeenLine> HangView::quoted_by(const hang::Explanation& one) const {
  std::vector<SeenLine> quoted;
  const std::vector<FileLine> places = places_of(one);
  for (const SeenLine& line : lines_) {
    if (are_at(places, line)) quoted.push_back(line);
  }
  return quoted;
}

std::vector<const KeptMessage*> HangView::messages_of(const hang::Explanation& one) const {
  std::vector<const KeptMessage*> messages;
  for (const SeenLine& line : quoted_by(one)) {
    if (line.message != nullptr) messages.push_back(line.message);
  }
  return messages;
}

Evidence HangView::evidence_of(const hang::Explanation& one, const LinesOf& lines) const {
  Evidence quoted;
  Evidence others;
  const std::vector<FileLine> places = places_of(one);
  for (const SeenLine& line : lines_) {
    Evidence& evidence = are_at(places, line) ? quoted : others;
    if (&evidence == &quoted || lines.has(line)) evidence.add(line.place, line.process, line.text);
  }
  if (!others.empty()) quoted.mix(others);
  return quoted;
}

}  // namespace ringside::audit
