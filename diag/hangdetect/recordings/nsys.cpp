#include <fmt/format.h>
#include <sqlite3.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "diag/hangdetect/readers/op_name.h"
#include "diag/hangdetect/recordings/formats.h"
#include "diag/hangdetect/recordings/lines.h"

namespace ringside::recordings {
namespace {

using hang::Op;
using nlohmann::json;

constexpr int kMostSteps = 2'000;  ///< progress calls of 10^6 instructions each: some minutes

/// Returns a result of SQLite as an Error.
Error corrupt(const std::string& why) {
  return {ErrorCode::Corrupt, fmt::format("the database cannot be read: {}", why),
          "export the report anew: nsys export --type sqlite REPORT.nsys-rep"};
}

class Rows {
 public:
  explicit Rows(sqlite3_stmt* statement) : statement_(statement, &sqlite3_finalize) {}
  bool next() {
    code_ = sqlite3_step(statement_.get());
    return code_ == SQLITE_ROW;
  }
  /// Returns whether reading failed; after the last row, or where the caller stops before it, it did not.
  [[nodiscard]] bool has_failed() const { return code_ != SQLITE_DONE && code_ != SQLITE_ROW; }
  [[nodiscard]] std::int64_t number(int column) const {
    return sqlite3_column_int64(statement_.get(), column);
  }
  [[nodiscard]] bool is_null(int column) const {
    return sqlite3_column_type(statement_.get(), column) == SQLITE_NULL;
  }
  [[nodiscard]] std::string text(int column) const {
    const unsigned char* const bytes = sqlite3_column_text(statement_.get(), column);
    const int size = sqlite3_column_bytes(statement_.get(), column);
    return bytes == nullptr
               ? std::string{}
               : std::string(
                     reinterpret_cast<const char*>(bytes),  // NOLINT: SQLite's type of UTF-8
                     static_cast<std::size_t>(size));
  }

