#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "diag/logparse/known_lines.h"
#include "diag/logparse/nccl_prefix.h"
#include "diag/logparse/parse_logs.h"
#include "diag/logparse/parsers.h"
#include "diag/logparse/paste.h"
#include "diag/logparse/speaker_table.h"
#include "diag/logparse/unparsed.h"
#include "diag/logparse/wrappers.h"

namespace ringside::logs {

/// Parses the lines of one shard into records and passes them to a sink in batches. Removes the prefixes that launchers
/// and collectors add. A torn line gives a record for each beginning of a line in it.
///
/// Ordering   pass lines in order; flush() passes all collected records to the sink
/// Threads    one thread uses a parser
/// Ownership  a line's bytes must stay valid until the next flush(); `sink` must outlive the parser
class LineParser {
 public:
  explicit LineParser(RecordSink& sink);

  /// Begins a new piece of input and ends the records that the last piece left open.
  void begin(std::uint32_t piece, std::uint32_t file, std::string_view path);

  /// Parses one line without its '\n'.
  /// is_odd  the line has control characters
  /// is_cut  the end of the line is omitted
  void parse(std::string_view line, std::uint32_t number, bool is_odd, bool is_cut);

  /// Parses a line of a paste. The parser copies its bytes.
  void parse_restored(const RestoredLine& line, bool is_odd);

  /// Sets the writer of the next lines that do not name their writer.
  /// host  empty: unknown
  /// rank  -1: unknown
  void begin_part(std::string_view host, std::int32_t rank);

  /// Parses consecutive lines; `number` is the line number of the first.
  /// begin  start of the first line
  /// ends   ends of the lines as find_line_ends() returns them, as offsets from `block`
  /// shape  Blocks::kSlack characters can be read after the last line
  void parse_lines(const char* begin, const char* block, std::span<const std::uint32_t> ends,
                   std::uint32_t number);

  /// Passes the collected records to the sink. Afterwards the lines' bytes are no longer used.
  void flush();

  /// Ends the input and passes all records to the sink.
  void finish();

  [[nodiscard]] ParseCounts& counts() { return counts_; }
  [[nodiscard]] const UnparsedShapes& unparsed() const { return unparsed_; }

 private:
  /// The next occurrence of a word in a line that is parsed in pieces, so that the line is searched only once.
  struct Sought {
    const char* at = nullptr;   ///< `end`: nowhere
    const char* end = nullptr;  ///< end of the searched line
  };
  static constexpr std::size_t kBatch = 64;  ///< ten KiB: they stay in the first cache

  Record& open_record(std::string_view line, std::size_t text_at);
  void close_record();
  void finish_text(Record& record, Parsed parsed);
  void pass_records();
  bool parse_known(std::string_view line, std::uint32_t number);
  void parse_line(std::string_view line, std::uint32_t number, bool is_odd);
  void parse_with_prefix(std::string_view line, const LineMatch& match);
  void learn_prefix(std::string_view line, const NcclPrefix& prefix, std::uint32_t speaker);
  void parse_clean(std::string_view line);
  std::string_view parse_first(std::string_view line);
  void parse_odd(std::string_view line);
  void parse_json(const std::string& text, std::int64_t time_us);
  void join_partial(std::string_view text, bool goes_on);
  std::string_view parse_texts(std::string_view line, NcclPrefix prefix, std::uint32_t speaker,
                               const Wrapping& wrapping);
  std::string_view parse_beginnings(std::string_view line, std::size_t from, NcclPrefix prefix,
                                    const Wrapping& wrapping);
  void parse_inside(Record& record);
  bool parse_bare(Record& record, const Wrapping& wrapping, bool is_place_alone);
  void parse_plain(std::string_view line, std::size_t from, const Wrapping& wrapping, bool is_torn);
  void follow_traceback(const Wrapping& wrapping, std::string_view text, Record& record);
  static std::size_t find_once(std::string_view line, std::string_view word, std::size_t from,
                               Sought& sought);
  bool find_second(std::string_view line, std::size_t from, NcclPrefix& next, std::size_t& end);
  void find_host(std::string_view line, std::size_t from, NcclPrefix& prefix);
  void count_unparsed(const Record& record);
  std::uint32_t speaker_of(const NcclPrefix& prefix, const Wrapping& wrapping);
  std::uint32_t speaker_of(const Wrapping& wrapping);
  std::string_view kept(std::string_view text);

  RecordSink& sink_;
  SpeakerTable speakers_;
  ParseCounts counts_;
  UnparsedShapes unparsed_;
  std::unique_ptr<Record[]> batch_;
  std::size_t size_ = 0;
  std::vector<std::unique_ptr<std::string>> kept_;  ///< lines that were rewritten, until flush()
  std::size_t kept_bytes_ = 0;

  Place place_;
  std::uint32_t file_ = 0;
  std::string path_;
  std::int64_t time_us_ = 0;  ///< time of the enclosing JSON object or container line; 0: none
  bool is_cut_ = false;
  bool is_paste_ = false;         ///< this line is one of a paste
  std::string label_host_;        ///< named by a label before the line, or a heading
  std::int32_t label_rank_ = -1;  ///< named by a heading
  std::string partial_;           ///< a container's line in pieces
  KnownLines known_;
  std::unique_ptr<LineMatch[]> matches_;  ///< matches of the lines that are parsed together
  std::span<LineMatch> matches_left_;     ///< from the current line on; empty: it is parsed alone
  const char* matched_ = nullptr;         ///< where that line starts
  bool continues_ = false;                ///< the last record may have more lines
  std::uint32_t continued_speaker_ = 0;
  std::uint32_t traceback_speaker_ = 0;  ///< the writer in the tag of a traceback's first line
  std::uint32_t traceback_left_ = 0;     ///< lines that it may still have
  Sought level_;                         ///< ` NCCL `
  Sought rank_;                          ///< `[rank`
};

}  // namespace ringside::logs
