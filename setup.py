"""Put the trained models into what is built; all else about the build is in pyproject.toml.

The models stand at the top of the project, beside the package, where people look for them
and `scrapy train` writes them. An installed package has no project around it, and scrapyd
imports an egg as a zip file: there the models must be inside the package, so they are
copied into it while it is built. An editable install uses the project's own folder.

scrapyd-deploy also needs this file to be here: it builds the egg by running it, and writes
one of its own, which packs no data, where it is missing.
"""

from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py

TASKS = ("url2lang", "parallel")
FILES = ("model.onnx", "tokenizer.json", "config.json", "README.md")
"""What a model needs to be used: checkpoints and graphs of full precision stay behind."""


class BuildWithModels(build_py):
    """Build the package with `models/` in it; a model without one of its files is an error."""

    def run(self) -> None:
        """Build the package and copy the models into it."""
        super().run()
        if self.editable_mode:
            return
        for target, source in self._models().items():
            self.mkpath(str(Path(target).parent))
            self.copy_file(source, target)

    def get_outputs(self, include_bytecode: bool = True) -> list[str]:
        """Name the models too, so that whoever records or removes files knows of them."""
        outputs = super().get_outputs(include_bytecode)
        return list(dict.fromkeys([*outputs, *self._models()]))

    def get_output_mapping(self) -> dict[str, str]:
        """Say where each built file comes from, the models too."""
        return super().get_output_mapping() | self._models()

    def _models(self) -> dict[str, str]:
        folder = Path(self.build_lib, "bilingual_crawler", "models")
        return {
            str(folder / task / name): str(Path("models", task, name))
            for task in TASKS
            for name in FILES
        }


setup(cmdclass={"build_py": BuildWithModels})
