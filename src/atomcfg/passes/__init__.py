"""The passes of the compiler: one a file, one public function each. Their order is in `compiler.py`."""
