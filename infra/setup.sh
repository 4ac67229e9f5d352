#!/usr/bin/env bash
# Make this checkout ready to work in: system packages, uv in .tools, everything locked in .venv.
# Run it as often as you like: what is done is not done again.
set -euo pipefail
# A machine's own certificate store knows what its network needs; uv's own list does not.
export UV_SYSTEM_CERTS=${UV_SYSTEM_CERTS:-true} UV_NATIVE_TLS=${UV_NATIVE_TLS:-true}
cd "$(dirname "${BASH_SOURCE[0]}")/.."

say() { printf 'setup: %s\n' "$*"; }
stop() { printf 'setup: %s\n' "$*" >&2; exit 2; }

python_at_least_311() { "$1" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; }
find_python() {
    local name
    for name in python3 python3.14 python3.13 python3.12 python3.11 /usr/bin/python3; do
        # sys.executable looks through pyenv's shims and the like
        if python_at_least_311 "$name"; then "$name" -c 'import sys; print(sys.executable)'; return; fi
    done
    return 1
}
has_venv() { local python; python=$(find_python) && "$python" -c 'import ensurepip, venv' 2>/dev/null; }
has_jdk() {
    local javac
    for javac in "${JAVA_HOME:-/nowhere}/bin/javac" "$(command -v javac || true)" /usr/lib/jvm/*/bin/javac; do
        # javac 1.8 stands for 8: too old to compile coevo's own Java
        if [ -x "$javac" ] && [ "$("$javac" -version 2>&1 | sed -E 's/[^0-9]*([0-9]+).*/\1/')" -ge 17 ]; then
            return 0
        fi
    done
    return 1
}
has_libfaketime() {
    local place
    for place in /usr/lib*/{,*/}{,faketime/}libfaketime.so.1; do if [ -e "$place" ]; then return 0; fi; done
    return 1
}
has_go() { # one that can fetch others: 1.21 or newer
    local go
    for go in "$(command -v go || true)" /usr/local/go/bin/go /usr/lib/go-*/bin/go; do
        if [ -x "$go" ] && [ "$(GOTOOLCHAIN=local "$go" version | sed -E 's/.* go1\.([0-9]+).*/\1/')" -ge 21 ]; then
            return 0
        fi
    done
    return 1
}
jdk_package() {
    if apt-cache show openjdk-17-jdk-headless >/dev/null 2>&1
    then echo openjdk-17-jdk-headless; else echo default-jdk-headless; fi
}

missing() { # Debian's names of the packages that this machine lacks
    command -v git >/dev/null || echo git
    command -v mvn >/dev/null || echo maven
    command -v bwrap >/dev/null || echo bubblewrap
    has_jdk || jdk_package
    find_python >/dev/null || echo python3
    has_venv || echo python3-venv
    [ -e /etc/ssl/certs/ca-certificates.crt ] || [ -d /etc/pki ] || [ ! -e /etc/debian_version ] || echo ca-certificates
}

ROOT=() # what a command is run as root by
may_install() {
    if [ "$(id -u)" != 0 ] && sudo -n true 2>/dev/null; then ROOT=(sudo -n env); else ROOT=(env); fi
    command -v apt-get >/dev/null && { [ "$(id -u)" = 0 ] || [ "${ROOT[0]}" = sudo ]; }
}
apt_install() {
    "${ROOT[@]}" DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends "$@" >/dev/null
}

install_system_packages() {
    local packages
    packages=$(missing | paste -sd ' ')
    [ -n "$packages" ] || return 0
    may_install ||
        stop "please install these (Debian's names; Python 3.11 and JDK 17 or newer), then run it again: $packages."
    say "installing with apt-get: $packages"
    "${ROOT[@]}" apt-get update -qq
    packages=$(missing | paste -sd ' ') # which JDK there is shows only now
    # shellcheck disable=SC2086  # several words on purpose
    apt_install $packages ||
        stop "apt-get could not install these; please do so by hand, then run it again: $packages."
    packages=$(missing | paste -sd ' ')
    [ -z "$packages" ] ||
        stop "this system's packages are too old: please install Python 3.11 and JDK 17 or newer ($packages)."
}

