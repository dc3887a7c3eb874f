#include "harness/sweep/result_store.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sqlite3.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <utility>

#include "base/fd.h"
#include "base/host_name.h"

namespace ringside {
namespace {

namespace fs = std::filesystem;

constexpr const char* kLocksFix =
    "name a folder with -o on a file system that has POSIX locks: a local one, NFS 4, Lustre with "
    "flock";
/// How long writers wait for each other; the file system of a busy cluster may be slow.
constexpr int kBusyMs = 120'000;

/// Every attempt at a point has a row, which shows which worker did what, and that nothing was computed twice.
constexpr const char* kSchema = R"sql(
CREATE TABLE IF NOT EXISTS workers (
  id INTEGER PRIMARY KEY AUTOINCREMENT, host TEXT NOT NULL, pid INTEGER NOT NULL,
  since TEXT NOT NULL DEFAULT CURRENT_TIMESTAMP);
CREATE TABLE IF NOT EXISTS points (
  key TEXT PRIMARY KEY, position INTEGER, label TEXT NOT NULL, worker INTEGER REFERENCES workers,
  result TEXT, wall_s REAL);
CREATE TABLE IF NOT EXISTS attempts (
  id INTEGER PRIMARY KEY, key TEXT NOT NULL, worker INTEGER NOT NULL,
  since TEXT NOT NULL DEFAULT CURRENT_TIMESTAMP);
CREATE INDEX IF NOT EXISTS points_by_position ON points (position);
)sql";

/// A prepared statement: values are bound, it is stepped, and the destructor resets it.
class Statement {
 public:
  Statement(sqlite3* database, const char* sql) {
    status_ = sqlite3_prepare_v2(database, sql, -1, &statement_, nullptr);
  }
  ~Statement() { sqlite3_finalize(statement_); }
  Statement(const Statement&) = delete;
  Statement& operator=(const Statement&) = delete;

  Statement& bind(int place, std::int64_t value) {
    if (status_ == SQLITE_OK) status_ = sqlite3_bind_int64(statement_, place, value);
    return *this;
  }
  Statement& bind(int place, double value) {
    if (status_ == SQLITE_OK) status_ = sqlite3_bind_double(statement_, place, value);
    return *this;
  }
  /// Ownership  the value outlives the step
  Statement& bind(int place, const std::string& value) {
    if (status_ == SQLITE_OK) {
      status_ = sqlite3_bind_text(statement_, place, value.data(), static_cast<int>(value.size()),
                                  nullptr);
    }
    return *this;
  }

  /// returns  SQLITE_ROW, SQLITE_DONE, or an error code
  int step() {
    if (status_ == SQLITE_OK || status_ == SQLITE_ROW) status_ = sqlite3_step(statement_);
    return status_;
  }

  [[nodiscard]] std::int64_t number(int column) const {
    return sqlite3_column_int64(statement_, column);
  }
  [[nodiscard]] double real(int column) const { return sqlite3_column_double(statement_, column); }
  [[nodiscard]] std::string text(int column) const {
    const auto* const begin =
        reinterpret_cast<const char*>(sqlite3_column_text(statement_, column));
    const auto size = static_cast<std::size_t>(sqlite3_column_bytes(statement_, column));
    return begin == nullptr ? std::string{} : std::string(begin, size);
  }

 private:
  sqlite3_stmt* statement_ = nullptr;
  int status_ = SQLITE_OK;
};

struct CloseDatabase {
  void operator()(sqlite3* database) const { sqlite3_close(database); }
};

}  // namespace

struct ResultStore::Impl {
  std::string path;
  std::unique_ptr<sqlite3, CloseDatabase> database;
  /// Open for the life of the process: closing any descriptor of a file drops all of the process's locks on it.
  UniqueFd locks;
  std::int64_t worker = 0;

  [[nodiscard]] Error failed(const char* what) const {
    const int code = sqlite3_errcode(database.get());
    const bool is_other = code == SQLITE_NOTADB || code == SQLITE_CORRUPT || code == SQLITE_ERROR;
    return Error{is_other ? ErrorCode::Corrupt : ErrorCode::System,
                 fmt::format("{}: {}: {}", path, what, sqlite3_errmsg(database.get())),
                 is_other ? "it is no sweep's results: name another folder with -o" : kLocksFix};
  }

