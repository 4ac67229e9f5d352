"""Reasons for a failed build in any language, if the tree names files that a clone does not
contain.

Submodules and the contents of Git LFS files are not fetched. The folder of a submodule is absent.
"""

NEEDS_SUBMODULE = 'needs_submodule'
NEEDS_LFS_FILE = 'needs_lfs_file'