has_compiler() {
    local name
    for name in cc gcc clang; do
        if echo '#include <stdio.h>' | "$name" -E - >/dev/null 2>&1; then return 0; fi
    done
    return 1
}

install_beside() { # what coevo does without, but for something: has NAME, packages, what is lost
    local has=$1 packages=$2 lost=$3
    if "$has"; then return; fi
    if may_install; then
        say "installing with apt-get: $packages"
        # shellcheck disable=SC2086  # several words on purpose
        apt_install $packages || { "${ROOT[@]}" apt-get update -qq && apt_install $packages; } || true
    fi
    "$has" || say "without $packages, which could not be installed, $lost; the rest works."
}

install_npm() { # for the tests' GitHub, which is held against GitHub's own description, and for `coevo pipeline site`
    if command -v npm >/dev/null; then return; fi
    may_install || stop "please install Node.js 18 or newer with npm (apt: nodejs npm), then run it again."
    say "installing with apt-get: nodejs npm"
    apt_install nodejs npm || { "${ROOT[@]}" apt-get update -qq && apt_install nodejs npm; } ||
        stop "apt-get could not install nodejs and npm; please do so by hand, then run it again."
}

install_openapi() { # GitHub's own description of its API
    # Node's own list of certificates does not know what this machine's network needs, either.
    if [ -e /etc/ssl/certs/ca-certificates.crt ]; then
        export NODE_EXTRA_CA_CERTS=${NODE_EXTRA_CA_CERTS:-/etc/ssl/certs/ca-certificates.crt}
    fi
    npm ci --prefix tests/github_server --no-audit --no-fund --silent ||
        stop "npm could not fetch what tests/github_server/package-lock.json names; is there a network?"
}

find_uv() { # the one on PATH if it is not too old for the options used here
    if command -v uv >/dev/null && uv pip sync --help 2>/dev/null | grep -q -- --require-hashes
    then command -v uv; else echo .tools/bin/uv; fi
}

install_uv() {
    [ ! -x "$UV" ] || return 0
    say "installing uv into .tools"
    rm -rf .tools
    "$PYTHON" -m venv .tools
    .tools/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes \
        --only-binary :all: -r requirements-setup.lock
}

stamp() { cat requirements-dev.lock pyproject.toml infra/setup.sh | "$PYTHON" -c 'import hashlib, os, sys
print(sys.version_info[:2], os.getcwd(), hashlib.sha256(sys.stdin.buffer.read()).hexdigest())'; }

install_python_packages() {
    if [ "$(cat .venv/coevo-stamp 2>/dev/null)" = "$(stamp)" ] && [ -x .venv/bin/coevo ]; then return; fi
    say "installing the locked Python packages into .venv"
    # One that works and has not been moved is brought up to date, any other made anew.
    if ! python_at_least_311 .venv/bin/python || ! grep -qF "$PWD/.venv" .venv/bin/activate; then
        "$UV" venv --quiet --clear --python "$PYTHON" .venv
    fi
    export VIRTUAL_ENV="$PWD/.venv"
    "$UV" pip sync --quiet --require-hashes requirements-dev.lock
    "$UV" pip install --quiet --no-deps --no-build-isolation --editable .
    stamp > .venv/coevo-stamp
    say "done"
}

if [ "${1:-}" = npm ]; then install_npm; install_openapi; exit; fi
install_system_packages
install_beside has_libfaketime libfaketime 'no repair becomes a task'
install_beside has_compiler 'gcc libc6-dev' 'in Python no pass is observed and no repair becomes a task'
install_beside has_go golang-go 'no repository in Go is mined'
PYTHON=$(find_python)
UV=$(find_uv)
install_uv
install_python_packages