  Status run(const char* sql) {
    if (sqlite3_exec(database.get(), sql, nullptr, nullptr, nullptr) == SQLITE_OK) return {};
    return failed("cannot be written");
  }

  /// Runs `body` in one transaction, which is rolled back if body fails. It starts as a write transaction, because two
  /// readers that both want to write would wait for each other.
  template <typename Body>
  Status transact(const Body& body) {
    RINGSIDE_TRY(run("BEGIN IMMEDIATE"));
    if (Status done = body(); !done) {
      sqlite3_exec(database.get(), "ROLLBACK", nullptr, nullptr, nullptr);
      return done;
    }
    if (Status done = run("COMMIT"); !done) {
      sqlite3_exec(database.get(), "ROLLBACK", nullptr, nullptr, nullptr);
      return done;
    }
    return {};
  }

  Status open_locks() {
    const std::string name = path + ".workers";
    locks.reset(::open(name.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666));
    if (!locks) return system_error(name, errno, "name a folder where you may write with -o");
    return {};
  }

  static struct flock byte_of(std::int64_t worker) {
    struct flock lock {};
    lock.l_type = F_WRLCK;
    lock.l_whence = SEEK_SET;
    lock.l_start = worker;
    lock.l_len = 1;
    return lock;
  }

  /// Locks the worker's byte before another process can see its number.
  Status register_worker() {
    return transact([this]() -> Status {
      Statement insert(database.get(), "INSERT INTO workers (host, pid) VALUES (?, ?)");
      const std::string host = host_name("unknown");
      insert.bind(1, host).bind(2, std::int64_t{::getpid()});
      if (insert.step() != SQLITE_DONE) return failed("cannot be written");
      worker = sqlite3_last_insert_rowid(database.get());
      struct flock lock = byte_of(worker);
      if (::fcntl(locks.get(), F_SETLK, &lock) == 0) return {};
      return system_error(path + ".workers: cannot be locked", errno, kLocksFix);
    });
  }

  /// errors  System: the file system does not support locks
  [[nodiscard]] Result<bool> is_gone(std::int64_t other) const {
    if (other == worker) return false;
    struct flock lock = byte_of(other);
    if (::fcntl(locks.get(), F_GETLK, &lock) != 0) {
      return system_error(path + ".workers: cannot be locked", errno, kLocksFix);
    }
    return lock.l_type == F_UNLCK;
  }

  /// Reopens points of workers that are gone.
  Status reopen_lost() {
    std::vector<std::int64_t> workers;
    {
      Statement taken(
          database.get(),
          "SELECT DISTINCT worker FROM points WHERE worker IS NOT NULL AND result IS NULL");
      int status = taken.step();
      for (; status == SQLITE_ROW; status = taken.step()) workers.push_back(taken.number(0));
      if (status != SQLITE_DONE) return failed("cannot be read");
    }
    for (const std::int64_t other : workers) {
      RINGSIDE_TRY(const bool gone, is_gone(other));
      if (!gone) continue;
      Statement reopen(database.get(),
                       "UPDATE points SET worker = NULL WHERE worker = ? AND result IS NULL");
      if (reopen.bind(1, other).step() != SQLITE_DONE) return failed("cannot be written");
    }
    return {};
  }

  Result<std::optional<std::string>> first_open() {
    Statement first(
        database.get(),
        "SELECT key FROM points WHERE position IS NOT NULL AND worker IS NULL AND result "
        "IS NULL ORDER BY position LIMIT 1");
    const int status = first.step();
    if (status == SQLITE_ROW) return std::optional(first.text(0));
    if (status != SQLITE_DONE) return failed("cannot be read");
    return std::optional<std::string>{};
  }

  Status take_it(const std::string& key) {
    Statement take(database.get(), "UPDATE points SET worker = ? WHERE key = ?");
    if (take.bind(1, worker).bind(2, key).step() != SQLITE_DONE) return failed("cannot be written");
    Statement attempt(database.get(), "INSERT INTO attempts (key, worker) VALUES (?, ?)");
    if (attempt.bind(1, key).bind(2, worker).step() != SQLITE_DONE) {
      return failed("cannot be written");
    }
    return {};
  }
};

