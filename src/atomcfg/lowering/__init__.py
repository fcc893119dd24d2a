"""Parts of the lowering pass: optional blocks, trace, provenance."""
