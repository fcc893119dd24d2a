"""Stand-in for ROCm/ATOM: its server and its benchmark client, under their real names."""
