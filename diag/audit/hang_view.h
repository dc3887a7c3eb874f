#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "diag/audit/evidence.h"
#include "diag/audit/message_log.h"
#include "diag/job/process_ranks.h"
#include "diag/logparse/log_files.h"
#include "diag/logparse/message.h"

namespace ringside::hang {
struct Examination;
struct Explanation;
}  // namespace ringside::hang

namespace ringside::audit {

struct JobFacts;

/// Returns the rank of each process and GPU in the largest communicator.
job::ProcessRanks ranks_of_processes(const JobFacts& facts);

/// A line that is passed to hangdetect.
struct SeenLine {
  enum class Source : std::uint8_t {
    Catalogue,  ///< `message`
    Program,    ///< an exception, or a line that shows what a program was busy with
    Ras,        ///< a rank or communicator of an ncclras report
  };
  Source source = Source::Catalogue;
  logs::Place place;
  std::uint32_t process = 0;
  std::string_view text;
  const KeptMessage* message = nullptr;  ///< nullptr: not from the catalogue
  logs::FileLine at = {};
};

/// Selects log lines: an explanation is chosen if it quotes one of them.
struct LinesOf {
  std::span<const logs::MessageId> messages;
  bool program = false;  ///< also lines of programs
  bool ras = false;      ///< also lines of ncclras reports

  [[nodiscard]] bool has(const SeenLine& line) const;
};

/// Runs hangdetect on the lines that a job's facts keep. Audit rules translate its explanations to findings and do not
/// judge hangs themselves.
///
/// Ownership  `facts` must outlive the object
class HangView {
 public:
  explicit HangView(const JobFacts& facts);
  ~HangView();
  HangView(const HangView&) = delete;
  HangView& operator=(const HangView&) = delete;

  /// Returns the explanations that quote one of these lines, the most certain first.
  [[nodiscard]] std::vector<const hang::Explanation*> explanations_quoting(
      const LinesOf& lines) const;

  /// Returns the lines that an explanation quotes.
  [[nodiscard]] std::vector<SeenLine> quoted_by(const hang::Explanation& one) const;
  /// Returns the quoted lines that match a message of the catalogue.
  [[nodiscard]] std::vector<const KeptMessage*> messages_of(const hang::Explanation& one) const;

  /// Returns the lines that an explanation quotes and all lines that `lines` selects.
  [[nodiscard]] Evidence evidence_of(const hang::Explanation& one, const LinesOf& lines) const;

 private:
  std::vector<SeenLine> lines_;  ///< in the order of the logs
  std::unique_ptr<hang::Examination> examination_;
};

}  // namespace ringside::audit