 private:
  std::unique_ptr<sqlite3_stmt, decltype(&sqlite3_finalize)> statement_;
  int code_ = SQLITE_DONE;
};

/// A database from a stranger: read only, without its views and triggers, and with a bound on the work.
class Database {
 public:
  static Result<Database> open(const char* path, std::string_view bytes) {
    sqlite3* raw = nullptr;
    const int opened = sqlite3_open_v2(
        path, &raw,
        bytes.empty() ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE | SQLITE_OPEN_MEMORY, nullptr);
    Database made(raw);
    if (opened != SQLITE_OK) return corrupt(raw == nullptr ? "no memory" : sqlite3_errmsg(raw));
    if (!bytes.empty()) {
      auto* const copy = static_cast<unsigned char*>(sqlite3_malloc64(bytes.size()));
      if (copy == nullptr) return corrupt("no memory");
      std::ranges::copy(bytes, copy);
      const auto size = static_cast<sqlite3_int64>(bytes.size());
      if (sqlite3_deserialize(raw, "main", copy, size, size,
                              SQLITE_DESERIALIZE_FREEONCLOSE | SQLITE_DESERIALIZE_READONLY) !=
          SQLITE_OK)
        return corrupt(sqlite3_errmsg(raw));
    }
    sqlite3_db_config(raw, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
    sqlite3_db_config(raw, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
    sqlite3_db_config(raw, SQLITE_DBCONFIG_ENABLE_VIEW, 0, nullptr);
    sqlite3_limit(raw, SQLITE_LIMIT_LENGTH, 1 << 26);
    sqlite3_progress_handler(
        raw, 1'000'000,
        [](void* steps) { return ++*static_cast<int*>(steps) > kMostSteps ? 1 : 0; },
        made.steps_.get());
    return made;
  }

  Result<Rows> query(const std::string& sql) const {
    sqlite3_stmt* statement = nullptr;
    if (sqlite3_prepare_v2(raw_.get(), sql.c_str(), -1, &statement, nullptr) != SQLITE_OK)
      return corrupt(sqlite3_errmsg(raw_.get()));
    return Rows(statement);
  }

  /// Returns the columns of a table; empty if there is none: the exporter omits tables without rows.
  Result<std::set<std::string>> columns(const std::string& table) const {
    std::set<std::string> names;
    RINGSIDE_TRY(
        Rows rows,
        query(fmt::format("SELECT p.name FROM pragma_table_info('{0}') p WHERE EXISTS (SELECT 1 "
                          "FROM sqlite_master WHERE type = 'table' AND name = '{0}')",
                          table)));
    while (rows.next()) names.insert(rows.text(0));
    if (rows.has_failed()) return corrupt(sqlite3_errmsg(raw_.get()));
    return names;
  }
  [[nodiscard]] Error error() const { return corrupt(sqlite3_errmsg(raw_.get())); }

 private:
  explicit Database(sqlite3* raw) : raw_(raw, &sqlite3_close) {}
  std::unique_ptr<int> steps_ = std::make_unique<int>(0);
  std::unique_ptr<sqlite3, decltype(&sqlite3_close)> raw_;
};

/// A range of NCCL's NVTX domain.
struct Range {
  std::int64_t begin = 0, end = -1, thread = 0;
  std::string name;     ///< without `nccl`
  std::string payload;  ///< JSON
};

struct Kernel {
  std::int64_t launched = -1, thread = 0, begin = 0, end = 0, process = 0;
  KernelName name;
};

std::int64_t process_of(std::int64_t global_id) { return global_id >> 24 & 0xffffff; }

/// Returns the whole number at `key`, at any depth of the payload; -1 if there is none.
std::int64_t number_at(const json& payload, std::string_view key, int depth = 0) {
  if (!payload.is_structured() || depth > 4) return -1;
  if (payload.is_object()) {
    if (const auto found = payload.find(key); found != payload.end()) {
      if (found->is_number_integer()) return found->get<std::int64_t>();
      if (found->is_string())
        return static_cast<std::int64_t>(
            std::strtoull(found->get_ref<const std::string&>().c_str(), nullptr, 0));
    }
  }
  for (const json& inner : payload) {
    if (const std::int64_t number = number_at(inner, key, depth + 1); number != -1) return number;
  }
  return -1;
}

/// The calls of one process: NVTX states what the host calls, kernels when it runs.
class Process {
 public:
  Recording made;

  /// shape  in the order of their begins
  void take(const Range& range) {
    Thread& thread = threads_[range.thread];
    const json payload = json::parse(range.payload, nullptr, false);
    if (range.name.starts_with("GroupStart")) {
      ++thread.depth;
    } else if (range.name.starts_with("GroupEnd")) {
      thread.depth = std::max(0, thread.depth - 1);
      if (thread.depth > 0) return;
      thread.launches.push_back({range.begin, range.end, std::exchange(thread.grouped, {})});
    } else if (range.name.starts_with("CommInitRank")) {
      take_communicator(payload);
    } else if (const auto op = hang::op_of(range.name);
               op != Op::Other && !range.name.starts_with("Comm")) {
      thread.grouped.push_back(made.calls.size());
      made.calls.push_back(call_of(range, op, payload));
      if (thread.depth > 0) return;
      thread.launches.push_back({range.begin, range.end, std::exchange(thread.grouped, {})});
    }
  }

  /// shape  in the order of their launches, after all ranges
  void take(const Kernel& kernel) {
    // The range that launches it. The end of a group launches for all calls of the group.
    Thread& thread = threads_[kernel.thread];
    const auto& launches = thread.launches;
    while (thread.next < launches.size() && launches[thread.next].end < kernel.launched)
      ++thread.next;
    if (thread.next >= launches.size() || kernel.launched < launches[thread.next].begin) {
      if (made.calls.empty() || is_by_kernels_) add_by_kernel(kernel);
      return;
    }
    for (const std::size_t place : launches[thread.next].calls) {
      Call& call = made.calls[place];
      call.begin_ns = call.begin_ns < 0 ? kernel.begin : std::min(call.begin_ns, kernel.begin);
      call.end_ns = std::max(call.end_ns, kernel.end);
      if (kernel.name.algorithm) call.algorithm = kernel.name.algorithm;
      if (kernel.name.protocol) call.protocol = kernel.name.protocol;
    }
  }

  void finish() {
    made.format = Format::Nsys;
    made.is_completed_only = is_by_kernels_;
    const bool has_kernels =
        std::ranges::any_of(made.calls, [](const Call& call) { return call.end_ns >= 0; });
    made.has_device_times = has_kernels;
    std::set<int> ended;  // groups with a later call that has ended
    for (auto call = made.calls.rbegin(); call != made.calls.rend(); ++call) {
      call->bytes = whole_bytes(call->op, call->in_count,
                                made.groups[static_cast<std::size_t>(call->group)].size);
      if (!has_kernels) call->begin_ns = call->issued_ns;
      if (call->end_ns >= 0) ended.insert(call->group);
      // A copy takes the place of a kernel among one rank, and through the copy engines.
      if (call->end_ns < 0 && ended.contains(call->group))
        call->begin_ns = call->end_ns = call->issued_ns;
    }
    if (is_by_kernels_)
      made.notes.emplace_back(
          "sizes and communicators of calls: NVTX was not traced (nsys profile --trace=cuda,nvtx)");
    if (!has_kernels)
      made.notes.emplace_back(
          "when calls ran on the GPU: CUDA was not traced (nsys profile --trace=cuda,nvtx)");
  }

 private:
  struct Launch {
    std::int64_t begin = 0, end = 0;
    std::vector<std::size_t> calls;
  };
  struct Thread {
    std::vector<Launch> launches;
    std::size_t next = 0;              ///< launch of the next kernel, or an earlier one
    std::vector<std::size_t> grouped;  ///< calls of the open group
    int depth = 0;
  };

  Call call_of(const Range& range, Op op, const json& payload) {
    Call call;
    call.name = range.name;
    call.op = op;
    const std::int64_t id = number_at(payload, "NCCL communicator ID");
    const std::string name =
        id == -1 ? std::string() : fmt::format("0x{:x}", static_cast<std::uint64_t>(id));
    const auto known = size_of_.find(name);
    call.group = made.group_of(name, {}, known == size_of_.end() ? 0 : known->second);
    call.in_count = static_cast<std::uint64_t>(
        std::max<std::int64_t>(0, number_at(payload, "Message size [bytes]")));
    call.root = rank_or_none(number_at(payload, "Root"));
    call.peer = rank_or_none(number_at(payload, "Peer rank"));
    call.issued_ns = range.begin;
    return call;
  }

  void take_communicator(const json& payload) {
    const std::int64_t id = number_at(payload, "NCCL communicator ID");
    std::int64_t size = number_at(payload, "No. of ranks");
    if (size < 0) size = number_at(payload, "Number of ranks");
    if (id == -1 || size <= 0 || size > hang::kMostRanks) return;
    size_of_[fmt::format("0x{:x}", static_cast<std::uint64_t>(id))] = static_cast<int>(size);
    if (size <= made.world) return;
    made.world = static_cast<int>(size);
    made.rank = rank_or_none(number_at(payload, "Rank"));
  }

  void add_by_kernel(const Kernel& kernel) {
    is_by_kernels_ = true;
    Call call;
    call.name = kernel.name.op;
    call.op = kernel.name.op == "SendRecv" ? Op::Coalesced : hang::op_of(kernel.name.op);
    call.group = made.group_of("", {}, 0);
    call.type = kernel.name.type;
    call.algorithm = kernel.name.algorithm;
    call.protocol = kernel.name.protocol;
    call.begin_ns = kernel.begin;
    call.end_ns = kernel.end;
    made.calls.push_back(std::move(call));
  }

  std::map<std::string, int> size_of_;  ///< by communicator
  std::map<std::int64_t, Thread> threads_;
  bool is_by_kernels_ = false;
};

class Export {
 public:
  explicit Export(Database database) : database_(std::move(database)) {}

  Result<std::vector<Recording>> run() {
    RINGSIDE_TRY(read_start());
    RINGSIDE_TRY(read_ranges());
    RINGSIDE_TRY(read_kernels());
    std::vector<Recording> all;
    for (auto& [pid, process] : processes_) {
      if (process.made.calls.empty()) continue;
      process.finish();
      process.made.host = host_;
      process.made.gpu = gpu_;
      all.push_back(std::move(process.made));
    }
    if (!all.empty()) return all;
    return Error{ErrorCode::NotFound, "no call of NCCL",
                 "record with nsys profile --trace=cuda,nvtx while ranks communicate"};
  }

 private:
  Status read_start() {
    RINGSIDE_TRY(const auto session, database_.columns("TARGET_INFO_SESSION_START_TIME"));
    if (session.contains("utcEpochNs")) {
      RINGSIDE_TRY(Rows rows,
                   database_.query("SELECT utcEpochNs FROM TARGET_INFO_SESSION_START_TIME"));
      if (rows.next())
        start_ns_ = std::clamp<std::int64_t>(rows.number(0), 0, 3'000'000'000'000'000'000);
    }
    RINGSIDE_TRY(const auto environment, database_.columns("TARGET_INFO_SYSTEM_ENV"));
    if (environment.contains("name") && environment.contains("value")) {
      RINGSIDE_TRY(
          Rows rows,
          database_.query("SELECT value FROM TARGET_INFO_SYSTEM_ENV WHERE name LIKE 'hostname'"));
      if (rows.next()) host_ = rows.text(0).substr(0, 256);
    }
    RINGSIDE_TRY(const auto gpus, database_.columns("TARGET_INFO_GPU"));
    if (gpus.contains("name")) {
      RINGSIDE_TRY(Rows rows, database_.query("SELECT name FROM TARGET_INFO_GPU"));
      if (rows.next()) gpu_ = rows.text(0).substr(0, 256);
    }
    return {};
  }

  [[nodiscard]] std::int64_t at(std::int64_t time) const {
    return start_ns_ + std::clamp<std::int64_t>(time, 0, 1'000'000'000'000'000'000);
  }

  /// Returns a text that a column holds itself, or by its number in StringIds.
  static std::string text_column(const std::set<std::string>& columns, const std::string& text,
                                 const std::string& id) {
    const std::string by_id = fmt::format("(SELECT value FROM StringIds WHERE id = {})", id);
    if (!columns.contains(id)) return columns.contains(text) ? text : "NULL";
    return columns.contains(text) ? fmt::format("COALESCE({}, {})", text, by_id) : by_id;
  }

  Status read_ranges() {
    RINGSIDE_TRY(const auto columns, database_.columns("NVTX_EVENTS"));
    if (!columns.contains("start") || !columns.contains("globalTid")) return {};
    RINGSIDE_TRY(Rows rows, database_.query(fmt::format(
                                "SELECT start, \"end\", globalTid, substr({}, 1, 64) AS "
                                "range_name, {} FROM NVTX_EVENTS WHERE eventType IN (59, 60) AND "
                                "range_name GLOB 'nccl[A-Z]*' ORDER BY start",
                                text_column(columns, "text", "textId"),
                                text_column(columns, "jsonText", "jsonTextId"))));
    for (std::size_t count = 0; count < kMostCalls && rows.next(); ++count) {
      Range range;
      range.begin = at(rows.number(0));
      range.end = rows.is_null(1) ? INT64_MAX : at(rows.number(1));
      range.thread = rows.number(2);
      range.name = rows.text(3).substr(4);
      range.payload = rows.text(4);
      processes_[process_of(range.thread)].take(range);
    }
    return rows.has_failed() ? Status(database_.error()) : Status{};
  }

  Status read_kernels() {
    RINGSIDE_TRY(const auto columns, database_.columns("CUPTI_ACTIVITY_KIND_KERNEL"));
    RINGSIDE_TRY(const auto runtime, database_.columns("CUPTI_ACTIVITY_KIND_RUNTIME"));
    if (!columns.contains("start") || !columns.contains("end")) return {};
    const bool has_launches = runtime.contains("correlationId") && runtime.contains("globalTid") &&
                              columns.contains("correlationId");
    const std::string process = columns.contains("globalPid") ? "k.globalPid"
                                : has_launches                ? "r.globalTid"
                                                              : "0";
    const std::string same_process =
        columns.contains("globalPid") ? " AND (r.globalTid >> 24) = (k.globalPid >> 24)" : "";
    RINGSIDE_TRY(
        Rows rows,
        database_.query(fmt::format(
            "SELECT k.start, k.\"end\", {}, {}, {}, {} FROM CUPTI_ACTIVITY_KIND_KERNEL k {}",
            process, has_launches ? "r.start" : "NULL", has_launches ? "r.globalTid" : "NULL",
            text_column(columns, "demangled",
                        columns.contains("demangledName") ? "demangledName" : "shortName"),
            has_launches
                ? "LEFT JOIN CUPTI_ACTIVITY_KIND_RUNTIME r ON r.correlationId = k.correlationId" +
                      same_process
                : "")));
    std::map<std::int64_t, std::vector<Kernel>> kernels;
    for (std::size_t count = 0; count < kMostCalls && rows.next(); ++count) {
      Kernel kernel;
      kernel.begin = at(rows.number(0));
      kernel.end = std::max(kernel.begin, at(rows.number(1)));
      kernel.process = process_of(rows.number(2));
      auto name = parse_kernel(rows.text(5));
      if (!name) {
        processes_[kernel.process].made.compute.push_back({kernel.begin, kernel.end});
        continue;
      }
      kernel.name = *std::move(name);
      kernel.launched = rows.is_null(3) ? -1 : at(rows.number(3));
      kernel.thread = rows.number(4);
      kernels[kernel.process].push_back(std::move(kernel));
    }
    if (rows.has_failed()) return database_.error();
    for (auto& [pid, own] : kernels) {
      std::ranges::stable_sort(
          own, {}, [](const Kernel& kernel) { return std::pair(kernel.launched, kernel.begin); });
      for (const Kernel& kernel : own) processes_[pid].take(kernel);
    }
    return {};
  }

  Database database_;
  std::int64_t start_ns_ = 0;
  std::string host_;
  std::string gpu_;
  std::map<std::int64_t, Process> processes_;  ///< by pid
};

}  // namespace

Result<std::vector<Recording>> parse_nsys(std::string_view bytes) {
  RINGSIDE_TRY(Database database, Database::open(":memory:", bytes));
  return Export(std::move(database)).run();
}

Result<std::vector<Recording>> read_nsys(const std::string& path) {
  RINGSIDE_TRY(Database database, Database::open(path.c_str(), {}));
  return Export(std::move(database)).run();
}

}  // namespace ringside::recordings
