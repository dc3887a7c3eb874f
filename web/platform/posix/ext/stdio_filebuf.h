// GCC's library has this, LLVM's has not: a stream's buffer that writes to a descriptor and closes it.
#pragma once

#include <unistd.h>

#include <ios>
#include <streambuf>

namespace __gnu_cxx {

template <typename Char>
class stdio_filebuf : public std::basic_streambuf<Char> {
  static_assert(sizeof(Char) == 1);

 public:
  stdio_filebuf(int fd, std::ios::openmode /*mode*/) : fd_(fd) {
    this->setp(room_, room_ + sizeof room_);
  }
  ~stdio_filebuf() override { close(); }
  stdio_filebuf(const stdio_filebuf&) = delete;
  stdio_filebuf& operator=(const stdio_filebuf&) = delete;

  void close() {
    sync();
    if (fd_ >= 0) ::close(fd_);
    fd_ = -1;
  }

 protected:
  int sync() override {
    for (const Char* at = this->pbase(); at < this->pptr();) {
      const ssize_t put = ::write(fd_, at, static_cast<size_t>(this->pptr() - at));
      if (put < 0) return -1;
      at += put;
    }
    this->setp(room_, room_ + sizeof room_);
    return 0;
  }
  int overflow(int next) override {
    if (sync() != 0) return -1;
    if (next < 0) return 0;
    this->sputc(static_cast<Char>(next));
    return next;
  }

 private:
  int fd_;
  Char room_[1 << 16];
};

}  // namespace __gnu_cxx
