#!/bin/sh
# Stands in for the Docker command line on a lab node: podman, with Docker's rule about who may ask.
set -u

if [ "$(id -u)" != 0 ]; then
    echo "permission denied while trying to connect to the Docker daemon socket at unix:///var/run/docker.sock" >&2
    exit 1
fi

# A machine without CAP_SYS_RESOURCE cannot raise the lock limit; Docker's daemon could.
if [ "${1-}" = run ] && ! (ulimit -l unlimited) 2>/dev/null; then
    n=$#
    while [ "$n" -gt 0 ]; do
        arg=$1
        shift
        n=$((n - 1))
        case $arg in
        --ulimit=memlock=*) continue ;;
        --ulimit)
            case ${1-} in memlock=*)
                shift
                n=$((n - 1))
                continue
                ;;
            esac
            ;;
        esac
        set -- "$@" "$arg"
    done
fi
exec podman "$@"
