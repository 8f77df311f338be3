"""The strategies of chunking beside each content type's own: the type of the options chooses one."""
