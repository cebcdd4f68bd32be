#!/bin/sh
# Puts what the comparison needs into a folder of its own: Halide and NumPy from PyPI; OpenBLAS and
# oneDNN from Debian, and clang 19 where the machine has none. Needs Python with venv and pip, and
# for Debian's packages apt-get and dpkg-deb; nothing is installed into the system. What cannot be
# had is left out of the comparison.
#
#     sh setup.sh FOLDER
set -eu
folder=${1:?usage: setup.sh FOLDER}
mkdir -p "$folder"
cd "$folder"
if [ ! -x venv/bin/python ]; then
    python3 -m venv venv
    venv/bin/pip install --quiet 'halide>=21,<22' numpy
fi
# Unpacks packages of Debian below `debian`.
unpack() {
    command -v apt-get >/dev/null && command -v dpkg-deb >/dev/null || return 0
    mkdir -p packages debian
    for package in "$@"; do
        (cd packages && rm -f "$package"_*.deb && apt-get download "$package" >/dev/null 2>&1) || echo "setup.sh: no package $package" >&2
        for file in packages/"$package"_*.deb; do
            [ -e "$file" ] && dpkg-deb -x "$file" debian
        done
    done
}
if [ ! -e debian/usr/include/dnnl.h ]; then
    unpack libopenblas0-pthread libgfortran5 libquadmath0 libdnnl2 libdnnl-dev ocl-icd-libopencl1 libgomp1
fi
if ! command -v clang-19 >/dev/null && [ ! -x clang ]; then
    unpack clang-19 libclang-cpp19 libclang-common-19-dev libllvm19 libz3-4
    if [ -x debian/usr/lib/llvm-19/bin/clang ]; then
        root=$(pwd)/debian
        printf '#!/bin/sh\nexport LD_LIBRARY_PATH=%s/usr/lib/x86_64-linux-gnu:%s/usr/lib/llvm-19/lib\nexec %s/usr/lib/llvm-19/bin/clang "$@"\n' "$root" "$root" "$root" >clang
        chmod +x clang
    fi
fi
