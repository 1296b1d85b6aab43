package engine

const chunkSize = 1 << 20
