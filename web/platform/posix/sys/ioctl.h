// No stream is a terminal: nothing asks for its size.
#pragma once
#include_next <sys/ioctl.h>

struct winsize {
  unsigned short ws_row, ws_col, ws_xpixel, ws_ypixel;
};
#define TIOCGWINSZ 0x5413
