// Package tray shows the agent's state as an icon with a menu.
package tray
