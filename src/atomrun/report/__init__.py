"""What a run leaves for people and for other programs."""
