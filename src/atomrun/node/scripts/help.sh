# What programs say of their options: `@@ATOMRUN`, then the help, for each in turn. Nothing for one that fails.
#   PROGRAM...: each the words of a command, quoted for a shell
set -u
ask() {
  said=$("$@" --help 2>/dev/null </dev/null) || return 0
  # vLLM tells them only to who asks for all.
  case $said in *--help=all*) said=$("$@" --help=all 2>/dev/null </dev/null) || return 0 ;; esac
  printf '%s\n' "$said"
}
for program; do
  echo @@ATOMRUN
  eval "ask $program"
done
