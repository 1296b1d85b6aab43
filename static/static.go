// Package static embeds what the dashboard and the tray show.
package static
