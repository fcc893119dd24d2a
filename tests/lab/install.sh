#!/bin/sh
# Installs what the lab tests need (Debian, Ubuntu). Does nothing when all is there, or when not root: the lab tests
# are then skipped and say why.
set -eu
PATH=$PATH:/usr/local/sbin:/usr/sbin:/sbin

missing=
need() { # PROGRAM PACKAGE: by program, as others than the distribution may have brought it
    command -v "$1" >/dev/null || missing="$missing $2"
}
need podman podman
need conmon conmon
need runc runc
need catatonit catatonit
need debootstrap debootstrap
need sshd openssh-server
need ssh openssh-client
need sudo sudo
need ip iproute2
need nsenter util-linux
need pgrep procps
need /usr/bin/python3 python3-minimal

[ -n "$missing" ] || exit 0
if [ "$(id -u)" != 0 ]; then
    echo "lab: not root, not installed:$missing" >&2
    exit 0
fi
if ! command -v apt-get >/dev/null; then
    echo "lab: no apt-get here; install by hand:$missing" >&2
    exit 0
fi

export DEBIAN_FRONTEND=noninteractive
apt_get() {
    apt-get -qq -o DPkg::Lock::Timeout=300 "$@"
}
apt_get update
# shellcheck disable=SC2086  # a list of words
apt_get install -y --no-install-recommends $missing >/dev/null