ResultStore::ResultStore(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
ResultStore::~ResultStore() = default;
ResultStore::ResultStore(ResultStore&&) noexcept = default;

Result<ResultStore> ResultStore::open(const std::string& folder) {
  std::error_code failed;
  fs::create_directories(folder, failed);
  if (failed) {
    return system_error(folder + ": cannot be a folder for results", failed.value(),
                        "name one where you may write with -o");
  }
  auto impl = std::make_unique<Impl>();
  impl->path = (fs::path(folder) / kFile).string();
  sqlite3* database = nullptr;
  const int status = sqlite3_open_v2(impl->path.c_str(), &database,
                                     SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, nullptr);
  impl->database.reset(database);
  if (status != SQLITE_OK) return impl->failed("cannot be opened");
  sqlite3_busy_timeout(database, kBusyMs);
  // EXTRA: also syncs the end of the journal before a transaction is reported as done.
  RINGSIDE_TRY(impl->run("PRAGMA journal_mode = DELETE; PRAGMA synchronous = EXTRA"));
  RINGSIDE_TRY(impl->open_locks());
  RINGSIDE_TRY(impl->transact([&]() -> Status { return impl->run(kSchema); }));
  RINGSIDE_TRY(impl->register_worker());
  return ResultStore(std::move(impl));
}

Status ResultStore::set_points(const std::vector<StoredPoint>& points) {
  return impl_->transact([&]() -> Status {
    RINGSIDE_TRY(impl_->run("UPDATE points SET position = NULL"));
    std::int64_t position = 0;
    for (const StoredPoint& point : points) {
      Statement put(
          impl_->database.get(),
          "INSERT INTO points (key, position, label) VALUES (?1, ?2, ?3) ON CONFLICT (key) "
          "DO UPDATE SET position = ?2, label = ?3");
      put.bind(1, point.key).bind(2, position++).bind(3, point.label);
      if (put.step() != SQLITE_DONE) return impl_->failed("cannot be written");
    }
    return {};
  });
}

Result<std::optional<std::string>> ResultStore::take() {
  std::optional<std::string> key;
  const Status taken = impl_->transact([&]() -> Status {
    RINGSIDE_TRY(key, impl_->first_open());
    if (!key) {
      RINGSIDE_TRY(impl_->reopen_lost());
      RINGSIDE_TRY(key, impl_->first_open());
    }
    return key ? impl_->take_it(*key) : Status{};
  });
  if (!taken) return taken.error();
  return key;
}

Status ResultStore::finish(const std::string& key, const std::string& result, double wall_s) {
  return impl_->transact([&]() -> Status {
    // Results that another worker has stored meanwhile are kept; that can only happen if locks are lost.
    Statement put(impl_->database.get(),
                  "UPDATE points SET result = ?, wall_s = ? WHERE key = ? AND result IS NULL");
    put.bind(1, result).bind(2, wall_s).bind(3, key);
    if (put.step() != SQLITE_DONE) return impl_->failed("cannot be written");
    return {};
  });
}

Status ResultStore::give_back(const std::string& key) {
  return impl_->transact([&]() -> Status {
    Statement put(
        impl_->database.get(),
        "UPDATE points SET worker = NULL WHERE key = ? AND worker = ? AND result IS NULL");
    if (put.bind(1, key).bind(2, impl_->worker).step() != SQLITE_DONE) {
      return impl_->failed("cannot be written");
    }
    return {};
  });
}

Result<ResultStore::Count> ResultStore::count() {
  Statement all(impl_->database.get(),
                "SELECT count(*), count(result), count(worker), total(wall_s) FROM points WHERE "
                "position IS NOT NULL");
  if (all.step() != SQLITE_ROW) return impl_->failed("cannot be read");
  Count count{.all = all.number(0), .done = all.number(1), .wall_s = all.real(3)};
  count.taken = all.number(2) - count.done;
  return count;
}

Result<std::vector<ResultStore::Done>> ResultStore::done() {
  Statement all(
      impl_->database.get(),
      "SELECT key, result, wall_s FROM points WHERE position IS NOT NULL AND result IS NOT "
      "NULL ORDER BY position");
  std::vector<Done> done;
  int status = all.step();
  for (; status == SQLITE_ROW; status = all.step()) {
    done.push_back({.key = all.text(0), .result = all.text(1), .wall_s = all.real(2)});
  }
  if (status != SQLITE_DONE) return impl_->failed("cannot be read");
  return done;
}

}  // namespace ringside
