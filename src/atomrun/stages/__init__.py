"""The stages of a run: one a file, one public function of the same name. `atomrun.run` lists them in order."""
