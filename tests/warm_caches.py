"""Fills the caches that rendering a server needs; imported before commands are forked."""

from sharing import READ_LOCK

from foundry.building.documents.programs import program_hash, reader_hashes
from foundry.embedding.static import StaticEmbedder
from foundry.export.compose import LOCK
from foundry.files import templates_folder
from foundry.rendering.copying import RUNTIME, imported_modules, module_of
from foundry.rendering.environment import SUFFIX, _environment

for _name in _environment().list_templates([SUFFIX.removeprefix(".")]):
    _environment().get_template(_name)
for _path in RUNTIME.rglob("*.py"):
    imported_modules(_path.read_bytes(), module_of(_path.relative_to(RUNTIME).as_posix(), ""))
READ_LOCK((templates_folder() / LOCK).read_text(encoding="utf-8"))
StaticEmbedder()
program_hash()
reader_hashes()
