#include "engine/runtime/bootstrap/pmix_exchange.h"

#ifdef RINGSIDE_HAVE_PMIX

#include <fmt/format.h>
#include <pmix.h>

#include <cstring>

#ifdef __SANITIZE_ADDRESS__
// libpmix never frees a few bytes of its own; leaks of ringside are still reported.
extern "C" const char* __lsan_default_suppressions();  // NOLINT: LeakSanitizer's name
extern "C" const char* __lsan_default_suppressions() { return "leak:libpmix"; }
#endif

namespace ringside {
namespace {

constexpr int kFenceSeconds = 2;  ///< of fence(), which only saves time

Error pmix_error(const char* what, pmix_status_t status) {
  return {status == PMIX_ERR_TIMEOUT || status == PMIX_ERR_NOT_FOUND ? ErrorCode::Timeout
                                                                     : ErrorCode::System,
          fmt::format("PMIx: {}: {}", what, PMIx_Error_string(status)),
          "set MASTER_ADDR and MASTER_PORT to let the ranks meet without PMIx"};
}

/// The process's connection to the PMIx server; closed on destruction.
class Session {
 public:
  static Result<Session> open() {
    pmix_proc_t self{};
    const pmix_status_t status = PMIx_Init(&self, nullptr, 0);
    if (status != PMIX_SUCCESS) return pmix_error("cannot reach the launcher's server", status);
    return Session(self);
  }
  Session(Session&& other) noexcept : self_(other.self_), is_open_(other.is_open_) {
    other.is_open_ = false;
  }
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;
  Session& operator=(Session&&) = delete;
  ~Session() {
    if (is_open_) PMIx_Finalize(nullptr, 0);
  }

  Status put(const std::string& key, const std::string& text) const {
    std::string copy = text;
    pmix_value_t value{};
    value.type = PMIX_STRING;
    value.data.string = copy.data();
    pmix_status_t status = PMIx_Put(PMIX_GLOBAL, key.c_str(), &value);
    if (status == PMIX_SUCCESS) status = PMIx_Commit();
    if (status != PMIX_SUCCESS) return pmix_error("cannot publish the job's id", status);
    return {};
  }

  /// Waits a short time for all ranks. This only saves time; its result does not matter.
  void fence() const {
    pmix_info_t info = time_limit(kFenceSeconds);
    static_cast<void>(PMIx_Fence(nullptr, 0, &info, 1));
  }

  Result<std::string> get_from_rank_0(const std::string& key, Deadline deadline) const {
    pmix_proc_t owner = self_;
    owner.rank = 0;
    for (;;) {
      pmix_info_t info = time_limit(1);
      pmix_value_t* value = nullptr;
      const pmix_status_t status = PMIx_Get(&owner, key.c_str(), &info, 1, &value);
      if (status == PMIX_SUCCESS && value != nullptr) {
        std::string text =
            value->type == PMIX_STRING && value->data.string != nullptr ? value->data.string : "";
        PMIX_VALUE_RELEASE(value);
        return text;
      }
      const bool may_come = status == PMIX_ERR_TIMEOUT || status == PMIX_ERR_NOT_FOUND;
      if (!may_come || has_passed(deadline)) {
        return pmix_error("rank 0 did not publish the job's id", status);
      }
      deadline.clock().sleep(std::chrono::milliseconds(50));
    }
  }

 private:
  explicit Session(const pmix_proc_t& self) : self_(self) {}

  static pmix_info_t time_limit(int seconds) {
    pmix_info_t info{};
    std::strncpy(info.key, PMIX_TIMEOUT, sizeof info.key - 1);
    info.value.type = PMIX_INT;
    info.value.data.integer = seconds;
    return info;
  }

  pmix_proc_t self_;
  bool is_open_ = true;
};

}  // namespace

bool has_pmix() { return true; }

Result<std::string> pmix_share(const std::optional<std::string>& mine, Deadline deadline) {
  static int calls = 0;  // published data stays, so each exchange needs its own name
  const std::string key = fmt::format("ringside.id.{}", calls++);
  RINGSIDE_TRY(const Session session, Session::open());
  if (mine) RINGSIDE_TRY(session.put(key, *mine));
  session.fence();
  if (mine) return *mine;
  return session.get_from_rank_0(key, deadline);
}

}  // namespace ringside

#else

namespace ringside {

bool has_pmix() { return false; }

Result<std::string> pmix_share(const std::optional<std::string>& /*mine*/, Deadline /*deadline*/) {
  return Error{ErrorCode::Unsupported, "this ringside was built without PMIx",
               "set MASTER_ADDR and MASTER_PORT, or rebuild with libpmix-dev installed"};
}

}  // namespace ringside

#endif
