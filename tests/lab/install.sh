#!/bin/sh
# Installs what the lab tests need (Debian, Ubuntu). Does nothing when all is there, or when not root: the lab tests
# are then skipped and say why.
set -eu

packages="podman runc conmon debootstrap openssh-server openssh-client sudo iproute2 util-linux procps python3-minimal"

if [ "$(id -u)" != 0 ]; then
    echo "lab: not root, nothing installed" >&2
    exit 0
fi
if ! command -v apt-get >/dev/null; then
    echo "lab: no apt-get here; install by hand: $packages" >&2
    exit 0
fi

missing=
for package in $packages; do
    status=$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null) || status=
    [ "$status" = installed ] || missing="$missing $package"
done
[ -n "$missing" ] || exit 0

export DEBIAN_FRONTEND=noninteractive
apt_get() {
    apt-get -qq -o DPkg::Lock::Timeout=300 "$@"
}
apt_get update
# shellcheck disable=SC2086  # a list of words
apt_get install -y --no-install-recommends $missing >/dev/null
