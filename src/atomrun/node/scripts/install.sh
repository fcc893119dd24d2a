# Puts the probe (standard input) where the programs run, and makes the run's directory as they see it.
#   TOOLS RUN_DIR      prints the interpreter; exit 3: TOOLS, 4: RUN_DIR, 5: no Python
set -u
tools=$1 run_dir=$2
umask 077
mkdir -p "${tools%/*}"
mkdir "$tools" 2>/dev/null || { [ -O "$tools" ] && [ ! -L "$tools" ]; } || exit 3
: >"$tools/.atomrun" && cat >"$tools/probe.new" && mv "$tools/probe.new" "$tools/probe.pyz" || exit 3
(umask 022 && mkdir -p "$run_dir" && : >"$run_dir/.atomrun") || exit 4
command -v python3 || command -v python || exit 5
