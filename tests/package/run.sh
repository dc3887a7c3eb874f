#!/usr/bin/env bash
# Installs a build of ringside below a folder, as a packager would, and uses it as a user of the package would: what is installed
# is what is public; each header compiles alone with nothing else; the examples build by CMake and by pkg-config, and
# print what expected.txt has.
#
#   run.sh BUILD_FOLDER WORK_FOLDER
set -euo pipefail
build=$1
work=$2
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
examples=$here/../../examples
public=$here/../../include/ringside

rm -rf "$work"
mkdir -p "$work"
DESTDIR=$work/stage cmake --install "$build" --prefix /usr >"$work/install.log"
prefix=$work/stage/usr
libraries=$(dirname "$(find "$prefix" -name 'libringside.so')")

# Installed are the public headers and one library, and the library offers what they declare.
diff <(cd "$public" && ls ./*.h) <(cd "$prefix/include/ringside" && ls ./*)
[[ $(ls "$prefix/include") == ringside ]]
[[ $(find "$prefix" -name '*.a') == '' ]]
nm -D --defined-only "$libraries/libringside.so" | awk '$2 != "A" {print $3}' >"$work/symbols.txt"
if grep -vE '^(rs[A-Z]|_ZNK?[RO]?8ringside|_ZT[ISV]N8ringside)' "$work/symbols.txt" ||
  grep -E '^_ZNK?[RO]?8ringside[0-9]+(audit|cli|facts|hang|hangs|job|logs|probe|runtime|study|workload)[0-9]' "$work/symbols.txt"; then
  echo "package: libringside.so offers what is not public" >&2
  exit 1
fi

# Each header alone, from the installation. The C API also as C.
flags=(-Wall -Wextra -Wpedantic -Werror -fsyntax-only "-I$prefix/include")
for header in "$prefix"/include/ringside/*.h; do
  echo "#include <ringside/${header##*/}>" | c++ -std=c++20 "${flags[@]}" -x c++ -
done
echo '#include <ringside/ringside.h>' | cc -std=c11 "${flags[@]}" -x c -

# Logs, dumps: those that ringside generates.
cd "$work"
ringside=$prefix/bin/ringside
"$ringside" --version
"$ringside" sim all_reduce --bytes 1M --on 2x-l4 >sim.txt
"$ringside" generate logs --on dgx-h100 --nodes 2 --break gdr -o logs >generate.txt
"$ringside" generate hangs --class missing_rank --ranks 4 -o hangs >>generate.txt

# run_all FOLDER: all examples of the folder, as one text.
run_all() {
  local name
  for name in topology tuning prove simulate; do echo "== $name" && "$1/$name"; done
  for name in all_reduce all_reduce_c; do echo "== $name" && "$1/$name" | sort; done
  echo "== write_trace" && "$1/write_trace" "$1/run.rtrace"
  echo "== read_trace" && "$1/read_trace" "$1/run.rtrace"
  echo "== audit" && "$1/audit" logs
  echo "== hang" && "$1/hang" hangs
}

cmake -S "$examples" -B by_cmake -G Ninja -DCMAKE_PREFIX_PATH="$prefix" >cmake.log
cmake --build by_cmake
run_all by_cmake >by_cmake.txt
diff "$here/expected.txt" by_cmake.txt

mkdir by_pkg_config
export PKG_CONFIG_PATH=$libraries/pkgconfig LD_LIBRARY_PATH=$libraries
read -ra needed <<<"$(pkg-config --cflags --libs ringside)"
for source in "$examples"/*.c "$examples"/*.cpp; do
  name=${source##*/}
  compiler=(c++ -std=c++20)
  [[ $source == *.cpp ]] || compiler=(cc -std=c11 -D_POSIX_C_SOURCE=200809L)
  "${compiler[@]}" "$source" "${needed[@]}" -o "by_pkg_config/${name%.*}"
done
run_all by_pkg_config >by_pkg_config.txt
diff "$here/expected.txt" by_pkg_config.txt
