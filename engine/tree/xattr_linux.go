package tree

import "golang.org/x/sys/unix"

const errNoXattr = unix.ENODATA

// systemXattrs are given by the system's policy to each file anew, or hold for
// one inode only (evm), so a copy of them would be wrong.
var systemXattrs = []string{"security.selinux", "security.evm"}
