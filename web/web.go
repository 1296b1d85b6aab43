// Package web serves the dashboard and the API of the command line.
package web
