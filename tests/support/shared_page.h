#pragma once

#include <sys/mman.h>

#include <new>

namespace ringside {

/// An object that a process shares with those that it forks.
///
/// shape  T is at most a page, and needs no destructor
template <typename T>
class SharedPage {
 public:
  SharedPage()
      : object_(new (::mmap(nullptr, sizeof(T), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
                            -1, 0)) T()) {}
  SharedPage(const SharedPage&) = delete;
  SharedPage& operator=(const SharedPage&) = delete;
  ~SharedPage() { ::munmap(object_, sizeof(T)); }
  T& operator*() { return *object_; }
  T* operator->() { return object_; }
  const T* operator->() const { return object_; }

 private:
  T* object_;
};

}  // namespace ringside
