#pragma once

#include <memory>
#include <span>
#include <vector>

#include "diag/audit/evidence.h"
#include "diag/audit/message_log.h"
#include "diag/job/process_ranks.h"
#include "diag/logparse/message.h"

namespace ringside::hang {
struct Examination;
struct Explanation;
}  // namespace ringside::hang

namespace ringside::audit {

struct JobFacts;

/// Which rank a process or a GPU is, as the communicators tell it.
job::ProcessRanks ranks_of_processes(const JobFacts& facts);

/// What hangdetect makes of the lines that a job's facts keep: who left the path, and what of that is said outright. A
/// line of a hang is judged there alone; rules translate.
///
/// Ownership  the facts must outlive it
class HangView {
 public:
  explicit HangView(const JobFacts& facts);
  ~HangView();
  HangView(const HangView&) = delete;
  HangView& operator=(const HangView&) = delete;

  /// How many ranks the job has, where a line says it.  returns  0: none does
  [[nodiscard]] int ranks() const;

  /// Explanations that rest on a line of one of these messages, the surest first.
  [[nodiscard]] std::vector<const hang::Explanation*> resting_on(
      std::span<const logs::MessageId> ids) const;

  /// The lines that an explanation quotes.
  [[nodiscard]] std::vector<const KeptMessage*> quoted_by(const hang::Explanation& one) const;

  /// The lines that an explanation quotes, and all others of these messages.
  [[nodiscard]] Evidence evidence_of(const hang::Explanation& one,
                                     std::span<const logs::MessageId> ids) const;

 private:
  [[nodiscard]] const KeptMessage* line_of(std::int64_t line) const;

  const JobFacts& facts_;
  std::vector<const KeptMessage*> lines_;  ///< in the order of the logs
  std::unique_ptr<hang::Examination> said_;
};

}  // namespace ringside::audit
