#include "tests/hangdetect/nsys_export.h"

#include <sqlite3.h>

#include "base/assert.h"

namespace ringside::recordings {

NsysExport::NsysExport() {
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
  run("INSERT INTO TARGET_INFO_SESSION_START_TIME VALUES (" + std::to_string(kStart) + ", '', '')");
  run("CREATE TABLE TARGET_INFO_SYSTEM_ENV (globalVid INTEGER, devStateName TEXT, name TEXT, "
      "nameEnum INTEGER, value TEXT)");
  run("INSERT INTO TARGET_INFO_SYSTEM_ENV VALUES (1, '', 'Hostname', 1, 'n07')");
}

NsysExport::~NsysExport() { sqlite3_close(database_); }

void NsysExport::run(const std::string& sql) {
  const int code = sqlite3_exec(database_, sql.c_str(), nullptr, nullptr, nullptr);
  RINGSIDE_ASSERT(code == SQLITE_OK, "{}: {}", sql, sqlite3_errmsg(database_));
}

std::string NsysExport::bytes() const {
  sqlite3_int64 size = 0;
  unsigned char* const data = sqlite3_serialize(database_, "main", &size, 0);
  std::string copy(data, data + size);
  sqlite3_free(data);
  return copy;
}

}  // namespace ringside::recordings
