#pragma once

#include <unistd.h>

namespace ringside {

/// While it lives, the process has no right to read what is forbidden: tests may run as root, who has.
class OtherUser {
 public:
  OtherUser() {
    constexpr uid_t kNobody = 65534;
    if (::getuid() == 0 && ::seteuid(kNobody) == 0) is_changed_ = true;
  }
  ~OtherUser() {
    if (is_changed_ && ::seteuid(0) != 0) ::_exit(3);
  }
  OtherUser(const OtherUser&) = delete;
  OtherUser& operator=(const OtherUser&) = delete;

 private:
  bool is_changed_ = false;
};

}  // namespace ringside
