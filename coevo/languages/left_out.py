"""Reasons for a failed build in any language, if a clone lacks files that the tree names.

Submodules and the contents of Git LFS files are not fetched. The folder of a submodule is absent.
"""

NEEDS_SUBMODULE = 'needs_submodule'
NEEDS_LFS_FILE = 'needs_lfs_file'
