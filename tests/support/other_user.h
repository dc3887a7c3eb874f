#pragma once

#include <unistd.h>

namespace ringside {

/// Removes the process's right to read what is forbidden to it, as long as the object lives: tests may run as root,
/// who has that right.
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
