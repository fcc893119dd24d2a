# Prints the kernel log, with the rights of root if that needs them.
dmesg 2>/dev/null || sudo -n dmesg
