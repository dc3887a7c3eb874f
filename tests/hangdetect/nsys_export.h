#pragma once

#include <sqlite3.h>

#include <cstdint>
#include <string>

#include "base/assert.h"

namespace ringside::recordings {

/// A database with the tables that `nsys export --type sqlite` writes, made row by row.
class NsysExport {
 public:
  static constexpr std::int64_t kStart = 1'790'000'000'000'000'000;

  NsysExport() {
    sqlite3_open(":memory:", &database_);
    run("CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT NOT NULL)");
    run("CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER NOT NULL, end INTEGER NOT NULL, "
        "deviceId INTEGER, "
        "streamId INTEGER, correlationId INTEGER, globalPid INTEGER, demangledName INTEGER, "
        "shortName INTEGER)");
    run("CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INTEGER NOT NULL, end INTEGER NOT NULL, "
        "globalTid INTEGER, "
        "correlationId INTEGER, nameId INTEGER)");
    run("CREATE TABLE NVTX_EVENTS (start INTEGER NOT NULL, end INTEGER, eventType INTEGER NOT "
        "NULL, text TEXT, "
        "globalTid INTEGER, textId INTEGER, domainId INTEGER, jsonText TEXT)");
    run("CREATE TABLE TARGET_INFO_SESSION_START_TIME (utcEpochNs INTEGER, utcTime TEXT, localTime "
        "TEXT)");
    run("INSERT INTO TARGET_INFO_SESSION_START_TIME VALUES (" + std::to_string(kStart) +
        ", '', '')");
    run("CREATE TABLE TARGET_INFO_SYSTEM_ENV (globalVid INTEGER, devStateName TEXT, name TEXT, "
        "nameEnum INTEGER, value TEXT)");
    run("INSERT INTO TARGET_INFO_SYSTEM_ENV VALUES (1, '', 'Hostname', 1, 'n07')");
  }
  NsysExport(const NsysExport&) = delete;
  NsysExport& operator=(const NsysExport&) = delete;
  ~NsysExport() { sqlite3_close(database_); }

  static std::int64_t process(std::int64_t pid) { return (std::int64_t{0x0101} << 48) | pid << 24; }
  static std::int64_t thread(std::int64_t pid, std::int64_t tid) { return process(pid) | tid; }

  void range(std::int64_t start, std::int64_t end, std::int64_t thread, const std::string& text,
             const std::string& json) {
    run("INSERT INTO NVTX_EVENTS VALUES (" + list(start, end) + ", 59, NULL, " +
        list(thread, string(text)) + ", 3, " + (json.empty() ? "NULL" : "'" + json + "'") + ")");
  }
  void launch(std::int64_t start, std::int64_t thread, std::int64_t correlation) {
    run("INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (" + list(start, start + 2) + ", " +
        list(thread, correlation) + ", 0)");
  }
  void kernel(std::int64_t start, std::int64_t end, std::int64_t pid, std::int64_t correlation,
              const std::string& name) {
    run("INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (" + list(start, end) + ", 0, 7, " +
        list(correlation, process(pid)) + ", " + list(string(name), string(name)) + ")");
  }
  void run(const std::string& sql) {
    const int code = sqlite3_exec(database_, sql.c_str(), nullptr, nullptr, nullptr);
    RINGSIDE_ASSERT(code == SQLITE_OK, "{}: {}", sql, sqlite3_errmsg(database_));
  }
  [[nodiscard]] std::string bytes() const {
    sqlite3_int64 size = 0;
    unsigned char* const data = sqlite3_serialize(database_, "main", &size, 0);
    std::string copy(data, data + size);
    sqlite3_free(data);
    return copy;
  }

 private:
  static std::string list(std::int64_t a, std::int64_t b) {
    return std::to_string(a) + ", " + std::to_string(b);
  }
  std::int64_t string(const std::string& text) {
    run("INSERT INTO StringIds VALUES (" + std::to_string(++strings_) + ", '" + text + "')");
    return strings_;
  }

  sqlite3* database_ = nullptr;
  std::int64_t strings_ = 100;
};

}  // namespace ringside::recordings
