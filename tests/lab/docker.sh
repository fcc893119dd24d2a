#!/bin/sh
# Stands in for the Docker command line on a lab node: podman, where Docker behaves differently made to behave like it.
set -u

if [ "$(id -u)" != 0 ]; then
    echo "permission denied while trying to connect to the Docker daemon socket at unix:///var/run/docker.sock" >&2
    exit 1
fi
[ "${1-}" = run ] || exec podman "$@"
shift

# Without CAP_SYS_RESOURCE no limit can be raised, and podman asks for more files and processes as soon as any limit
# is given: ask for what there is, and drop memlock.
can_raise=yes
(ulimit -l unlimited) 2>/dev/null || can_raise=
# Docker takes --shm-size together with --ipc host, and ignores it; podman refuses.
ipc_host=
previous=
for arg; do
    case "$previous $arg" in *" --ipc=host" | "--ipc host") ipc_host=yes ;; esac
    previous=$arg
done

left=$#
while [ "$left" -gt 0 ]; do
    option=$1 value=${2-} size=2
    case $option in --*=*) value=${option#*=} option=${option%%=*} size=1 ;; esac
    drop=
    case "$option $value" in
    "--ulimit memlock="*) [ -n "$can_raise" ] || drop=yes ;;
    "--shm-size "*) [ -z "$ipc_host" ] || drop=yes ;;
    esac
    if [ -n "$drop" ]; then
        shift "$size"
        left=$((left - size))
    else
        set -- "$@" "$1"
        shift
        left=$((left - 1))
    fi
done

if [ -z "$can_raise" ]; then
    processes=$(sed -n 's/^Max processes  *[^ ]*  *\([0-9]*\).*/\1/p' /proc/self/limits)
    files=$(ulimit -H -n)
    set -- --ulimit "nofile=$files:$files" --ulimit "nproc=$processes:$processes" "$@"
fi
exec podman run "$@"
