# What runs on a node and outlives the launcher: jobs, deadlines, leases, teardown. The launcher only asks, this file
# enforces. requests.sh and serve.sh follow it in the installed agent.
#
# POSIX sh (dash, bash, busybox), with coreutils, util-linux (flock, setsid), awk, find and grep. Entry points, all
# but the first started by the agent itself and detached:
#   serve NONCE ROOT TOKEN   answer requests (see requests.sh)
#   supervise DIR            run the command of one job directory and record how it ended
#   job DIR                  become that command
#   stop DIR GRACE           stop one job, print the pids that are left (GRACE -: the job's own, in s)
#   teardown RUN_DIR GRACE   stop all jobs of a run, last started first; remove its secrets; let go of the node
#   keeper RUN_DIR           hold the node's lock; tear down when the launcher's lease runs out
#
# Below ROOT: locks/ (node.lock, node.owner, quarantine); calls/TOKEN (short commands); past/ (runs put aside);
# runs/RUN/: driver (the launcher that it listens to), owner, lease, keeper, keeper.lock, order, secrets, jobs/NAME/.
# A job directory holds cmd, stop, tool, spec, deadline, grace, began; alive (a lock: held while the outcome is open),
# running (held while the command runs), starting (held until `child` is recorded); child and sup (pid, start time,
# boot id); status, out, err.
#
# Locks are flock(2): the kernel lets go of them with the process, so none is ever stale. Waiting is blocking on a
# lock, never polling. A process is signalled only if its start time and boot id are the recorded ones, or if its
# environment carries the job's directory; never by name. Descriptors that hold locks are closed in every child that
# must not prolong them. Markers are empty files and the status is reserved beforehand: both survive a full disk.

set -uf
umask 077
unset ATOMRUN_JOB ATOMRUN_DIR CDPATH
SELF=$0
LOG_LIMIT=${ATOMRUN_LOG_LIMIT:-536870912} # bytes of one stream of one job
KEPT_RUNS=${ATOMRUN_KEPT_RUNS:-50} KEPT_KB=4194304
read -r BOOT </proc/sys/kernel/random/boot_id

# --- small things

uptime_now() { read -r UP _ </proc/uptime; }
is_free() { flock -n -s "$1" true; }

start_time() { # PID: sets BORN (field 22 of its stat), empty if there is no such process
    BORN=
    if [ -r "/proc/$1/stat" ] && read -r stat <"/proc/$1/stat"; then
        stat=${stat##*) }
        set -- $stat
        BORN=${20-}
    fi 2>/dev/null
}

record() { # PID FILE: exactly which process it is
    start_time "$1"
    echo "$1 $BORN $BOOT" >"$2.new" && mv -f "$2.new" "$2"
}

is_recorded() { # FILE: sets PID; true if that very process exists
    [ -r "$1" ] && read -r PID born boot <"$1" && [ "$boot" = "$BOOT" ] || return 1
    start_time "$PID"
    [ -n "$BORN" ] && [ "$BORN" = "$born" ]
}

carriers() { # DIR: pids whose environment says that they belong to this job directory
    set +f
    for file in $(grep -lzxF -e "ATOMRUN_DIR=$1" /proc/[0-9]*/environ 2>/dev/null); do
        file=${file#/proc/}
        echo "${file%/environ}"
    done
    set -f
}

# --- jobs

launch() { # DIR INPUT: start its supervisor, detached; INPUT is opened, then removed
    uptime_now
    echo "$UP" >"$1/began" || return 1
    exec 3<"$2" 6>"$1/starting" 9>"$1/alive" && flock -n 6 && flock -n 9 || return 1
    case $2 in /dev/null) ;; *) rm -f "$2" ;; esac
    setsid sh "$SELF" supervise "$1" <&3 3<&- >/dev/null 2>&1 7>&- &
    exec 3<&- 6>&- 9>&-
    flock -w 20 -s "$1/starting" true
}

