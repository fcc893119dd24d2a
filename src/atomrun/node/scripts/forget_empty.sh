# Removes a run's directory in which nothing ran: it holds our mark and nothing else.      RUN_DIR
set -u
[ "$(ls -A "$1" 2>/dev/null)" = .atomrun ] || exit 0
rm "$1/.atomrun" && rmdir "$1"
