#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "diag/hangdetect/readers/process_stacks.h"
#include "diag/logparse/message.h"
#include "diag/logparse/ras_records.h"
#include "diag/logparse/record.h"

namespace ringside::hang {

class Statements;

/// Reads a text report of ncclras line by line: a list of ranks belongs to the problem in the heading above it, a
/// process to the rank that another list gives it. Communicators that do not span the whole job are ignored.
///
/// Ordering   pass lines in the order of the report, then call state(). Several reports may follow each other; the
///            class compares them
/// source     docs/formats 7.1
class RasText {
 public:
  /// The problem that the heading of a list of ranks states.
  enum class Section : std::uint8_t { None, Missing, Dead, Error, Status, Counts };

  /// Ranks that the report names, with their problem.
  struct Finding {
    Section section = Section::None;
    std::vector<int> ranks;
    std::int64_t lag = 0;    ///< for Counts: operations fewer (> 0) or more (< 0) than the others
    std::string detail;      ///< `process 71 on node n01, GPU 3`, or a status
    logs::Place place;       ///< place of its first line
    std::string line;        ///< its first line
    std::size_t report = 0;  ///< index of the report in the text
  };

  void take_comm(const logs::RasComm& comm);
  void take_rank(const logs::Record& record);
  /// Takes a message of the catalogue. Returns false if the message is not from ncclras.
  bool take_message(const logs::Record& record);

  /// Ends the report and adds its findings to the statements. Call it once.
  void state(Statements& said);

  /// Returns whether every row of the table is OK and no problem is listed.  shape  after state()
  [[nodiscard]] bool is_healthy() const {
    return rows_ > 0 && rows_ == healthy_rows_ && !has_problem_;
  }
  /// Returns how the job moved between two reports of the text; empty if they do not show it.  shape  after state()
  [[nodiscard]] const std::string& moved() const { return moved_; }
  /// Returns the size of the largest communicator; 0 if unknown.
  [[nodiscard]] std::int32_t widest() const { return widest_; }
  /// Returns host and process id, by rank, of the ranks that the report names.
  [[nodiscard]] const std::map<int, ProcessPlace>& processes() const { return processes_of_; }
  /// Returns the rank by process id, of the ranks that the report names.
  [[nodiscard]] const std::map<std::int64_t, int>& rank_of_pid() const { return rank_of_pid_; }

 private:
  [[nodiscard]] std::vector<Finding> finish();
  void drop_aftermath();
  /// The operations that the ranks of a communicator have launched, in one report.
  struct Reach {
    std::int64_t low = -1, high = -1;  ///< operations launched; -1: unknown
    std::set<int> late;                ///< ranks that are listed below the others
  };
  /// One report of several in a text.
  struct Report {
    std::map<std::string, Reach, std::less<>> reach;  ///< by the communicator's hash
    int last_group = -1;                              ///< row of the table
    int rows = 0;
    int healthy_rows = 0;
    [[nodiscard]] bool is_empty() const { return reach.empty() && rows == 0; }
  };
  void begin_report();
  void reach(std::int64_t operation, int rank);
  /// `earlier` and `later`: reports of one job.  returns  how the job moved; empty: it did not, or the reports do not
  /// show it
  [[nodiscard]] static std::string moved_between(const Report& earlier, const Report& later);
  /// Returns the finding to which the line belongs, a new one unless it continues a list; nullptr: there are too many.
  Finding* add(Section section, const logs::Record& record);
  void take_process(const logs::Record& record);
  bool take_list(const logs::Record& record);
  void compare();

  std::vector<Finding> found_;
  Section section_ = Section::None;
  std::map<int, std::int32_t> sizes_;  ///< communicator size, by row of the table
  std::map<std::int64_t, int> rank_of_pid_;
  std::map<int, ProcessPlace> processes_of_;
  std::vector<std::pair<std::int64_t, std::string>>
      processes_;                        ///< processes without an answer, as text
  std::vector<std::size_t> of_process_;  ///< indices in found_ of findings that name only a process
  std::vector<std::pair<std::int64_t, int>> listed_;  ///< operation and rank of the listed outliers
  std::map<std::pair<std::uint64_t, std::size_t>, std::vector<std::pair<std::int64_t, int>>>
      counts_;
  std::int64_t most_ = 0;    ///< size of the largest set of ranks
  std::int64_t total_ = -1;  ///< the operation that most ranks have reached
  std::int64_t few_ = -1;    ///< the operation that the outliers have reached
  std::int32_t widest_ = 0;
  int rows_ = 0;
  int healthy_rows_ = 0;
  bool has_problem_ = false;
  bool is_of_job_ = true;  ///< the current list is of a communicator over the whole job
  logs::Place counts_place_;
  std::string counts_line_;
  std::vector<Report> reports_{1};
  std::string comm_;             ///< the communicator whose counts are being read
  bool are_counts_old_ = false;  ///< the kept counts are of an earlier report
  std::string moved_;
};

}  // namespace ringside::hang
