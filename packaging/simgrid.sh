#!/usr/bin/env bash
# SimGrid for packages, from Debian's source package, without ns-3 and SMPI: a package that contains libsimgrid would otherwise need
# ns-3 (GPL-2), GSL (GPL-3) and Boost, in the versions of one release of Debian, for models that ringside never asks for.
#
#   simgrid.sh FOLDER    leaves FOLDER/lib and FOLDER/simgrid.pc, for PKG_CONFIG_PATH
set -euo pipefail
folder=$(realpath -m "$1")
[[ ! -e $folder/simgrid.pc ]] || exit 0
mkdir -p "$folder/lists/partial"
cd "$folder"

# apt's own sources may lack source packages: lists of our own, from the same mirror.
# shellcheck disable=SC2016  # apt expands these
read -r mirror release < <(apt-get indextargets --format '$(REPO_URI) $(CODENAME)' \
  'Created-By: Packages' 'Origin: Debian' 'Label: Debian' 'Component: main' | grep -v -- - | head -n 1)
echo "deb-src $mirror $release main" >sources.list
own=(-o "Dir::Etc::SourceList=$folder/sources.list" -o Dir::Etc::SourceParts=/dev/null
  -o "Dir::State::lists=$folder/lists" -o APT::Sandbox::User=root)
apt-get "${own[@]}" update
apt-get "${own[@]}" source --download-only simgrid
rm -rf source build
dpkg-source --extract simgrid_*.dsc source

# No build type, as Debian has it: SimGrid means some of its assertions to stay. It adds -g3, which is stripped below.
cmake -S source -B build -G Ninja -DCMAKE_BUILD_TYPE= -Denable_ns3=OFF -Denable_smpi=OFF -Denable_documentation=OFF \
  -Denable_java=OFF -Denable_python=OFF -Denable_lto=OFF -Denable_model-checking=OFF -Denable_fortran=OFF \
  -DCMAKE_C_FLAGS=-g0 -DCMAKE_CXX_FLAGS=-g0
cmake --build build --target simgrid --parallel "${CMAKE_BUILD_PARALLEL_LEVEL:-2}"
mkdir -p lib
cp -P build/lib/libsimgrid.so* lib/
strip --strip-unneeded lib/libsimgrid.so.*
libraries=(lib/libsimgrid.so.*)
cat >simgrid.pc <<TEXT
Name: simgrid
Description: SimGrid without ns-3 and SMPI
Version: ${libraries[0]#lib/libsimgrid.so.}
Libs: -L$folder/lib -lsimgrid
Cflags: -I$folder/source/include -I$folder/build/include
TEXT
