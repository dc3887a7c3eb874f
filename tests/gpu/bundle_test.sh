#!/bin/bash
# Builds the package by bundle.sh and runs it in a bare root, where there is a shell, a C library and nothing else: no GPU, no compiler,
# and of /proc what the loader needs. Needs root (chroot) and nvcc; exit status 77 without.
#
#   bundle_test.sh DIR     a folder for the package and the root
set -eu -o pipefail
[[ $EUID == 0 ]] || { echo "bundle_test: needs root" >&2; exit 77; }
PATH=$PATH:/usr/local/cuda/bin:/usr/sbin:/sbin
chroot=$(command -v chroot) # PATH of what it runs is the root's
command -v nvcc > /dev/null || { echo "bundle_test: no nvcc" >&2; exit 77; }
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
mkdir -p "$1"
folder=$(cd "$1" && pwd)
root=$folder/root

# refuse ARGUMENT..: bundle.sh finds the command line wrong before it builds anything.
refuse() {
  local status=0
  "$here/bundle.sh" "$@" > /dev/null 2>&1 || status=$?
  [[ $status == 2 ]] || { echo "bundle_test: bundle.sh $*: status $status, not 2"; exit 1; }
}
refuse
refuse "$folder/package" 9.0
refuse "$here"
[[ -e $here/run.sh ]] || exit 1

rm -rf "$folder/package" "$folder/package.tgz"
"$here/bundle.sh" "$folder/package" > "$folder/bundle.log" 2>&1 || { tail -20 "$folder/bundle.log"; exit 1; }
echo "bundle_test: CPU of this script (user, system), of its commands:" && times
kilobytes=$(du -sk "$folder/package" | cut -f1)
echo "bundle_test: $kilobytes KB, $(du -sk "$folder/package.tgz" | cut -f1) KB packed"
((kilobytes <= 30 << 10)) || { echo "bundle_test: larger than 30 MB"; exit 1; }

rm -rf "$root"
mkdir -p "$root"/{bin,dev,tmp,package,proc/self}
ln -s /package/ringside "$root/proc/self/exe" # by which the loader finds $ORIGIN, the folder of each program here
mknod "$root/dev/null" c 1 3
tools=(awk basename bash cat cut date dirname grep gzip head mkdir mv paste rm sed sleep sort stat tail tar timeout touch tr truncate uniq wc)
for tool in "${tools[@]}"; do
  path=$(command -v "$tool")
  cp -L "$path" "$root/bin/$tool"
  ldd "$path" | grep -o '/[^ ]*' | while read -r library; do
    mkdir -p "$root$(dirname "$library")" && cp -Ln "$library" "$root$library"
  done
done
# What every C library has.
for library in libm.so.6 libdl.so.2 librt.so.1 libpthread.so.0 libresolv.so.2; do
  found=$(find /lib/x86_64-linux-gnu /usr/lib64 -name "$library" 2> /dev/null | head -1)
  cp -Ln "$found" "$root$(dirname "$(ldd /bin/bash | grep -o '/[^ ]*libc\.so\.6')")/"
done
tar -C "$root/package" -xzf "$folder/package.tgz"

failed=0
# expect STATUS TEXT COMMAND..: in the root
expect() {
  local wanted=$1 text=$2 status=0 said
  shift 2
  said=$(env -i PATH=/bin "$chroot" "$root" "$@" 2>&1) || status=$?
  [[ $status == "$wanted" && $said == *"$text"* ]] && return
  echo "bundle_test: $*: status $status, not $wanted, or no '$text':"
  echo "$said" | head -20
  failed=1
}
expect 3 "no nvidia-smi: this host has no NVIDIA driver" /package/run.sh /tmp/out
expect 0 "CudaBits." /package/ringside_gpu_test --gtest_list_tests
expect 0 "CudaProcessGrid." /package/ringside_gpu_processes_test --gtest_list_tests
expect 3 "no NVIDIA driver" /package/ringside_gpu_page --facts
expect 3 "no NVIDIA driver" /package/ringside bench all_reduce --device cuda
expect 0 "bench" /package/ringside --help
# Where there is a driver's tool and no GPU opens, the page says so.
printf '#!/bin/bash\necho "NVIDIA H200, 9.0, 575.57"\n' > "$root/bin/nvidia-smi"
chmod +x "$root/bin/nvidia-smi"
expect 1 "the GPU does not open (ended with status 3): error: no NVIDIA driver" /package/run.sh /tmp/out
grep -q 'Verdict: FAILED: other errors: 1' "$root/tmp/out/page.md" || { echo "bundle_test: no page"; failed=1; }
[[ $failed == 0 ]] && rm -rf "$root"
exit "$failed"
