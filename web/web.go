// Package web serves the dashboard and the API of the command line, on
// 127.0.0.1 only.
//
// A Server listens, guards and renders; New, Listen and Serve are its life. The
// pages are plain HTML that works without script; a stream keeps them fresh.
// The command line speaks to a running agent through a Client, which Dial finds
// by the file agent.json in the data folder.
//
// Everything a request can do passes one guard (guard.go) and stands in one list
// of routes (routes.go).
package web
