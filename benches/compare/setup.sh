#!/bin/sh
# Puts what the comparison needs into a folder of its own: Halide and NumPy from PyPI, and
# clang 19 from Debian where the machine has none. Needs Python with venv, pip and, for clang,
# apt-get and dpkg-deb; nothing is installed into the system.
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
if ! command -v clang-19 >/dev/null && [ ! -x clang ]; then
    mkdir -p packages debian
    (cd packages && apt-get download clang-19 libclang-cpp19 libclang-common-19-dev libllvm19 libz3-4 || true)
    for package in packages/*.deb; do
        [ -e "$package" ] && dpkg-deb -x "$package" debian
    done
    if [ -x debian/usr/lib/llvm-19/bin/clang ]; then
        root=$(pwd)/debian
        printf '#!/bin/sh\nexport LD_LIBRARY_PATH=%s/usr/lib/x86_64-linux-gnu:%s/usr/lib/llvm-19/lib\nexec %s/usr/lib/llvm-19/bin/clang "$@"\n' "$root" "$root" "$root" >clang
        chmod +x clang
    fi
fi
