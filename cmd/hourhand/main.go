// Hourhand keeps 24 verified copies of a folder, one for each hour of the day.
package main

func main() {}
