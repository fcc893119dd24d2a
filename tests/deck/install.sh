#!/bin/sh
# Installs the browser that the deck's tests need (Debian, Ubuntu). Does nothing when one is there, or when not root:
# the tests are then skipped and say why.
set -eu
for name in chromium chromium-browser google-chrome; do
    if command -v "$name" >/dev/null; then exit 0; fi
done
if [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null; then
    echo "deck: no browser, and none can be installed here: install chromium by hand" >&2
    exit 0
fi
export DEBIAN_FRONTEND=noninteractive
apt-get -qq -o DPkg::Lock::Timeout=300 update
apt-get -qq -o DPkg::Lock::Timeout=300 install -y --no-install-recommends chromium fonts-dejavu-core >/dev/null