supervise() { # DIR: inherits the locks `starting` (6) and `alive` (9)
    read -r deadline <"$1/deadline" && record $$ "$1/sup" && printf %8192s '' >"$1/status.new" || exit 1
    exec 3<&0 8>"$1/running" </dev/null
    flock -n 8
    (exec 3<&- 6>&- 8>&- 9>&-; guard "$1" "$deadline") &
    if [ -e "$1/limit" ]; then
        exec 6>&-
        (exec 8>&- 9>&-; captured "$1")
        read -r code <"$1/code" || exit 1
    else
        # Appended to, since trim_logs may cut them.
        setsid sh "$SELF" job "$1" <&3 3<&- >>"$1/out" 2>>"$1/err" 8>&- 9>&- &
        exec 3<&- 6>&-
        wait $!
        code=$?
    fi
    [ -e "$1/child" ] || exit 1
    uptime_now
    state=exited
    [ -e "$1/late" ] && state=deadline
    read -r began <"$1/began"
    echo "$state $code $began $UP" 1<>"$1/status.new" && mv -f "$1/status.new" "$1/status"
}

captured() { # DIR: output through pipes, cut after `limit` bytes but drained, so that the command never blocks
    {
        {
            setsid sh "$SELF" job "$1" <&3 3<&- 2>&1 >&4 4>&-
            echo $? >"$1/code"
        } | capture "$1" err 4>&-
    } 4>&1 | capture "$1" out
}

capture() { # DIR STREAM
    read -r limit <"$1/limit"
    head -c "$limit" >"$1/$2" || : >"$1/full"
    cat >/dev/null
}

guard() { # DIR SECONDS: stop the job at its deadline, and its command if the supervisor dies
    if flock -w "$2" -s "$1/running" true; then
        flock -w 20 -s "$1/alive" true
        if [ -e "$1/status" ] || [ ! -d "$1" ]; then exit 0; fi
    else
        : >"$1/late"
    fi
    stop_job "$1" -
}

become() { # DIR: recorded before it is started
    record $$ "$1/child" && cd "$1" || exit 125
    exec 6>&-
    dir=$1
    read -r tool <"$dir/tool"
    . "$dir/cmd"
    exec $tool "ATOMRUN_DIR=$dir" "$@"
}

stop_job() { # DIR GRACE (- for the job's own): prints the pids that are left
    exec 5>"$1/stop.lock"
    flock 5
    grace=$2
    [ "$grace" = - ] && read -r grace <"$1/grace"
    if [ -s "$1/stop" ] && [ ! -e "$1/stopped" ]; then
        rm -rf "$1/stopper"
        mkdir "$1/stopper" && cp "$1/stop" "$1/stopper/cmd" && cp "$1/tool" "$1/grace" "$1/stopper" &&
            echo $((grace + 20)) >"$1/stopper/deadline" && echo "$grace" >"$1/stopper/input" &&
            launch "$1/stopper" "$1/stopper/input" 5>&- &&
            flock -w $((grace + 40)) -s "$1/stopper/alive" true 5>&-
    fi
    if is_recorded "$1/child"; then
        kill -TERM "-$PID" 2>/dev/null
        flock -w "$grace" -s "$1/running" true
        is_recorded "$1/child" && kill -KILL "-$PID" 2>/dev/null
    fi
    turns=0
    while left=$(carriers "$1") && [ -n "$left" ] && [ $turns -lt 30 ]; do
        kill -KILL $left 2>/dev/null
        sleep 0.1
        turns=$((turns + 1))
    done
    flock -w 5 -s "$1/alive" true || { is_recorded "$1/sup" && kill -KILL "$PID"; }
    if [ -z "$left" ]; then : >"$1/stopped"; fi
    echo $left
    exec 5>&-
}

# --- runs

trim_logs() { # RUN_DIR: of a stream beyond LOG_LIMIT, keep the first half and, from now on, what comes
    find "$1/jobs" -mindepth 2 -maxdepth 2 \( -name out -o -name err \) -size "+${LOG_LIMIT}c" 2>/dev/null |
        while read -r file; do
            truncate -s $((LOG_LIMIT / 2)) "$file" &&
                printf '\natomrun: cut here, the log was longer than %s bytes\n' "$LOG_LIMIT" >>"$file"
        done
}

