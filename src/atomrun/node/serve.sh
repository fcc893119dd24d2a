# The conversation with the launcher. Last part of the agent.

serve() { # NONCE ROOT TOKEN
    NONCE=$1 ROOT=$2 TOKEN=$3 ID=0
    PATH=$PATH:/usr/local/sbin:/usr/sbin:/sbin:/opt/rocm/bin
    export PATH
    printf '\n'
    able
    mkdir -p "$ROOT/locks" "$ROOT/calls" "$ROOT/runs" "$ROOT/past" && open_spool || disk
    choose_locks
    sweep_spools
    (exec 9>&-; watch_launcher) </dev/null >/dev/null 2>&1 &
    # An asynchronous command of a shell starts with SIGINT and SIGQUIT ignored: undone where env can.
    TOOL='env'
    env --default-signal true 2>/dev/null && TOOL='env --default-signal'
    attending=
    say END ok
    while read -r ID bytes RUN command arguments; do
        : >"$SPOOL/beat"
        RUN_DIR=$ROOT/runs/$RUN
        case $ID in '' | *[!0-9]*) continue ;; esac
        [ "$bytes" = 0 ] || dd bs="$bytes" count=1 iflag=fullblock of="$SPOOL/$ID" 2>/dev/null
        if [ "$command" = ping ]; then
            driver=
            [ -e "$RUN_DIR/driver" ] && read -r driver <"$RUN_DIR/driver"
            if [ "$driver" = "$TOKEN" ]; then
                [ -n "$attending" ] || attend
                attending=yes
                : >"$RUN_DIR/lease"
            fi
            say END ok
        else
            # The inner subshell is no child of ours: nothing has to wait for it.
            (answer "op_$command" $arguments </dev/null &)
        fi
    done
    leave
}

answer() { # OP ARG...
    exec 9>&-
    word='' PART='' LIMIT=''
    trap 'tidy' EXIT
    trap 'word=unsaid; exit 1' TERM # the connection ends: the request comes again on the next one
    case $1 in
        op_facts | op_clock | op_acquire | op_start | op_run | op_drop | op_wait | op_stop | op_release | \
            op_secret | op_put | op_get | op_output) "$@" ;;
        *) finish protocol "unknown request: $1" ;;
    esac
}

tidy() {
    rm -f "$SPOOL/$ID" ${PART:+"$PART"}
    [ -n "$word" ] || finish protocol 'the request failed on the node'
}

able() { # what is missing on this node, said once
    missing=
    for tool in flock setsid base64 sha256sum stat mktemp awk grep find head tail dd wc; do
        command -v $tool >/dev/null || missing="$missing $tool"
    done
    [ -z "$missing" ] || finish tool "missing on the node:$missing"
    case $(stat -f -c %T "$ROOT") in
        nfs* | smb* | cifs | lustre | ceph | gpfs | afs | fuse*)
            finish nfs "$ROOT is on a network file system" ;;
    esac
}

open_spool() { # payloads, in memory where there is any; locked before it gets the name that is swept
    memory=/dev/shm
    [ "$(stat -f -c %T /dev/shm 2>/dev/null)" = tmpfs ] && [ -w /dev/shm ] || memory=$ROOT
    SPOOL=$(mktemp -d "$memory/.atomrun.XXXXXX") || return 1
    exec 9>"$SPOOL/lock"
    flock -n 9
    mv "$SPOOL" "$memory/atomrun-spool.${SPOOL##*.}"
    SPOOL=$memory/atomrun-spool.${SPOOL##*.}
    [ "$memory" = "$ROOT" ] || say I memory yes
}

choose_locks() { # a node is shared by its users: one lock for all of them, unless ROOT is a place of its own
    LOCKS=$ROOT/locks
    OWNER=$LOCKS/node.owner
    user=$(id -u)
    [ "$ROOT" = "/var/tmp/atomrun-$user" ] || return 0
    mkdir -m 1777 /run/lock/atomrun 2>/dev/null
    if [ -d /run/lock/atomrun ] && [ ! -L /run/lock/atomrun ] && [ -k /run/lock/atomrun ]; then
        mkdir -m 755 "/run/lock/atomrun/$user" 2>/dev/null
        [ -O "/run/lock/atomrun/$user" ] || finish disk "/run/lock/atomrun/$user belongs to somebody else"
        LOCKS=/run/lock/atomrun
        OWNER=$LOCKS/$user/node.owner
    fi
}

watch_launcher() { # a launcher that says nothing for a minute is gone, whatever the connection claims
    silent=0
    while [ $silent -lt 3 ] && ! flock -w 20 -s "$SPOOL/lock" true; do
        silent=$((silent + 1))
        if [ -e "$SPOOL/beat" ]; then
            rm -f "$SPOOL/beat"
            silent=0
        fi
    done
    leave # also if `serve` was killed: its requests hold the connection open
}

leave() { # requests in flight end with us, jobs do not: they have sessions of their own
    trap '' TERM
    rm -rf "$SPOOL"
    read -r stat </proc/self/stat
    set -- ${stat##*) }
    if [ "$3" = $$ ]; then kill -TERM 0; else kill -TERM $$; fi
    exit 0
}

case $1 in
    serve) shift; serve "$@" ;;
    supervise) supervise "$2" ;;
    job) become "$2" ;;
    stop) trap '' PIPE HUP; stop_job "$2" "$3" ;;
    teardown) teardown "$2" "$3" ;;
    keeper) keeper "$2" ;;
esac
