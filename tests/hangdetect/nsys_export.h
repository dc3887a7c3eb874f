#pragma once

#include <cstdint>
#include <string>

struct sqlite3;

namespace ringside::recordings {

/// A database with the tables that `nsys export --type sqlite` writes, made row by row.
class NsysExport {
 public:
  static constexpr std::int64_t kStart = 1'790'000'000'000'000'000;

  NsysExport();
  NsysExport(const NsysExport&) = delete;
  NsysExport& operator=(const NsysExport&) = delete;
  ~NsysExport();

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
  void run(const std::string& sql);
  [[nodiscard]] std::string bytes() const;

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