prune() { # ROOT: remove old runs: after two weeks, and the oldest beyond KEPT_RUNS or KEPT_KB
    (
        cd "$1" || exit
        set +f
        kilobytes=0 count=0
        for run in $(ls -1td past/*/torn_down runs/*/torn_down 2>/dev/null); do
            run=${run%/torn_down}
            size=$(du -sk "$run")
            kilobytes=$((kilobytes + ${size%%[!0-9]*})) count=$((count + 1))
            if [ $count -gt "$KEPT_RUNS" ] || [ $kilobytes -gt "$KEPT_KB" ] ||
                [ -n "$(find "$run/torn_down" -mtime +14)" ]; then
                rm -rf "./$run"
            fi
        done
    )
}

hasten() { # RUN_DIR: end at once what others may be waiting for
    for record in "$1"/jobs/*/child "$1"/jobs/*/stopper/child; do
        is_recorded "$record" && kill -KILL "-$PID"
    done 2>/dev/null
}

teardown() { # RUN_DIR GRACE: prints `JOB PID...` for each job, again when repeated. GRACE 0 hastens one under way
    ROOT=${1%/runs/*}
    trap '' PIPE HUP
    if [ "$2" = 0 ]; then
        set +f
        hasten "$1"
        set -f
    fi
    exec 4>"$1/teardown.lock"
    flock 4
    if [ -e "$1/torn_down" ]; then
        cat "$1/stops" 2>/dev/null
        exit 0
    fi
    exec 7>"$1/start.lock"
    flock 7
    : >"$1/stopping"
    exec 7>&-
    names=
    # Without grace in the order of the start: what a job owns ends with it, a container first of all.
    [ -r "$1/order" ] && while read -r name; do
        if [ "$2" = 0 ]; then names="$names $name"; else names="$name $names"; fi
    done <"$1/order"
    for name in $names; do
        left=$(stop_job "$1/jobs/$name" "$2" 4>&-)
        echo "$name $left" | tee -a "$1/stops"
        for pid in $left; do
            start_time "$pid"
            echo "${1##*/} $pid $BORN $BOOT" >>"$ROOT/locks/quarantine"
        done
    done 2>/dev/null
    remove_secrets "$1"
    sweep_spools
    [ -r "$1/owner" ] && read -r owner <"$1/owner" && rm -f "$owner"
    : >"$1/torn_down"
    prune "$ROOT" 4>&-
    find "$ROOT/calls" -mindepth 1 -maxdepth 1 -mmin +60 -exec rm -rf {} + 2>/dev/null
    is_recorded "$1/keeper" && kill -TERM "$PID"
    flock -w 5 -s "$1/keeper.lock" true
}

remove_secrets() { # RUN_DIR: only a directory that says it is ours
    if [ -r "$1/secrets" ] && read -r dir <"$1/secrets" && [ -O "$dir" ] && [ ! -L "$dir" ] && [ -e "$dir/.atomrun" ]
    then
        rm -rf "$dir"
    fi
    rm -f "$1/secrets"
}

sweep_spools() { # what a killed `serve` left in memory
    set +f
    for spool in /dev/shm/atomrun-spool.*; do
        if [ -O "$spool" ] && [ ! -L "$spool" ] && is_free "$spool/lock"; then rm -rf "$spool"; fi
    done
    set -f
}

keeper() { # RUN_DIR: inherits node.lock (8) and keeper.lock (9). `lease` is made by pings and removed here
    trap '' HUP INT
    trap 'kill "$nap" 2>/dev/null; exit 0' TERM
    uptime_now
    heard=${UP%.*}
    while [ ! -e "$1/torn_down" ]; do
        read -r lease <"$1/lease_s"
        tick=5
        [ "$lease" -lt 20 ] && tick=1
        sleep $tick 8>&- 9>&- &
        nap=$!
        wait $nap
        trim_logs "$1" 8>&- 9>&-
        uptime_now
        if [ -e "$1/lease" ]; then
            rm -f "$1/lease" 8>&- 9>&-
            heard=${UP%.*}
        elif [ $((${UP%.*} - heard)) -ge "$lease" ] && [ ! -e "$1/stopping" ]; then
            : >"$1/lease_expired"
            setsid sh "$SELF" teardown "$1" - </dev/null >/dev/null 2>&1 8>&- 9>&- &
            heard=${UP%.*}
        fi
    done
}
