package tree

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// NameError tells why a volume cannot hold a name ("", it can): too long,
// reserved, forbidden characters. It is asked before the name is used: FAT and
// its like would change such a name and merge two files, NTFS would write
// a:b into a stream of a. Other file systems refuse by themselves.
func NameError(name string, v Volume) string {
	if v.NameMax > 0 && len(name) > v.NameMax {
		return fmt.Sprintf("name of %d bytes, this file system allows %d", len(name), v.NameMax)
	}
	if !slices.Contains(windowsNames, v.FileSystem) {
		return ""
	}
	if units := utf16Len(name); units > 255 {
		return fmt.Sprintf("name of %d characters, %s allows 255", units, v.FileSystem)
	}
	if v.FileSystem != "ntfs" && !utf8.ValidString(name) {
		return "name is not valid UTF-8, which " + v.FileSystem + " needs"
	}
	return windowsNameError(name)
}

// windowsNames are the file systems with the name rules of Windows. NTFS drivers
// of other systems hold any name unless mounted otherwise, and refuse then.
var windowsNames = []string{"ntfs", "refs", "exfat", "vfat", "msdos", "cifs", "smb3", "smbfs"}

// windowsNameError follows "Naming Files, Paths, and Namespaces" of Microsoft.
func windowsNameError(name string) string {
	for _, r := range name {
		if r < 0x20 || strings.ContainsRune(`<>:"/\|?*`, r) {
			return fmt.Sprintf("name holds %q, which Windows file systems forbid", r)
		}
	}
	if last := name[len(name)-1]; last == '.' || last == ' ' {
		return fmt.Sprintf("name ends in %q, which Windows file systems drop", last)
	}
	base, _, _ := strings.Cut(name, ".")
	if base = strings.ToUpper(strings.TrimRight(base, " ")); isReserved(base) {
		return fmt.Sprintf("name is reserved for the device %s on Windows", base)
	}
	return ""
}

func isReserved(base string) bool {
	switch base {
	case "CON", "PRN", "AUX", "NUL", "CONIN$", "CONOUT$":
		return true
	}
	for _, port := range []string{"COM", "LPT"} {
		if n, ok := strings.CutPrefix(base, port); ok && strings.Contains("1 2 3 4 5 6 7 8 9 ¹ ² ³", n) && n != "" && n != " " {
			return true
		}
	}
	return false
}

func utf16Len(s string) (n int) {
	for _, r := range s {
		n += max(1, utf16.RuneLen(r))
	}
	return n
}

// Fold maps names that the volume takes for one to one key. It may map a few
// more: full case folding has "ß" and "ss" as one where NTFS keeps both.
func Fold(name string, c Caps) string {
	if !c.FoldsCase && !c.FoldsForm {
		return name
	}
	if isASCII(name) {
		if c.FoldsCase {
			return strings.ToLower(name)
		}
		return name
	}
	if c.FoldsForm {
		name = norm.NFD.String(name)
	}
	if c.FoldsCase {
		name = cases.Fold().String(name)
	}
	if c.FoldsForm {
		name = norm.NFC.String(name)
	}
	return name
}

// foldAll maps names that any volume might take for one.
func foldAll(name string) string { return Fold(name, Caps{FoldsCase: true, FoldsForm: true}) }

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}
