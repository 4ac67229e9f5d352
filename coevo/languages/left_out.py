"""Why a build failed that asks for what a tree names and a clone does not hold: the reasons of all languages.

Submodules and files whose content is in Git LFS are not fetched. Where a submodule would be there is nothing.
"""

NEEDS_SUBMODULE = 'needs_submodule'
NEEDS_LFS_FILE = 'needs_lfs_file'
