"""Maven: how a revision is made to build, with which JDK, and which builds one run shares."""
