#!/usr/bin/env bash
# toolchain.sh FOLDER: what the web's program is compiled with and linked to, as far as no package of Debian's has it built:
# headers and libraries of WASI, sources of libraries. Into FOLDER and nowhere else; what is there is kept.
set -euo pipefail
folder=$(realpath -m "${1:?"toolchain.sh FOLDER"}")
readonly POOL=http://deb.debian.org/debian/pool/main

say() { echo "toolchain: $*" >&2; }

# unpack NAME FILE SHA256 MEMBERS...: FILE of the current folder into FOLDER/NAME, without its first folder.
unpack() {
  local name=$1 file=$2 hash=$3
  shift 3
  if ! sha256sum --check --status <<< "$hash  $file"; then
    say "$file: its SHA-256 is not the one in web/toolchain.sh"
    exit 3
  fi
  rm -rf "${folder:?}/$name" "$folder/$name.part"
  mkdir -p "$folder/$name.part"
  tar -xf "$file" -C "$folder/$name.part" --strip-components=1 --no-same-owner --wildcards "$@"
  mv "$folder/$name.part" "$folder/$name"
  rm "$file"
}

# source_package NAME PATH SHA256 MEMBERS...: a source package of Debian's.
source_package() {
  local name=$1 path=$2 hash=$3
  shift 3
  [[ ! -d $folder/$name ]] || return 0
  say "$name"
  curl --fail --silent --show-error --location --retry 3 -o "${path##*/}" "$POOL/$path"
  unpack "$name" "${path##*/}" "$hash" "$@"
}

mkdir -p "$folder/download"
cd "$folder/download"

# libc++ 21, wasi-libc and compiler-rt. Of the package its sysroot alone is used: clang is Debian's.
if [[ ! -d $folder/sysroot ]]; then
  say "sysroot"
  npm pack --silent @yowasp/clang@21.1.4-3 > /dev/null
  unpack yowasp yowasp-clang-21.1.4-3.tgz \
    9c082ea5cac9489966adbe381529bf13bde18646126e98b8b089d83f57fe5e27 '*/gen/llvm-resources.tar'
  mkdir -p "$folder/sysroot.part"
  tar -xf "$folder/yowasp/gen/llvm-resources.tar" -C "$folder/sysroot.part" --no-same-owner
  rm -rf "$folder/yowasp"
  mv "$folder/sysroot.part" "$folder/sysroot"
fi

source_package fmt f/fmtlib/fmtlib_9.1.0+ds1.orig.tar.gz \
  84ce1c2d0be3a9863935137969dcec6970125caac032f82474640bfc81463583 '*/include/*' '*/src/*'
source_package yaml-cpp y/yaml-cpp/yaml-cpp_0.7.0+dfsg.orig.tar.xz \
  dc63708605404e0b963e0ca3a9619d1c8270eda2839603e6fa0384e5e51e5312 '*/include/*' '*/src/*'
source_package pugixml p/pugixml/pugixml_1.13.orig.tar.gz \
  5c5ad5d7caeb791420408042a7d88c2c6180781bf218feca259fd9d840a888e1 '*/src/*'
source_package zlib z/zlib/zlib_1.2.13.dfsg.orig.tar.bz2 \
  71feb7947e3c00ef125f83b79a4e529bde31171e5babe48b391f06758d1ab0a1 '*.c' '*.h'
source_package zstd libz/libzstd/libzstd_1.5.4+dfsg2.orig.tar.xz \
  8cf4bbb65e77ec348d052c8d6230eba66d435bddf64c8b5be2fcb16880c19953 '*/lib/common/*' '*/lib/decompress/*' '*/lib/*.h'
# The sysroot's libc++abi ends the program at a throw. This one catches.
source_package llvm l/llvm-toolchain-19/llvm-toolchain-19_19.1.7.orig.tar.xz \
  ae498f3bc58ae2d9f64ef5f0c035c4240152bf015a5b7738b15c22e93bdc97ce \
  '*/libcxxabi/src/*' '*/libcxxabi/include/*' '*/libunwind/src/*' '*/libunwind/include/*' '*/libcxx/src/include/*'
