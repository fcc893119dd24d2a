# Removes what install.sh put into a container that stays.      TOOLS
set -u
if [ -O "$1" ] && [ ! -L "$1" ] && [ -e "$1/.atomrun" ]; then
  rm -rf "$1"
fi
