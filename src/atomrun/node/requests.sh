# What answers the launcher. Second part of the agent; serve.sh follows it.
#
# Requests are lines `ID BYTES RUN COMMAND ARG...` on standard input, each followed by BYTES of payload; they are
# answered side by side. RUN is - until a run is acquired. Arguments are plain names, plain paths, numbers, or base64
# (- for nothing). An answer is lines `@@NONCE ID KIND REST`: `I key value`, `O data`, `E data` (base64), and last
# `END word message`; the word is ok, or says why not. Everything else on standard output is noise.

# --- answers: one write of less than PIPE_BUF a line, so that concurrent answers never mix within a line

say() { printf '@@%s %s %s\n' "$NONCE" "$ID" "$*"; }

finish() { # WORD [TEXT]: the last line of an answer
    word=$1
    [ $# -gt 1 ] && set -- "$1" "$(printf %s "$2" | base64 -w 0)"
    say END "$@"
    [ "$word" = ok ]
    exit
}

send() { # KIND FILE [OFFSET COUNT]: as base64 lines
    [ -s "$2" ] || return 0
    if [ $# = 2 ]; then cat "$2"; else tail -c "+$(($3 + 1))" "$2" | head -c "$4"; fi 2>/dev/null |
        base64 -w 2800 | awk -v p="@@$NONCE $ID $1 " '{ print p $0; fflush() }'
}

# --- arguments

name_ok() { case $1 in '' | .* | -* | *[!A-Za-z0-9._-]*) finish refused "not a plain name: $1" ;; esac }
path_ok() { case /$1/ in // | *[!A-Za-z0-9._/-]* | */../*) finish refused "not a plain path: $1" ;; esac }
text() { if [ "$1" != - ]; then printf %s "$1" | base64 -d; fi; }
job_dir() {
    name_ok "$1"
    DIR=$RUN_DIR/jobs/$1
    [ -d "$DIR" ] || finish refused "no job of that name: $1"
}
disk() { finish disk "cannot write below $ROOT: is the file system full?"; }

fenced() { # refuse a launcher whose run was taken over by another
    if [ "$RUN" != - ] && read -r driver <"$RUN_DIR/driver" && [ "$driver" != "$TOKEN" ]; then
        finish refused 'another launcher has taken over this run'
    fi
} 2>/dev/null

holding() { # refuse unless this launcher's run holds the node
    [ -e "$RUN_DIR/driver" ] || finish refused 'no run holds the node: acquire it first'
    fenced
    if [ -e "$RUN_DIR/stopping" ]; then finish lease 'the run was torn down: released, or its lease ran out'; fi
}

# --- the node

op_facts() {
    say I boot_id "$BOOT"
    say I hostname "$(uname -n)"
    say I uid "$(id -u)"
    say I user "$(id -un)"
    say I kernel "$(uname -srm)"
    [ -r /etc/machine-id ] && read -r machine </etc/machine-id && say I machine "$machine"
    for tool in docker podman sudo python3 ss ip amd-smi rocm-smi ibv_devinfo dmesg curl numactl timeout; do
        command -v $tool >/dev/null && say I tool $tool
    done
    finish ok
}

op_clock() { say I clock "$(date +%s.%N)"; finish ok; }

op_acquire() { # RUN WHO LEASE_S TAKEOVER
    name_ok "$1"
    RUN_DIR=$ROOT/runs/$1
    exec 7>"$ROOT/locks/acquire.lock"
    flock -w 20 7 || finish timeout 'another launcher is acquiring this node'
    quarantined
    [ -e "$RUN_DIR/stopping" ] && flock -w 60 -s "$RUN_DIR/teardown.lock" true
    adopted=0
    old=
    [ -r "$OWNER" ] && read -r old <"$OWNER"
    old=${old#run=}
    [ -e "$LOCKS/node.lock" ] || (umask 0; set -C; : >"$LOCKS/node.lock") 2>/dev/null
    exec 8<"$LOCKS/node.lock" # only read: it may be another user's file
    if flock -n 8; then
        # Free, and yet owned: that run's keeper died. Ours is adopted; others of this user are torn down first, and
        # so is whatever ran when the node went down: its owner's record may have been in memory.
        if [ "$old" = "$1" ] && [ ! -e "$RUN_DIR/stopping" ] && grep -qxF "boot=$BOOT" "$OWNER"; then
            adopted=1
        else
            crashed
        fi
        others
        take "$@"
    elif [ "$old" = "$1" ]; then
        adopted=1
        [ "$4" = 1 ] || alone
        drive "$3"
        if [ -e "$RUN_DIR/fresh.$TOKEN" ]; then adopted=0; fi # asked twice, as the first answer was lost
    else
        [ -z "$old" ] || busy "$OWNER"
        others
        finish timeout 'the node changes hands: try again'
    fi
    say I root "$RUN_DIR"
    say I adopted $adopted
    finish ok
}

crashed() { # tear down the runs that hold the node no more and never ended
    set +f
    for run in "$ROOT"/runs/*; do
        if [ -d "$run" ] && [ ! -e "$run/torn_down" ]; then
            setsid sh "$SELF" teardown "$run" - 7>&- 8>&- >/dev/null
        fi
    done
    set -f
    rm -f "$OWNER"
}

busy() { # OWNER_FILE
    send O "$1"
    finish busy
}

others() { # refuse if a run of another user holds the node, or died on it: only that user can clean up after it
    set +f
    for file in "$LOCKS"/*/node.owner; do
        if [ "$file" != "$OWNER" ] && [ -r "$file" ] && grep -qxF "boot=$BOOT" "$file"; then busy "$file"; fi
    done
    set -f
}

take() { # RUN WHO LEASE_S, with node.lock on 8: a fresh run (an earlier one is put aside), or a new keeper for ours
    if [ $adopted = 0 ] && [ -e "$RUN_DIR/stopping" ]; then
        past=1
        while [ -e "$ROOT/past/$1.$past" ]; do past=$((past + 1)); done
        mv "$RUN_DIR" "$ROOT/past/$1.$past" || disk
    fi
    mkdir -p "$RUN_DIR/jobs" && echo "$OWNER" >"$RUN_DIR/owner" || disk
    printf 'run=%s\nwho=%s\nsince=%s\nboot=%s\nlease=%s\n' "$1" "$(text "$2")" "$(date -u +%Y-%m-%dT%H:%M:%SZ)" \
        "$BOOT" "$3" >"$OWNER.new" && chmod 644 "$OWNER.new" || disk
    drive "$3"
    [ $adopted = 1 ] || : >"$RUN_DIR/fresh.$TOKEN" || disk
    mv -f "$OWNER.new" "$OWNER" || disk
    exec 9>"$RUN_DIR/keeper.lock"
    flock -n 9
    setsid sh "$SELF" keeper "$RUN_DIR" </dev/null >/dev/null 2>&1 7>&- &
    exec 8>&- 9>&-
    record $! "$RUN_DIR/keeper"
}

drive() { # LEASE_S: from now on the run listens to this launcher only
    echo "$1" >"$RUN_DIR/lease_s" && attend && echo "$TOKEN" >"$RUN_DIR/driver" && : >"$RUN_DIR/lease" || disk
}

attend() { # note the spool of this connection: its lock is held for as long as the launcher is there
    echo "$SPOOL" >"$RUN_DIR/driver.$TOKEN"
}

alone() { # refuse while another launcher that drives this run is connected
    read -r driver <"$RUN_DIR/driver" || return 0
    [ "$driver" != "$TOKEN" ] && read -r spool <"$RUN_DIR/driver.$driver" && [ -e "$spool/lock" ] || return 0
    flock -w 2 -s "$spool/lock" true || [ ! -e "$spool/lock" ] ||
        finish driven 'another launcher drives this run now'
} 2>/dev/null

quarantined() { # refuse a node on which a process of a run could not be killed
    [ -s "$ROOT/locks/quarantine" ] || return 0
    while read -r run pid born boot; do
        start_time "$pid"
        if [ "$boot" = "$BOOT" ] && [ -n "$BORN" ] && [ "$BORN" = "$born" ]; then
            finish quarantined "process $pid of run $run could not be killed; to use the node all the same: rm $ROOT/locks/quarantine"
        fi
    done <"$ROOT/locks/quarantine"
    rm -f "$ROOT/locks/quarantine"
}

# --- commands and jobs

begin() { # DIR SPEC DEADLINE CMD [GRACE STOP SECRETS]: claim the directory and launch; a second time, only compare
    if [ -d "$1" ] && { [ -e "$1/child" ] || ! is_free "$1/alive"; }; then
        read -r spec <"$1/spec" && [ "$spec" = "$2" ] || finish refused "another command of that name exists: ${1##*/}"
        say I started 0
        flock -w 20 -s "$1/starting" true
    else
        [ -d "$1" ] && rm -rf "$1"
        mkdir "$1" && echo "$2" >"$1/spec" && echo "$TOOL" >"$1/tool" && echo "$3" >"$1/deadline" &&
            text "$4" >"$1/cmd" && echo "${5:-2}" >"$1/grace" && text "${6:--}" >"$1/stop" &&
            input "$1" "${7:--}" &&
            if [ -n "$LIMIT" ]; then echo "$LIMIT" >"$1/limit"; fi || disk
        launch "$1" "$INPUT" || disk
        say I started 1
    fi
}

input() { # DIR SECRETS (`ENV:secret,...` or -): sets INPUT, what the command reads
    INPUT=/dev/null
    [ -e "$SPOOL/$ID" ] && INPUT=$SPOOL/$ID
    [ "$2" = - ] && return 0
    dir=
    [ -e "$RUN_DIR/secrets" ] && read -r dir <"$RUN_DIR/secrets"
    INPUT=$dir/${1##*/}.input
    pairs=$(echo "$2" | tr , ' ')
    for pair in $pairs; do
        name_ok "${pair#*:}"
        [ -r "$dir/${pair#*:}" ] || finish refused "no such secret was given: ${pair#*:}"
    done
    for pair in $pairs; do echo "${pair%%:*}=$(base64 -w 0 <"$dir/${pair#*:}")"; done >"$INPUT"
}

op_start() { # NAME SPEC DEADLINE CMD GRACE STOP SECRETS
    name_ok "$1"
    holding
    exec 7>"$RUN_DIR/start.lock"
    flock -w 20 7
    [ -e "$RUN_DIR/stopping" ] && holding
    grep -sqxF -e "$1" "$RUN_DIR/order" || echo "$1" >>"$RUN_DIR/order" || disk
    begin "$RUN_DIR/jobs/$1" "$2" "$3" "$4" "$5" "$6" "$7"
    [ -e "$RUN_DIR/jobs/$1/child" ] || disk # nothing is started that is not on record
    finish ok
}

op_run() { # TOKEN TIMEOUT LIMIT CMD, payload: its standard input. The token makes a repeated request find its result
    name_ok "$1"
    fenced
    exec 7>"$ROOT/calls.lock"
    flock -w 20 7
    DIR=$ROOT/calls/$1
    LIMIT=$3
    begin "$DIR" "$1" "$2" "$4"
    exec 7>&-
    flock -s "$DIR/alive" true
    read -r state code began ended <"$DIR/status" || finish disk 'the command was lost: killed, or no space for its result'
    if [ -e "$DIR/full" ]; then disk; fi
    say I exit "$state" "$code" "$began" "$ended"
    send O "$DIR/out"
    send E "$DIR/err"
    finish ok
}

op_drop() { # TOKEN: a result that has arrived. Renamed first, so that its guard sees all of it or nothing
    name_ok "$1"
    mv "$ROOT/calls/$1" "$ROOT/calls/.$1" && rm -rf "$ROOT/calls/.$1"
    finish ok
}

op_wait() { # SECONDS NAME...: until the first of them ends, or the keeper is gone
    seconds=$1
    shift
    for name in "$@"; do job_dir "$name"; done
    fenced
    {
        for name in "$@"; do
            flock -w "$seconds" -s "$RUN_DIR/jobs/$name/alive" echo "ended $name" &
            pids="${pids-} $!"
        done
        flock -w "$seconds" -s "$RUN_DIR/keeper.lock" echo keeper &
        echo "pids ${pids-} $!"
        wait
    } | {
        first=
        pids=
        while [ -z "$first" ] || [ -z "$pids" ]; do
            read -r word rest || break
            case $word in pids) pids=$rest ;; *) first=${first:-$word $rest} ;; esac
        done
        kill $pids 2>/dev/null
        case $first in
            ended*) ended "${first#* }" ;;
            keeper*) finish lease "the node's keeper is gone: the run no longer holds the node" ;;
        esac
        finish ok
    }
    word=said # in the subshell of the pipe
}

ended() { # NAME
    uptime_now
    DIR=$RUN_DIR/jobs/$1
    read -r state code began ended <"$DIR/status" || { state=lost code=0 ended=$UP; read -r began <"$DIR/began"; }
    say I ended "$1" "$state" "$code" "${began:-$UP}" "$ended"
} 2>/dev/null

op_stop() { # NAME GRACE
    job_dir "$1"
    fenced
    say I left "$(setsid sh "$SELF" stop "$DIR" "$2")"
    finish ok
}

op_release() { # GRACE
    [ -d "$RUN_DIR" ] || finish ok
    fenced
    setsid sh "$SELF" teardown "$RUN_DIR" "$1" | while read -r line; do say I stopped "$line"; done
    finish ok
}

# --- files

payload() { # sets SENT, the file that came with the request (none is sent for nothing)
    SENT=$SPOOL/$ID
    [ -e "$SENT" ] || : >"$SENT"
}

op_secret() { # NAME, payload: its value
    name_ok "$1"
    holding
    exec 7>"$RUN_DIR/start.lock"
    flock -w 20 7
    if [ ! -e "$RUN_DIR/secrets" ]; then
        dir=$(mktemp -d /dev/shm/atomrun.XXXXXX) && : >"$dir/.atomrun" || disk
        echo "$dir" >"$RUN_DIR/secrets.new" || { rm -rf "$dir"; disk; }
        mv "$RUN_DIR/secrets.new" "$RUN_DIR/secrets"
    fi
    read -r dir <"$RUN_DIR/secrets"
    payload
    cp "$SENT" "$dir/$1.new" && mv -f "$dir/$1.new" "$dir/$1" || disk
    finish ok
}

op_put() { # PATH MODE SHA256, payload: the content. Only below our directory, or one named after the run
    path_ok "$1"
    holding
    case $1 in
        "$RUN_DIR"/* | /*/"$RUN"/*) FILE=$1 ;;
        /*) finish refused "outside the run's directories: $1" ;;
        *) FILE=$RUN_DIR/$1 ;;
    esac
    [ -d "$FILE" ] && finish refused "is a directory: $1"
    mkdir -p "${FILE%/*}" && PART=$(mktemp "${FILE%/*}/.put.XXXXXX") || finish disk "cannot write: $1"
    payload
    dd if="$SENT" of="$PART" bs=1048576 conv=fsync 2>/dev/null || finish disk "cannot write: $1"
    [ "$(sha256sum <"$PART")" = "$3  -" ] || finish protocol "the content did not arrive whole: $1"
    chmod "$2" "$PART" && mv -f "$PART" "$FILE" || finish disk "cannot write: $1"
    finish ok
}

op_get() { # PATH OFFSET COUNT; from offset 0, also the size and the SHA-256 of that many bytes
    path_ok "$1"
    case $1 in /*) FILE=$1 ;; *) FILE=$RUN_DIR/$1 ;; esac
    [ -e "$FILE" ] || finish missing "$1"
    [ -f "$FILE" ] && [ -r "$FILE" ] || finish refused "not a readable file: $1"
    if [ "$2" = 0 ]; then
        size=$(wc -c <"$FILE")
        say I size "$size"
        say I sha256 "$(head -c "$size" "$FILE" | sha256sum)"
    fi
    send O "$FILE" "$2" "$3"
    finish ok
}

op_output() { # NAME STREAM OFFSET COUNT; a negative offset counts from the end
    job_dir "$1"
    offset=$3
    if [ "$offset" -lt 0 ]; then
        offset=$(($(wc -c <"$DIR/$2") + offset))
        [ "$offset" -lt 0 ] && offset=0
    fi
    send O "$DIR/$2" "$offset" "$4"
    finish ok
}
